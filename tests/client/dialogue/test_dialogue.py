"""The dialogue as lists of messages; no network."""

import pytest
from google.rpc import code_pb2
from tests.client.dialogue.peer import SESSION, ack, assign, finished, session, welcome
from tests.client.dialogue.statuses import status

from svddtune.client import Conflict, InvalidInput, LeaseLost, Query, SkipMode, Verdict
from svddtune.client.dialogue.machine import Dialogue
from svddtune.v1 import oracle_pb2 as pb
from svddtune.v1 import tuning_pb2


def dialogue(credit: int = 1) -> Dialogue:
    talk = Dialogue([SESSION], labeler="ann", kind="human", credit=credit)
    talk.hello()
    talk.receive(welcome(), 0.0)
    return talk


def take(talk: Dialogue) -> Query:
    query = talk.take()
    assert query is not None
    return query


def nothing(talk: Dialogue) -> bool:
    """True where the caller has nothing to take."""
    return talk.take() is None


def reject(answer_id: str, reason: str, query: int = 0) -> pb.ConverseResponse:
    return pb.ConverseResponse(
        reject=pb.Reject(
            answer_id=answer_id, query=query, status=status(code_pb2.FAILED_PRECONDITION, reason)
        )
    )


def test_hello_has_the_labeler_and_the_last_resume_token() -> None:
    talk = Dialogue([SESSION], labeler="ann", kind="human", credit=3)
    first = talk.hello().hello
    assert (first.labeler, first.credit, list(first.sessions)) == ("ann", 3, [SESSION])
    assert first.kind == pb.LABELER_KIND_HUMAN
    assert first.protocol_version == 1
    assert first.resume_token == ""
    talk.receive(welcome("t7"), 0.0)
    assert talk.hello().hello.resume_token == "t7"


def test_same_lease_after_a_reconnect_is_no_new_query() -> None:
    talk = dialogue()
    talk.receive(assign(1), 0.0)
    take(talk)
    talk.receive(assign(1), 0.0)
    assert nothing(talk)
    talk.receive(assign(1, lease="other"), 0.0)
    assert take(talk).lease_id == "other"


def test_answer_without_ack_is_sent_again_with_the_same_id_and_in_order() -> None:
    talk = dialogue()
    talk.receive(assign(1), 0.0)
    first, _ = talk.answer(take(talk), Verdict.INLIER, 0.0)
    second, _ = talk.label("obs-9", Verdict.OUTLIER, source_reference="TICKET-1")
    talk.hello()
    assert talk.receive(welcome(), 0.0) == [first, second]
    talk.receive(ack(first), 0.0)
    talk.hello()
    assert talk.receive(welcome(), 0.0) == [second]


def test_query_with_an_unacknowledged_answer_is_not_asked_again() -> None:
    talk = dialogue()
    talk.receive(assign(1), 0.0)
    message, future = talk.answer(take(talk), Verdict.INLIER, 0.0)
    talk.receive(assign(1, lease="new"), 0.0)
    assert nothing(talk)
    talk.receive(ack(message), 0.0)
    assert future.result(0).applied
    assert talk.heartbeat() is None


def test_refused_answer_on_a_lease_that_was_renewed_brings_the_query_back() -> None:
    talk = dialogue()
    talk.receive(assign(1), 0.0)
    message, future = talk.answer(take(talk), Verdict.INLIER, 0.0)
    talk.receive(assign(1, lease="new"), 0.0)
    talk.receive(reject(message.answer.answer_id, "LEASE_LOST"), 0.0)
    assert isinstance(future.exception(0), LeaseLost)
    assert take(talk).lease_id == "new"


@pytest.mark.parametrize(
    ("reason", "kind", "held"),
    [("INVALID_FIELD", Exception, True), ("ALREADY_ANSWERED", Conflict, False)],
)
def test_query_with_a_refused_answer_can_be_answered_again(
    reason: str, kind: type[Exception], held: bool
) -> None:
    talk = dialogue()
    talk.receive(assign(1), 0.0)
    query = take(talk)
    message, future = talk.answer(query, Verdict.INLIER, 0.0, source_reference="x" * 300)
    talk.receive(reject(message.answer.answer_id, reason), 0.0)
    assert isinstance(future.exception(0), kind)
    assert talk.is_open(query) is held


def test_revoked_query_is_forgotten_unless_it_was_leased_anew() -> None:
    talk = dialogue(credit=2)
    for number in (1, 2):
        talk.receive(assign(number, lease=f"b{number}"), 0.0)
    for lease in ("a1", "b2"):
        revoke = pb.Revoke(query=int(lease[1]), lease_id=lease, reason="EXPIRED")
        talk.receive(pb.ConverseResponse(revoke=revoke), 0.0)
    assert take(talk).number == 1
    assert nothing(talk)


def test_heartbeat_only_while_something_is_held() -> None:
    talk = dialogue()
    assert talk.heartbeat() is None
    talk.receive(assign(1), 0.0)
    beat = talk.heartbeat()
    assert beat is not None
    assert beat.WhichOneof("message") == "extend"


def test_extension_that_lost_a_lease_forgets_the_query() -> None:
    talk = dialogue()
    talk.receive(assign(1), 0.0)
    talk.receive(pb.ConverseResponse(ack=pb.Ack(lost_lease_ids=["lease-1"])), 0.0)
    assert talk.heartbeat() is None
    assert nothing(talk)


def test_skip_is_settled_by_its_query_and_may_be_sent_twice() -> None:
    talk = dialogue()
    talk.receive(assign(1), 0.0)
    message, future = talk.skip(take(talk), SkipMode.DROP)
    assert message.skip.mode == pb.SKIP_MODE_DROP
    talk.hello()
    talk.receive(welcome(), 0.0)
    talk.receive(reject("", "LEASE_LOST", query=1), 0.0)
    assert not future.result(0).applied


def test_query_leased_anew_is_asked_again_though_its_repeated_skip_is_acknowledged() -> None:
    talk = dialogue()
    talk.receive(assign(1), 0.0)
    message, future = talk.skip(take(talk), SkipMode.LATER)
    talk.hello()
    # The first skip got through, and the query has come back to this labeler.
    talk.receive(welcome(), 0.0)
    talk.receive(assign(1, "lease-2"), 0.0)
    talk.receive(ack(message), 0.0)
    assert future.result(0).applied
    assert take(talk).lease_id == "lease-2"


def test_time_per_query_runs_from_answer_to_the_next_assign() -> None:
    talk = dialogue()
    talk.receive(assign(1), 1.0)
    message, _ = talk.answer(take(talk), Verdict.INLIER, 2.0)
    talk.receive(ack(message), 2.1)
    talk.receive(assign(2), 2.5)
    assert talk.per_query_s == [0.5]


def test_dialogue_is_finished_by_a_message_and_reopened_by_another_query() -> None:
    talk = dialogue()
    talk.receive(finished("POOL_EXHAUSTED"), 0.0)
    ends = [talk.finished]
    talk.receive(assign(4), 0.0)
    ends.append(talk.finished)
    assert take(talk).number == 4
    ended = session(tuning_pb2.SESSION_STATE_CANCELLED)
    talk.receive(pb.ConverseResponse(progress=pb.Progress(session=ended)), 0.0)
    assert [*ends, talk.finished] == ["POOL_EXHAUSTED", "", "CANCELLED"]


def test_failure_ends_everything_that_waits() -> None:
    talk = dialogue()
    _, future = talk.label("a", Verdict.INLIER)
    talk.fail(InvalidInput("no"))
    assert isinstance(future.exception(0), InvalidInput)
    assert talk.idle
