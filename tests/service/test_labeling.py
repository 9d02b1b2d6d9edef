"""Labelers at work, by stream and by call, against a scripted worker."""

import uuid
from typing import Any

import pytest
from tests.service.desk import INLIER, OUTLIER, UNSURE, Desk, N, refusal
from tests.service.support import error_info, reason_of
from tests.waiting import wait_until

from svddtune.v1 import oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = tuning_pb2.SessionConfig
Ack = oracle_pb2.Ack
State = tuning_pb2.SessionState


def test_one_labeler_spends_the_budget(desk: Desk) -> None:
    name = desk.session(config=Config(budget=4)).name
    labeler = desk.labeler(name)
    welcome = labeler.expect("welcome")
    assert welcome.session.name == name
    assert welcome.lease_s == 60.0
    for count in range(1, 5):
        assign = labeler.expect("assign")
        sent = labeler.answer(assign, OUTLIER if count == 1 else INLIER)
        ack = labeler.expect("ack")
        assert (ack.answer_id, ack.query) == (sent.answer_id, count)
        assert ack.disposition == Ack.DISPOSITION_APPLIED
        assert ack.counts.total == count
        assert ack.event_id
        desk.worker.work_off()
    finished = labeler.expect("finished")
    assert finished.reason == "BUDGET_SPENT"
    assert desk.get(name).state == State.SESSION_STATE_COMPLETED
    labeler.send(bye=oracle_pb2.Bye())
    assert labeler.end() is None


def test_answer_sent_again_has_one_effect_and_the_same_ack(desk: Desk) -> None:
    labeler = desk.labeler(desk.session().name)
    answer = labeler.answer(labeler.expect("assign"))
    first = labeler.expect("ack")
    labeler.send(answer=answer)
    assert labeler.expect("ack") == first
    assert first.counts.total == 1


def test_two_labelers_never_get_the_same_query(desk: Desk) -> None:
    name = desk.session(config=Config(budget=N)).name
    labelers = [desk.labeler(name, one, credit=2) for one in ("ann", "bob")]
    asked: list[int] = []
    for _ in range(3):
        for labeler in labelers:
            assign = labeler.expect("assign")
            asked.append(assign.query)
            labeler.answer(assign)
            labeler.expect("ack")
            desk.worker.work_off()
    assert len(set(asked)) == len(asked) == 6


def test_stream_holds_no_more_than_its_credit(desk: Desk) -> None:
    name = desk.session().name
    labeler = desk.labeler(name, credit=2)
    held = [labeler.expect("assign"), labeler.expect("assign")]
    assert desk.get(name).leased_count == 2
    labeler.send(credit=oracle_pb2.Credit(queries=0))
    labeler.send(release=oracle_pb2.Release(lease_ids=[held[0].lease_id]))
    labeler.expect("ack")
    assert desk.get(name).leased_count == 1
    labeler.send(credit=oracle_pb2.Credit(queries=2))
    assert labeler.expect("assign").query == held[0].query


def test_resume_token_brings_open_queries_back(desk: Desk) -> None:
    name = desk.session().name
    first = desk.labeler(name, credit=2)
    token = first.expect("welcome").resume_token
    held = {first.expect("assign").lease_id, first.expect("assign").lease_id}
    first.vanish()
    second = desk.labeler(name, credit=2, resume_token=token)
    assert {second.expect("assign").lease_id, second.expect("assign").lease_id} == held


def test_queries_of_a_vanished_labeler_go_to_others_when_they_run_out(desk: Desk) -> None:
    name = desk.session(config=Config(budget=3, lease_s=1)).name
    gone = desk.labeler(name, "gone", credit=3)
    held = {gone.expect("assign").query for _ in range(3)}
    other = desk.labeler(name, "other", credit=3)
    other.expect("welcome")
    gone.vanish()
    assert {other.expect("assign").query for _ in range(3)} == held


def test_silent_labeler_hears_that_its_lease_ran_out(desk: Desk) -> None:
    labeler = desk.labeler(desk.session(config=Config(budget=3, lease_s=1)).name)
    assign = labeler.expect("assign")
    revoke = labeler.expect("revoke")
    assert (revoke.lease_id, revoke.reason) == (assign.lease_id, "EXPIRED")
    # An answer that comes late still counts while nobody else has given one.
    labeler.answer(assign)
    assert labeler.expect("ack").disposition == Ack.DISPOSITION_APPLIED


