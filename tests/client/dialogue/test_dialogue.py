"""The dialogue as lists of messages; no network."""

from datetime import UTC, datetime

import pytest
from google.rpc import code_pb2
from tests.client.dialogue.peer import SESSION, ack, assign, finished, reject, session, welcome
from tests.client.dialogue.statuses import status

from svddtune.client import Conflict, InvalidInput, LeaseLost, Query, SkipMode, Verdict
from svddtune.client.dialogue.machine import Dialogue
from svddtune.v1 import oracle_pb2 as pb
from svddtune.v1 import tuning_pb2


def dialogue(credit: int = 1) -> Dialogue:
    stream = Dialogue([SESSION], labeler="ann", kind="human", credit=credit)
    stream.hello()
    stream.receive(welcome(), 0.0)
    return stream


def take(stream: Dialogue) -> Query:
    query = stream.take()
    assert query is not None
    return query


def nothing(stream: Dialogue) -> bool:
    """True where the caller has nothing to take."""
    return stream.take() is None


def refused(message: pb.ConverseRequest, reason: str) -> pb.ConverseResponse:
    return reject(message, status(code_pb2.FAILED_PRECONDITION, reason))


def test_hello_has_the_labeler_and_the_last_resume_token() -> None:
    stream = Dialogue([SESSION], labeler="ann", kind="human", credit=3)
    first = stream.hello().hello
    assert (first.labeler, first.credit, list(first.sessions)) == ("ann", 3, [SESSION])
    assert first.kind == pb.LABELER_KIND_HUMAN
    assert (first.min_protocol_version, first.max_protocol_version) == (1, 1)
    assert first.resume_token == ""
    stream.receive(welcome("t7"), 0.0)
    assert stream.hello().hello.resume_token == "t7"


def test_same_lease_after_a_reconnect_is_no_new_query() -> None:
    stream = dialogue()
    stream.receive(assign(1), 0.0)
    take(stream)
    stream.receive(assign(1), 0.0)
    assert nothing(stream)
    stream.receive(assign(1, lease="other"), 0.0)
    assert take(stream).lease_id == "other"


def test_answer_without_ack_is_sent_again_with_the_same_id_and_in_order() -> None:
    stream = dialogue()
    stream.receive(assign(1), 0.0)
    first, _ = stream.answer(take(stream), Verdict.INLIER, 0.0)
    second, _ = stream.label("obs-9", Verdict.OUTLIER, source_reference="TICKET-1")
    stream.hello()
    assert stream.receive(welcome(), 0.0) == [first, second]
    stream.receive(ack(first), 0.0)
    stream.hello()
    assert stream.receive(welcome(), 0.0) == [second]


def test_query_with_an_unacknowledged_answer_is_not_asked_again() -> None:
    stream = dialogue()
    stream.receive(assign(1), 0.0)
    message, future = stream.answer(take(stream), Verdict.INLIER, 0.0)
    stream.receive(assign(1, lease="new"), 0.0)
    assert nothing(stream)
    stream.receive(ack(message), 0.0)
    assert future.result(0).applied
    assert stream.heartbeat() is None


def test_refused_answer_on_a_lease_that_was_renewed_brings_the_query_back() -> None:
    stream = dialogue()
    stream.receive(assign(1), 0.0)
    message, future = stream.answer(take(stream), Verdict.INLIER, 0.0)
    stream.receive(assign(1, lease="new"), 0.0)
    stream.receive(refused(message, "LEASE_LOST"), 0.0)
    assert isinstance(future.exception(0), LeaseLost)
    assert take(stream).lease_id == "new"


@pytest.mark.parametrize(
    ("reason", "kind", "held"),
    [("INVALID_FIELD", Exception, True), ("ALREADY_ANSWERED", Conflict, False)],
)
def test_query_with_a_refused_answer_can_be_answered_again(
    reason: str, kind: type[Exception], held: bool
) -> None:
    stream = dialogue()
    stream.receive(assign(1), 0.0)
    query = take(stream)
    message, future = stream.answer(query, Verdict.INLIER, 0.0, source_reference="x" * 300)
    stream.receive(refused(message, reason), 0.0)
    assert isinstance(future.exception(0), kind)
    assert stream.is_open(query) is held


def test_revoked_query_is_forgotten_unless_it_was_leased_anew() -> None:
    stream = dialogue(credit=2)
    for number in (1, 2):
        stream.receive(assign(number, lease=f"b{number}"), 0.0)
    for lease in ("a1", "b2"):
        revoke = pb.Revoke(query=int(lease[1]), lease_id=lease, reason=pb.REVOKE_REASON_EXPIRED)
        stream.receive(pb.ConverseResponse(revoke=revoke), 0.0)
    assert take(stream).number == 1
    assert nothing(stream)


def test_heartbeat_only_while_something_is_held() -> None:
    stream = dialogue()
    assert stream.heartbeat() is None
    stream.receive(assign(1), 0.0)
    beat = stream.heartbeat()
    assert beat is not None
    assert beat.WhichOneof("message") == "extend"


