"""One dialogue about several sessions, or any; no network."""

import pytest
from google.rpc import code_pb2
from tests.client.dialogue.peer import ack, assign, finished, progress, reject, session, welcome
from tests.client.dialogue.statuses import status

from svddtune.client import (
    Conflict,
    InvalidInput,
    NotFound,
    Query,
    SkipMode,
    SvddtuneError,
    Verdict,
)
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.wire.status import from_status
from svddtune.v1 import oracle_pb2 as pb
from svddtune.v1 import tuning_pb2

A, B = "sessions/a", "sessions/b"


def dialogue(*names: str, credit: int = 4) -> Dialogue:
    stream = Dialogue(names, labeler="ann", kind="automated", credit=credit)
    stream.hello()
    stream.receive(welcome(several=True), 0.0)
    for name in names:
        stream.receive(progress(session(name=name)), 0.0)
    return stream


def take(stream: Dialogue) -> Query:
    query = stream.take()
    assert query is not None
    return query


def not_found(name: str) -> SvddtuneError:
    return from_status(status(code_pb2.NOT_FOUND, "SESSION_NOT_FOUND", session=name))


def test_hello_names_all_sessions_once_and_any_by_none() -> None:
    assert list(dialogue(A, B, A).hello().hello.sessions) == [A, B]
    assert list(dialogue().hello().hello.sessions) == []


def test_same_number_in_two_sessions_is_two_queries() -> None:
    stream = dialogue(A, B)
    stream.receive(assign(1, name=A), 0.0)
    stream.receive(assign(1, name=B), 0.0)
    first, second = take(stream), take(stream)
    assert (first.session, second.session) == (A, B)
    of_a, answered_a = stream.answer(first, Verdict.INLIER, 0.0)
    of_b, skipped_b = stream.skip(second, SkipMode.OTHERS)
    assert (of_a.answer.session, of_b.skip.session) == (A, B)
    stream.receive(ack(of_b), 0.0)
    assert skipped_b.result(0).session == B
    assert not answered_a.done()
    stream.receive(ack(of_a, total=3), 0.0)
    assert answered_a.result(0).counts.total == 3
    assert stream.served.counts(A).total == 3
    assert stream.served.counts(B).total == 1


def test_refusal_concerns_the_session_it_names() -> None:
    stream = dialogue(A, B)
    stream.receive(assign(1, name=A), 0.0)
    stream.receive(assign(1, name=B), 0.0)
    skips = [stream.skip(take(stream), SkipMode.LATER) for _ in range(2)]
    stream.receive(reject(skips[1][0], status(code_pb2.FAILED_PRECONDITION, "LEASE_LOST")), 0.0)
    assert not skips[0][1].done()
    assert skips[1][1].exception(0) is not None


def test_dialogue_is_finished_once_all_sessions_named_are() -> None:
    stream = dialogue(A, B)
    stream.receive(finished("BUDGET_SPENT", name=B), 0.0)
    assert stream.finished == ""
    assert dict(stream.served.reasons) == {B: "BUDGET_SPENT"}
    stream.receive(finished("POOL_EXHAUSTED", name=A), 0.0)
    assert stream.finished == "POOL_EXHAUSTED"
    assert stream.over
    stream.receive(assign(2, name=B), 0.0)
    assert stream.finished == ""


def test_any_session_is_never_finished() -> None:
    stream = dialogue()
    stream.receive(progress(session(name=A)), 0.0)
    stream.receive(finished(name=A), 0.0)
    assert stream.finished == ""
    assert not stream.over
    stream.receive(assign(1, name=B), 0.0)
    assert take(stream).session == B


def test_end_of_a_session_takes_its_queries_only() -> None:
    stream = dialogue(A, B)
    stream.receive(assign(1, name=A), 0.0)
    stream.receive(assign(1, name=B), 0.0)
    of_a = take(stream)
    stream.receive(finished(name=A), 0.0)
    assert not stream.is_open(of_a)
    assert stream.lost_reason(of_a) == "SESSION_ENDED"
    assert take(stream).session == B


def test_unasked_label_must_say_its_session_where_there_are_several() -> None:
    stream = dialogue(A, B)
    with pytest.raises(InvalidInput) as refused:
        stream.label("x", Verdict.INLIER)
    assert refused.value.reason == "SESSION_AMBIGUOUS"
    with pytest.raises(InvalidInput):
        stream.retract("x")
    message, _ = stream.label("x", Verdict.INLIER, session=B, replace=True, answer_id="ticket-1")
    assert (message.answer.session, message.answer.replace) == (B, True)
    message, _ = stream.retract("x", session=A, of_labeler="bob", answer_id="ticket-2")
    assert (message.retract.answer_id, message.retract.of_labeler) == ("ticket-2", "bob")


def test_answer_id_is_unique_within_its_session_only() -> None:
    stream = dialogue(A, B)
    sent = [stream.label("x", Verdict.INLIER, session=name, answer_id="one") for name in (A, B)]
    again = stream.label("x", Verdict.INLIER, session=A, answer_id="one")
    assert again[1] is sent[0][1]
    with pytest.raises(Conflict) as refused:
        stream.label("x", Verdict.OUTLIER, session=A, answer_id="one")
    assert refused.value.reason == "ANSWER_ID_REUSED"
    stream.receive(ack(sent[1][0]), 0.0)
    assert sent[1][1].done()
    assert not sent[0][1].done()


