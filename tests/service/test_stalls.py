"""A session that stands still says why, to whoever reads or watches it and to labelers."""

import pytest
from tests.service.harness import Harness

from svddtune.v1 import config_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

NONE, NO_WORKERS, PAUSED, AWAITING_VOTES, JOB_GIVEN_UP = (
    tuning_pb2.STALL_REASON_UNSPECIFIED,
    tuning_pb2.STALL_REASON_NO_WORKERS,
    tuning_pb2.STALL_REASON_PAUSED,
    tuning_pb2.STALL_REASON_AWAITING_VOTES,
    tuning_pb2.STALL_REASON_JOB_GIVEN_UP,
)


def leased(harness: Harness, name: str, labeler: str = "ann") -> tuning_pb2.Session:
    """The session as a Lease tells of it that returns no query."""
    request = oracle_pb2.LeaseRequest(labeler=labeler, session=name)
    response = harness.oracle.Lease(request)
    assert not response.assignments
    return response.session


def stalls(harness: Harness, name: str) -> set[int]:
    """What GetSession, ListSessions, Lease and a new watch say."""
    watched = next(harness.watch(name)).session
    return {
        harness.get(name).stall,
        listed(harness, name).stall,
        leased(harness, name).stall,
        watched.stall,
    }


def listed(harness: Harness, name: str) -> tuning_pb2.Session:
    """The session as the list has it."""
    sessions = harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest()).sessions
    return next(one for one in sessions if one.name == name)


def test_absence_of_workers_is_said_until_one_comes(harness: Harness) -> None:
    name = harness.create().name
    assert stalls(harness, name) == {NO_WORKERS}
    watch = harness.watch(name)
    before = next(watch)
    assert before.session.stall == NO_WORKERS
    harness.worker.queue.sign_in({})
    assert stalls(harness, name) == {NONE}
    # Nothing else changes; the open watch says it all the same.
    after = next(watch)
    assert after.session.stall == NONE
    assert after.session.etag == before.session.etag
    assert not after.events


def test_pause_is_said(harness: Harness) -> None:
    name = harness.session().name
    harness.worker.queue.sign_in({})
    harness.tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name))
    assert stalls(harness, name) == {PAUSED}
    harness.tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name))
    assert harness.get(name).stall == NONE


def test_job_that_was_given_up_is_said_until_the_session_is_resumed(harness: Harness) -> None:
    name = harness.create().name
    harness.worker.queue.sign_in({})
    claim = harness.worker.next_claim()
    assert claim is not None
    assert harness.worker.queue.fail(claim, "OUT_OF_MEMORY", "It needs more.", final=True)
    assert stalls(harness, name) == {JOB_GIVEN_UP}
    assert harness.get(name).failure.reason == "OUT_OF_MEMORY"
    harness.tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name))
    assert harness.get(name).stall == NONE


@pytest.mark.parametrize("blind", [False, True])
def test_lack_of_votes_of_others_is_said_but_to_labelers_of_a_blind_session(
    harness: Harness, blind: bool
) -> None:
    config = config_pb2.SessionConfig(budget=2, overlap=2, blind=blind)
    name = harness.session(config=config).name
    harness.worker.queue.sign_in({})
    ann = harness.labeler(name)
    for _ in range(2):
        ann.answer(ann.expect("assign"))
        ann.expect("ack")
        harness.worker.work_off()
    assert harness.get(name).stall == listed(harness, name).stall == AWAITING_VOTES
    assert leased(harness, name).stall == (NONE if blind else AWAITING_VOTES)
    # Somebody else can be asked.
    harness.labeler(name, "bea").expect("assign")
    assert harness.get(name).stall == NONE


def test_session_that_goes_on_or_was_ended_is_not_stalled(harness: Harness) -> None:
    name = harness.session().name
    harness.worker.queue.sign_in({})
    assert harness.get(name).stall == NONE
    request = oracle_pb2.LeaseRequest(labeler="ann", session=name)
    assert harness.oracle.Lease(request).session.stall == NONE
    harness.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=name))
    assert stalls(harness, name) == {NONE}
