"""One stream, or one caller, serves several sessions: their order, who joins, who leaves."""

import pytest
from tests.service.drivers import TRANSPORTS, driver
from tests.service.harness import INLIER, Harness, Labeler
from tests.service.support import error_info
from tests.service.updates import update
from tests.waiting import wait_until

from svddtune.v1 import config_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig
AUTOMATED = oracle_pb2.LABELER_KIND_AUTOMATED


def sessions(harness: Harness, *priorities: int, budget: int = 6) -> list[str]:
    """Sessions that ask, with these priorities."""
    dataset = harness.upload().name
    return [
        harness.session(dataset=dataset, config=Config(budget=budget, priority=priority)).name
        for priority in priorities
    ]


def reply(stream: Labeler, assign: oracle_pb2.Assign) -> oracle_pb2.Ack:
    """Answer a query of one of several sessions."""
    stream.answer(assign, session=assign.session)
    ack: oracle_pb2.Ack = stream.expect("ack")
    return ack


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_sessions_take_turns(harness: Harness, transport: str) -> None:
    names = sessions(harness, 0, 0, 0)
    ann = driver(harness, transport, "")
    asked = []
    for _ in range(6):
        (assign,) = ann.wait()
        asked.append(assign.session)
        ann.answer(assign)
        harness.worker.work_off()
    assert asked == names * 2


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_session_with_higher_priority_is_served_first_also_after_a_change(
    harness: Harness, transport: str
) -> None:
    low, high = sessions(harness, 0, 3)
    ann = driver(harness, transport, "")
    asked = []
    for turn in range(4):
        (assign,) = ann.wait()
        asked.append(assign.session)
        if turn == 1:
            request = update(low, priority=9)
            updated = harness.tuning.UpdateSession(request).session
            assert updated.config.priority == 9
        # The next query comes when all sessions have one again.
        ann.rest()
        ann.answer(assign)
        harness.worker.work_off()
    assert asked == [high, high, low, low]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_session_that_is_due_sooner_is_served_first_among_equal_priorities(
    harness: Harness, transport: str
) -> None:
    dataset = harness.upload().name
    settings = [
        Config(budget=1),
        Config(budget=1, due_seconds=7200),
        Config(budget=1, due_seconds=3600),
        Config(budget=1, priority=1),
    ]
    names = [harness.session(dataset=dataset, config=one).name for one in settings]
    ann = driver(harness, transport, "")
    asked = []
    for _ in names:
        (assign,) = ann.wait()
        asked.append(assign.session)
        ann.rest()
        ann.answer(assign)
        harness.worker.work_off()
    assert asked == [names[one] for one in (3, 2, 1, 0)]


def test_session_says_when_it_is_due_and_whether_that_is_over(harness: Harness) -> None:
    assert not harness.session().HasField("due_time")
    name = harness.session(config=Config(budget=4, due_seconds=1)).name

    def overdue() -> bool:
        return bool(harness.get(name).overdue)

    wait_until(overdue)
    session = harness.get(name)
    assert session.due_time.ToMilliseconds() == session.create_time.ToMilliseconds() + 1000
    # Nobody is late with labels that nobody wants any more.
    harness.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=name))
    assert not harness.get(name).overdue


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_labeler_holds_no_more_than_its_credit_over_all_sessions(
    harness: Harness, transport: str
) -> None:
    first, second = sessions(harness, 0, 0)
    ann = driver(harness, transport, "")
    held = ann.wait(3)
    assert [one.session for one in held].count(first) == 2
    assert sum(harness.get(name).leased_count for name in (first, second)) == 3
    # What a session holds later in the order counts as well.
    request = update(second, priority=9)
    harness.tuning.UpdateSession(request)
    assert len(ann.take(3)) == 3
    assert sum(harness.get(name).leased_count for name in (first, second)) == 3


def test_stream_with_named_sessions_serves_only_these(harness: Harness) -> None:
    first, _, third = sessions(harness, 0, 5, 0)
    stream = harness.labeler([first, third], credit=4)
    assert not stream.expect("welcome").HasField("session")
    described = [stream.expect("progress").session.name for _ in range(2)]
    assert described == [first, third]
    assert sorted(stream.expect("assign").session for _ in range(4)) == sorted([first, third] * 2)


def test_session_joins_when_it_begins_to_ask(harness: Harness) -> None:
    stream = harness.labeler((), credit=2)
    stream.expect("welcome")
    name = harness.create(config=Config(budget=3)).name
    harness.worker.work_off()
    assert stream.expect("progress").session.name == name
    assert stream.expect("assign").session == name


def test_session_leaves_the_stream_when_it_ends_or_is_deleted(harness: Harness) -> None:
    ended, deleted, left = sessions(harness, 9, 8, 0)
    stream = harness.labeler((), credit=1)
    assert stream.expect("assign").session == ended
    harness.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=ended))
    assert stream.expect("revoke").reason == oracle_pb2.REVOKE_REASON_SESSION_ENDED
    finished = stream.expect("finished")
    assert finished.session.name == ended
    assert finished.reason == oracle_pb2.FINISH_REASON_CANCELLED
    assert stream.expect("assign").session == deleted
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=deleted))
    finished = stream.expect("finished")
    assert finished.session.name == deleted
    assert finished.reason == oracle_pb2.FINISH_REASON_DELETED
    assert reply(stream, stream.expect("assign")).session == left


