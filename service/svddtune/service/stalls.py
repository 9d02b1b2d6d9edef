"""Why a session makes no progress before somebody acts."""

from svddtune.v1 import tuning_pb2

_NEEDS_WORKERS = frozenset(
    {
        tuning_pb2.SESSION_STATE_PREPARING,
        tuning_pb2.SESSION_STATE_LABELING,
        tuning_pb2.SESSION_STATE_ESTIMATING,
    }
)


def stall(
    session: tuning_pb2.Session, *, attended: bool, asked: bool = False
) -> tuning_pb2.StallReason:
    """Why the session stands still; unspecified where it does not.

    Parameters
    ----------
    session
        The session, as its reader may see it.
    attended
        Some worker is there.
    asked
        A labeler has just asked for queries and got none; it is not among those that wait.
    """
    if session.state == tuning_pb2.SESSION_STATE_FAILED:
        # (Sessions fail by jobs that are given up, and by nothing else.)
        return tuning_pb2.STALL_REASON_JOB_GIVEN_UP
    if session.state == tuning_pb2.SESSION_STATE_PAUSED:
        return tuning_pb2.STALL_REASON_PAUSED
    if session.state in _NEEDS_WORKERS and not attended:
        return tuning_pb2.STALL_REASON_NO_WORKERS
    waits = asked or session.waiting_count
    if session.state == tuning_pb2.SESSION_STATE_LABELING and waits and _waits_in_vain(session):
        if session.awaiting_adjudication:
            return tuning_pb2.STALL_REASON_AWAITING_ADJUDICATION
        if session.awaiting_votes:
            return tuning_pb2.STALL_REASON_AWAITING_VOTES
    return tuning_pb2.STALL_REASON_UNSPECIFIED


def _waits_in_vain(session: tuning_pb2.Session) -> bool:
    """Whether nobody holds a query, and no ranking will bring any."""
    return not session.leased_count and not session.ranking_pending
