"""The dialogue with a labeler as a pure state machine: events in, commands out, no I/O.

Events are method calls. Each returns the commands to carry out, in order, before the next event;
``conversation.py`` carries them out. Moments are seconds of any monotonic clock.

A stream serves one session or several, with one credit for all. With one session, the store leases
queries to the stream as soon as there are any. With several, the store only notifies the stream,
which leases what its credit allows: from the session with the highest priority, among equals from
the one that is due first, and among these from the one that has waited longest.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from uuid import uuid4

from google.protobuf.message import Message
from google.rpc import status_pb2

from svddtune.service import names, validate
from svddtune.service.commands import (
    Apply,
    Command,
    Deliver,
    End,
    Item,
    Look,
    Open,
    Refuse,
    ReleaseAll,
    Report,
    Send,
)
from svddtune.service.serving import RETRY_S, Serving, finished
from svddtune.service.silence import Silent
from svddtune.service.views import seen_session
from svddtune.state.errors import InvalidInput, StateError
from svddtune.state.session import Lease, LeaseOutcome, LeaseRequest, Session, SessionId
from svddtune.v1 import oracle_pb2, tuning_pb2

PROTOCOL_VERSION = 1
# Heartbeats that the client is to send within its shortest lease, which is half of the config's.
HEARTBEATS_PER_LEASE = 3
# Shortest time between two Progress messages on one session.
PROGRESS_S = 0.1
# A lease counts as expired this long before its end.
EXPIRY_MARGIN_S = 0.05

_APPLIED = oracle_pb2.Ack.DISPOSITION_APPLIED
_TOKEN = re.compile(r"[0-9a-f]{32}")


class _Phase(Enum):
    AWAITING_HELLO = "AWAITING_HELLO"
    OPENING = "OPENING"
    OPEN = "OPEN"
    OVER = "OVER"


class Dialogue:
    """One Converse stream. Methods raise StateError where that ends the stream."""

    def __init__(self, *, stream_s: float = 0.0, hello_s: float = 0.0) -> None:
        self._phase = _Phase.AWAITING_HELLO
        self._hello_s = hello_s
        self._stream_s = stream_s
        self._credit = 0
        self._automated = False
        self._tags: tuple[str, ...] = ()
        self._named: tuple[SessionId, ...] = ()
        self._clock_ahead = 0.0
        self._turn = 0
        self._resumes = False
        # After a resumption: sessions whose leases of the earlier stream are not known yet. They
        # count towards the credit, so nothing new is leased before.
        self._unseen: set[SessionId] = set()
        # A lease expired: nothing new is leased until this moment, or until the client sends
        # something.
        self._asleep_until = 0.0
        # The conversation raises both with the number of streams in its process: the shortest time
        # between two Progress messages, and the delay of the first one after a change.
        self.progress_s = PROGRESS_S
        self.progress_wait_s = 0.0
        self.servings: dict[SessionId, Serving] = {}
        self.labeler = ""
        # Name and version of the client program; empty if it does not say.
        self.client = ""
        self.token = ""
        # Owner of the leases: the labeler on this stream and on those that resume it.
        self.holder = ""

    @property
    def over(self) -> bool:
        """True once the stream has ended."""
        return self._phase is _Phase.OVER

    @property
    def serves_any(self) -> bool:
        """Whether every session that begins to ask joins the stream."""
        return not self._named

    @property
    def wants_more(self) -> bool:
        """Whether its credit allows more queries than it holds."""
        return sum(len(one.held) for one in self.servings.values()) < self._credit

    @property
    def wake_at(self) -> float | None:
        """When ``woken`` is to be called; None for never."""
        if self._phase is not _Phase.OPEN:
            return None
        due = [one.wake_at for one in self.servings.values()]
        if self._asleep_until:
            due.append(self._asleep_until)
        return min((moment for moment in due if moment is not None), default=None)

    # What the client does

    def received(self, request: oracle_pb2.ConverseRequest, now: float) -> list[Command]:
        """The client sent a message."""
        message = _content(request)
        if self._phase is _Phase.AWAITING_HELLO:
            if not isinstance(message, oracle_pb2.Hello):
                raise _violation(f"the first message must be hello, not {_kind(message)}")
            return self._begin(message)
        if isinstance(message, oracle_pb2.Hello):
            raise _violation("hello after hello")
        was_asleep, self._asleep_until = self._asleep_until > 0, 0.0
        if was_asleep:
            self._look_everywhere()
        if isinstance(message, oracle_pb2.Bye):
            return self._end()
        request_id = request.request_id
        try:
            validate.at_most_bytes("request_id", request_id, validate.LONGEST_REQUEST_ID)
            match message:
                case None:
                    raise validate.invalid_field("message", "", "an item of a known kind")
                case oracle_pb2.Credit():
                    return self._change_credit(message, request_id)
                case _:
                    return self._apply(message, request_id)
        except StateError as error:
            return [Refuse(message, request_id[: validate.LONGEST_REQUEST_ID], error)]

    def applied(
        self, item: Item, request_id: str, acks: Mapping[SessionId, oracle_pb2.Ack]
    ) -> list[Command]:
        """The store has applied an item: ``acks`` are its effects, by session."""
        ack = next(iter(acks.values())) if len(acks) == 1 else _joined(acks.values())
        ack.request_id = request_id
        for session_id, effect in acks.items():
            serving = self.servings.get(session_id)
            if serving is not None:
                self._note_effect(serving, item, effect)
        return [Send(oracle_pb2.ConverseResponse(ack=ack)), *self._look()]

    def _note_effect(self, serving: Serving, item: Item, ack: oracle_pb2.Ack) -> None:
        match item:
            case oracle_pb2.Answer():
                self._expect_next(serving, item, ack)
                # A vote ends all leases of its labeler on the query.
                on_query = [one for one in serving.held.values() if one.query == ack.query]
                serving.drop(*[one.lease_id for one in on_query])
            case oracle_pb2.Skip():
                self._expect_next(serving, item, ack)
                # Only the lease named: after a repeat the labeler may hold a later one.
                serving.drop(item.lease_id)
            case oracle_pb2.Release():
                serving.drop(*(item.lease_ids or serving.held.copy()))
                serving.exhausted = False
            case oracle_pb2.Extend():
                serving.prolong(ack.extended)
            case oracle_pb2.Retract():
                pass

    def refused(
        self,
        item: Item | oracle_pb2.Credit | None,
        request_id: str,
        status: status_pb2.Status,
        session_id: SessionId | None = None,
    ) -> list[Command]:
        """An item was not applied."""
        reject = oracle_pb2.Reject(
            answer_id=getattr(item, "answer_id", ""),
            query=getattr(item, "query", 0),
            status=status,
            session=names.session_name(session_id) if session_id else getattr(item, "session", ""),
            request_id=request_id,
        )
        return [Send(oracle_pb2.ConverseResponse(reject=reject))]

    def half_closed(self) -> list[Command]:
        """The client sends nothing more."""
        if self._phase is _Phase.AWAITING_HELLO:
            self._phase = _Phase.OVER
            return [End()]
        return self._end()

    def hello_overdue(self) -> None:
        """The time for Hello is over. Raises Silent if none has come."""
        if self._phase is _Phase.AWAITING_HELLO:
            raise Silent("HELLO_TIMEOUT", "Hello", self._hello_s)

    # What happens in the sessions

    def opened(self, sessions: Sequence[Session], now: float) -> list[Command]:
        """The sessions are loaded."""
        self._phase = _Phase.OPEN
        for session in sessions:
            self._add(session)
        lease_seconds = min((session.config.lease_seconds for session in sessions), default=60.0)
        welcome = oracle_pb2.Welcome(
            resume_token=self.token,
            lease_seconds=lease_seconds,
            heartbeat_seconds=lease_seconds / 2 / HEARTBEATS_PER_LEASE,
            protocol_version=PROTOCOL_VERSION,
            session=seen_session(sessions[0]) if self._single else None,
            stream_seconds=self._stream_s,
        )
        commands: list[Command] = [Send(oracle_pb2.ConverseResponse(welcome=welcome))]
        if not self._single:
            commands += [_progress(session) for session in sessions]
        return [*commands, *self._look()]

    def joined(self, session: Session, now: float) -> list[Command]:
        """A session has begun to ask, and this stream serves every one."""
        if self._phase is not _Phase.OPEN or session.id in self.servings:
            return []
        self._add(session)
        return [_progress(session), *self._look()]

    def wanted(self, now: float) -> tuple[SessionId, LeaseRequest] | None:
        """The next session to lease queries in and the request; None if nothing is wanted."""
        if self._phase is not _Phase.OPEN:
            return None
        ready = [
            one
            for one in self.servings.values()
            if one.retry_at is None
            and (one.stale or (not one.exhausted and self._room(one, now) > len(one.held)))
        ]
        if not ready:
            return None
        first = min(
            ready,
            key=lambda one: (one.serve_order.rank, one.served, one.serve_order.created_ms),
        )
        return first.session_id, self._lease_request(self._room(first, now))

    def looked(self, session_id: SessionId, outcome: LeaseOutcome, now: float) -> list[Command]:
        """The store answered the request of ``wanted``."""
        serving = self.servings[session_id]
        self._clock_ahead = outcome.now_ms / 1000 - now
        serving.stale, serving.retry_at = False, None
        asked_for = self._room(serving, now)
        self._unseen.discard(session_id)
        gone, new = serving.take(outcome)
        commands: list[Command] = []
        for lease_id in gone:
            revoke = serving.revoked(lease_id, outcome)
            commands.append(Send(oracle_pb2.ConverseResponse(revoke=revoke)))
            if revoke.reason == oracle_pb2.REVOKE_REASON_EXPIRED:
                self._asleep_until = now + serving.lease_seconds
        if new:
            self._turn += 1
            serving.served = self._turn
            commands.append(Deliver(session_id, tuple(new)))
        serving.exhausted = len(serving.held) < asked_for
        if serving.note_end(outcome):
            commands.append(Report(session_id))
        return [*commands, *self._look()]

    def postponed(
        self, session_id: SessionId, unsent: Iterable[Lease], now: float
    ) -> list[Command]:
        """The store does not answer; ``unsent`` leases could not be delivered."""
        serving = self.servings.get(session_id)
        if serving is not None:
            serving.drop(*[lease.lease_id for lease in unsent])
            if self._phase is _Phase.OPEN:
                serving.retry_at = serving.report_at = now + RETRY_S
        return []

    def wants(self, session_id: SessionId, concerned: bool) -> bool:
        """Whether ``changed`` would do anything."""
        serving = self.servings.get(session_id)
        return serving is not None and (concerned or serving.report_at is None)

    def changed(self, session_id: SessionId, concerned: bool, now: float) -> list[Command]:
        """A session changed; ``concerned`` if that may affect the leases of this stream."""
        serving = self.servings.get(session_id)
        if self._phase is not _Phase.OPEN or serving is None:
            return []
        commands: list[Command] = []
        if concerned:
            serving.stale, serving.exhausted = True, False
            commands += self._look()
        return [*commands, *self._report_soon(serving, now)]

    def changed_all(self, now: float) -> list[Command]:
        """Notices may have been missed."""
        commands: list[Command] = []
        self._look_everywhere()
        for session_id in list(self.servings):
            commands += self.changed(session_id, True, now)
        return commands

    def woken(self, now: float) -> list[Command]:
        """It is ``wake_at`` or later."""
        commands: list[Command] = []
        if self._phase is not _Phase.OPEN:
            return commands
        if self._asleep_until and now >= self._asleep_until:
            self._asleep_until = 0.0
            self._look_everywhere()
        for serving in self.servings.values():
            if serving.retry_at is not None and now >= serving.retry_at:
                serving.retry_at, serving.stale, serving.exhausted = None, True, False
            if serving.report_at is not None and now >= serving.report_at:
                commands.append(self._report(serving, now))
        return [*self._look(), *commands]

    def reported(self, session: Session) -> list[Command]:
        """A session was loaded for a report."""
        serving = self.servings.get(session.id)
        response = serving.report(session) if serving else None
        return [Send(response)] if response else []

    def deleted(self, session_id: SessionId) -> list[Command]:
        """A session was deleted."""
        if self.servings.pop(session_id, None) is None:
            return []
        self._unseen.discard(session_id)
        gone = tuning_pb2.Session(name=names.session_name(session_id))
        commands: list[Command] = [Send(finished(gone, oracle_pb2.FINISH_REASON_DELETED))]
        if self._named and not self.servings:
            self._phase = _Phase.OVER
            commands.append(End())
        return commands

    def draining(self, reason: oracle_pb2.DrainReason) -> list[Command]:
        """The server ends the stream; its leases stay for the stream that resumes it."""
        self._phase = _Phase.OVER
        drain = oracle_pb2.Drain(reason=reason)
        return [Send(oracle_pb2.ConverseResponse(drain=drain)), End()]

    # Internals

    @property
    def _single(self) -> bool:
        return len(self._named) == 1

    def _begin(self, hello: oracle_pb2.Hello) -> list[Command]:
        lowest = hello.min_protocol_version
        highest = hello.max_protocol_version or lowest
        if not lowest <= PROTOCOL_VERSION <= highest:
            raise InvalidInput(
                "PROTOCOL_VERSION_UNSUPPORTED",
                f"Versions {lowest} to {highest} of the dialogue are not supported; "
                f"use version {PROTOCOL_VERSION}.",
                field="min_protocol_version",
                value=lowest,
                supported=PROTOCOL_VERSION,
            )
        for field in ("client_name", "client_version"):
            validate.at_most_bytes(field, getattr(hello, field), validate.LONGEST_CLIENT)
        self.client = f"{hello.client_name} {hello.client_version}".strip()
        self.labeler = validate.labeler(hello.labeler)
        self._named = validate.session_names(hello.sessions)
        self._credit = _credit(hello.credit)
        self._automated = validate.is_automated(hello.kind)
        self._tags = validate.tags(hello.tags)
        if hello.resume_token and not _TOKEN.fullmatch(hello.resume_token):
            raise validate.invalid_field(
                "resume_token", hello.resume_token, "the token of an earlier Welcome, or nothing"
            )
        self._resumes = bool(hello.resume_token)
        self.token = hello.resume_token or uuid4().hex
        self.holder = f"{self.labeler}/{self.token}"
        self._phase = _Phase.OPENING
        return [Open(self._named)]

    def _add(self, session: Session) -> None:
        self.servings[session.id] = Serving(
            session.id,
            session.serve_order,
            session.version,
            session.config.lease_seconds,
        )
        if self._resumes and not self._single:
            self._unseen.add(session.id)

    def _change_credit(self, credit: oracle_pb2.Credit, request_id: str) -> list[Command]:
        before, self._credit = self._credit, _credit(credit.queries)
        self._look_everywhere()
        if self._single and self._credit < before:
            # The store may still have this holder waiting for more than that.
            for serving in self.servings.values():
                serving.stale = True
        ack = oracle_pb2.Ack(disposition=_APPLIED, request_id=request_id)
        acked = [Send(oracle_pb2.ConverseResponse(ack=ack))] if request_id else []
        return [*acked, *self._look()]

    def _apply(self, item: Item, request_id: str) -> list[Command]:
        return [Apply(self._targets(item), item, request_id, self._then(item)), *self._look()]

    def _targets(self, item: Item) -> tuple[SessionId, ...]:
        """The sessions that an item is about."""
        if item.session:
            session_id = names.session_id(item.session, "session")
            if self._named and session_id not in self._named:
                raise validate.invalid_field("session", item.session, "a session of this stream")
            return (session_id,)
        if self._single:
            return self._named
        if isinstance(item, oracle_pb2.Extend | oracle_pb2.Release) and not item.lease_ids:
            return tuple(one.session_id for one in self.servings.values() if one.held)
        raise validate.invalid_field(
            "session", "", "the session's name: this stream serves several"
        )

    def _then(self, item: Item) -> LeaseRequest | None:
        """The request for the queries that are to follow an answer or a skip by themselves."""
        followed = isinstance(item, oracle_pb2.Answer | oracle_pb2.Skip)
        if not followed or not self._single or self._credit == 0:
            return None
        return self._lease_request(self._credit)

    def _expect_next(
        self, serving: Serving, item: oracle_pb2.Answer | oracle_pb2.Skip, ack: oracle_pb2.Ack
    ) -> None:
        if not self._single or ack.disposition != ack.DISPOSITION_APPLIED:
            serving.exhausted = False
        elif item.lease_id in serving.held:
            # The store knows that this holder waits. (It may not where the item is a repeat.)
            serving.exhausted = True

    def _lease_request(self, most: int) -> LeaseRequest:
        return LeaseRequest(
            self.holder,
            self.labeler,
            most,
            self._automated,
            notify_only=not self._single,
            tags=self._tags,
        )

    def _end(self) -> list[Command]:
        self._phase = _Phase.OVER
        return [*(ReleaseAll(session_id) for session_id in self.servings), End()]

    def _look_everywhere(self) -> None:
        for serving in self.servings.values():
            serving.exhausted = False

    def _room(self, serving: Serving, now: float) -> int:
        """Queries of the session that this stream may hold now; 0 for nothing new."""
        awake = serving.awake((now + EXPIRY_MARGIN_S + self._clock_ahead) * 1000)
        if awake < len(serving.held) or now < self._asleep_until or self._unseen:
            return 0
        held = sum(len(one.held) for one in self.servings.values())
        # (Counted from the credit: some of what is held in this session may be gone by now.)
        most = max(0, self._credit - held + len(serving.held))
        # With several sessions, each gives one query at a time.
        return most if self._single else min(most, len(serving.held) + 1)

    def _look(self) -> list[Command]:
        return [Look()] if self._phase is _Phase.OPEN else []

    def _report_soon(self, serving: Serving, now: float) -> list[Command]:
        if serving.report_at is None:
            serving.report_at = max(
                serving.last_report + self.progress_s, now + self.progress_wait_s
            )
        return [self._report(serving, now)] if now >= serving.report_at else []

    def _report(self, serving: Serving, now: float) -> Report:
        serving.report_at = None
        serving.last_report = now
        return Report(serving.session_id)


def _content(
    request: oracle_pb2.ConverseRequest,
) -> Item | oracle_pb2.Hello | oracle_pb2.Credit | oracle_pb2.Bye | None:
    """The message in the request's oneof; None if it is empty or of a later version."""
    kind = request.WhichOneof("message")
    return getattr(request, kind) if kind else None


def _kind(message: Message | None) -> str:
    return message.DESCRIPTOR.name.lower() if message else "an empty message"


def _credit(queries: int) -> int:
    return validate.in_range("credit", queries, 0, validate.MOST_CREDIT)


def _violation(what: str) -> InvalidInput:
    return InvalidInput("PROTOCOL_VIOLATION", f"Converse: {what}.")


def _joined(acks: Iterable[oracle_pb2.Ack]) -> oracle_pb2.Ack:
    """The one Ack of an extension or release in several sessions, or in none."""
    joined = oracle_pb2.Ack(disposition=_APPLIED)
    for ack in acks:
        joined.extended.extend(ack.extended)
        joined.lost_lease_ids.extend(ack.lost_lease_ids)
    return joined


def _progress(session: Session) -> Send:
    progress = oracle_pb2.Progress(session=seen_session(session))
    return Send(oracle_pb2.ConverseResponse(progress=progress))