def test_late_answer_is_recorded_as_unused(desk: Desk) -> None:
    name = desk.session(config=Config(budget=3, lease_s=1)).name
    late, quick = desk.labeler(name, "late"), desk.labeler(name, "quick", credit=0)
    assign = late.expect("assign")
    quick.send(
        answer=oracle_pb2.Answer(
            answer_id="q", observation_id=assign.observation_id, verdict=OUTLIER
        )
    )
    assert quick.expect("ack").query == assign.query
    assert late.expect("revoke").reason == "ANSWERED_BY_OTHER"
    late.answer(assign)
    ack = late.expect("ack")
    assert ack.disposition == Ack.DISPOSITION_UNUSED
    assert (ack.counts.inlier, ack.counts.outlier) == (0, 1)


def test_extend_keeps_a_lease(desk: Desk) -> None:
    labeler = desk.labeler(desk.session().name)
    assign = labeler.expect("assign")
    labeler.send(extend=oracle_pb2.Extend())
    ack = labeler.expect("ack")
    assert ack.lease_expire_time.ToMilliseconds() >= assign.lease_expire_time.ToMilliseconds()
    labeler.send(extend=oracle_pb2.Extend(lease_ids=[assign.lease_id, "gone"]))
    assert list(labeler.expect("ack").lost_lease_ids) == ["gone"]
    labeler.send(extend=oracle_pb2.Extend(lease_ids=["gone"]))
    assert error_info(labeler.expect("reject").status).reason == "LEASE_LOST"


@pytest.mark.parametrize(
    ("mode", "others_get_it", "i_get_it"),
    [
        (oracle_pb2.SKIP_MODE_OTHERS, True, False),
        (oracle_pb2.SKIP_MODE_DROP, False, False),
    ],
)
def test_skip(desk: Desk, mode: int, others_get_it: bool, i_get_it: bool) -> None:
    name = desk.session(config=Config(budget=2)).name
    me = desk.labeler(name, "me")
    assign = me.expect("assign")
    me.send(skip={"query": assign.query, "lease_id": assign.lease_id, "mode": mode})
    assert me.expect("ack").query == assign.query
    desk.worker.work_off()
    assert (me.expect("assign").row == assign.row) is i_get_it
    other = desk.labeler(name, "other")
    assert (other.expect("assign").row == assign.row) is others_get_it


def test_unsure_is_no_label_and_is_asked_no_more(desk: Desk) -> None:
    name = desk.session(config=Config(budget=2)).name
    labeler = desk.labeler(name)
    assign = labeler.expect("assign")
    labeler.answer(assign, UNSURE)
    ack = labeler.expect("ack")
    assert (ack.counts.unsure, ack.counts.total) == (1, 0)
    desk.worker.work_off()
    assert labeler.expect("assign").row != assign.row


def test_retracted_label_is_asked_for_again(desk: Desk) -> None:
    labeler = desk.labeler(desk.session().name)
    assign = labeler.expect("assign")
    labeler.answer(assign)
    labeler.expect("ack")
    labeler.send(retract={"answer_id": "r", "observation_id": assign.observation_id})
    ack = labeler.expect("ack")
    assert (ack.answer_id, ack.counts.total) == ("r", 0)
    desk.worker.work_off()
    assert labeler.expect("assign").row == assign.row


def test_unasked_answer_is_a_label(desk: Desk) -> None:
    name = desk.session().name
    ack = desk.label(name, "7", OUTLIER)
    assert (ack.query, ack.counts.outlier) == (0, 1)
    labeler = desk.labeler(name)
    desk.worker.work_off()
    assert labeler.expect("assign").row != 7


def test_pause_and_resume_are_messages(desk: Desk) -> None:
    name = desk.session().name
    labeler = desk.labeler(name)
    assign = labeler.expect("assign")
    desk.tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name))
    while labeler.expect("progress").session.state != State.SESSION_STATE_PAUSED:
        pass
    labeler.answer(assign)
    assert labeler.expect("ack").disposition == Ack.DISPOSITION_APPLIED
    desk.worker.work_off()
    assert desk.get(name).leased_count == 0
    desk.tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name))
    desk.worker.work_off()
    assert labeler.expect("assign").query == 2


@pytest.mark.parametrize("how", ["finish", "cancel", "delete"])
def test_end_of_a_session_is_a_message(desk: Desk, how: str) -> None:
    name = desk.session().name
    labeler = desk.labeler(name)
    assign = labeler.expect("assign")
    if how == "finish":
        desk.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=name))
    elif how == "cancel":
        desk.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=name))
    else:
        desk.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=name))
    finished = labeler.expect("finished")
    assert finished.session.name == name
    assert (
        finished.reason == {"finish": "FINISHED", "cancel": "CANCELLED", "delete": "DELETED"}[how]
    )
    if how == "delete":
        assert labeler.end() is None
    else:
        revokes = [one.revoke for one in labeler.seen if one.HasField("revoke")]
        assert [(one.lease_id, one.reason) for one in revokes] == [
            (assign.lease_id, "SESSION_ENDED")
        ]
        labeler.answer(assign)
        assert labeler.expect("ack").disposition == Ack.DISPOSITION_UNUSED


