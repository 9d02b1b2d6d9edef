"""One session of a stream: the leases held in it, and what the client knows of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from svddtune.service import names
from svddtune.service.convert import finish_reason
from svddtune.service.views import seen_session
from svddtune.state.session import Lease, LeaseOutcome, ServeOrder, Session, SessionId, SessionState
from svddtune.v1 import oracle_pb2, tuning_pb2

# Pause before another request after the store did not answer.
RETRY_S = 1.0

_TAKING_LABELS = frozenset({SessionState.PREPARING, SessionState.LABELING, SessionState.PAUSED})


@dataclass(slots=True)
class Held:
    """A lease that the client knows of."""

    query: int
    lease_id: str
    # On Redis's clock.
    expires_ms: int


@dataclass(slots=True)
class Serving:
    """One session of a stream. Moments are those of the stream's clock."""

    session_id: SessionId
    serve_order: ServeOrder
    last_version: int
    lease_seconds: float
    held: dict[str, Held] = field(default_factory=dict)
    # Number of the stream's delivery in which it last got a query of the session.
    served: int = 0
    # The leases held may have changed: the store is to be asked.
    stale: bool = True
    # The last request got all queries there were; a notice announces further ones.
    exhausted: bool = False
    retry_at: float | None = None
    report_at: float | None = None
    last_report: float = float("-inf")
    # Nothing more will be asked.
    finished: bool = False
    # Why, until the client has been sent it.
    finish_reason: oracle_pb2.FinishReason = oracle_pb2.FINISH_REASON_UNSPECIFIED

    @property
    def name(self) -> str:
        """Its resource name."""
        return names.session_name(self.session_id)

    @property
    def wake_at(self) -> float | None:
        """When something is due; None for never."""
        due = [moment for moment in (self.retry_at, self.report_at) if moment is not None]
        return min(due, default=None)

    def awake(self, redis_ms: float) -> int:
        """Number of leases that have not expired at a moment of Redis's clock."""
        return sum(one.expires_ms > redis_ms for one in self.held.values())

    def take(self, outcome: LeaseOutcome) -> tuple[list[str], list[Lease]]:
        """Take in the store's reply: ids of leases that are gone, and leases that are new."""
        current = {lease.lease_id for lease in outcome.leases}
        gone = [lease_id for lease_id in self.held if lease_id not in current]
        new = [lease for lease in outcome.leases if lease.lease_id not in self.held]
        for lease in outcome.leases:
            self.held[lease.lease_id] = Held(lease.query, lease.lease_id, lease.expires_ms)
        return gone, new

    def revoked(self, lease_id: str, outcome: LeaseOutcome) -> oracle_pb2.Revoke:
        """Forget a lease that is gone, and return why it is."""
        one = self.held.pop(lease_id)
        if outcome.withdrawn:
            reason = oracle_pb2.REVOKE_REASON_LABELER_WITHDRAWN
        elif outcome.state not in _TAKING_LABELS:
            reason = oracle_pb2.REVOKE_REASON_SESSION_ENDED
        elif outcome.now_ms >= one.expires_ms:
            reason = oracle_pb2.REVOKE_REASON_EXPIRED
        else:
            reason = oracle_pb2.REVOKE_REASON_ANSWERED_BY_OTHER
        return oracle_pb2.Revoke(
            session=self.name, query=one.query, lease_id=lease_id, reason=reason
        )

    def note_end(self, outcome: LeaseOutcome) -> bool:
        """Note whether the session asks anything more; True if the client is to be sent its end."""
        over = outcome.over_for_labeler or outcome.state not in _TAKING_LABELS
        news = over and not self.finished
        self.finished = over
        if news:
            self.finish_reason = finish_reason(outcome)
        return news

    def report(self, session: Session) -> oracle_pb2.ConverseResponse | None:
        """The session as a message; None if the client has this version."""
        if self.finish_reason:
            reason, self.finish_reason = self.finish_reason, oracle_pb2.FINISH_REASON_UNSPECIFIED
            self.last_version = session.version
            return finished(seen_session(session), reason)
        if session.version == self.last_version:
            return None
        self.last_version = session.version
        progress = oracle_pb2.Progress(session=seen_session(session))
        return oracle_pb2.ConverseResponse(progress=progress)

    def drop(self, *lease_ids: str) -> None:
        """Forget leases that the client released or used."""
        for lease_id in lease_ids:
            self.held.pop(lease_id, None)

    def prolong(self, extended: Iterable[oracle_pb2.LeaseExpiry]) -> None:
        """Note the new ends of leases."""
        for one in extended:
            if held := self.held.get(one.lease_id):
                held.expires_ms = one.expire_time.ToMilliseconds()


def finished(
    session: tuning_pb2.Session, reason: oracle_pb2.FinishReason
) -> oracle_pb2.ConverseResponse:
    """The message that nothing more will be asked."""
    return oracle_pb2.ConverseResponse(finished=oracle_pb2.Finished(session=session, reason=reason))
