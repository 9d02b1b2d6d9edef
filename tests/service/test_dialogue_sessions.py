"""The pure dialogue with several sessions: one credit, a fair order, one outcome per item."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.world import LEASE_S, SESSION_IDS, Stored, World, answer, hello

from svddtune.service.serving import RETRY_S
from svddtune.state.session import SessionId, SessionState
from svddtune.v1 import oracle_pb2

NAMES = tuple(f"sessions/{one}" for one in SESSION_IDS)
A, B, C, D = SESSION_IDS


def begun(
    credit: int = 2, available: int = 0, sessions: int = 3, *, named: bool = True, **priorities: int
) -> World:
    """A stream to the first sessions, each with so many queries to ask."""
    ids = SESSION_IDS[:sessions]
    world = World(stored={one: Stored(one, available=available) for one in ids})
    for letter, priority in priorities.items():
        world.stored[SESSION_IDS["abcd".index(letter)]].priority = priority
    world.say(hello(credit=credit, sessions=NAMES[:sessions] if named else []))
    return world


def served(world: World) -> list[SessionId]:
    """Whose queries were assigned, in order."""
    return [session_id for session_id, _ in world.assigned]


def reply(world: World, session_id: SessionId, query: int) -> None:
    """Answer a query."""
    lease = world.stored[session_id].leases[query]
    world.say(answer(lease, session=f"sessions/{session_id}"))


def reply_all(world: World) -> None:
    """Answer what is held, oldest first."""
    for session_id, lease in list(world.assigned):
        if lease.query in world.stored[session_id].leases:
            reply(world, session_id, lease.query)


def test_credit_covers_all_sessions() -> None:
    assert served(begun(credit=2, available=5)) == [A, B]


def test_leases_of_a_resumed_stream_count_before_new_ones_are_made() -> None:
    world = World(stored={one: Stored(one, available=5) for one in (A, B)})
    (held,) = world.stored[B].lease(1, world.redis_ms).leases
    world.say(hello(credit=1, sessions=NAMES[:2], resume_token="0" * 32))
    assert world.assigned == [(B, held)]
    reply(world, B, held.query)
    assert served(world) == [B, A]


def test_sessions_of_one_priority_take_turns() -> None:
    world = begun(credit=1, available=3)
    for _ in range(8):
        world.now += 1
        reply_all(world)
    assert served(world) == [A, B, C] * 3


def test_higher_priority_comes_first() -> None:
    world = begun(credit=1, available=2, c=5)
    for _ in range(5):
        world.now += 1
        reply_all(world)
    assert served(world) == [C, C, A, B, A, B]


def test_new_priority_takes_effect_with_the_next_query() -> None:
    world = begun(credit=1, available=3)
    world.stored[B].priority = 7
    world.change(B, concerned=False)
    for _ in range(3):
        world.now += 1
        reply_all(world)
    assert served(world) == [A, B, B, B]


def test_welcome_describes_one_session_and_progress_several() -> None:
    world = begun(sessions=2)
    assert world.kinds() == ["welcome", "progress", "progress"]
    assert not world.sent[0].welcome.HasField("session")
    assert [one.progress.session.name for one in world.sent[1:]] == list(NAMES[:2])


def test_stream_without_named_sessions_is_joined_by_sessions_that_begin_to_ask() -> None:
    world = begun(credit=1, sessions=1, named=False)
    assert world.dialogue.serves_any
    world.stored[B] = Stored(B, available=1)
    world.perform(world.dialogue.joined(world.stored[B].session(), world.now))
    assert served(world) == [B]
    assert world.kinds()[-1] == "progress"
    # Told twice, it is served once.
    world.perform(world.dialogue.joined(world.stored[B].session(), world.now))
    assert served(world) == [B]


def test_sessions_that_join_at_once_share_the_credit() -> None:
    world = begun(credit=1, sessions=0, named=False)
    commands = []
    for one in SESSION_IDS:
        priority = SESSION_IDS.index(one)
        world.stored[one] = Stored(one, available=1, priority=priority)
        commands += world.dialogue.joined(world.stored[one].session(), world.now)
    world.perform([*commands, *world.dialogue.changed_all(world.now)])
    assert served(world) == [D]
    assert world.open_count == 1


def test_deleted_session_leaves_the_stream_and_its_credit_serves_others() -> None:
    world = begun(credit=1, available=1, named=False)
    assert served(world) == [A]
    del world.stored[A]
    world.perform(world.dialogue.deleted(A))
    assert world.sent[-1].finished.reason == "DELETED"
    world.change(B)
    assert served(world) == [A, B]
    for one in (B, C):
        world.perform(world.dialogue.deleted(one))
    # New ones may come.
    assert not world.ended


def test_stream_ends_with_the_last_of_its_named_sessions() -> None:
    world = begun(sessions=2)
    world.perform(world.dialogue.deleted(A))
    assert not world.ended
    world.perform(world.dialogue.deleted(B))
    assert world.ended
    assert world.kinds().count("finished") == 2


@pytest.mark.parametrize("what", ["end", "withdrawn"])
def test_ended_session_frees_its_credit(what: str) -> None:
    world = begun(credit=1, available=2)
    one = world.stored[A]
    one.leases.clear()
    if what == "end":
        one.state, one.finish_reason = SessionState.ESTIMATING, "FINISHED"
    else:
        one.withdrawn, one.available = True, 0
    world.change(A)
    assert served(world) == [A, B]
    reasons = [one.revoke.reason for one in world.sent if one.HasField("revoke")]
    assert reasons == ["SESSION_ENDED" if what == "end" else "LABELER_WITHDRAWN"]
    assert "finished" in world.kinds()


@pytest.mark.parametrize("item", ["answer", "skip", "retract"])
def test_item_must_name_its_session(item: str) -> None:
    world = begun(credit=1, available=1)
    values: dict[str, Any] = {
        "answer": {"answer_id": "x", "query": 1, "lease_id": "lease-0-1", "verdict": 1},
        "skip": {"query": 1, "lease_id": "lease-0-1"},
        "retract": {"answer_id": "x", "observation_id": "1"},
    }
    world.say(oracle_pb2.ConverseRequest(**{item: values[item]}))
    assert world.kinds()[-1] == "reject"
    assert "session is ''" in world.sent[-1].reject.status.message


def test_item_of_a_session_that_is_not_served_is_refused() -> None:
    world = begun(credit=1, available=1)
    world.say(answer(world.queries[0], session=NAMES[3]))
    assert world.sent[-1].reject.session == NAMES[3]
    world = begun(credit=1, available=1, named=False)
    world.stored[D] = Stored(D)
    world.say(answer(world.queries[0], session=NAMES[3]))
    # A stream to any may answer about any; this query is not there.
    assert world.sent[-1].reject.status.code == 9


def test_extend_without_a_session_covers_all_sessions() -> None:
    world = begun(credit=3, available=1)
    before = len(world.sent)
    world.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    assert [one.ack.session for one in world.sent[before:]] == list(NAMES[:3])
    world.now += LEASE_S - 1
    world.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend(session=NAMES[1])))
    assert world.sent[-1].ack.session == NAMES[1]


def test_extend_without_leases_is_acknowledged() -> None:
    world = begun(credit=3)
    world.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    assert world.kinds()[-1] == "ack"


def test_release_without_a_session_covers_all_sessions() -> None:
    world = begun(credit=2, available=1)
    world.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=0)))
    world.say(oracle_pb2.ConverseRequest(release=oracle_pb2.Release()))
    assert world.open_count == 0
    assert world.kinds()[-2:] == ["ack", "ack"]


def test_leases_named_without_a_session_are_refused() -> None:
    world = begun(credit=2, available=1)
    extend = oracle_pb2.Extend(lease_ids=["lease-0-1"])
    world.say(oracle_pb2.ConverseRequest(extend=extend))
    assert world.kinds()[-1] == "reject"


def test_expired_lease_stops_new_queries_of_all_sessions() -> None:
    world = begun(credit=1, available=1)
    world.expire()
    assert served(world) == [A]
    world.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    assert len(world.assigned) == 2


@pytest.mark.parametrize("named", [True, False])
def test_idle_stream_sets_no_timer(named: bool) -> None:
    world = begun(credit=2, named=named)
    assert world.dialogue.wake_at is None
    looks = len(world.looks)
    world.change(A, concerned=False)
    world.wait(10)
    assert world.dialogue.wake_at is None
    assert len(world.looks) == looks


def test_session_with_an_unavailable_store_does_not_delay_others() -> None:
    world = begun(credit=1)
    world.dialogue.postponed(A, (), world.now)
    world.stored[A].available = world.stored[B].available = 1
    world.change(B)
    assert served(world) == [B]
    assert world.dialogue.wake_at == pytest.approx(world.now + RETRY_S)


def test_bye_releases_the_leases_of_all_sessions() -> None:
    world = begun(credit=2, available=1)
    world.say(oracle_pb2.ConverseRequest(bye=oracle_pb2.Bye()))
    assert world.released == [A, B, C]
    assert world.ended


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
    world = begun(credit=credit, available=2, named=named)
    least, most = 0, credit
    for verb, value in script:
        if world.ended:
            break
        outcomes = sum(kind in ("ack", "reject") for kind in world.kinds())
        least = 0
        one = world.stored.get(SESSION_IDS[value % 3])
        if verb == "credit":
            most = max(value, world.open_count)
            world.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=value)))
        elif verb == "answer" and world.assigned:
            session_id, lease = world.assigned[value % len(world.assigned)]
            if session_id in world.stored:
                least = 1
                world.say(answer(lease, session=f"sessions/{session_id}"))
        elif verb == "release":
            least = 1
            world.say(oracle_pb2.ConverseRequest(release=oracle_pb2.Release()))
        elif verb == "extend":
            least = 1
            name = "" if one is None else NAMES[value % 3]
            world.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend(session=name)))
        elif verb == "wait":
            world.wait(value)
        elif verb == "stolen" and world.open_count:
            held = [(s, query) for s, one in world.stored.items() for query in one.leases]
            session_id, query = held[value % len(held)]
            del world.stored[session_id].leases[query]
            world.change(session_id)
        elif verb == "join" and not named and D not in world.stored:
            world.stored[D] = Stored(D, available=1)
            world.perform(world.dialogue.joined(world.stored[D].session(), world.now))
        elif verb == "look":
            world.perform(world.dialogue.changed_all(world.now))
        elif one is not None and verb in ("available", "change", "priority", "pause", "delete"):
            if verb == "available":
                one.available += 1
            elif verb == "priority":
                one.priority = -one.priority or 3
            elif verb == "pause":
                paused = one.state is SessionState.PAUSED
                one.state = SessionState.LABELING if paused else SessionState.PAUSED
            if verb == "delete":
                del world.stored[one.session_id]
                world.perform(world.dialogue.deleted(one.session_id))
            else:
                world.change(one.session_id)
        # Never more open queries than credit over all sessions, or than when it went down.
        assert world.open_count <= most
        # Each item has its outcome at once: one, or one a session where it is about all.
        after = sum(kind in ("ack", "reject") for kind in world.kinds())
        assert least <= after - outcomes <= (3 + (D in world.stored) if least else 0)
    kinds = world.kinds()
    assert kinds[0] == "welcome"
    assert kinds.count("welcome") == 1
    lease_ids = [lease.lease_id for _, lease in world.assigned]
    assert len(set(lease_ids)) == len(lease_ids)
    revoked = [one.revoke.lease_id for one in world.sent if one.HasField("revoke")]
    assert len(set(revoked)) == len(revoked)
    assert set(revoked) <= set(lease_ids)
    assert world.ended is (named and not world.stored)


@given(
    turns=st.integers(12, 30),
    credit=st.integers(1, 4),
    late=st.integers(0, 10),
    priority=st.sampled_from([0, 5]),
)
def test_no_session_starves(turns: int, credit: int, late: int, priority: int) -> None:
    """With a labeler that answers, sessions of equal priority differ by one query at the most."""
    world = begun(credit=credit, available=turns, named=False, c=priority)
    for turn in range(turns):
        if turn == late and D not in world.stored:
            world.stored[D] = Stored(D, available=turns, priority=priority)
            world.perform(world.dialogue.joined(world.stored[D].session(), world.now))
        world.now += 1
        session_id, lease = next(
            (s, lease) for s, lease in world.assigned if lease.query in world.stored[s].leases
        )
        reply(world, session_id, lease.query)
    counts = {one: served(world).count(one) for one in world.stored}
    if priority:
        # The preferred have all they ask; what is left of the credit goes to the others in turn.
        assert min(counts[C], counts.get(D, counts[C])) >= 1
        assert abs(counts[A] - counts[B]) <= 1
    else:
        assert max(counts[one] for one in (A, B, C)) - min(counts[one] for one in (A, B, C)) <= 1
