"""The promises of the oracle protocol hold by stream and by unary calls."""

from collections.abc import Callable

import pytest
from tests.service.drivers import TRANSPORTS, Driver, Refused, driver
from tests.service.harness import INLIER, OUTLIER, UNSURE, Harness, N
from tests.waiting import wait_until

from svddtune.v1 import common_pb2, config_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig
Ack = oracle_pb2.Ack
State = tuning_pb2.SessionState
Kind = common_pb2.LabelEvent.Kind

Drive = Callable[..., Driver]


@pytest.fixture(params=TRANSPORTS)
def drive(request: pytest.FixtureRequest, harness: Harness) -> Drive:
    """Labelers on one transport: ``drive(session, name)``."""
    return lambda *args, **further: driver(harness, request.param, *args, **further)


def events(harness: Harness, name: str) -> list[common_pb2.LabelEvent]:
    return list(harness.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=name)).events)


def ends_of(ack: oracle_pb2.Ack) -> dict[str, int]:
    """The new ends of extended leases in ms, by lease."""
    return {one.lease_id: one.expire_time.ToMilliseconds() for one in ack.extended}


# 1: an Ack means stored; a repeat has one effect


def test_ack_names_the_stored_answer(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    (assign,) = ann.take()
    ack = ann.answer(assign, OUTLIER, answer_id="one", source_reference="T-7")
    assert (ack.answer_id, ack.query, ack.session) == ("one", assign.query, name)
    assert ack.disposition == Ack.DISPOSITION_APPLIED
    assert (ack.counts.inlier, ack.counts.outlier) == (0, 1)
    (event,) = events(harness, name)
    assert (event.event_id, event.kind) == (ack.event_id, Kind.KIND_LABELED)
    assert (event.observation_id, event.labeler) == (assign.observation_id, "ann")
    assert (event.source_reference, event.query) == ("T-7", assign.query)
    assert 0 < event.answer_seconds < 10


def test_repeated_answer_has_one_effect_and_the_same_ack(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    (assign,) = ann.take()
    first = ann.answer(assign, answer_id="one")
    assert ann.answer(assign, answer_id="one") == first
    assert len(events(harness, name)) == first.counts.total == 1
    with pytest.raises(Refused) as refused:
        ann.answer(assign, OUTLIER, answer_id="one")
    assert refused.value.reason == "ANSWER_ID_REUSED"


def test_repeated_retraction_has_one_effect(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    ann.label("3")
    first = ann.retract("3", answer_id="r")
    assert ann.retract("3", answer_id="r") == first
    assert [one.kind for one in events(harness, name)] == [Kind.KIND_LABELED, Kind.KIND_RETRACTED]


# 2: one labeler at a time; how leases end


def test_query_is_leased_to_one_labeler_at_a_time(harness: Harness, drive: Drive) -> None:
    name = harness.session(config=Config(budget=N)).name
    ann, bob = drive(name, "ann"), drive(name, "bob")
    held = [one.query for one in (*ann.take(4), *bob.take(4))]
    assert len(set(held)) == len(held) == 8


@pytest.mark.parametrize("how", ["release", "later", "others", "expiry"])
def test_released_query_goes_to_the_next_labeler(harness: Harness, drive: Drive, how: str) -> None:
    name = harness.session(config=Config(budget=1, lease_seconds=1 if how == "expiry" else 60)).name
    ann, bob = drive(name, "ann"), drive(name, "bob")
    (assign,) = ann.take()
    assert bob.take() == []
    if how == "release":
        ann.release()
    elif how != "expiry":
        mode = oracle_pb2.SKIP_MODE_LATER if how == "later" else oracle_pb2.SKIP_MODE_OTHERS
        # Bob waits; ann would be asked first again where the query is to come later.
        ann.skip(assign, mode)
        if how == "later":
            ann.release()
    (back,) = bob.wait()
    assert (back.query, back.row) == (assign.query, assign.row)
    assert back.lease_id != assign.lease_id


def test_query_skipped_to_others_never_returns_to_its_labeler(
    harness: Harness, drive: Drive
) -> None:
    name = harness.session(config=Config(budget=2)).name
    ann = drive(name)
    (assign,) = ann.take()
    assert ann.skip(assign, oracle_pb2.SKIP_MODE_OTHERS).query == assign.query
    (other,) = ann.wait()
    assert other.row != assign.row
    ann.answer(other)
    harness.worker.work_off()
    assert ann.take() == []
    assert [one.row for one in drive(name, "bob").take()] == [assign.row]


def test_query_skipped_for_later_comes_after_new_queries(harness: Harness, drive: Drive) -> None:
    name = harness.session(config=Config(budget=2)).name
    ann = drive(name)
    (first,) = ann.take()
    ann.skip(first, oracle_pb2.SKIP_MODE_LATER)
    (second,) = ann.wait()
    assert second.query != first.query
    ann.answer(second)
    harness.worker.work_off()
    assert [one.query for one in ann.wait()] == [first.query]


def test_dropped_observation_is_never_asked_again(harness: Harness, drive: Drive) -> None:
    name = harness.session(config=Config(budget=2)).name
    ann, bob = drive(name, "ann"), drive(name, "bob")
    (assign,) = ann.take()
    ann.skip(assign, oracle_pb2.SKIP_MODE_DROP)
    harness.worker.work_off()
    rows = [one.row for one in (*ann.wait(), *bob.take(2))]
    assert assign.row not in rows


def test_skip_without_the_lease_is_refused(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    (assign,) = ann.take()
    ann.answer(assign)
    with pytest.raises(Refused) as refused:
        ann.skip(assign)
    assert refused.value.reason == "LEASE_LOST"
    with pytest.raises(Refused) as refused:
        ann.skip(oracle_pb2.Assign(session=name, query=99, lease_id="x"))
    assert refused.value.reason == "UNKNOWN_QUERY"


def test_extend_moves_the_expiry_of_leases(harness: Harness, drive: Drive) -> None:
    ann = drive(harness.session().name)
    first, second = ann.wait(2)
    ends = ends_of(ann.extend())
    assert ends.keys() == {first.lease_id, second.lease_id}
    assert ends[second.lease_id] >= second.lease_expire_time.ToMilliseconds()
    ack = ann.extend(first.lease_id, "gone")
    assert (list(ends_of(ack)), list(ack.lost_lease_ids)) == ([first.lease_id], ["gone"])


def test_extension_and_release_of_lost_leases_only_are_acks(drive: Drive, harness: Harness) -> None:
    ann = drive(harness.session().name)
    for ack in (ann.extend("gone", "lost", "gone"), ann.release("gone", "lost")):
        assert ack.disposition == Ack.DISPOSITION_APPLIED
        assert sorted(ack.lost_lease_ids) == ["gone", "lost"]
        assert not ack.extended


@pytest.mark.parametrize("mode", list(oracle_pb2.SkipMode.values()))
def test_repeated_skip_and_release_get_the_same_ack(
    harness: Harness, drive: Drive, mode: int
) -> None:
    ann = drive(harness.session().name)
    first, second = ann.wait(2)
    assert ann.skip(first, mode) == ann.skip(first, mode)
    released = ann.release(second.lease_id)
    assert ann.release(second.lease_id) == released
    assert not released.lost_lease_ids


def test_heartbeat_keeps_a_lease_beyond_its_first_expiry(harness: Harness, drive: Drive) -> None:
    name = harness.session(config=Config(budget=1, lease_seconds=1)).name
    ann, bob = drive(name, "ann"), drive(name, "bob")
    (assign,) = ann.take()
    until = assign.lease_expire_time.ToMilliseconds() + 500

    def extended() -> bool:
        return ends_of(ann.extend())[assign.lease_id] > until + 900

    wait_until(extended)
    assert bob.take() == []
    assert ann.answer(assign).disposition == Ack.DISPOSITION_APPLIED


def test_release_names_lost_leases(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    first, _ = ann.wait(2)
    assert list(ann.release(first.lease_id, "gone").lost_lease_ids) == ["gone"]
    assert harness.get(name).leased_count == 1
    ann.release()
    assert harness.get(name).leased_count == 0


def test_lease_follows_the_pace_of_its_labeler(harness: Harness, drive: Drive) -> None:
    name = harness.session(config=Config(budget=6, lease_seconds=60)).name
    ann = drive(name)

    def length_s() -> float:
        (assign,) = ann.wait()
        ends_ms = ends_of(ann.extend())[assign.lease_id]
        ann.answer(assign)
        harness.worker.work_off()
        # Just extended: the lease has its whole length from then on.
        return (ends_ms - harness.get(name).update_time.ToMilliseconds()) / 1000

    assert 55 < length_s() <= 60
    # Whoever answers at once keeps queries half as long as the config says, not shorter.
    assert 25 < length_s() <= 30


# 3: never more open queries than asked for


def test_labeler_never_holds_more_queries_than_it_requests(harness: Harness, drive: Drive) -> None:
    name = harness.session(config=Config(budget=N)).name
    ann = drive(name)
    assert len(ann.take(2)) == harness.get(name).leased_count == 2
    assert len(ann.take(3)) == harness.get(name).leased_count == 3
    # What it holds it keeps, also where it wants less now.
    assert len(ann.take(1)) == harness.get(name).leased_count == 3


# 4: leases come again; late answers are no errors


def test_lease_call_returns_held_queries_again(harness: Harness) -> None:
    name = harness.session().name
    by_call = driver(harness, "unary", name)
    assert by_call.take(2) == by_call.take(2)
    first = harness.labeler(name, "bob", credit=2)
    token = first.expect("welcome").resume_token
    held = [first.expect("assign"), first.expect("assign")]
    first.vanish()
    second = harness.labeler(name, "bob", credit=2, resume_token=token)
    assert second.expect("welcome").resume_token == token
    assert [second.expect("assign"), second.expect("assign")] == held


def test_late_answer_counts_while_the_query_is_open(harness: Harness, drive: Drive) -> None:
    name = harness.session(config=Config(budget=1, lease_seconds=1)).name
    ann = drive(name)
    (assign,) = ann.take()
    wait_until(lambda: harness.get(name).leased_count == 0)
    assert ann.answer(assign).disposition == Ack.DISPOSITION_APPLIED


def test_late_answer_to_a_settled_query_is_recorded_as_unused(
    harness: Harness, drive: Drive
) -> None:
    name = harness.session().name
    ann, bob = drive(name, "ann"), drive(name, "bob")
    (assign,) = ann.take()
    assert bob.label(assign.observation_id, OUTLIER).query == assign.query
    late = ann.answer(assign)
    assert late.disposition == Ack.DISPOSITION_UNUSED
    assert (late.counts.inlier, late.counts.outlier) == (0, 1)
    assert [one.kind for one in events(harness, name)] == [Kind.KIND_LABELED, Kind.KIND_UNUSED]


def test_answer_after_the_end_is_recorded(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    (assign,) = ann.take()
    harness.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=name))
    assert ann.finished() == "FINISHED"
    assert ann.answer(assign).disposition == Ack.DISPOSITION_UNUSED
    with pytest.raises(Refused) as refused:
        ann.label("11")
    assert refused.value.reason == "SESSION_NOT_ACTIVE"
    assert refused.value.metadata["state"] == "ESTIMATING"


# 5: see test_bad_input.py

# 6: unasked answers


def test_unasked_answer_counts_for_the_next_ranking(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    ack = ann.label("0", OUTLIER)
    assert (ack.query, ack.counts.outlier) == (0, 1)
    harness.worker.work_off()
    assert [one.row for one in ann.wait()] == [1]


def test_unsure_is_no_label_and_its_observation_is_not_asked_again(
    harness: Harness, drive: Drive
) -> None:
    name = harness.session(config=Config(budget=2)).name
    ann = drive(name)
    (assign,) = ann.take()
    ack = ann.answer(assign, UNSURE)
    assert (ack.counts.unsure, ack.counts.total) == (1, 0)
    harness.worker.work_off()
    assert ann.wait()[0].row != assign.row


def test_query_of_a_retracted_label_is_open_again(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    (assign,) = ann.take()
    ann.answer(assign)
    assert ann.retract(assign.observation_id).counts.total == 0
    harness.worker.work_off()
    assert ann.wait()[0].row == assign.row


# 7: pause and the end are no faults


def test_paused_session_leases_no_query_and_takes_answers(harness: Harness, drive: Drive) -> None:
    name = harness.session().name
    ann = drive(name)
    (assign,) = ann.take()
    harness.tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name))
    assert ann.answer(assign).disposition == Ack.DISPOSITION_APPLIED
    harness.worker.work_off()
    assert ann.take() == []
    harness.tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name))
    harness.worker.work_off()
    assert [one.query for one in ann.wait()] == [2]


@pytest.mark.parametrize(("how", "reason"), [("budget", "BUDGET_SPENT"), ("Cancel", "CANCELLED")])
def test_labeler_is_sent_the_end_of_the_session(
    harness: Harness, drive: Drive, how: str, reason: str
) -> None:
    name = harness.session(config=Config(budget=1)).name
    ann = drive(name)
    (assign,) = ann.take()
    if how == "budget":
        ann.answer(assign)
    else:
        harness.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=name))
    assert ann.finished() == reason


