"""For how long sessions that have ended and unused datasets are kept that nobody deletes."""

from dataclasses import dataclass

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import keys
from svddtune.state.calls import AsyncScripts
from svddtune.state.connect import AsyncRedis
from svddtune.state.session import DatasetId, SessionId

# What ``SessionStore.update`` takes for a session that says nothing of how long it is kept.
AS_SERVICE_IS_SET = -1

# Of each kind, what one call removes at most: other calls wait meanwhile.
MOST_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Retention:
    """Times in ms; 0 keeps things until somebody deletes them."""

    # From the end of a session on.
    session_ms: int = 0
    # From the moment on at which no session uses the dataset any more.
    dataset_ms: int = 0


@dataclass(frozen=True, slots=True)
class RemovedSession:
    """A session that was removed."""

    session_id: SessionId
    project: str
    # The time was the session's own, and not the setting.
    own: bool = False


@dataclass(frozen=True, slots=True)
class RemovedDataset:
    """A dataset that was removed."""

    dataset_id: DatasetId
    project: str
    # Where its rows are in the dataset store, if they are there: they are an orphan now.
    folder: str


@dataclass(frozen=True, slots=True)
class Removed:
    """What one call removed."""

    sessions: tuple[RemovedSession, ...] = ()
    datasets: tuple[RemovedDataset, ...] = ()

    @property
    def full(self) -> bool:
        """Whether there may be more."""
        return max(len(self.sessions), len(self.datasets)) >= MOST_AT_ONCE


async def remove_expired(client: AsyncRedis, partition: int, retention: Retention) -> Removed:
    """Remove what a partition has kept for its whole time, up to ``MOST_AT_ONCE`` of each kind.

    Atomic; several processes may call it at once. Raises StoreUnavailable.
    """
    reply = await AsyncScripts(client)(
        "remove_expired",
        keys.prefix(partition),
        session_ms=retention.session_ms,
        dataset_ms=retention.dataset_ms,
        most=MOST_AT_ONCE,
    )
    return Removed(
        sessions=tuple(
            RemovedSession(one[0], one[1], bool(one[2])) for one in reply.get("sessions") or ()
        ),
        datasets=tuple(
            RemovedDataset(
                dataset_id, project, jobs_pb2.StoredRows.FromString(bytes.fromhex(stored)).folder
            )
            for dataset_id, project, stored in reply.get("datasets") or ()
        ),
    )