def test_session_deleted_without_a_stream_is_not_in_the_next_hello() -> None:
    stream = dialogue(A, B)
    _, waits = stream.label("x", Verdict.INLIER, session=A)
    _, stays = stream.label("x", Verdict.INLIER, session=B)
    assert stream.survives(not_found("a"))
    assert list(stream.hello().hello.sessions) == [B]
    assert isinstance(waits.exception(0), NotFound)
    assert not stays.done()
    assert A not in stream.served.sessions
    assert not stream.survives(not_found("other"))


def test_session_that_never_was_ends_the_dialogue() -> None:
    stream = Dialogue([A], labeler="ann", kind="human", credit=1)
    assert not stream.survives(not_found("a"))


def test_heartbeat_serves_the_shortest_lease_held_in_all_sessions() -> None:
    stream = dialogue()
    stream.receive(progress(session(name=A, lease_seconds=600.0)), 0.0)
    stream.receive(progress(session(name=B, lease_seconds=6.0)), 0.0)
    assert stream.heartbeat_s == 20.0
    stream.receive(assign(1, name=A), 0.0)
    assert stream.heartbeat_s == 20.0
    stream.receive(assign(1, name=B), 0.0)
    assert stream.heartbeat_s == 1.0
    beat = stream.heartbeat()
    assert beat is not None
    assert beat.extend.session == ""


def test_leases_are_not_extended_without_extend() -> None:
    stream = Dialogue([A], labeler="ann", kind="human", credit=1, extend=False)
    stream.hello()
    stream.receive(welcome(), 0.0)
    stream.receive(assign(1, name=A), 0.0)
    query = take(stream)
    assert stream.heartbeat() is None
    revoke = pb.Revoke(session=A, query=1, lease_id=query.lease_id, reason=pb.REVOKE_REASON_EXPIRED)
    stream.receive(pb.ConverseResponse(revoke=revoke), 0.0)
    assert stream.lost_reason(query) == "EXPIRED"
    assert not stream.is_open(query)


def test_release_is_sent_on_each_stream_until_its_ack() -> None:
    stream = dialogue(A, B)
    stream.receive(assign(1, name=A), 0.0)
    stream.receive(assign(2, name=B), 0.0)
    first, second = take(stream), take(stream)
    answer, _ = stream.answer(second, Verdict.INLIER, 0.0)
    stream.welcomed = False
    release = stream.release(first)
    stream.hello()
    assert stream.receive(welcome(several=True), 0.0) == [answer, release]
    stream.receive(ack(release), 0.0)
    stream.hello()
    assert stream.receive(welcome(several=True), 0.0) == [answer]


def test_new_stream_asks_which_leases_are_left() -> None:
    stream = dialogue(A, B)
    for name, number in ((A, 1), (A, 2), (B, 1)):
        stream.receive(assign(number, name=name), 0.0)
    held = [take(stream) for _ in range(3)]
    stream.hello()
    asked = stream.receive(welcome(several=True), 0.0)
    assert [list(message.extend.lease_ids) for message in asked] == [
        [held[0].lease_id, held[1].lease_id],
        [held[2].lease_id],
    ]
    for name, lost in ((A, held[0]), (B, held[2])):
        answered = pb.Ack(session=name, lost_lease_ids=[lost.lease_id])
        stream.receive(pb.ConverseResponse(ack=answered), 0.0)
    assert [stream.is_open(query) for query in held] == [False, True, False]
    assert [stream.lost_reason(query) for query in held] == ["LEASE_LOST", "", "LEASE_LOST"]


def test_deletion_ends_what_waits_for_an_ack() -> None:
    stream = dialogue(A, B)
    _, waits = stream.label("x", Verdict.INLIER, session=A)
    gone = pb.Finished(session=tuning_pb2.Session(name=A), reason=pb.FINISH_REASON_DELETED)
    stream.receive(pb.ConverseResponse(finished=gone), 0.0)
    assert isinstance(waits.exception(0), NotFound)


def test_lease_under_release_is_not_offered_again() -> None:
    stream = dialogue(A)
    stream.receive(assign(1, name=A), 0.0)
    release = stream.release(take(stream))
    stream.receive(assign(1, name=A), 0.0)
    assert stream.take() is None
    stream.receive(ack(release), 0.0)
    stream.receive(assign(1, lease="new", name=A), 0.0)
    assert take(stream).lease_id == "new"


def test_ended_session_is_finished_by_its_state() -> None:
    stream = dialogue(A)
    ended = session(tuning_pb2.SESSION_STATE_COMPLETED, name=A)
    stream.receive(progress(ended), 0.0)
    assert stream.finished == "COMPLETED"
    deleted = pb.Finished(session=tuning_pb2.Session(name=A), reason=pb.FINISH_REASON_DELETED)
    stream.receive(pb.ConverseResponse(finished=deleted), 0.0)
    assert stream.finished == "DELETED"


def test_future_of_an_answer_cannot_be_cancelled() -> None:
    stream = dialogue(A)
    message, future = stream.label("x", Verdict.INLIER)
    assert not future.cancel()
    stream.receive(ack(message), 0.0)
    assert future.result(0).applied
