"""The pure dialogue with one session: promises that hold whatever both sides do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.fake_store import (
    LEASE_S,
    SESSION,
    SESSION_ID,
    FakeStore,
    answer,
    hello,
    unknown,
)

from svddtune.service.dialogue import PROGRESS_S
from svddtune.service.serving import RETRY_S
from svddtune.state.errors import InvalidInput, NotFound, StateError
from svddtune.state.session import SessionState
from svddtune.v1 import oracle_pb2


def begun(credit: int = 2, available: int = 0) -> FakeStore:
    store = FakeStore()
    store.only.available = available
    store.say(hello(credit=credit))
    return store


def test_welcome_comes_first_and_then_queries_up_to_the_credit() -> None:
    store = begun(credit=2, available=5)
    assert store.kinds() == ["welcome"]
    welcome = store.sent[0].welcome
    assert welcome.protocol_version == 1
    assert welcome.lease_seconds == LEASE_S
    assert 0 < welcome.heartbeat_seconds < LEASE_S / 2
    assert [lease.query for lease in store.queries] == [1, 2]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"min_protocol_version": 0}, "PROTOCOL_VERSION_UNSUPPORTED"),
        ({"min_protocol_version": 2}, "PROTOCOL_VERSION_UNSUPPORTED"),
        ({"min_protocol_version": 2, "max_protocol_version": 9}, "PROTOCOL_VERSION_UNSUPPORTED"),
        ({"client_name": "x" * 65}, "INVALID_FIELD"),
        ({"client_version": "ä" * 33}, "INVALID_FIELD"),
        ({"labeler": ""}, "INVALID_FIELD"),
        ({"labeler": "no blanks"}, "INVALID_FIELD"),
        ({"labeler": "x" * 65}, "INVALID_FIELD"),
        ({"sessions": [SESSION] * 101}, "INVALID_FIELD"),
        ({"sessions": ["p00"]}, "INVALID_NAME"),
        ({"sessions": ["sessions/none"]}, "SESSION_NOT_FOUND"),
        ({"credit": 1001}, "INVALID_FIELD"),
        ({"kind": 7}, "INVALID_FIELD"),
        ({"resume_token": "../"}, "INVALID_FIELD"),
    ],
)
def test_wrong_hello_ends_the_stream(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(StateError) as refusal:
        FakeStore().say(hello(**changes))
    assert refusal.value.reason == reason


@pytest.mark.parametrize("highest", [0, 1, 2, 99])
def test_welcome_has_the_highest_version_that_both_speak(highest: int) -> None:
    store = FakeStore()
    store.say(hello(max_protocol_version=highest, client_name="x" * 64, client_version="1"))
    assert store.sent[0].welcome.protocol_version == 1
    assert store.dialogue.client == "x" * 64 + " 1"


def test_refusal_of_a_version_names_the_supported_one() -> None:
    with pytest.raises(InvalidInput) as refusal:
        FakeStore().say(hello(min_protocol_version=2))
    assert refusal.value.metadata["supported"] == "1"


@pytest.mark.parametrize(
    "request_",
    [
        oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=1)),
        oracle_pb2.ConverseRequest(),
    ],
)
def test_hello_must_come_first(request_: oracle_pb2.ConverseRequest) -> None:
    with pytest.raises(InvalidInput) as refusal:
        FakeStore().say(request_)
    assert refusal.value.reason == "PROTOCOL_VIOLATION"


def test_second_hello_ends_the_stream() -> None:
    store = begun()
    with pytest.raises(InvalidInput) as refusal:
        store.say(hello())
    assert refusal.value.reason == "PROTOCOL_VIOLATION"


@pytest.mark.parametrize(
    "request_", [unknown("r1"), oracle_pb2.ConverseRequest(request_id="r1")], ids=["later", "none"]
)
def test_unknown_or_absent_item_is_rejected_and_the_stream_goes_on(
    request_: oracle_pb2.ConverseRequest,
) -> None:
    store = begun(credit=1, available=1)
    store.say(request_)
    reject = store.sent[-1].reject
    assert (reject.request_id, reject.answer_id, reject.query) == ("r1", "", 0)
    assert "message" in reject.status.message
    store.say(answer(store.queries[0]))
    assert store.kinds()[-1] == "ack"


def test_each_item_is_acknowledged_under_its_request_id() -> None:
    store = begun(credit=2, available=2)
    one, two = store.queries
    items: list[dict[str, Any]] = [
        {"credit": oracle_pb2.Credit(queries=3)},
        {"extend": oracle_pb2.Extend()},
        {"answer": answer(one).answer},
        {"release": oracle_pb2.Release(lease_ids=[two.lease_id])},
        {"extend": oracle_pb2.Extend(lease_ids=[one.lease_id])},
        {"credit": oracle_pb2.Credit(queries=1001)},
        {"answer": answer(one, session="sessions/p00-ffffffffffffffffffff").answer},
    ]
    for number, item in enumerate(items):
        store.say(oracle_pb2.ConverseRequest(request_id=f"r{number}", **item))
    assert store.outcomes() == [f"r{number}" for number in range(len(items))]
    assert store.kinds().count("reject") == 2


def test_credit_without_request_id_gets_no_ack() -> None:
    store = begun()
    store.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=1)))
    assert store.outcomes() == []


def test_request_id_of_more_than_128_bytes_is_rejected_and_cut() -> None:
    store = begun(credit=1, available=1)
    request = answer(store.queries[0])
    request.request_id = "ä" * 65
    store.say(request)
    assert store.kinds()[-1] == "reject"
    request.request_id = "x" * 4000
    store.say(request)
    assert store.outcomes()[-1] == "x" * 128
    request.request_id = "ä" * 64
    store.say(request)
    assert store.kinds()[-1] == "ack"


def test_extension_of_lost_leases_is_an_ack_that_lists_them() -> None:
    store = begun(credit=1, available=1)
    extend = oracle_pb2.Extend(lease_ids=["gone"])
    store.say(oracle_pb2.ConverseRequest(extend=extend, request_id="r"))
    ack = store.sent[-1].ack
    assert (list(ack.lost_lease_ids), list(ack.extended), ack.request_id) == (["gone"], [], "r")


def test_resume_token_names_the_same_holder() -> None:
    first = begun()
    token = first.sent[0].welcome.resume_token
    second = FakeStore()
    second.say(hello(resume_token=token))
    assert second.dialogue.holder == first.dialogue.holder
    assert begun().dialogue.holder != first.dialogue.holder


def test_leases_are_assigned_once_per_stream() -> None:
    store = begun(credit=1, available=1)
    store.change()
    store.change()
    assert len(store.queries) == 1


def test_answer_is_acknowledged_and_the_next_query_waits_for_the_notice() -> None:
    store = begun(credit=1, available=1)
    store.only.available = 1
    store.say(answer(store.queries[0]))
    assert store.kinds()[-1] == "ack"
    assert len(store.queries) == 1
    store.change()
    assert len(store.queries) == 2
    assert "revoke" not in store.kinds()


def test_faulty_item_is_rejected_and_the_stream_goes_on() -> None:
    store = begun(credit=1, available=1)
    store.say(answer(store.queries[0], session="sessions/p00-ffffffffffffffffffff"))
    reject = store.sent[-1].reject
    assert (reject.answer_id, reject.query) == ("answer-lease-0-1", 1)
    store.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=1001)))
    assert store.kinds()[-1] == "reject"
    assert not store.ended


def test_more_credit_is_used_at_once() -> None:
    store = begun(credit=0, available=3)
    assert store.queries == []
    store.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=2)))
    assert len(store.queries) == 2


def test_lower_credit_reaches_the_store_while_the_stream_waits_for_more() -> None:
    store = begun(credit=2, available=1)
    store.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=1)))
    assert store.looks[-1] == (SESSION_ID, 1)


def test_query_answered_by_others_makes_no_room_above_a_lower_credit() -> None:
    store = begun(credit=3, available=3)
    store.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=1)))
    del store.only.leases[1]
    del store.only.leases[2]
    store.only.available = 2
    store.change()
    assert [lease.query for lease in store.queries] == [1, 2, 3]
    assert store.only.leases.keys() == {3}


def test_silent_labeler_gets_no_query_in_place_of_one_that_others_answered() -> None:
    store = begun(credit=2, available=1)
    store.wait(LEASE_S / 2)
    store.only.available = 1
    store.change()
    assert len(store.queries) == 2
    # The first runs out; the second one was answered, which this stream has not seen yet.
    del store.only.leases[2]
    store.now += LEASE_S / 2 + 1
    store.change()
    assert len(store.queries) == 2
    assert store.open_count == 0


def test_expired_lease_is_revoked_and_other_labelers_are_served_first() -> None:
    store = begun(credit=1, available=1)
    store.expire()
    (revoke,) = (one.revoke for one in store.sent if one.HasField("revoke"))
    assert (revoke.query, revoke.reason) == (1, oracle_pb2.REVOKE_REASON_EXPIRED)
    assert store.looks[-1] == (SESSION_ID, 0)
    assert len(store.queries) == 1


def test_labeler_with_an_expired_lease_is_served_when_it_sends_something() -> None:
    store = begun(credit=1, available=1)
    store.expire()
    store.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    assert len(store.queries) == 2


def test_silent_labeler_with_an_expired_lease_is_served_after_a_lease_length() -> None:
    store = begun(credit=1, available=1)
    store.expire()
    store.wait(LEASE_S + 1)
    assert len(store.queries) == 2


def test_extended_lease_is_not_revoked() -> None:
    store = begun(credit=1, available=1)
    store.wait(LEASE_S - 1)
    store.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    store.wait(LEASE_S - 1)
    store.change()
    assert "revoke" not in store.kinds()


def test_lease_is_revoked_when_another_labeler_answers() -> None:
    store = begun(credit=1, available=1)
    store.only.leases.clear()
    store.change()
    assert store.sent[-2].revoke.reason == oracle_pb2.REVOKE_REASON_ANSWERED_BY_OTHER
    assert store.kinds()[-1] == "progress"


def test_idle_stream_sets_no_timer() -> None:
    assert begun().dialogue.wake_at is None


def test_end_of_session_is_sent_once_and_late_answers_are_still_taken() -> None:
    store = begun(credit=1, available=1)
    store.only.state, store.only.finish_reason = SessionState.ESTIMATING, "BUDGET_SPENT"
    store.only.leases.clear()
    store.change()
    store.only.state = SessionState.COMPLETED
    store.wait(1)
    store.change()
    finished = [one.finished for one in store.sent if one.HasField("finished")]
    assert [one.reason for one in finished] == [oracle_pb2.FINISH_REASON_BUDGET_SPENT]
    assert next(one.revoke.reason for one in store.sent if one.HasField("revoke")) == (
        oracle_pb2.REVOKE_REASON_SESSION_ENDED
    )
    store.say(answer(store.queries[0]))
    assert store.kinds()[-1] == "reject"
    assert not store.ended


def test_resumed_session_is_served_and_its_end_is_sent_again() -> None:
    store = begun(credit=1)
    store.only.state, store.only.finish_reason = SessionState.COMPLETED, "FINISHED"
    store.change()
    store.only.state, store.only.available = SessionState.LABELING, 1
    store.change()
    assert len(store.queries) == 1
    store.only.state = SessionState.ESTIMATING
    store.change()
    assert store.kinds().count("finished") == 2


def test_changes_in_quick_succession_make_one_progress_message() -> None:
    store = begun()
    for _ in range(10):
        store.change()
    assert store.kinds().count("progress") == 1
    store.wait(PROGRESS_S)
    assert store.kinds().count("progress") == 2
    assert store.sent[-1].progress.session.etag == str(store.only.version)


def test_progress_of_one_of_many_streams_waits_for_its_turn() -> None:
    store = begun(credit=1)
    store.dialogue.progress_s, store.dialogue.progress_wait_s = 2.0, 1.5
    store.only.available = 1
    store.change()
    # What concerns the labeler itself does not wait.
    assert len(store.queries) == 1
    store.wait(1.0)
    store.change()
    assert "progress" not in store.kinds()
    store.wait(0.5)
    assert store.kinds().count("progress") == 1


def test_deleted_session_ends_the_stream() -> None:
    store = begun()
    store.perform(store.dialogue.deleted(SESSION_ID))
    assert store.sent[-1].finished.reason == oracle_pb2.FINISH_REASON_DELETED
    assert store.ended


@pytest.mark.parametrize("bye", [True, False])
def test_bye_and_half_close_release_all_leases(bye: bool) -> None:
    store = begun(credit=1, available=1)
    if bye:
        store.say(oracle_pb2.ConverseRequest(bye=oracle_pb2.Bye()))
    else:
        store.perform(store.dialogue.half_closed())
    assert store.released
    assert store.ended


def test_drain_keeps_leases_for_the_next_stream() -> None:
    store = begun(credit=1, available=1)
    store.perform(store.dialogue.draining(oracle_pb2.DRAIN_REASON_SHUTDOWN))
    assert store.kinds()[-1] == "drain"
    assert store.ended
    assert not store.released


def test_unknown_session_ends_the_stream_with_not_found() -> None:
    with pytest.raises(NotFound):
        FakeStore().say(hello(sessions=["sessions/p00-xyz"]))


steps = st.lists(
    st.one_of(
        st.tuples(st.just("credit"), st.integers(0, 5)),
        st.tuples(st.just("available"), st.integers(0, 3)),
        st.tuples(st.just("answer"), st.integers(0, 20)),
        st.tuples(st.just("release"), st.just(0)),
        st.tuples(st.just("extend"), st.just(0)),
        st.tuples(st.just("unknown"), st.just(0)),
        st.tuples(st.just("change"), st.just(0)),
        st.tuples(st.just("wait"), st.integers(0, 90)),
        st.tuples(st.just("state"), st.sampled_from(list(SessionState))),
        st.tuples(st.just("stolen"), st.integers(0, 20)),
    ),
    max_size=40,
)


@given(credit=st.integers(0, 5), script=steps)
def test_protocol_promises_hold_for_every_history(
    credit: int, script: list[tuple[str, object]]
) -> None:
    store = begun(credit=credit, available=3)
    said: list[str] = []
    most = credit

    def say(request: oracle_pb2.ConverseRequest) -> None:
        request.request_id = str(len(said))
        said.append(request.request_id)
        store.say(request)

    for verb, value in script:
        if verb == "credit":
            assert isinstance(value, int)
            most = max(value, len(store.only.leases))
            say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=value)))
        elif verb == "available":
            assert isinstance(value, int)
            store.only.available += value
            store.change()
        elif verb == "answer" and store.queries:
            assert isinstance(value, int)
            say(answer(store.queries[value % len(store.queries)]))
        elif verb == "release":
            say(oracle_pb2.ConverseRequest(release=oracle_pb2.Release()))
        elif verb == "extend":
            say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
        elif verb == "unknown":
            say(unknown())
        elif verb == "change":
            store.change()
        elif verb == "wait":
            assert isinstance(value, int)
            store.wait(value)
        elif verb == "state":
            assert isinstance(value, SessionState)
            store.only.state = value
            store.change()
        elif verb == "stolen" and store.only.leases:
            assert isinstance(value, int)
            store.only.leases.pop(sorted(store.only.leases)[value % len(store.only.leases)])
            store.change()
        # Never more open queries than credit, or than were open when the credit went down.
        assert len(store.only.leases) <= most
    kinds = store.kinds()
    assert kinds[0] == "welcome"
    assert kinds.count("welcome") == 1
    # Each item has exactly one outcome.
    assert store.outcomes() == said
    # Each lease is assigned at most once, and revoked at most once.
    lease_ids = [lease.lease_id for lease in store.queries]
    assert len(set(lease_ids)) == len(lease_ids)
    revoked = [one.revoke.lease_id for one in store.sent if one.HasField("revoke")]
    assert len(set(revoked)) == len(revoked)
    assert set(revoked) <= set(lease_ids)
    assert not store.ended


def test_store_is_asked_again_after_it_did_not_answer() -> None:
    store = begun(credit=1)
    assert store.dialogue.postponed(SESSION_ID, (), store.now) == []
    assert store.dialogue.wake_at == pytest.approx(store.now + RETRY_S)
    store.only.available = 1
    store.wait(RETRY_S)
    assert len(store.queries) == 1


def test_query_that_could_not_be_delivered_is_delivered_later() -> None:
    store = begun(credit=1, available=1)
    store.dialogue.postponed(SESSION_ID, store.queries, store.now)
    store.wait(RETRY_S)
    assert [lease.query for lease in store.queries] == [1, 1]
