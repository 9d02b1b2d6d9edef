"""Limits on what one client has open and sends: streams, uploads, answers a second."""

import uuid
from collections.abc import Iterator
from typing import Any

import grpc
import httpx
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from hypothesis import given
from hypothesis import strategies as st
from tests.e2e.processes import Process, service
from tests.service.harness import (
    CALL_S,
    Harness,
    chunk,
    grid,
    harness_at,
    header,
    refusal,
)
from tests.service.support import error_info, reason_of, status_of
from tests.waiting import wait_until

from svddtune.service.quotas import AnswerRate
from svddtune.stack import EmbeddedServer
from svddtune.state.errors import QuotaExceeded
from svddtune.v1 import oracle_pb2, tuning_pb2

STREAMS, UPLOADS, ANSWERS_PER_S, IDLE_S = 2, 1, 5, 1.0


@pytest.fixture(scope="module")
def limited(redis_server: EmbeddedServer) -> Iterator[Process]:
    """A service with low limits."""
    limits = {
        "--http-listen": "127.0.0.1:0",
        "--max-streams": STREAMS,
        "--max-uploads": UPLOADS,
        "--max-answers-per-s": ANSWERS_PER_S,
        "--idle-timeout-s": IDLE_S,
    }
    arguments = [str(word) for pair in limits.items() for word in pair]
    with service(redis_server.url, "127.0.0.1:0", *arguments) as process:
        yield process


@pytest.fixture
def harness(redis_url: str, limited: Process) -> Iterator[Harness]:
    with harness_at(limited.ready["address"], redis_url) as harness:
        yield harness


@pytest.fixture
def web(harness: Harness, limited: Process) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=limited.ready["http"], timeout=CALL_S) as client:
        yield client


def detail(status: status_pb2.Status, kind: type[Message]) -> Any:
    """The detail of a kind, of a status that must have it."""
    found = kind()
    assert any(one.Unpack(found) for one in status.details), status
    return found


def unasked(session: str, row: int) -> oracle_pb2.Answer:
    return oracle_pb2.Answer(
        answer_id=uuid.uuid4().hex,
        session=session,
        observation_id=str(row),
        verdict="VERDICT_INLIER",
    )


def test_further_stream_of_a_client_is_refused_with_figures_until_one_ends(
    harness: Harness,
) -> None:
    name = harness.session().name
    first = harness.labeler(name, "ann")
    first.expect("welcome")
    watch = harness.watch(name)
    next(watch)
    # (Whatever labeler it names, it is the same client.)
    error = harness.labeler(name, "bob").end()
    assert error is not None
    assert reason_of(error) == "TOO_MANY_STREAMS"
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    status = status_of(error)
    assert error_info(status).metadata["limit"] == error_info(status).metadata["used"] == "2"
    (violation,) = detail(status, error_details_pb2.QuotaFailure).violations
    assert violation.subject == "client:127.0.0.1"
    assert "2 streams" in violation.description
    assert detail(status, error_details_pb2.RetryInfo).retry_delay.seconds > 0
    assert reason_of(refusal(lambda: next(harness.watch(name)))) == "TOO_MANY_STREAMS"
    first.send(bye=oracle_pb2.Bye())
    first.end()
    # Unary calls are not streams.
    harness.get(name)
    wait_until(lambda: _opens(harness, name))
    harness.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=name))


def _opens(harness: Harness, name: str) -> bool:
    labeler = harness.labeler(name, "cid")
    first = labeler.next()
    labeler.send(bye=oracle_pb2.Bye())
    labeler.end()
    return first is not None


def test_second_upload_at_once_is_refused_and_the_first_goes_on(harness: Harness) -> None:
    second: list[grpc.RpcError] = []

    def parts() -> Iterator[Any]:
        yield header()
        yield chunk(grid()[:6])
        # (The server has the first upload by now, or gets it while it refuses the second.)
        wait_until(lambda: _refused(harness, second))
        yield chunk(grid()[6:])

    stored = harness.datasets.UploadDataset(parts(), timeout=CALL_S).dataset
    assert stored.observation_count == len(grid())
    assert reason_of(second[0]) == "TOO_MANY_UPLOADS"
    assert harness.upload().observation_count == len(grid())


