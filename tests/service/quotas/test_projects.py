"""Limits of a project: sessions, datasets and their bytes, counted once for all services."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest
import redis
from google.rpc import error_details_pb2
from tests.e2e.processes import service
from tests.service.access.world import FOREIGN, OWN, World, with_token, world_at
from tests.service.harness import Harness, M, chunk, harness_at, header, refusal
from tests.service.support import error_info, reason_of, status_of

from svddtune.stack import EmbeddedServer
from svddtune.state import keys
from svddtune.v1 import dataset_pb2, tuning_pb2

SESSIONS, DATASETS, MIB = 3, 4, 1
LIMITS = [
    str(word)
    for pair in {
        "--max-project-sessions": SESSIONS,
        "--max-project-datasets": DATASETS,
        "--max-project-mib": MIB,
    }.items()
    for word in pair
]


@pytest.fixture(scope="module")
def world(
    redis_server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with world_at(redis_server.url, tmp_path_factory.mktemp("tokens"), *LIMITS) as world:
        yield world


@pytest.fixture
def harness(redis_url: str, world: World) -> Harness:
    return world.as_("admin")


def figures(error: grpc.RpcError) -> tuple[str, int, int]:
    """Kind, limit and what is used, of a refusal with all that belongs to it."""
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert reason_of(error) == "QUOTA_EXCEEDED"
    status = status_of(error)
    found = error_info(status).metadata
    quota = error_details_pb2.QuotaFailure()
    assert any(one.Unpack(quota) for one in status.details)
    assert quota.violations[0].subject == f"project:{found['project']}"
    assert found["limit"] in str(error.details())
    # Waiting does not help: somebody has to delete something.
    assert not any(one.Is(error_details_pb2.RetryInfo.DESCRIPTOR) for one in status.details)
    return found["quota"], int(found["limit"]), int(found["used"])


def dataset(harness: Harness, first: float, rows: int = 12) -> str:
    """Upload rows that no other dataset has."""
    values = first + np.arange(rows * M, dtype=np.float64).reshape(rows, M)
    parts = [chunk(part) for part in np.array_split(values, max(1, rows // 20_000))]
    return harness.upload(header(observation_count=rows), *parts).name


def counted(redis_url: str, project: str, kind: str, partition: int = 0) -> int:
    """What the store says that a project has in a partition."""
    with redis.Redis.from_url(redis_url) as client:
        return int(client.hget(keys.usage(partition, project), kind) or 0)


def test_session_above_the_limit_is_refused_until_one_is_deleted(harness: Harness) -> None:
    name = dataset(harness, 0)
    request = str(uuid.uuid4())
    made = [harness.create(name, request_id=request).name]
    made += [harness.create(name).name for _ in range(SESSIONS - 1)]
    assert figures(refusal(lambda: harness.create(name))) == ("sessions", SESSIONS, SESSIONS)
    refused = refusal(lambda: harness.create(name, validate_only=True))
    assert figures(refused) == ("sessions", SESSIONS, SESSIONS)
    # A request whose reply was lost finds its session.
    assert harness.create(name, request_id=request).name == made[0]
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=made[1]))
    assert harness.create(name).name
    assert figures(refusal(lambda: harness.create(name))) == ("sessions", SESSIONS, SESSIONS)


def test_dataset_above_the_limit_is_refused_and_one_that_exists_is_not(harness: Harness) -> None:
    made = [dataset(harness, 100 * number) for number in range(DATASETS)]
    error = refusal(lambda: dataset(harness, 9000))
    assert figures(error) == ("datasets", DATASETS, DATASETS)
    assert dataset(harness, 0) == made[0]
    harness.datasets.DeleteDataset(dataset_pb2.DeleteDatasetRequest(name=made[1]))
    assert dataset(harness, 9000)


def test_bytes_above_the_limit_are_refused_and_those_of_deleted_datasets_are_free(
    harness: Harness,
) -> None:
    most = MIB << 20
    half = most // (8 * M) // 2
    made = dataset(harness, 0, half)
    kind, limit, used = figures(refusal(lambda: dataset(harness, 1, half + 1)))
    assert (kind, limit, used) == ("bytes", most, 8 * M * half)
    # Exactly what is left fits.
    assert dataset(harness, 1, half)
    assert figures(refusal(lambda: dataset(harness, 5)))[2] == most
    harness.datasets.DeleteDataset(dataset_pb2.DeleteDatasetRequest(name=made))
    assert dataset(harness, 5)


def test_projects_do_not_share_limits_and_nothing_is_left_of_what_was_deleted(
    harness: Harness, world: World, redis_url: str
) -> None:
    other = world.as_("admin", FOREIGN)
    names = [dataset(one, 0) for one in (harness, other)]
    sessions = [
        [one.create(name).name for _ in range(SESSIONS)]
        for one, name in zip((harness, other), names, strict=True)
    ]
    for one, name, own in zip((harness, other), names, sessions, strict=True):
        figures(refusal(lambda one=one, name=name: one.create(name)))  # type: ignore[misc]
        for session in own:
            one.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=session))
        one.datasets.DeleteDataset(dataset_pb2.DeleteDatasetRequest(name=name))
    with redis.Redis.from_url(redis_url) as client:
        assert client.keys("*usage*") == []


def test_limit_holds_for_calls_to_two_services_at_once(
    harness: Harness, world: World, redis_url: str
) -> None:
    name = dataset(harness, 0)
    token = world.token("admin")
    with (
        service(redis_url, "127.0.0.1:0", "--tokens", str(world.file), *LIMITS) as second,
        grpc.insecure_channel(second.ready["address"]) as channel,
    ):
        clients = [harness, Harness(with_token(channel, token), redis_url)]

        def create(number: int) -> str:
            try:
                return str(clients[number % 2].create(name).name)
            except grpc.RpcError as error:
                return figures(error)[0]

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(create, range(24)))
    assert sum(one.startswith("sessions/") for one in found) == SESSIONS
    assert found.count("sessions") == 24 - SESSIONS
    assert counted(redis_url, OWN, "sessions") == SESSIONS


@pytest.mark.slow
def test_limit_holds_over_partitions(redis_url: str) -> None:
    limits = ("--max-project-datasets", "5", "--partitions", "4")
    with (
        service(redis_url, "127.0.0.1:0", *limits) as process,
        harness_at(process.ready["address"], redis_url) as harness,
    ):
        names = [dataset(harness, 100 * number) for number in range(5)]
        assert figures(refusal(lambda: dataset(harness, 7000))) == ("datasets", 5, 5)
        found = [counted(redis_url, "default", "datasets", number) for number in range(4)]
        assert sum(found) == 5
        assert sum(one > 0 for one in found) > 1
        harness.datasets.DeleteDataset(dataset_pb2.DeleteDatasetRequest(name=names[0]))
        assert dataset(harness, 7000)
