"""What people are shown beside a session's state, over gRPC and HTTP: real but simple figures."""

from collections.abc import Iterator
from typing import Any

import grpc
import httpx
import pytest
from tests.e2e.processes import Process
from tests.service.harness import INLIER, OUTLIER, UNSURE, Harness, N, chunk, grid, header, refusal
from tests.service.support import reason_of
from tests.state.scene import PORTRAIT, pictures_of

from svddtune.state import keys
from svddtune.state.session import SessionId
from svddtune.v1 import config_pb2, dataset_pb2, oracle_pb2, server_pb2, server_pb2_grpc, tuning_pb2

pytestmark = pytest.mark.integration

NAMES = ("load", "disk")
Config = config_pb2.SessionConfig


@pytest.fixture(autouse=True)
def layout_in_force(harness: Harness) -> None:
    """All processes keep pictures: none is of an earlier version."""
    harness.worker.client.set(keys.prefix(0) + "layout", keys.LAYOUT_VERSION)


@pytest.fixture
def server(service_process: Process) -> Iterator[server_pb2_grpc.ServerServiceStub]:
    with grpc.insecure_channel(service_process.ready["address"]) as channel:
        yield server_pb2_grpc.ServerServiceStub(channel)


def upload(harness: Harness) -> str:
    ids = [f"host-{row}" for row in range(N)]
    return harness.upload(header(feature_names=NAMES), chunk(grid(), observation_ids=ids)).name


def ready(harness: Harness, **config: Any) -> str:
    """A session that asks, on a dataset with names and ids."""
    return harness.session(dataset=upload(harness), config=Config(**{"budget": 8} | config)).name


def history(harness: Harness, name: str, **page: Any) -> tuning_pb2.ListHistoryResponse:
    return harness.tuning.ListHistory(tuning_pb2.ListHistoryRequest(name=name, **page))


def map_of(harness: Harness, name: str) -> tuning_pb2.GetMapResponse:
    return harness.tuning.GetMap(tuning_pb2.GetMapRequest(name=name))


def profile(harness: Harness, name: str) -> oracle_pb2.GetProfileResponse:
    return harness.oracle.GetProfile(oracle_pb2.GetProfileRequest(session=name, labeler="ann"))


def test_session_that_prepares_has_empty_pictures(harness: Harness) -> None:
    # (The service remembers portraits: these rows are of this test alone.)
    rows = harness.upload(header(), chunk(grid() + 0.25))
    name = harness.create(dataset=rows.name, config=Config(budget=6)).name
    assert history(harness, name) == tuning_pb2.ListHistoryResponse()
    assert harness.tuning.GetAtlas(tuning_pb2.GetAtlasRequest(name=name)) == (
        tuning_pb2.GetAtlasResponse()
    )
    assert map_of(harness, name) == tuning_pb2.GetMapResponse()
    assert profile(harness, name) == oracle_pb2.GetProfileResponse(observation_count=N)


def test_history_comes_in_pages_with_one_point_for_each_number_of_labels(
    harness: Harness,
) -> None:
    name = ready(harness)
    for row in range(3):
        harness.label(name, f"host-{row}", OUTLIER if row == 1 else INLIER)
        harness.worker.work_off()
    # A vote that changes no count makes a ranking, and no point of its own.
    harness.oracle.Answer(
        oracle_pb2.AnswerRequest(
            labeler="ann",
            answer=oracle_pb2.Answer(
                answer_id="again",
                session=name,
                observation_id="host-0",
                verdict=INLIER,
                replace=True,
            ),
        )
    )
    harness.worker.work_off()
    whole = history(harness, name)
    assert [one.labels for one in whole.points] == [0, 1, 2, 3]
    assert [(one.counts.inlier, one.counts.outlier) for one in whole.points] == [
        (0, 0), (1, 0), (1, 1), (2, 1),
    ]  # fmt: skip
    assert [one.gamma for one in whole.points] == [1.0] * 4
    assert whole.next_page_token == ""
    first = history(harness, name, page_size=3)
    rest = history(harness, name, page_size=3, page_token=first.next_page_token)
    assert [*first.points, *rest.points] == list(whole.points)
    assert len(first.points) == 3
    assert reason_of(refusal(lambda: history(harness, name, page_token="x"))) == "INVALID_FIELD"


