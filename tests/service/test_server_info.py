"""The server says what it is, what it can do and whether it can serve."""

from pathlib import Path

import grpc
import pytest
from tests.e2e.processes import Process, service
from tests.service.harness import Harness
from tests.waiting import wait_until

from svddtune.service import validate
from svddtune.stack import EmbeddedServer
from svddtune.v1 import server_pb2, server_pb2_grpc
from svddtune.version import __version__

pytestmark = pytest.mark.integration


def info_of(process: Process) -> server_pb2.GetServerInfoResponse:
    with grpc.insecure_channel(process.ready["address"]) as channel:
        stub = server_pb2_grpc.ServerServiceStub(channel)
        return stub.GetServerInfo(server_pb2.GetServerInfoRequest(), timeout=10)


def test_info_has_version_limits_and_features(harness: Harness, service_process: Process) -> None:
    info = info_of(service_process)
    assert info.version == __version__
    assert (info.min_protocol_version, info.max_protocol_version) == (1, 1)
    limits = info.limits
    assert (limits.credit, limits.answers_per_batch) == (
        validate.MOST_CREDIT,
        validate.LARGEST_BATCH,
    )
    assert (limits.observation_count, limits.feature_count) == (2_000_000, 10_000)
    assert (limits.hello_seconds, limits.stream_seconds, limits.wait_seconds) == (30, 3600, 60)
    assert set(info.features) == {
        server_pb2.FEATURE_RESUMABLE_UPLOADS,
        server_pb2.FEATURE_ANSWER_BATCH,
    }
    assert (info.readiness.ready, info.readiness.message) == (True, "")


def test_info_counts_living_workers(harness: Harness, service_process: Process) -> None:
    assert info_of(service_process).readiness.worker_count == 0
    harness.session()
    harness.worker.queue.sign_in({})
    assert info_of(service_process).readiness.worker_count == 1
    harness.worker.queue.sign_out()
    readiness = info_of(service_process).readiness
    assert (readiness.HasField("worker_count"), readiness.worker_count) == (True, 0)


def test_info_is_given_without_the_store(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server, service(server.url, "127.0.0.1:0") as process:
        server.process.kill()
        server.process.wait()
        wait_until(lambda: not info_of(process).readiness.ready)
        info = info_of(process)
        assert info.version == __version__
        assert info.readiness.message
        assert not info.readiness.HasField("worker_count")