# 8: order


def test_run_of_one_labeler_is_the_same_by_stream_and_by_unary_calls(harness: Harness) -> None:
    logs = []
    for transport in TRANSPORTS:
        name = harness.session(config=Config(budget=5, seed=7)).name
        ann = driver(harness, transport, name)
        for turn in range(5):
            (assign,) = ann.wait()
            ann.answer(assign, OUTLIER if turn % 2 else INLIER, answer_id=f"a{turn}")
            harness.worker.work_off()
        assert ann.finished() == "BUDGET_SPENT"
        assert harness.get(name).state == State.SESSION_STATE_COMPLETED
        logs.append(
            [(one.row, one.verdict, one.query, one.answer_id) for one in events(harness, name)]
        )
    assert logs[0] == logs[1]
    assert len(logs[0]) == 5


def test_answers_of_one_stream_are_applied_in_order(harness: Harness) -> None:
    name = harness.session(config=Config(budget=N)).name
    stream = harness.labeler(name, credit=0)
    for row in range(8):
        stream.send(
            answer=oracle_pb2.Answer(answer_id=f"{row}", observation_id=f"{row}", verdict=INLIER)
        )
    acks = [stream.expect("ack") for _ in range(8)]
    assert [ack.answer_id for ack in acks] == [str(row) for row in range(8)]
    assert [ack.counts.total for ack in acks] == list(range(1, 9))
    assert [event.row for event in events(harness, name)] == list(range(8))