def _refused(harness: Harness, errors: list[grpc.RpcError]) -> bool:
    try:
        harness.upload(header(), chunk(grid() + 1))
    except grpc.RpcError as error:
        errors.append(error)
    return bool(errors)


def test_answers_above_the_rate_are_refused_with_the_time_to_wait_and_taken_after_it(
    harness: Harness, web: httpx.Client
) -> None:
    session = harness.session().name
    batch = oracle_pb2.AnswerBatchRequest(
        labeler="ann", session=session, answers=[unasked(session, row) for row in range(12)]
    )
    # A batch is taken whole; it is made up for afterwards.
    wait_until(lambda: _taken(harness, batch))
    stream = harness.labeler(session)
    stream.send(answer=unasked(session, 0))
    status = stream.expect("reject").status
    assert error_info(status).reason == "RATE_EXCEEDED"
    retry = detail(status, error_details_pb2.RetryInfo).retry_delay
    assert 0 < retry.ToTimedelta().total_seconds() <= 2.0
    single = oracle_pb2.AnswerRequest(labeler="ann", answer=unasked(session, 0))
    assert reason_of(refusal(lambda: harness.oracle.Answer(single))) == "RATE_EXCEEDED"
    refused = web.post(
        f"/v1/{session}:answer",
        json={"labeler": "bob", "answer": {"answerId": "1", "observationId": "1", "verdict": 1}},
    )
    assert refused.status_code == httpx.codes.TOO_MANY_REQUESTS
    assert "RATE_EXCEEDED" in refused.text
    # The stream goes on, and so does all that is no answer.
    stream.send(extend=oracle_pb2.Extend())
    stream.expect("ack")
    wait_until(lambda: _taken(harness, batch))


def _taken(harness: Harness, batch: oracle_pb2.AnswerBatchRequest) -> bool:
    try:
        harness.oracle.AnswerBatch(batch)
    except grpc.RpcError as error:
        if reason_of(error) != "RATE_EXCEEDED":
            raise
        return False
    return True


def test_silent_stream_is_asked_to_reconnect_and_its_lease_goes_on(harness: Harness) -> None:
    session = harness.session().name
    silent = harness.labeler(session)
    token = silent.expect("welcome").resume_token
    held = silent.expect("assign")
    assert silent.expect("drain").reason == oracle_pb2.DRAIN_REASON_IDLE
    assert silent.end() is None
    back = harness.labeler(session, resume_token=token)
    assert back.expect("assign").lease_id == held.lease_id


def test_stream_that_sends_heartbeats_stays(harness: Harness) -> None:
    session = harness.session().name
    talking = harness.labeler(session)
    talking.expect("assign")
    other = harness.labeler(session, "bob", credit=0)
    other.expect("welcome")
    # (The silent one tells when the time is over.)
    while not any(one.HasField("drain") for one in other.seen):
        talking.send(extend=oracle_pb2.Extend())
        talking.expect("ack")
        if not other._inbox.empty():
            other.next()
    talking.send(extend=oracle_pb2.Extend())
    talking.expect("ack")
    assert not any(one.HasField("drain") for one in talking.seen)


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(
    st.floats(0.1, 1000.0),
    st.lists(st.tuples(st.floats(0.0, 3.0), st.integers(1, 20)), max_size=60),
)
def test_no_client_gets_more_than_its_rate_and_one_batch(
    per_s: float, calls: list[tuple[float, int]]
) -> None:
    clock, taken, largest = Clock(), 0, 0
    rate = AnswerRate(per_s, clock=clock)
    for wait_s, answers in calls:
        clock.now += wait_s
        try:
            rate.take("ann", answers)
        except QuotaExceeded as error:
            clock.now += (error.retry_s or 0.0) + 1e-6
            # The time that it names is enough.
            rate.take("ann", answers)
        taken, largest = taken + answers, max(largest, answers)
    allowed = max(1.0, per_s) + (clock.now - 100.0) * per_s
    assert taken <= allowed + largest + 1e-6


def test_clients_do_not_share_a_rate_and_no_limit_takes_all() -> None:
    rate = AnswerRate(1.0, clock=Clock())
    rate.take("ann")
    rate.take("bob")
    with pytest.raises(QuotaExceeded):
        rate.take("ann")
    for _ in range(1000):
        AnswerRate(0.0).take("ann")
