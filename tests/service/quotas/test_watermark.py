"""New data are refused before Redis is full; labels are taken until it is."""

from collections.abc import Iterator

import grpc
import numpy as np
import pytest
import redis
from google.rpc import error_details_pb2
from tests.e2e.processes import service
from tests.service.harness import Harness, chunk, harness_at, header, refusal
from tests.service.support import error_info, reason_of, status_of
from tests.waiting import wait_until

from svddtune.stack import EmbeddedServer
from svddtune.v1 import common_pb2, tuning_pb2

SHARE = 0.8


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path_factory.mktemp("full"), fsync="no") as server:
        yield server


@pytest.fixture(scope="module")
def harness(server: EmbeddedServer) -> Iterator[Harness]:
    """A service that keeps a fifth of the store's memory for labels."""
    with (
        service(server.url, "127.0.0.1:0", "--memory-watermark", str(SHARE)) as process,
        harness_at(process.ready["address"], server.url) as harness,
    ):
        yield harness


@pytest.fixture
def client(server: EmbeddedServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url) as client:
        yield client
        client.delete("ballast")
        client.config_set("maxmemory", 0)


def fill(client: redis.Redis, share: float) -> None:
    """Limit memory, so that this share of it is used."""
    used = int(client.info("memory")["used_memory"])
    client.config_set("maxmemory", int(used / share))


def test_above_the_watermark_new_data_are_refused_with_figures_and_labels_are_taken(
    harness: Harness, client: redis.Redis
) -> None:
    dataset = harness.upload().name
    session = harness.session(dataset=dataset).name
    request = "1c0b4e0e-3b6d-4d0c-9d7e-0b1a7f3f9a11"
    known = harness.create(dataset, request_id=request).name
    # (So much that a tenth of it is room enough for labels and jobs.)
    client.setrange("ballast", (64 << 20) - 1, b"x")
    fill(client, 0.9)
    wait_until(lambda: _is_refused(harness, dataset))
    error = refusal(lambda: harness.create(dataset))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert reason_of(error) == "STORE_NEARLY_FULL"
    figures = error_info(status_of(error)).metadata
    most = int(client.info("memory")["maxmemory"])
    assert int(figures["limit"]) == int(SHARE * most)
    assert int(figures["limit"]) < int(figures["used"]) < most
    details = status_of(error).details
    assert any(one.Is(error_details_pb2.QuotaFailure.DESCRIPTOR) for one in details)
    assert any(one.Is(error_details_pb2.RetryInfo.DESCRIPTOR) for one in details)
    # A request whose reply was lost finds what it made.
    assert harness.create(dataset, request_id=request).name == known
    # Labels go on, and so do the jobs that follow.
    labeler = harness.labeler(session)
    for _ in range(3):
        labeler.answer(labeler.expect("assign"), common_pb2.VERDICT_INLIER)
        labeler.expect("ack")
        harness.worker.work_off()
    assert harness.get(session).counts.total == 3
    # Room that is made is used.
    harness.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=session))
    client.config_set("maxmemory", 0)
    wait_until(lambda: not _is_refused(harness, dataset))


def _is_refused(harness: Harness, dataset: str) -> bool:
    try:
        harness.create(dataset)
    except grpc.RpcError as error:
        if reason_of(error) != "STORE_NEARLY_FULL":
            raise
        return True
    return False


def test_upload_that_would_not_fit_is_refused_by_its_header(
    harness: Harness, client: redis.Redis
) -> None:
    harness.upload()
    fill(client, 0.5)
    used = int(client.info("memory")["used_memory"])
    rows = int(1.2 * used) // 16
    values = np.arange(2.0 * rows).reshape(rows, 2)
    big = header(observation_count=rows)
    # (Rows are in chunks of less than a MiB; the first one does not even come.)
    error = refusal(lambda: _until_refused(harness, lambda: harness.upload(big, chunk(values[:9]))))
    assert reason_of(error) == "STORE_NEARLY_FULL"
    assert "more are needed" in str(error.details())
    assert harness.upload(header(), chunk(np.ones((12, 2)) * np.arange(12)[:, None])).name


def _until_refused(harness: Harness, call: object) -> None:
    def refused() -> bool:
        try:
            call()  # type: ignore[operator]
        except grpc.RpcError as error:
            return reason_of(error) == "STORE_NEARLY_FULL"
        return False

    wait_until(refused)
    call()  # type: ignore[operator]
