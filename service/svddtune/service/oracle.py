"""The dialogue with a labeler as a pure state machine: events in, commands out, nobody awaits.

Events are method calls; each returns the commands to carry out, in order, before the next event.
``conversation.py`` carries them out. Moments are seconds of any monotonic clock.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from uuid import uuid4

from google.rpc import status_pb2

from svddtune.service import names, validate
from svddtune.service.convert import session_to_proto
from svddtune.state.errors import InvalidInput, StateError
from svddtune.state.session import Lease, LeaseOutcome, Session, SessionId, SessionState
from svddtune.v1 import oracle_pb2, tuning_pb2

PROTOCOL_VERSION = 1
# A labeler that thinks says so this many times per lease.
HEARTBEATS_PER_LEASE = 3
# Least time between two Progress messages.
PROGRESS_S = 0.1
# Pause before another look where the store did not answer.
RETRY_S = 1.0
# Others get a query whose lease has run out before the one who let it run out.
GRACE_S = 0.25

_TOKEN = re.compile(r"[0-9a-f]{32}")
_TAKING_LABELS = frozenset({SessionState.PREPARING, SessionState.LABELING, SessionState.PAUSED})


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message."""

    response: oracle_pb2.ConverseResponse


@dataclass(frozen=True, slots=True)
class Open:
    """Begin to follow the session and load it; then ``opened``."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class Apply:
    """Store what the labeler said; then ``applied`` or ``refused``."""

    request: oracle_pb2.ConverseRequest


@dataclass(frozen=True, slots=True)
class Refuse:
    """Say what is wrong with an item; then ``refused``."""

    request: oracle_pb2.ConverseRequest
    error: StateError


@dataclass(frozen=True, slots=True)
class Look:
    """Lease until ``most`` queries are held; then ``looked``."""

    most: int


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send leased queries with what the labeler is shown."""

    leases: tuple[Lease, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Load the session; then ``reported``."""


@dataclass(frozen=True, slots=True)
class ReleaseAll:
    """Give all leases back."""


@dataclass(frozen=True, slots=True)
class End:
    """End the stream."""


Command = Send | Open | Apply | Refuse | Look | Deliver | Report | ReleaseAll | End


@dataclass(slots=True)
class _Held:
    query: int
    lease_id: str
    expires: float


class _Phase(Enum):
    AWAITING_HELLO = "AWAITING_HELLO"
    OPENING = "OPENING"
    OPEN = "OPEN"
    OVER = "OVER"


class Dialogue:
    """One Converse stream. Methods raise StateError where that ends the stream."""

    def __init__(self) -> None:
        self._phase = _Phase.AWAITING_HELLO
        self._credit = 0
        self._held: dict[str, _Held] = {}
        self._lease_s = 0.0
        self._clock_ahead = 0.0
        # Set where a lease ran out: until then, or until the labeler speaks, nothing new for it.
        self._asleep_until = 0.0
        self._look_at: float | None = None
        self._report_at: float | None = None
        self._last_report = float("-inf")
        self._last_version = -1
        self._finish_reason = ""
        self._finished = False
        self.session_id = SessionId("")
        self.labeler = ""
        self.token = ""

    @property
    def over(self) -> bool:
        """True once the stream has ended."""
        return self._phase is _Phase.OVER

    @property
    def credit(self) -> int:
        """Queries the client will hold at once."""
        return self._credit

    @property
    def holder(self) -> str:
        """Whose leases these are: the labeler's, on this stream and those that resume it."""
        return f"{self.labeler}/{self.token}"

    @property
    def wake_at(self) -> float | None:
        """When ``woken`` is due."""
        due = [moment for moment in (self._look_at, self._report_at) if moment is not None]
        return min(due, default=None)

    def received(self, request: oracle_pb2.ConverseRequest, now: float) -> list[Command]:
        """The client said something."""
        kind = request.WhichOneof("message")
        if self._phase is _Phase.AWAITING_HELLO:
            if kind != "hello":
                raise _violation(f"the first message must be hello, not {kind or 'empty'}")
            return self._begin(request.hello)
        if kind is None or kind == "hello":
            raise _violation(f"{kind or 'an empty message'} after hello")
        was_asleep, self._asleep_until = now < self._asleep_until, 0.0
        if kind == "bye":
            return self._end()
        try:
            if kind == "credit":
                self._set_credit(request.credit.queries)
                return [Look(self._credit)]
            self._check_session(getattr(request, kind).session)
        except InvalidInput as error:
            return [Refuse(request, error)]
        commands: list[Command] = [Apply(request)]
        return [*commands, Look(self._credit)] if was_asleep else commands

    def opened(self, session: Session) -> list[Command]:
        """The session is there."""
        self._phase = _Phase.OPEN
        self._lease_s = session.config.lease_s
        self._last_version = session.version
        welcome = oracle_pb2.Welcome(
            resume_token=self.token,
            lease_s=self._lease_s,
            heartbeat_s=self._lease_s / HEARTBEATS_PER_LEASE,
            protocol_version=PROTOCOL_VERSION,
            session=session_to_proto(session),
        )
        return [Send(oracle_pb2.ConverseResponse(welcome=welcome)), Look(self._credit)]

    def looked(self, outcome: LeaseOutcome, now: float) -> list[Command]:
        """What is held now, and what goes on in the session."""
        self._clock_ahead = outcome.now_ms / 1000 - now
        commands = self._revoke(outcome)
        new = tuple(lease for lease in outcome.leases if lease.lease_id not in self._held)
        for lease in outcome.leases:
            self._held[lease.lease_id] = _Held(
                lease.query, lease.lease_id, self._here(lease.expires_ms)
            )
        if new:
            commands.append(Deliver(new))
        if outcome.state in _TAKING_LABELS:
            self._finished = False
        elif not self._finished:
            self._finished = True
            self._finish_reason = outcome.finish_reason or outcome.state.value
            commands.append(Report())
        self._plan_next_look(outcome, now)
        return commands

    def postponed(self, unsent: Iterable[Lease], now: float) -> list[Command]:
        """The store does not answer now; leases that were to be delivered are not."""
        self._drop(lease.lease_id for lease in unsent)
        if self._phase is _Phase.OPEN:
            self._look_at = self._report_at = now + RETRY_S
        return []

    def applied(
        self, request: oracle_pb2.ConverseRequest, ack: oracle_pb2.Ack, now: float
    ) -> list[Command]:
        """What the labeler said is stored."""
        kind = request.WhichOneof("message")
        if kind in ("answer", "skip"):
            self._drop(one.lease_id for one in self._held.values() if one.query == ack.query)
        elif kind == "release":
            self._drop(request.release.lease_ids or self._held)
        elif kind == "extend":
            self._prolong(request.extend.lease_ids or self._held, ack)
        return [Send(oracle_pb2.ConverseResponse(ack=ack))]

    def refused(
        self, request: oracle_pb2.ConverseRequest, status: status_pb2.Status
    ) -> list[Command]:
        """What the labeler said could not be stored."""
        item = getattr(request, str(request.WhichOneof("message")))
        reject = oracle_pb2.Reject(
            answer_id=getattr(item, "answer_id", ""),
            query=getattr(item, "query", 0),
            status=status,
        )
        return [Send(oracle_pb2.ConverseResponse(reject=reject))]

    def changed(self, now: float) -> list[Command]:
        """Somebody changed the session."""
        if self._phase is not _Phase.OPEN:
            return []
        commands: list[Command] = [self._look(now)]
        if now >= self._last_report + PROGRESS_S:
            commands.append(self._report(now))
        else:
            self._report_at = self._last_report + PROGRESS_S
        return commands

    def woken(self, now: float) -> list[Command]:
        """It is ``wake_at`` or later."""
        commands: list[Command] = []
        if self._phase is not _Phase.OPEN:
            return commands
        if self._look_at is not None and now >= self._look_at:
            commands.append(self._look(now))
        if self._report_at is not None and now >= self._report_at:
            commands.append(self._report(now))
        return commands

    def reported(self, session: Session) -> list[Command]:
        """The session as it is now."""
        if self._finish_reason:
            reason, self._finish_reason = self._finish_reason, ""
            self._last_version = session.version
            return [_finished(session_to_proto(session), reason)]
        if session.version == self._last_version:
            return []
        self._last_version = session.version
        progress = oracle_pb2.Progress(session=session_to_proto(session))
        return [Send(oracle_pb2.ConverseResponse(progress=progress))]

    def deleted(self) -> list[Command]:
        """The session is no more."""
        self._phase = _Phase.OVER
        gone = tuning_pb2.Session(name=names.session_name(self.session_id))
        return [_finished(gone, "DELETED"), End()]

    def draining(self) -> list[Command]:
        """The server goes away; the leases wait for the client's next stream."""
        self._phase = _Phase.OVER
        drain = oracle_pb2.Drain(reason="This server is shutting down.")
        return [Send(oracle_pb2.ConverseResponse(drain=drain)), End()]

    def half_closed(self) -> list[Command]:
        """The client says nothing more."""
        if self._phase is _Phase.AWAITING_HELLO:
            self._phase = _Phase.OVER
            return [End()]
        return self._end()

    def _begin(self, hello: oracle_pb2.Hello) -> list[Command]:
        if hello.protocol_version != PROTOCOL_VERSION:
            raise InvalidInput(
                "PROTOCOL_VERSION_UNSUPPORTED",
                f"Version {hello.protocol_version} of the dialogue is not spoken here; "
                f"{PROTOCOL_VERSION} is.",
                field="protocol_version",
                value=hello.protocol_version,
                supported=PROTOCOL_VERSION,
            )
        self.labeler = validate.labeler(hello.labeler)
        if len(hello.sessions) != 1:
            raise validate.invalid_field("sessions", list(hello.sessions), "exactly one session")
        self.session_id = names.session_id(hello.sessions[0], "sessions[0]")
        self._credit = validate.in_range("credit", hello.credit, 0, validate.MOST_CREDIT)
        if hello.kind not in oracle_pb2.LabelerKind.values():
            raise validate.invalid_field("kind", hello.kind, "LABELER_KIND_HUMAN or _AUTOMATED")
        if hello.resume_token and not _TOKEN.fullmatch(hello.resume_token):
            raise validate.invalid_field(
                "resume_token", hello.resume_token, "the token of an earlier Welcome, or nothing"
            )
        self.token = hello.resume_token or uuid4().hex
        self._phase = _Phase.OPENING
        return [Open(self.session_id)]

    def _set_credit(self, queries: int) -> None:
        self._credit = validate.in_range("credit", queries, 0, validate.MOST_CREDIT)

    def _check_session(self, name: str) -> None:
        own = names.session_name(self.session_id)
        if name not in ("", own):
            raise validate.invalid_field("session", name, f"{own}, or nothing")

    def _end(self) -> list[Command]:
        self._phase = _Phase.OVER
        return [ReleaseAll(), End()]

    def _look(self, now: float) -> Look:
        self._look_at = None
        awake = [one for one in self._held.values() if one.expires > now]
        if len(awake) < len(self._held):
            self._asleep_until = now + self._lease_s
        return Look(len(awake) if now < self._asleep_until else self._credit)

    def _report(self, now: float) -> Report:
        self._report_at = None
        self._last_report = now
        return Report()

    def _revoke(self, outcome: LeaseOutcome) -> list[Command]:
        current = {lease.lease_id for lease in outcome.leases}
        gone = [one for one in self._held.values() if one.lease_id not in current]
        commands: list[Command] = []
        for one in gone:
            del self._held[one.lease_id]
            if outcome.state not in _TAKING_LABELS:
                reason = "SESSION_ENDED"
            elif self._here(outcome.now_ms) >= one.expires:
                reason = "EXPIRED"
            else:
                reason = "ANSWERED_BY_OTHER"
            revoke = oracle_pb2.Revoke(
                session=names.session_name(self.session_id),
                query=one.query,
                lease_id=one.lease_id,
                reason=reason,
            )
            commands.append(Send(oracle_pb2.ConverseResponse(revoke=revoke)))
        return commands

    def _plan_next_look(self, outcome: LeaseOutcome, now: float) -> None:
        due = [one.expires + GRACE_S for one in self._held.values()]
        if outcome.state is SessionState.LABELING:
            if now < self._asleep_until:
                due.append(self._asleep_until)
            elif outcome.next_expiry_ms and len(self._held) < self._credit:
                due.append(self._here(outcome.next_expiry_ms))
        self._look_at = min(due, default=None)

    def _drop(self, lease_ids: Iterable[str]) -> None:
        for lease_id in list(lease_ids):
            self._held.pop(lease_id, None)

    def _prolong(self, lease_ids: Iterable[str], ack: oracle_pb2.Ack) -> None:
        expires = self._here(ack.lease_expire_time.ToMilliseconds())
        for lease_id in set(lease_ids) - set(ack.lost_lease_ids):
            if lease_id in self._held:
                self._held[lease_id].expires = expires

    def _here(self, redis_ms: int) -> float:
        """An instant of Redis's clock on the clock of ``now``."""
        return redis_ms / 1000 - self._clock_ahead


def _violation(what: str) -> InvalidInput:
    return InvalidInput("PROTOCOL_VIOLATION", f"Converse: {what}.")


def _finished(session: tuning_pb2.Session, reason: str) -> Send:
    finished = oracle_pb2.Finished(session=session, reason=reason)
    return Send(oracle_pb2.ConverseResponse(finished=finished))
