"""The pure dialogue with several sessions: one credit, a fair order, one outcome per item."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.fake_store import LEASE_S, SESSION_IDS, FakeStore, Stored, answer, hello

from svddtune.client.wire import convert
from svddtune.service.serving import RETRY_S
from svddtune.state.session import SessionId, SessionState
from svddtune.v1 import oracle_pb2

NAMES = tuple(f"sessions/{one}" for one in SESSION_IDS)
A, B, C, D = SESSION_IDS


def begun(
    credit: int = 2, available: int = 0, sessions: int = 3, *, named: bool = True, **priorities: int
) -> FakeStore:
    """A stream to the first sessions, each with so many queries to ask."""
    ids = SESSION_IDS[:sessions]
    store = FakeStore(stored={one: Stored(one, available=available) for one in ids})
    for letter, priority in priorities.items():
        store.stored[SESSION_IDS["abcd".index(letter)]].priority = priority
    store.say(hello(credit=credit, sessions=NAMES[:sessions] if named else []))
    return store


def served(store: FakeStore) -> list[SessionId]:
    """Whose queries were assigned, in order."""
    return [session_id for session_id, _ in store.assigned]


def reply(store: FakeStore, session_id: SessionId, query: int) -> None:
    """Answer a query."""
    lease = store.stored[session_id].leases[query]
    store.say(answer(lease, session=f"sessions/{session_id}"))


def reply_all(store: FakeStore) -> None:
    """Answer what is held, oldest first."""
    for session_id, lease in list(store.assigned):
        if lease.query in store.stored[session_id].leases:
            reply(store, session_id, lease.query)


def test_credit_covers_all_sessions() -> None:
    assert served(begun(credit=2, available=5)) == [A, B]


def test_leases_of_a_resumed_stream_count_before_new_ones_are_made() -> None:
    store = FakeStore(stored={one: Stored(one, available=5) for one in (A, B)})
    (held,) = store.stored[B].lease(1, store.redis_ms).leases
    store.say(hello(credit=1, sessions=NAMES[:2], resume_token="0" * 32))
    assert store.assigned == [(B, held)]
    reply(store, B, held.query)
    assert served(store) == [B, A]


def test_sessions_of_one_priority_take_turns() -> None:
    store = begun(credit=1, available=3)
    for _ in range(8):
        store.now += 1
        reply_all(store)
    assert served(store) == [A, B, C] * 3


def test_higher_priority_comes_first() -> None:
    store = begun(credit=1, available=2, c=5)
    for _ in range(5):
        store.now += 1
        reply_all(store)
    assert served(store) == [C, C, A, B, A, B]


def test_new_priority_takes_effect_with_the_next_query() -> None:
    store = begun(credit=1, available=3)
    store.stored[B].priority = 7
    store.change(B, concerned=False)
    for _ in range(3):
        store.now += 1
        reply_all(store)
    assert served(store) == [A, B, B, B]


def test_welcome_describes_one_session_and_progress_several() -> None:
    store = begun(sessions=2)
    assert store.kinds() == ["welcome", "progress", "progress"]
    assert not store.sent[0].welcome.HasField("session")
    assert [one.progress.session.name for one in store.sent[1:]] == list(NAMES[:2])


def test_stream_without_named_sessions_is_joined_by_sessions_that_begin_to_ask() -> None:
    store = begun(credit=1, sessions=1, named=False)
    assert store.dialogue.serves_any
    store.stored[B] = Stored(B, available=1)
    store.perform(store.dialogue.joined(store.stored[B].session(), store.now))
    assert served(store) == [B]
    assert store.kinds()[-1] == "progress"
    # Told twice, it is served once.
    store.perform(store.dialogue.joined(store.stored[B].session(), store.now))
    assert served(store) == [B]


def test_sessions_that_join_at_once_share_the_credit() -> None:
    store = begun(credit=1, sessions=0, named=False)
    commands = []
    for one in SESSION_IDS:
        priority = SESSION_IDS.index(one)
        store.stored[one] = Stored(one, available=1, priority=priority)
        commands += store.dialogue.joined(store.stored[one].session(), store.now)
    store.perform([*commands, *store.dialogue.changed_all(store.now)])
    assert served(store) == [D]
    assert store.open_count == 1


def test_deleted_session_leaves_the_stream_and_its_credit_serves_others() -> None:
    store = begun(credit=1, available=1, named=False)
    assert served(store) == [A]
    del store.stored[A]
    store.perform(store.dialogue.deleted(A))
    assert store.sent[-1].finished.reason == oracle_pb2.FINISH_REASON_DELETED
    store.change(B)
    assert served(store) == [A, B]
    for one in (B, C):
        store.perform(store.dialogue.deleted(one))
    # New ones may come.
    assert not store.ended


def test_stream_ends_with_the_last_of_its_named_sessions() -> None:
    store = begun(sessions=2)
    store.perform(store.dialogue.deleted(A))
    assert not store.ended
    store.perform(store.dialogue.deleted(B))
    assert store.ended
    assert store.kinds().count("finished") == 2


@pytest.mark.parametrize("what", ["end", "withdrawn"])
def test_ended_session_frees_its_credit(what: str) -> None:
    store = begun(credit=1, available=2)
    one = store.stored[A]
    one.leases.clear()
    if what == "end":
        one.state, one.finish_reason = SessionState.ESTIMATING, "FINISHED"
    else:
        one.withdrawn, one.available = True, 0
    store.change(A)
    assert served(store) == [A, B]
    reasons = [one.revoke.reason for one in store.sent if one.HasField("revoke")]
    assert [convert.revoke_reason(one) for one in reasons] == [
        "SESSION_ENDED" if what == "end" else "LABELER_WITHDRAWN"
    ]
    assert "finished" in store.kinds()


@pytest.mark.parametrize("item", ["answer", "skip", "retract"])
def test_item_must_name_its_session(item: str) -> None:
    store = begun(credit=1, available=1)
    values: dict[str, Any] = {
        "answer": {"answer_id": "x", "query": 1, "lease_id": "lease-0-1", "verdict": 1},
        "skip": {"query": 1, "lease_id": "lease-0-1"},
        "retract": {"answer_id": "x", "observation_id": "1"},
    }
    store.say(oracle_pb2.ConverseRequest(**{item: values[item]}))
    assert store.kinds()[-1] == "reject"
    assert "session is ''" in store.sent[-1].reject.status.message


def test_item_of_a_session_that_is_not_served_is_refused() -> None:
    store = begun(credit=1, available=1)
    store.say(answer(store.queries[0], session=NAMES[3]))
    assert store.sent[-1].reject.session == NAMES[3]
    store = begun(credit=1, available=1, named=False)
    store.stored[D] = Stored(D)
    store.say(answer(store.queries[0], session=NAMES[3]))
    # A stream to any may answer about any; this query is not there.
    assert store.sent[-1].reject.status.code == 9


def test_extend_without_a_session_covers_all_sessions() -> None:
    store = begun(credit=3, available=1)
    before = len(store.sent)
    store.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    (one,) = store.sent[before:]
    assert {extended.lease_id for extended in one.ack.extended} == {
        lease.lease_id for lease in store.queries
    }
    store.now += LEASE_S - 1
    store.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend(session=NAMES[1])))
    assert store.sent[-1].ack.session == NAMES[1]


def test_extend_without_leases_is_acknowledged() -> None:
    store = begun(credit=3)
    store.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    assert store.kinds()[-1] == "ack"


def test_release_without_a_session_covers_all_sessions() -> None:
    store = begun(credit=2, available=1)
    store.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=0)))
    store.say(oracle_pb2.ConverseRequest(release=oracle_pb2.Release()))
    assert store.open_count == 0
    assert len(store.outcomes()) == 1


def test_leases_named_without_a_session_are_refused() -> None:
    store = begun(credit=2, available=1)
    extend = oracle_pb2.Extend(lease_ids=["lease-0-1"])
    store.say(oracle_pb2.ConverseRequest(extend=extend))
    assert store.kinds()[-1] == "reject"


def test_expired_lease_stops_new_queries_of_all_sessions() -> None:
    store = begun(credit=1, available=1)
    store.expire()
    assert served(store) == [A]
    store.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    assert len(store.assigned) == 2


@pytest.mark.parametrize("named", [True, False])
def test_idle_stream_sets_no_timer(named: bool) -> None:
    store = begun(credit=2, named=named)
    assert store.dialogue.wake_at is None
    looks = len(store.looks)
    store.change(A, concerned=False)
    store.wait(10)
    assert store.dialogue.wake_at is None
    assert len(store.looks) == looks


def test_session_with_an_unavailable_store_does_not_delay_others() -> None:
    store = begun(credit=1)
    store.dialogue.postponed(A, (), store.now)
    store.stored[A].available = store.stored[B].available = 1
    store.change(B)
    assert served(store) == [B]
    assert store.dialogue.wake_at == pytest.approx(store.now + RETRY_S)


def test_bye_releases_the_leases_of_all_sessions() -> None:
    store = begun(credit=2, available=1)
    store.say(oracle_pb2.ConverseRequest(bye=oracle_pb2.Bye()))
    assert store.released == [A, B, C]
    assert store.ended


session_numbers = st.integers(0, 2)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("credit"), st.integers(0, 5)),
        st.tuples(st.just("available"), session_numbers),
        st.tuples(st.just("answer"), st.integers(0, 20)),
        st.tuples(st.just("release"), st.just(0)),
        st.tuples(st.just("extend"), st.integers(0, 3)),
        st.tuples(st.just("change"), session_numbers),
        st.tuples(st.just("priority"), session_numbers),
        st.tuples(st.just("wait"), st.integers(0, 90)),
        st.tuples(st.just("pause"), session_numbers),
        st.tuples(st.just("stolen"), st.integers(0, 20)),
        st.tuples(st.just("join"), st.just(0)),
        st.tuples(st.just("delete"), session_numbers),
        st.tuples(st.just("look"), st.just(0)),
    ),
    max_size=40,
)


@given(credit=st.integers(0, 5), named=st.booleans(), script=steps)
def test_protocol_promises_hold_for_every_history(
    credit: int, named: bool, script: list[tuple[str, int]]
) -> None:
    store = begun(credit=credit, available=2, named=named)
    most = credit
    for verb, value in script:
        if store.ended:
            break
        outcomes, items = len(store.outcomes()), 0
        one = store.stored.get(SESSION_IDS[value % 3])
        if verb == "credit":
            most = max(value, store.open_count)
            store.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=value)))
        elif verb == "answer" and store.assigned:
            session_id, lease = store.assigned[value % len(store.assigned)]
            if session_id in store.stored:
                items = 1
                store.say(answer(lease, session=f"sessions/{session_id}"))
        elif verb == "release":
            items = 1
            store.say(oracle_pb2.ConverseRequest(release=oracle_pb2.Release()))
        elif verb == "extend":
            items = 1
            name = "" if one is None else NAMES[value % 3]
            store.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend(session=name)))
        elif verb == "wait":
            store.wait(value)
        elif verb == "stolen" and store.open_count:
            held = [(s, query) for s, one in store.stored.items() for query in one.leases]
            session_id, query = held[value % len(held)]
            del store.stored[session_id].leases[query]
            store.change(session_id)
        elif verb == "join" and not named and D not in store.stored:
            store.stored[D] = Stored(D, available=1)
            store.perform(store.dialogue.joined(store.stored[D].session(), store.now))
        elif verb == "look":
            store.perform(store.dialogue.changed_all(store.now))
        elif one is not None and verb in ("available", "change", "priority", "pause", "delete"):
            if verb == "available":
                one.available += 1
            elif verb == "priority":
                one.priority = -one.priority or 3
            elif verb == "pause":
                paused = one.state is SessionState.PAUSED
                one.state = SessionState.LABELING if paused else SessionState.PAUSED
            if verb == "delete":
                del store.stored[one.session_id]
                store.perform(store.dialogue.deleted(one.session_id))
            else:
                store.change(one.session_id)
        # Never more open queries than credit over all sessions, or than when it went down.
        assert store.open_count <= most
        # Each item has its one outcome at once.
        assert len(store.outcomes()) - outcomes == items
    kinds = store.kinds()
    assert kinds[0] == "welcome"
    assert kinds.count("welcome") == 1
    lease_ids = [lease.lease_id for _, lease in store.assigned]
    assert len(set(lease_ids)) == len(lease_ids)
    revoked = [one.revoke.lease_id for one in store.sent if one.HasField("revoke")]
    assert len(set(revoked)) == len(revoked)
    assert set(revoked) <= set(lease_ids)
    assert store.ended is (named and not store.stored)


@given(
    turns=st.integers(12, 30),
    credit=st.integers(1, 4),
    late=st.integers(0, 10),
    priority=st.sampled_from([0, 5]),
)
def test_no_session_starves(turns: int, credit: int, late: int, priority: int) -> None:
    """With a labeler that answers, sessions of equal priority differ by one query at the most."""
    store = begun(credit=credit, available=turns, named=False, c=priority)
    for turn in range(turns):
        if turn == late and D not in store.stored:
            store.stored[D] = Stored(D, available=turns, priority=priority)
            store.perform(store.dialogue.joined(store.stored[D].session(), store.now))
        store.now += 1
        session_id, lease = next(
            (s, lease) for s, lease in store.assigned if lease.query in store.stored[s].leases
        )
        reply(store, session_id, lease.query)
    counts = {one: served(store).count(one) for one in store.stored}
    if priority:
        # The preferred have all they ask; what is left of the credit goes to the others in turn.
        assert min(counts[C], counts.get(D, counts[C])) >= 1
        assert abs(counts[A] - counts[B]) <= 1
    else:
        assert max(counts[one] for one in (A, B, C)) - min(counts[one] for one in (A, B, C)) <= 1