def test_answer_to_a_deleted_session_is_refused(harness: Harness) -> None:
    names = sessions(harness, 0, 0)
    stream = harness.labeler(names, credit=2)
    held = {assign.session: assign for assign in (stream.expect("assign") for _ in names)}
    gone, left = names
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=gone))
    # Whether the stream knows of it already or not.
    for _ in range(3):
        stream.answer(held[gone], session=gone)
    for _ in range(3):
        reject = stream.expect("reject")
        assert error_info(reject.status).reason == "SESSION_NOT_FOUND"
        assert reject.session == gone
    assert reply(stream, held[left]).session == left


def test_items_must_name_the_session(harness: Harness) -> None:
    names = sessions(harness, 0, 0)
    stream = harness.labeler(names, credit=2)
    held = [stream.expect("assign"), stream.expect("assign")]
    stream.answer(held[0])
    reject = stream.expect("reject")
    info = error_info(reject.status)
    assert (info.reason, info.metadata["field"]) == ("INVALID_FIELD", "session")
    assert reject.query == held[0].query
    assert reply(stream, held[0]).session == held[0].session

    stranger = harness.session().name
    stream.answer(held[1], session=stranger)
    assert error_info(stream.expect("reject").status).metadata["value"] == stranger


def test_extend_and_release_cover_all_sessions(harness: Harness) -> None:
    names = sessions(harness, 0, 0)
    stream = harness.labeler(names, credit=2)
    held = {one.session: one for one in (stream.expect("assign"), stream.expect("assign"))}
    assert held.keys() == set(names)
    stream.send(extend=oracle_pb2.Extend(), request_id="beat")
    ack = stream.expect("ack")
    assert (ack.session, ack.request_id) == ("", "beat")
    ends = {one.lease_id: one.expire_time.ToMilliseconds() for one in ack.extended}
    assert ends.keys() == {one.lease_id for one in held.values()}
    for one in held.values():
        assert ends[one.lease_id] >= one.lease_expire_time.ToMilliseconds()
    stream.send(credit=oracle_pb2.Credit(queries=0))
    stream.send(release=oracle_pb2.Release())
    stream.expect("ack")
    assert [harness.get(name).leased_count for name in names] == [0, 0]
    # Nothing is held now: done is done.
    stream.send(release=oracle_pb2.Release())
    stream.expect("ack")


def test_unasked_answer_needs_its_session_on_a_stream_without_named_sessions(
    harness: Harness,
) -> None:
    (name,) = sessions(harness, 0)
    stream = harness.labeler((), credit=0)
    stream.expect("welcome")
    answer = oracle_pb2.Answer(answer_id="u", session=name, observation_id="7", verdict=INLIER)
    stream.send(answer=answer)
    ack = stream.expect("ack")
    assert (ack.session, ack.counts.total) == (name, 1)


def test_resumed_stream_gets_the_leases_of_all_sessions(harness: Harness) -> None:
    names = sessions(harness, 0, 0)
    first = harness.labeler(names, credit=2)
    token = first.expect("welcome").resume_token
    held = {first.expect("assign").lease_id for _ in range(2)}
    first.vanish()
    second = harness.labeler(names, credit=2, resume_token=token)
    assert {second.expect("assign").lease_id for _ in range(2)} == held


def test_programs_are_asked_before_people_and_what_they_skip_falls_through(
    harness: Harness,
) -> None:
    name = harness.create(config=Config(budget=2)).name
    person = harness.labeler(name, "ann")
    person.expect("welcome")
    program = harness.labeler(name, "rule", kind=AUTOMATED)
    program.expect("welcome")
    # Behind these the streams wait for queries.
    for stream in (person, program):
        stream.send(extend=oracle_pb2.Extend())
        stream.expect("ack")
    harness.worker.work_off()
    first = program.expect("assign")
    assert (first.query, first.row) == (1, 0)
    # There is enough for both.
    assert person.expect("assign").query == 2
    program.send(skip={"query": 1, "lease_id": first.lease_id, "mode": oracle_pb2.SKIP_MODE_OTHERS})
    program.expect("ack")
    person.send(credit=oracle_pb2.Credit(queries=2))
    assert person.expect("assign").query == 1


def test_program_is_asked_before_people(harness: Harness) -> None:
    name = harness.create(config=Config(budget=1)).name
    people = [harness.labeler(name, f"person-{i}") for i in range(3)]
    program = harness.labeler(name, "rule", kind=AUTOMATED)
    for stream in (*people, program):
        stream.send(extend=oracle_pb2.Extend())
        stream.expect("ack")
    harness.worker.work_off()
    assert program.expect("assign").query == 1
    assert harness.get(name).leased_count == 1


def test_lease_call_without_a_session_waits_for_the_first_that_asks(harness: Harness) -> None:
    waiting = harness.oracle.Lease.future(oracle_pb2.LeaseRequest(labeler="ann", wait_seconds=20))
    name = harness.create(config=Config(budget=2)).name
    wait_until(lambda: harness.get(name).observation_count > 0)
    harness.worker.work_off()
    response = waiting.result(timeout=20)
    assert [one.session for one in response.assignments] == [name]
    assert not response.HasField("session")
