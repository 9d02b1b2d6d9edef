"""Check of sessions that wait for a job that is nowhere."""

from svddtune.admin.doctor.findings import Finding, error, ok
from svddtune.state import inspection
from svddtune.state.connect import Redis
from svddtune.state.inspection import JobState, SessionEntry

_SHOWN = 5
_OF_RESULT = ("PLAN", "FIT", "ESTIMATE")


def check_sessions(client: Redis, partitions: int) -> Finding:
    """Check that each session that waits for workers has a job somewhere.

    Raises StoreUnavailable.
    """
    waiting = _without_job(client, partitions)
    if waiting:
        # A job may have ended between the looks at the queue and at the session: a session that is
        # the same at a second look has really none.
        waiting &= _without_job(client, partitions)
    if waiting:
        ids = sorted(one.id for one in waiting)
        more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
        return error(
            "sessions",
            f"{len(ids)} wait for a job that is not there: {', '.join(ids[:_SHOWN])}{more}",
            "Make their jobs anew: svddtune jobs requeue SESSION.",
        )
    return ok("sessions", "none waits for nothing")


def _without_job(client: Redis, partitions: int) -> set[SessionEntry]:
    jobs = [one for one in inspection.jobs(client, partitions) if one.state is not JobState.DEAD]
    of_session = {(one.session_id, one.kind) for one in jobs}
    of_dataset = {(one.dataset_id, one.kind) for one in jobs}
    return {
        one
        for one in inspection.sessions(client, partitions)
        if _waits(one) and not _has_job(one, of_session, of_dataset)
    }


def _waits(one: SessionEntry) -> bool:
    return one.state in ("PREPARING", "ESTIMATING") or (one.state == "LABELING" and one.ranking)


def _has_job(
    one: SessionEntry, of_session: set[tuple[str, str]], of_dataset: set[tuple[str, str]]
) -> bool:
    if one.state == "PREPARING":
        return any((one.dataset_id, kind) in of_dataset for kind in ("PREPARE", "ATLAS"))
    kinds = ("SUGGEST",) if one.state == "LABELING" else _OF_RESULT
    return any((one.id, kind) in of_session for kind in kinds)
