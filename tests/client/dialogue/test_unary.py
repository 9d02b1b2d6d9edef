"""The dialogue by unary calls, against a server that has no stream, and against a real one."""

import threading
from collections import Counter
from typing import Any

import pytest
from tests.client.dialogue.unary_peer import CODE, peer, talking
from tests.client.flavours import Connect
from tests.client.scene import blob
from tests.waiting import wait_until

from svddtune.client import (
    EmbeddedStack,
    InvalidInput,
    LeaseLost,
    NotFound,
    SessionState,
    Tuning,
)
from svddtune.client.dialogue.unary import LeaseBook
from svddtune.v1 import oracle_pb2 as pb


def take(tuning: Tuning) -> Any:
    query = tuning.next_query(timeout_s=20)
    assert query is not None
    return query


def test_asks_until_finished(connect: Connect) -> None:
    server = peer(a=4)
    with talking(connect, server) as tuning:
        asked = [tuning.answer(query, "inlier").query for query in tuning.queries()]
        assert tuning.finished == "BUDGET_SPENT"
        assert tuning.counts.total == 4
        assert len(tuning.per_query_s) == 3
    assert asked == [1, 2, 3, 4]
    assert server.calls["Answer"] == 4


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("method", ["Lease", "Answer", "Extend", "GetSession"])
def test_call_that_failed_is_made_again_and_has_one_effect(
    connect: Connect, method: str, when: str
) -> None:
    server = peer(a=3, lease_seconds=0.3)
    server.fail(method, CODE.UNAVAILABLE, when=when)
    asked = []
    with talking(connect, server) as tuning:
        for query in tuning.queries():
            if method != "Answer":
                wait_until(lambda: server.broken)
            asked.append(tuning.answer(query, "outlier").query)
    assert server.broken
    assert asked == [1, 2, 3]
    assert sorted(answer.query for answer in server.answers.values()) == [1, 2, 3]


def test_skip_that_acted_before_its_call_broke_is_done(connect: Connect) -> None:
    server = peer(a=2)
    server.fail("Skip", CODE.UNAVAILABLE, when="after")
    with talking(connect, server) as tuning:
        tuning.skip(take(tuning), "others")
        assert take(tuning).number == 2
    assert server.calls["Skip"] == 2


def test_heartbeat_keeps_leases_and_shows_which_are_lost(connect: Connect) -> None:
    server = peer(a=2, lease_seconds=0.3)
    with talking(connect, server) as tuning:
        query = take(tuning)
        wait_until(lambda: server.calls["Extend"] >= 3)
        assert tuning.is_open(query)
        with server.changed:
            server.held.clear()
        wait_until(lambda: not tuning.is_open(query))
        assert tuning.lost_reason(query) == "LEASE_LOST"
        assert take(tuning).number == 2


def test_refused_items_are_raised_and_the_dialogue_goes_on(connect: Connect) -> None:
    server = peer(a=2)
    with talking(connect, server) as tuning:
        query = take(tuning)
        with server.changed:
            server.held.clear()
        with pytest.raises(LeaseLost):
            tuning.answer(query, "inlier")
        server.fail("Retract", CODE.INVALID_ARGUMENT)
        with pytest.raises(InvalidInput):
            tuning.retract("nobody")
        assert tuning.retract("obs-1").applied
        assert tuning.label("obs-9", "outlier", replace=True).applied
        assert take(tuning).number == 2


def test_queries_are_held_up_to_the_credit_and_given_back_at_the_end(connect: Connect) -> None:
    server = peer(a=5)
    with talking(connect, server, credit=3) as tuning:
        one, two, three = take(tuning), take(tuning), take(tuning)
        assert len(server.held) == 3
        tuning.answer(two, "inlier")
        four = take(tuning)
        tuning.release(four)
        wait_until(lambda: four.lease_id not in server.held)
        assert tuning.is_open(one)
        assert tuning.is_open(three)
    wait_until(lambda: not server.held)


