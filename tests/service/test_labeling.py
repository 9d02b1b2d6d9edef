"""Labelers at work, by stream and by call, against a scripted worker."""

import pytest
from tests.service.harness import INLIER, OUTLIER, Harness, N
from tests.waiting import wait_until

from svddtune.client.wire import convert
from svddtune.v1 import config_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig
Ack = oracle_pb2.Ack
State = tuning_pb2.SessionState


def test_one_labeler_spends_the_budget(harness: Harness) -> None:
    name = harness.session(config=Config(budget=4)).name
    labeler = harness.labeler(name)
    welcome = labeler.expect("welcome")
    assert welcome.session.name == name
    assert welcome.lease_seconds == 60.0
    for count in range(1, 5):
        assign = labeler.expect("assign")
        sent = labeler.answer(assign, OUTLIER if count == 1 else INLIER)
        ack = labeler.expect("ack")
        assert (ack.answer_id, ack.query) == (sent.answer_id, count)
        assert ack.disposition == Ack.DISPOSITION_APPLIED
        assert ack.counts.total == count
        assert ack.event_id
        harness.worker.work_off()
    finished = labeler.expect("finished")
    assert finished.reason == oracle_pb2.FINISH_REASON_BUDGET_SPENT
    assert harness.get(name).state == State.SESSION_STATE_COMPLETED
    labeler.send(bye=oracle_pb2.Bye())
    assert labeler.end() is None


def test_queries_of_a_vanished_labeler_go_to_others_when_its_leases_expire(
    harness: Harness,
) -> None:
    name = harness.session(config=Config(budget=3, lease_seconds=1)).name
    gone = harness.labeler(name, "gone", credit=3)
    held = {gone.expect("assign").query for _ in range(3)}
    other = harness.labeler(name, "other", credit=3)
    other.expect("welcome")
    gone.vanish()
    assert {other.expect("assign").query for _ in range(3)} == held


def test_silent_labeler_is_sent_the_expiry_of_its_lease(harness: Harness) -> None:
    labeler = harness.labeler(harness.session(config=Config(budget=3, lease_seconds=1)).name)
    assign = labeler.expect("assign")
    revoke = labeler.expect("revoke")
    assert revoke.lease_id == assign.lease_id
    assert revoke.reason == oracle_pb2.REVOKE_REASON_EXPIRED
    # An answer that comes late still counts while nobody else has given one.
    labeler.answer(assign)
    assert labeler.expect("ack").disposition == Ack.DISPOSITION_APPLIED


def test_pause_and_resume_are_sent_as_messages(harness: Harness) -> None:
    name = harness.session().name
    labeler = harness.labeler(name)
    assign = labeler.expect("assign")
    harness.tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name))
    while labeler.expect("progress").session.state != State.SESSION_STATE_PAUSED:
        pass
    labeler.answer(assign)
    assert labeler.expect("ack").disposition == Ack.DISPOSITION_APPLIED
    harness.worker.work_off()
    assert harness.get(name).leased_count == 0
    harness.tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name))
    harness.worker.work_off()
    assert labeler.expect("assign").query == 2


@pytest.mark.parametrize("how", ["finish", "cancel", "delete"])
def test_end_of_a_session_is_sent_as_a_message(harness: Harness, how: str) -> None:
    name = harness.session().name
    labeler = harness.labeler(name)
    assign = labeler.expect("assign")
    if how == "finish":
        harness.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=name))
    elif how == "cancel":
        harness.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=name))
    else:
        harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=name))
    finished = labeler.expect("finished")
    assert finished.session.name == name
    assert (
        convert.finish_reason(finished.reason)
        == {"finish": "FINISHED", "cancel": "CANCELLED", "delete": "DELETED"}[how]
    )
    if how == "delete":
        assert labeler.end() is None
    else:
        revokes = [one.revoke for one in labeler.seen if one.HasField("revoke")]
        assert [(one.lease_id, convert.revoke_reason(one.reason)) for one in revokes] == [
            (assign.lease_id, "SESSION_ENDED")
        ]
        labeler.answer(assign)
        assert labeler.expect("ack").disposition == Ack.DISPOSITION_UNUSED


@pytest.mark.parametrize("bye", [True, False])
def test_bye_releases_queries(harness: Harness, bye: bool) -> None:
    name = harness.session().name
    labeler = harness.labeler(name, credit=2)
    held = [labeler.expect("assign"), labeler.expect("assign")]
    # What was sent before is still done.
    labeler.answer(held[0])
    if bye:
        labeler.send(bye=oracle_pb2.Bye())
    else:
        labeler.half_close()
    assert labeler.expect("ack").query == held[0].query
    assert labeler.end() is None
    session = harness.get(name)
    assert (session.leased_count, session.counts.total) == (0, 1)


def test_broken_stream_keeps_its_leases_until_they_expire(harness: Harness) -> None:
    name = harness.session().name
    labeler = harness.labeler(name)
    labeler.expect("assign")
    labeler.vanish()
    assert harness.get(name).leased_count == 1


def test_lease_call_waits_for_a_query(harness: Harness) -> None:
    name = harness.create(config=Config(budget=3)).name
    waiting = harness.oracle.Lease.future(
        oracle_pb2.LeaseRequest(session=name, labeler="ann", wait_seconds=20)
    )
    wait_until(lambda: harness.get(name).state == State.SESSION_STATE_PREPARING)
    assert not waiting.done()
    harness.worker.work_off()
    assert len(waiting.result(timeout=20).assignments) == 1


def test_lease_call_returns_nothing_when_its_wait_ends(harness: Harness) -> None:
    name = harness.create().name
    response = harness.oracle.Lease(
        oracle_pb2.LeaseRequest(session=name, labeler="ann", wait_seconds=0.05)
    )
    assert list(response.assignments) == []
    assert not response.finish_reason
    assert response.session.state == State.SESSION_STATE_PREPARING


def test_many_assignments_fit_into_one_response(harness: Harness) -> None:
    name = harness.session(config=Config(budget=N)).name
    response = harness.oracle.Lease(
        oracle_pb2.LeaseRequest(session=name, labeler="ann", max_queries=1000)
    )
    assert len(response.assignments) == N