def test_long_history_is_read_some_at_a_time(harness: Harness) -> None:
    name = ready(harness)
    moments = keys.session(SessionId(name.split("/")[1]), "moments")
    # (The number of labels changes with every other ranking.)
    stored = {
        rev: b"1000 " + tuning_pb2.HistoryPoint(labels=rev // 2).SerializeToString()
        for rev in range(2, 1400)
    }
    harness.worker.client.hset(moments, mapping=stored)
    first = history(harness, name, page_size=600)
    rest = history(harness, name, page_size=600, page_token=first.next_page_token)
    assert [one.labels for one in first.points] == list(range(600))
    assert [one.labels for one in rest.points] == list(range(600, 700))
    assert rest.next_page_token == ""


def test_atlas_and_map_are_those_that_a_worker_made(harness: Harness, web: httpx.Client) -> None:
    name = ready(harness)
    for row in range(4):
        harness.label(name, f"host-{row}", OUTLIER if row < 2 else INLIER)
    harness.worker.work_off()
    assert (
        harness.tuning.GetAtlas(tuning_pb2.GetAtlasRequest(name=name)) == (pictures_of(4)["cells"])
    )
    assert map_of(harness, name).labels == 0
    harness.label(name, "host-4")
    harness.worker.work_off()
    found = map_of(harness, name)
    assert found.labels == 5
    # The rows of the dataset's own map, then a labelled one, then one that was labelled since.
    assert list(found.rows) == [*range(N - 2), N - 1, N - 2]
    assert list(found.x) == [*range(N - 2), 7.0, 8.0]
    assert list(found.y) == [*range(N - 2), 7.5, 8.5]
    assert list(found.margins) == [*(row - 4.5 for row in range(N - 2)), 6.0]
    assert list(found.observation_ids) == [f"host-{row}" for row in found.rows]
    assert found.explained_share == 0.75
    assert (list(found.inlier_rows), list(found.outlier_rows)) == ([2, 3, 4], [0, 1])
    harness.label(name, "host-6", UNSURE)
    assert list(map_of(harness, name).unsure_rows) == [6]
    by_http = web.get(f"/v1/{name}:map").json()
    assert by_http["observationIds"] == list(found.observation_ids)
    assert len(web.get(f"/v1/{name}:atlas").json()["layers"]) == 1
    assert len(web.get(f"/v1/{name}/history").json()["points"]) == 3


def test_result_keeps_the_pictures_and_deletion_removes_them(harness: Harness) -> None:
    name = ready(harness)
    for row in range(3):
        harness.label(name, f"host-{row}")
    harness.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=name))
    harness.worker.work_off()
    points = history(harness, name).points
    assert (points[-1].labels, points[-1].gamma) == (3, 2.0)
    assert map_of(harness, name).labels == 3
    session_id = SessionId(name.partition("/")[2])
    parts = [keys.session(session_id, one) for one in ("moments", "cells", "places", "margins")]
    assert harness.worker.client.exists(*parts) == 4
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=name))
    assert harness.worker.client.exists(*parts) == 0