@pytest.mark.parametrize("bye", [True, False])
def test_leaving_gives_queries_back(desk: Desk, bye: bool) -> None:
    name = desk.session().name
    labeler = desk.labeler(name, credit=2)
    held = [labeler.expect("assign"), labeler.expect("assign")]
    # What was sent before is still done.
    labeler.answer(held[0])
    if bye:
        labeler.send(bye=oracle_pb2.Bye())
    else:
        labeler.half_close()
    assert labeler.expect("ack").query == held[0].query
    assert labeler.end() is None
    session = desk.get(name)
    assert (session.leased_count, session.counts.total) == (0, 1)


def test_broken_stream_keeps_its_queries_for_a_while(desk: Desk) -> None:
    name = desk.session().name
    labeler = desk.labeler(name)
    labeler.expect("assign")
    labeler.vanish()
    assert desk.get(name).leased_count == 1


def test_unary_calls_do_what_the_stream_does(desk: Desk) -> None:
    name = desk.session(config=Config(budget=2)).name
    call = desk.oracle

    def lease(**request: Any) -> oracle_pb2.LeaseResponse:
        values: dict[str, Any] = {"session": name, "labeler": "ann"}
        return call.Lease(oracle_pb2.LeaseRequest(**(values | request)), timeout=20)

    (first,) = lease().assignments
    # What it holds comes again.
    assert [one.lease_id for one in lease().assignments] == [first.lease_id]
    extend = oracle_pb2.Extend(session=name)
    extended = call.Extend(oracle_pb2.ExtendRequest(labeler="ann", extend=extend)).ack
    assert extended.lease_expire_time.ToMilliseconds() >= first.lease_expire_time.ToMilliseconds()
    release = oracle_pb2.Release(session=name, lease_ids=["gone"])
    error = refusal(lambda: call.Release(oracle_pb2.ReleaseRequest(labeler="ann", release=release)))
    assert reason_of(error) == "LEASE_LOST"
    call.Release(oracle_pb2.ReleaseRequest(labeler="ann", release=oracle_pb2.Release(session=name)))
    assert desk.get(name).leased_count == 0

    for _ in range(2):
        (assign,) = lease(wait_s=10).assignments
        answer = oracle_pb2.Answer(
            answer_id=uuid.uuid4().hex,
            session=name,
            query=assign.query,
            lease_id=assign.lease_id,
            observation_id=assign.observation_id,
            verdict=INLIER,
        )
        request = oracle_pb2.AnswerRequest(labeler="ann", answer=answer)
        ack = call.Answer(request).ack
        assert call.Answer(request).ack == ack
        desk.worker.work_off()
    done = lease(wait_s=10)
    assert (done.finished_reason, list(done.assignments)) == ("BUDGET_SPENT", [])
    retract = oracle_pb2.Retract(answer_id="r", session=name, observation_id="0")
    error = refusal(lambda: call.Retract(oracle_pb2.RetractRequest(labeler="ann", retract=retract)))
    assert reason_of(error) == "SESSION_NOT_ACTIVE"


def test_lease_waits_for_a_query_without_asking_again(desk: Desk) -> None:
    name = desk.create(config=Config(budget=3)).name
    waiting = desk.oracle.Lease.future(
        oracle_pb2.LeaseRequest(session=name, labeler="ann", wait_s=20)
    )
    wait_until(lambda: desk.get(name).state == State.SESSION_STATE_PREPARING)
    assert not waiting.done()
    desk.worker.work_off()
    assert len(waiting.result(timeout=20).assignments) == 1


def test_lease_that_waits_in_vain_says_so(desk: Desk) -> None:
    name = desk.create().name
    response = desk.oracle.Lease(oracle_pb2.LeaseRequest(session=name, labeler="ann", wait_s=0.05))
    assert list(response.assignments) == []
    assert response.finished_reason == ""
    assert response.session.state == State.SESSION_STATE_PREPARING


def test_many_assignments_fit_into_one_response(desk: Desk) -> None:
    name = desk.session(config=Config(budget=N)).name
    response = desk.oracle.Lease(
        oracle_pb2.LeaseRequest(session=name, labeler="ann", max_queries=1000)
    )
    assert len(response.assignments) == N
