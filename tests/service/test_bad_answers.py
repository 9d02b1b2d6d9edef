"""Bad input of labelers is refused alike by stream and by unary call, and disturbs nobody else."""

import math
from typing import Any

import grpc
import pytest
from tests.service.harness import INLIER, OUTLIER, Harness, refusal
from tests.service.support import error_info, reason_of, status_of

from svddtune.v1 import oracle_pb2

pytestmark = pytest.mark.integration

NOWHERE = "sessions/p00-ffffffffffffffffffff"


def answer(**changes: Any) -> oracle_pb2.Answer:
    values: dict[str, Any] = {"answer_id": "a", "observation_id": "0", "verdict": INLIER}
    return oracle_pb2.Answer(**(values | changes))


ANSWERS: list[tuple[str, oracle_pb2.Answer, str, grpc.StatusCode]] = [
    (
        "unknown observation",
        answer(observation_id="none"),
        "UNKNOWN_OBSERVATION",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    ("no verdict", answer(verdict=0), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
    ("strange verdict", answer(verdict=77), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
    ("no answer id", answer(answer_id=""), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
    (
        "long answer id",
        answer(answer_id="x" * 129),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "long source",
        answer(source_reference="x" * 257),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "neither query nor observation",
        answer(observation_id=""),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    *(
        (name, answer(**changes), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT)
        for name, changes in {
            "confidence of one half": {"confidence": 0.5},
            "confidence above one": {"confidence": 1.01},
            "confidence that is no number": {"confidence": math.nan},
            "confidence in unsure": {"confidence": 0.8, "verdict": 3},
        }.items()
    ),
    ("query without lease", answer(query=1), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
    (
        "lease without query",
        answer(lease_id="x"),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "unknown query",
        answer(query=99, lease_id="x"),
        "UNKNOWN_QUERY",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "lease never given",
        answer(query=1, lease_id="x", observation_id=""),
        "LEASE_LOST",
        grpc.StatusCode.FAILED_PRECONDITION,
    ),
    (
        "another observation than the query's",
        answer(query=1, lease_id="x", observation_id="9"),
        "OBSERVATION_MISMATCH",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "answered already",
        answer(observation_id="11"),
        "ALREADY_ANSWERED",
        grpc.StatusCode.ALREADY_EXISTS,
    ),
    (
        "answer id of another answer",
        answer(answer_id="used"),
        "ANSWER_ID_REUSED",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
]


@pytest.mark.parametrize(
    ("message", "reason", "code"),
    [case[1:] for case in ANSWERS],
    ids=[case[0] for case in ANSWERS],
)
def test_wrong_answer_is_refused_alike_by_stream_and_by_unary_call(
    harness: Harness, message: oracle_pb2.Answer, reason: str, code: grpc.StatusCode
) -> None:
    name = harness.session().name
    labeler = harness.labeler(name)
    labeler.expect("assign")
    labeler.send(answer=answer(answer_id="used", observation_id="11", verdict=OUTLIER))
    labeler.expect("ack")

    labeler.send(answer=message)
    reject = labeler.expect("reject")
    assert error_info(reject.status).reason == reason
    assert reject.status.code == code.value[0]
    assert (reject.answer_id, reject.query) == (message.answer_id, message.query)

    message.session = name
    request = oracle_pb2.AnswerRequest(labeler="ann", answer=message)
    error = refusal(lambda: harness.oracle.Answer(request))
    assert reason_of(error) == reason
    assert error.code() is code
    assert harness.get(name).counts.total == 1


def test_retraction_without_a_vote_is_refused(harness: Harness) -> None:
    name = harness.session().name
    retract = oracle_pb2.Retract(answer_id="r", session=name, observation_id="3")
    error = refusal(
        lambda: harness.oracle.Retract(oracle_pb2.RetractRequest(labeler="ann", retract=retract))
    )
    assert reason_of(error) == "NOT_LABELED"
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION


def test_answer_after_completion_is_refused(harness: Harness) -> None:
    session = harness.completed()
    error = refusal(lambda: harness.label(session.name, "3"))
    assert reason_of(error) == "SESSION_NOT_ACTIVE"
    assert error_info(status_of(error)).metadata["state"] == "COMPLETED"


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        ({"sessions": [NOWHERE]}, "SESSION_NOT_FOUND"),
        ({"min_protocol_version": 2}, "PROTOCOL_VERSION_UNSUPPORTED"),
        ({"labeler": ""}, "INVALID_FIELD"),
        ({"sessions": [NOWHERE] * 101}, "INVALID_FIELD"),
        ({"kind": 7}, "INVALID_FIELD"),
        ({"credit": 1001}, "INVALID_FIELD"),
        ({"resume_token": "x"}, "INVALID_FIELD"),
    ],
)
def test_wrong_hello_ends_the_stream(harness: Harness, hello: dict[str, Any], reason: str) -> None:
    values: dict[str, Any] = {"min_protocol_version": 1, "sessions": [NOWHERE], "labeler": "ann"}
    stream = harness.silent()
    stream.send(hello=oracle_pb2.Hello(**(values | hello)))
    error = stream.end()
    assert error is not None
    assert reason_of(error) == reason


def test_stream_without_hello_violates_the_protocol(harness: Harness) -> None:
    stream = harness.silent()
    stream.send(credit=oracle_pb2.Credit(queries=1))
    error = stream.end()
    assert error is not None
    assert reason_of(error) == "PROTOCOL_VIOLATION"


def test_bad_input_of_one_labeler_does_not_disturb_others(harness: Harness) -> None:
    name = harness.session().name
    good, bad = harness.labeler(name, "good"), harness.labeler(name, "bad", credit=0)
    assign = good.expect("assign")
    for _ in range(20):
        bad.send(answer=answer(observation_id="none"))
        bad.expect("reject")
    good.answer(assign)
    assert good.expect("ack").counts.total == 1
