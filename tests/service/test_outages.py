"""Redis and services go away and come back: nothing acknowledged is lost."""

from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.e2e.processes import Process, service
from tests.service.drivers import driver
from tests.service.harness import harness_at, refusal
from tests.service.support import reason_of, status_of
from tests.waiting import wait_until

from svddtune.stack import EmbeddedServer
from svddtune.v1 import oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICES = (
    "",
    "svddtune.v1.DatasetService",
    "svddtune.v1.TuningService",
    "svddtune.v1.OracleService",
)


def health(process: Process, name: str = "") -> int:
    with grpc.insecure_channel(process.ready["address"]) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        return int(stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=10).status)


def test_calls_fail_while_redis_is_away_and_streams_go_on_after_its_return(tmp_path: Path) -> None:
    with (
        EmbeddedServer(tmp_path) as first,
        service(first.url) as process,
        harness_at(process.ready["address"], first.url) as harness,
    ):
        assert {health(process, name) for name in SERVICES} == {SERVING}
        name = harness.session().name
        labeler, watch = harness.labeler(name), harness.watch(name)
        held = labeler.expect("assign")
        seen = next(watch)

        first.process.kill()
        first.process.wait()
        wait_until(lambda: health(process) == NOT_SERVING)
        assert {health(process, name) for name in SERVICES} == {NOT_SERVING}
        error = refusal(lambda: harness.get(name))
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert reason_of(error) == "STORE_UNAVAILABLE"
        retry = error_details_pb2.RetryInfo()
        assert any(detail.Unpack(retry) for detail in status_of(error).details)

        with EmbeddedServer(tmp_path):
            wait_until(lambda: health(process) == SERVING)
            assert harness.get(name).state == tuning_pb2.SESSION_STATE_LABELING
            # The idle stream has lived through it.
            labeler.answer(held)
            assert labeler.expect("ack").counts.total == 1
            resumed = harness.watch(name, seen.resume_token)
            wait_until(lambda: next(resumed).session.counts.total == 1)


def test_answer_gets_no_ack_while_redis_is_away(tmp_path: Path) -> None:
    with (
        EmbeddedServer(tmp_path) as first,
        service(first.url) as process,
        harness_at(process.ready["address"], first.url) as harness,
    ):
        name = harness.session().name
        labeler = harness.labeler(name)
        token = labeler.expect("welcome").resume_token
        held = labeler.expect("assign")
        first.process.kill()
        first.process.wait()
        answer = labeler.answer(held)
        error = labeler.end()
        assert error is not None
        assert reason_of(error) == "STORE_UNAVAILABLE"
        with EmbeddedServer(tmp_path):
            wait_until(lambda: health(process) == SERVING)
            again = harness.labeler(name, resume_token=token)
            assert again.expect("assign").lease_id == held.lease_id
            again.send(answer=answer)
            assert again.expect("ack").counts.total == 1


def test_drain_moves_labelers_to_another_service(redis_url: str) -> None:
    with (
        service(redis_url) as leaving,
        service(redis_url) as staying,
        harness_at(leaving.ready["address"], redis_url) as harness,
        harness_at(staying.ready["address"], redis_url) as other,
    ):
        name = harness.session().name
        labeler, watch = harness.labeler(name), harness.watch(name)
        token = labeler.expect("welcome").resume_token
        held = labeler.expect("assign")
        seen = next(watch)
        waiting = harness.oracle.Lease.future(
            oracle_pb2.LeaseRequest(session=harness.create().name, labeler="bob", wait_seconds=30)
        )
        leaving.stop()
        assert labeler.expect("drain").reason
        assert labeler.end() is None
        error = refusal(lambda: list(watch))
        assert (error.code(), reason_of(error)) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        error = refusal(waiting.result)
        assert error.code() is grpc.StatusCode.UNAVAILABLE

        moved = other.labeler(name, resume_token=token)
        assert moved.expect("assign").lease_id == held.lease_id
        moved.answer(held)
        assert moved.expect("ack").counts.total == 1
        resumed = other.watch(name, seen.resume_token)
        assert [event.row for event in next(resumed).events] == [held.row]


@pytest.mark.slow
def test_two_services_serve_one_session(redis_url: str) -> None:
    with (
        service(redis_url) as one,
        service(redis_url) as two,
        harness_at(one.ready["address"], redis_url) as here,
        harness_at(two.ready["address"], redis_url) as there,
    ):
        name = here.session().name
        ann, bob = here.labeler(name, "ann"), there.labeler(name, "bob")
        first, second = ann.expect("assign"), bob.expect("assign")
        assert first.query != second.query
        ann.answer(first)
        ann.expect("ack")
        here.worker.work_off()
        # The suggestion that followed reaches both.
        assert ann.expect("assign").query not in (first.query, second.query)
        bob.answer(second)
        assert bob.expect("ack").counts.total == 2


@pytest.mark.parametrize("transport", ["stream", pytest.param("unary", marks=pytest.mark.slow)])
def test_killed_service_loses_no_acknowledged_answer(redis_url: str, transport: str) -> None:
    with (
        service(redis_url) as doomed,
        service(redis_url) as next_one,
        harness_at(doomed.ready["address"], redis_url) as harness,
        harness_at(next_one.ready["address"], redis_url) as other,
    ):
        name = harness.session().name
        ann = driver(harness, transport, name)
        first, second = ann.wait(2)
        ack = ann.answer(first, answer_id="one")
        doomed.kill()
        again = driver(other, transport, name)
        # What was acknowledged is there, and what was held may still be answered.
        assert again.answer(first, answer_id="one") == ack
        assert again.answer(second).counts.total == 2


def test_health_watchers_are_sent_the_end_after_another_watcher_left(redis_url: str) -> None:
    request = health_pb2.HealthCheckRequest()
    with service(redis_url) as process, grpc.insecure_channel(process.ready["address"]) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        stays, leaves = stub.Watch(request), stub.Watch(request)
        assert next(stays).status == next(leaves).status == SERVING
        leaves.cancel()
        # (The server sees what comes on one connection in order.)
        assert stub.Check(request).status == SERVING
        process.stop()
        assert next(stays).status == NOT_SERVING