def test_one_dialogue_serves_several_sessions_until_all_are_finished(connect: Connect) -> None:
    server = peer(a=2, b=3, c=1)
    names = ["sessions/a", "sessions/b", "sessions/c"]
    with talking(connect, server, names, credit=2) as tuning:
        asked = Counter[str]()
        while (query := tuning.next_query(timeout_s=20)) is not None:
            asked[query.session] += 1
            tuning.answer(query, "inlier")
        assert set(tuning.finished_sessions) == set(names)
    assert asked == {"sessions/a": 2, "sessions/b": 3, "sessions/c": 1}


def test_any_session_is_waited_for(connect: Connect) -> None:
    server = peer(a=1)
    with talking(connect, server, None) as tuning:
        tuning.answer(take(tuning), "inlier")
        with server.changed:
            server.left["sessions/later"] = [7]
            server.changed.notify_all()
        query = take(tuning)
        assert (query.session, query.number) == ("sessions/later", 7)
        assert set(tuning.sessions) == {"sessions/a", "sessions/later"}


def test_session_that_was_deleted_is_finished_and_one_that_never_was_is_an_error(
    connect: Connect,
) -> None:
    server = peer(a=1, b=1)
    with talking(connect, server, ["sessions/a", "sessions/b"]) as tuning:
        first = take(tuning)
        with server.changed:
            other = "sessions/b" if first.session == "sessions/a" else "sessions/a"
            del server.left[other]
        tuning.answer(first, "inlier")
        assert tuning.next_query(timeout_s=20) is None
        assert tuning.finished_sessions[other] == "DELETED"
    with talking(connect, peer(a=1), "sessions/none") as tuning, pytest.raises(NotFound):
        tuning.next_query(timeout_s=20)


def test_closing_does_not_wait_for_a_long_poll(connect: Connect) -> None:
    server = peer(a=0, b=0)
    before = set(threading.enumerate())
    with talking(connect, server, None):
        wait_until(lambda: server.calls["Lease"] > 0)
        ours = set(threading.enumerate()) - before
    left = [t for t in ours if t.name.startswith(("svddtune", "unary"))]
    assert ours
    wait_until(lambda: not any(thread.is_alive() for thread in left), timeout_s=2)


def test_lease_in_doubt_is_neither_extended_nor_forgotten() -> None:
    book = LeaseBook()
    one, two = (pb.Assign(session="s", query=n, lease_id=f"l{n}") for n in (1, 2))
    assert book.take([one, two]) == [one, two]
    assert book.take([one, two]) == []
    book.doubt("l1")
    assert book.leases() == {"s": ["l2"]}
    assert (len(book), book.count("s"), book.count("t"), book.sessions()) == (2, 2, 0, {"s"})
    book.settle("l1", gone=False)
    assert book.leases(named=["l1"]) == {"s": ["l1"]}
    book.settle("l1", gone=True)
    assert book.leases() == {"s": ["l2"]}
    book.drop("l2")
    assert book.leases() == {}


@pytest.mark.integration
def test_real_session_is_labelled_by_unary_calls(connect: Connect, stack: EmbeddedStack) -> None:
    X, y = blob(5)
    with connect(stack.address) as client:
        session = client.create_session(client.upload_dataset(X), budget=10)
        with client.tuning(session, stream=False, credit=2) as tuning:
            skipped = take(tuning)
            tuning.skip(skipped, "drop")
            first = take(tuning)
            tuning.answer(first, int(y[first.row]))
            tuning.retract(first.observation_id)
            tuning.label(first.observation_id, int(y[first.row]), replace=True)
            for query in tuning.queries():
                tuning.answer(query, int(y[query.row]))
        done = client.wait_until_completed(session, timeout_s=60)
        labelled = {event.row for event in client.labels(session)}
    assert done.state is SessionState.COMPLETED
    assert done.counts.total == 10
    assert skipped.row not in labelled