def test_deleted_dataset_leaves_no_portrait(harness: Harness) -> None:
    dataset = upload(harness)
    name = harness.session(dataset=dataset, config=Config(budget=8)).name
    portrait = f"*{dataset.partition('/')[2]}:portrait:*"
    assert len(list(harness.worker.client.scan_iter(match=portrait))) == 1
    assert harness.worker.client.ttl(next(harness.worker.client.scan_iter(match=portrait))) == -1
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=name))
    harness.datasets.DeleteDataset(dataset_pb2.DeleteDatasetRequest(name=dataset))
    assert not list(harness.worker.client.scan_iter(match=portrait))


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        ({}, ["load", "disk"]),
        ({"visible_features": ["disk"]}, ["disk"]),
        ({"visible_features": ["disk", "load"]}, ["disk", "load"]),
        ({"raw_features": False}, []),
    ],
    ids=["all", "one", "in another order", "none"],
)
def test_profile_has_the_features_that_labelers_see(
    harness: Harness, config: dict[str, Any], shown: list[str]
) -> None:
    found = profile(harness, ready(harness, **config))
    assert found.observation_count == N
    by_name = {one.name: one for one in PORTRAIT.features}
    assert list(found.features) == [by_name[name] for name in shown]


def test_validated_session_is_described_and_not_created(harness: Harness) -> None:
    dataset = upload(harness)
    request = tuning_pb2.CreateSessionRequest(
        dataset=dataset,
        display_name="as it would be",
        config=Config(budget=8),
        initial_labels=[
            tuning_pb2.InitialLabel(observation_id="host-3", verdict="VERDICT_OUTLIER"),
            tuning_pb2.InitialLabel(observation_id="host-5", verdict="VERDICT_INLIER"),
            tuning_pb2.InitialLabel(observation_id="host-7", verdict="VERDICT_INLIER"),
        ],
        labels={"team": "red"},
        retention_seconds=60,
        validate_only=True,
    )
    planned = harness.tuning.CreateSession(request).session
    listed = tuning_pb2.ListSessionsRequest(dataset=dataset)
    assert not harness.tuning.ListSessions(listed).sessions
    assert planned.name == ""
    request.validate_only = False
    created = harness.tuning.CreateSession(request).session
    for field in (
        "dataset", "display_name", "config", "state", "counts", "observation_count", "labels",
        "retention_seconds", "estimate",
    ):  # fmt: skip
        assert getattr(planned, field) == getattr(created, field), field
    again = tuning_pb2.CreateSessionRequest(
        dataset=dataset, config=Config(budget=9), from_session=created.name, validate_only=True
    )
    taken = harness.tuning.CreateSession(again).session
    assert (taken.counts.inlier, taken.counts.outlier, taken.taken_over.taken_count) == (2, 1, 3)
    again.config.budget = 3
    assert reason_of(refusal(lambda: harness.tuning.CreateSession(again))) == "BUDGET_TOO_SMALL"
    again.config.budget = N + 1
    assert reason_of(refusal(lambda: harness.tuning.CreateSession(again))) == "BUDGET_TOO_LARGE"


def test_load_names_workers_with_their_jobs_and_counts_what_waits(
    harness: Harness, server: server_pb2_grpc.ServerServiceStub, web: httpx.Client
) -> None:
    def load() -> server_pb2.GetLoadResponse:
        return server.GetLoad(server_pb2.GetLoadRequest())

    assert load() == server_pb2.GetLoadResponse()
    worker = harness.worker
    name = ready(harness)
    worker.queue.sign_in({"memory_bytes": 1 << 26, "started_ms": 1})
    (idle,) = load().workers
    assert (idle.name, idle.job, idle.memory_bytes) == (worker.queue.consumer, "", 1 << 26)
    harness.label(name, "host-1")
    assert load().urgent_jobs == 1
    claim = worker.next_claim()
    assert claim is not None
    found = load()
    assert (found.workers[0].job, found.urgent_jobs, found.running_jobs) == ("SUGGEST", 0, 1)
    said = web.get("/v1/server:load").json()
    assert said["workers"][0]["job"] == "SUGGEST"
    worker.queue.fail(claim, "JOB_FAILED", "It broke.", final=True)
    found = load()
    assert (found.workers[0].job, found.running_jobs, found.given_up_jobs) == ("", 0, 1)
    now_ms = worker.client.time()[0] * 1000
    assert abs(found.workers[0].last_seen.ToMilliseconds() - now_ms) < 15_000