def test_extension_that_lost_a_lease_forgets_the_query() -> None:
    stream = dialogue()
    stream.receive(assign(1), 0.0)
    stream.receive(pb.ConverseResponse(ack=pb.Ack(lost_lease_ids=["lease-1"])), 0.0)
    assert stream.heartbeat() is None
    assert nothing(stream)


def test_skip_without_ack_is_sent_again_and_settled_by_its_request_id() -> None:
    stream = dialogue(credit=2)
    for number in (1, 2):
        stream.receive(assign(number), 0.0)
    first, one = stream.skip(take(stream), SkipMode.DROP)
    second, two = stream.skip(take(stream), SkipMode.LATER)
    assert first.skip.mode == pb.SKIP_MODE_DROP
    stream.hello()
    assert stream.receive(welcome(), 0.0) == [first, second]
    stream.receive(refused(second, "LEASE_LOST"), 0.0)
    stream.receive(ack(first), 0.0)
    assert one.result(0).applied
    assert isinstance(two.exception(0), LeaseLost)


def test_each_item_has_a_request_id_of_its_own() -> None:
    stream = dialogue(credit=3)
    for number in (1, 2, 3):
        stream.receive(assign(number), 0.0)
    said = [
        stream.answer(take(stream), Verdict.INLIER, 0.0)[0],
        stream.skip(take(stream), SkipMode.LATER)[0],
        stream.release(take(stream)),
        stream.label("obs-9", Verdict.INLIER)[0],
        stream.retract("obs-9")[0],
    ]
    assert all(message.request_id for message in said)
    assert len({message.request_id for message in said}) == len(said)


def test_extension_sets_the_end_of_each_lease() -> None:
    stream = dialogue(credit=2)
    stream.receive(assign(1), 0.0)
    stream.receive(assign(2), 0.0)
    later = pb.LeaseExpiry(lease_id="lease-2")
    later.expire_time.FromSeconds(90)
    stream.receive(pb.ConverseResponse(ack=pb.Ack(extended=[later])), 0.0)
    ends = [take(stream).lease_expires for _ in range(2)]
    assert ends == [None, datetime.fromtimestamp(90, UTC)]


def test_unknown_messages_and_reasons_of_a_later_server_are_ignored() -> None:
    stream = dialogue(credit=2)
    stream.receive(assign(1), 0.0)
    query = take(stream)
    # Field 99, which this client does not know.
    later = pb.ConverseResponse.FromString(b"\x9a\x06\x00")
    assert later.WhichOneof("message") is None
    assert stream.receive(later, 0.0) == []
    assert stream.is_open(query)
    revoke = pb.Revoke(query=1, lease_id="lease-1", reason=99)  # type: ignore[arg-type]
    stream.receive(pb.ConverseResponse(revoke=revoke), 0.0)
    assert (stream.is_open(query), stream.lost_reason(query)) == (False, "99")
    about = session(99)  # type: ignore[arg-type]
    stream.receive(pb.ConverseResponse(progress=pb.Progress(session=about)), 0.0)
    drain = pb.Drain(reason=99)  # type: ignore[arg-type]
    stream.receive(pb.ConverseResponse(drain=drain), 0.0)
    assert stream.draining
    end = pb.Finished(session=about, reason=99)  # type: ignore[arg-type]
    stream.receive(pb.ConverseResponse(finished=end), 0.0)
    assert stream.finished == "99"


def test_query_leased_anew_is_asked_again_though_its_repeated_skip_is_acknowledged() -> None:
    stream = dialogue()
    stream.receive(assign(1), 0.0)
    message, future = stream.skip(take(stream), SkipMode.LATER)
    stream.hello()
    # The first skip got through, and the query has come back to this labeler.
    stream.receive(welcome(), 0.0)
    stream.receive(assign(1, "lease-2"), 0.0)
    stream.receive(ack(message), 0.0)
    assert future.result(0).applied
    assert take(stream).lease_id == "lease-2"


def test_time_per_query_runs_from_answer_to_the_next_assign() -> None:
    stream = dialogue()
    stream.receive(assign(1), 1.0)
    message, _ = stream.answer(take(stream), Verdict.INLIER, 2.0)
    stream.receive(ack(message), 2.1)
    stream.receive(assign(2), 2.5)
    assert stream.per_query_s == [0.5]


def test_dialogue_is_finished_by_a_message_and_reopened_by_another_query() -> None:
    stream = dialogue()
    stream.receive(finished("POOL_EXHAUSTED"), 0.0)
    ends = [stream.finished]
    stream.receive(assign(4), 0.0)
    ends.append(stream.finished)
    assert take(stream).number == 4
    ended = session(tuning_pb2.SESSION_STATE_CANCELLED)
    stream.receive(pb.ConverseResponse(progress=pb.Progress(session=ended)), 0.0)
    assert [*ends, stream.finished] == ["POOL_EXHAUSTED", "", "CANCELLED"]


def test_failure_ends_everything_that_waits() -> None:
    stream = dialogue()
    _, future = stream.label("a", Verdict.INLIER)
    stream.fail(InvalidInput("no"))
    assert isinstance(future.exception(0), InvalidInput)
    assert stream.idle
