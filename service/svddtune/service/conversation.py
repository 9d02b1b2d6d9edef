"""One Converse stream: does the I/O that the dialogue commands."""

import asyncio
import logging
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from structlog.contextvars import bound_contextvars

from svddtune.service.cache import Lru
from svddtune.service.call_log import name_labeler
from svddtune.service.commands import (
    Apply,
    Command,
    Deliver,
    End,
    Look,
    Open,
    Refuse,
    ReleaseAll,
    Report,
    Send,
)
from svddtune.service.dialogue import PROGRESS_S, Dialogue
from svddtune.service.draining import Draining, ServerDraining
from svddtune.service.labeling import Labeling
from svddtune.service.meters import Meters
from svddtune.service.quotas import Quotas
from svddtune.service.shared import SharedSessions
from svddtune.service.status import Context, outlasting, status_proto, unbroken
from svddtune.state import projects
from svddtune.state.errors import NotFound, StateError, StoreUnavailable
from svddtune.state.notices import Notice, Notices
from svddtune.state.session import SessionId
from svddtune.v1 import oracle_pb2

log = logging.getLogger(__name__)

Outcome = TypeVar("Outcome")

# Received messages that may wait; further ones wait in the client.
_MOST_WAITING = 64
# Progress messages that a process sends per second, over all its streams.
_PROGRESS_PER_S = 100
# Wait after end-of-stream: gRPC may report the cancellation of a broken stream later, and a
# cancelled stream keeps its leases.
_BREAK_S = 0.1
# Share of a stream's longest life that is drawn at random, so that not all streams end at once.
_AGE_SPREAD = 0.1


class _Signal(Enum):
    """Events besides the client's messages."""

    WOKEN = "WOKEN"
    DRAINING = "DRAINING"
    AGED = "AGED"
    # The time for Hello is over.
    HELLO_OVERDUE = "HELLO_OVERDUE"
    # The client has sent nothing for long.
    IDLE = "IDLE"
    # Nothing more is read: the client is done, its stream broke, or its message is undecodable.
    READ = "READ"
    # Notices may have been missed: the connection to Redis was lost or is back.
    LOOK = "LOOK"


@dataclass(frozen=True, slots=True)
class _Changed:
    """A session has changed; ``concerned`` if that may affect the leases of this stream."""

    session_id: SessionId
    concerned: bool


@dataclass(frozen=True, slots=True)
class _Begun:
    """A session that the stream does not serve yet has begun to ask."""

    session_id: SessionId


_Event = oracle_pb2.ConverseRequest | _Signal | _Changed | _Begun


@dataclass(slots=True)
class StreamContext:
    """What all streams and unary calls of a process share."""

    labeling: Labeling
    sessions: SharedSessions
    notices: Notices
    draining: Draining
    # Longest life of a stream in seconds.
    stream_s: float
    # Seconds within which the client must send Hello.
    hello_s: float
    # Seconds after which a stream ends whose client sends nothing; 0 for never.
    idle_s: float = 0.0
    # What one client may have open and send.
    quotas: Quotas = field(default_factory=Quotas)
    meters: Meters = field(default_factory=Meters)
    # Streams that are open.
    streams: int = 0
    # By holder of unary calls that name no session, and session: when it last leased a query there.
    served: Lru[tuple[str, SessionId], float] = field(default_factory=lambda: Lru(10_000))


class Conversation:
    """Reads, acts and writes for one stream: one task reads, another does the rest in order."""

    def __init__(self, context: StreamContext, call: Context, client: str = "") -> None:
        """``client`` is whose quotas the stream counts towards."""
        self._context = context
        self._labeling = context.labeling
        self._call = call
        self._dialogue = Dialogue(stream_s=context.stream_s, hello_s=context.hello_s)
        self._inbox: deque[_Event] = deque()
        self._arrived = asyncio.Event()
        self._waiting = asyncio.Semaphore(_MOST_WAITING)
        self._posted: set[_Event] = set()
        self._followed: dict[SessionId, Callable[[], None]] = {}
        # Position of this stream's Progress messages among those of the process, from 0 to 1.
        self._place = random.random()
        self._change: asyncio.Task[Any] | None = None
        # Whose sessions it serves where it serves any.
        self._project = projects.current()
        self._loop = asyncio.get_running_loop()
        self._now = self._loop.time
        self._event_at = self._now()
        self._asked_at: float | None = None
        self._client = client
        self._heard_at = self._now()
        self._idle_timer: asyncio.TimerHandle | None = None

    async def run(self, requests: AsyncIterator[oracle_pb2.ConverseRequest]) -> None:
        """Serve the stream until either side ends it."""
        spread = 1 - _AGE_SPREAD * random.random()
        ages_at = self._now() + self._context.stream_s * spread
        with ExitStack() as stack:
            stack.enter_context(self._context.draining.stream(lambda: self._post(_Signal.DRAINING)))
            stack.enter_context(self._context.quotas.streams.one(self._client))
            self._stack = stack
            self._watch_idleness()
            timers = (
                self._loop.call_at(ages_at, self._post, _Signal.AGED),
                self._loop.call_later(self._context.hello_s, self._post, _Signal.HELLO_OVERDUE),
            )
            self._reader = asyncio.create_task(self._read(requests))
            self._reader.add_done_callback(self._post_end)
            self._context.streams += 1
            try:
                while not self._dialogue.over:
                    event = await self._next_event()
                    self._event_at = self._now()
                    self._pace_progress()
                    for command in await self._outcome_of_event(event):
                        await self._perform(command)
                    self._note_wait()
            finally:
                self._context.streams -= 1
                for timer in (*timers, self._idle_timer):
                    if timer:
                        timer.cancel()
                self._reader.cancel()
                await asyncio.gather(self._reader, return_exceptions=True)
                await self._leave()

    def _note_wait(self) -> None:
        """Remember since when the labeler has wanted queries that it has not got."""
        if not self._dialogue.wants_more:
            self._asked_at = None
        elif self._asked_at is None:
            self._asked_at = self._event_at

    def _note_assigns(self, count: int) -> None:
        asked_at = self._event_at if self._asked_at is None else self._asked_at
        for _ in range(count):
            self._context.meters.waited(self._now() - asked_at)
        # Others that it wants it has wanted for as long, but had something to do meanwhile.
        self._asked_at = None

    def _pace_progress(self) -> None:
        slowest = self._context.streams / _PROGRESS_PER_S
        self._dialogue.progress_s = max(PROGRESS_S, slowest)
        self._dialogue.progress_wait_s = max(0.0, slowest - PROGRESS_S) * self._place

    async def _read(self, requests: AsyncIterator[oracle_pb2.ConverseRequest]) -> None:
        async for request in requests:
            await self._waiting.acquire()
            self._heard_at = self._now()
            self._inbox.append(request)
            self._arrived.set()

    def _watch_idleness(self) -> None:
        """Post IDLE once the client has sent nothing for as long as a stream may be silent."""
        left_s = self._heard_at + self._context.idle_s - self._now()
        if self._context.idle_s and left_s <= 0:
            self._post(_Signal.IDLE)
        elif self._context.idle_s:
            self._idle_timer = self._loop.call_later(left_s, self._watch_idleness)

    def _post_end(self, reader: asyncio.Task[None]) -> None:
        """The reader has ended, in whatever way."""
        faulty = not reader.cancelled() and reader.exception() is not None
        self._loop.call_later(0 if faulty else _BREAK_S, self._post, _Signal.READ)

    def _read_to_the_end(self) -> list[Command]:
        """The reader has ended. Raises what ended it."""
        if self._reader.cancelled():
            # The server cancelled it: had the stream done so, this would not run. The client may
            # come back.
            raise ServerDraining
        self._reader.result()
        return self._dialogue.half_closed()

    async def _next_event(self) -> _Event:
        while not self._inbox:
            self._arrived.clear()
            wake_at = self._dialogue.wake_at
            timer = wake_at and self._loop.call_at(wake_at, self._post, _Signal.WOKEN)
            try:
                await self._arrived.wait()
            finally:
                if timer:
                    timer.cancel()
        return self._inbox.popleft()

    def _post(self, event: _Event) -> None:
        """Queue an event, unless it waits already."""
        if event not in self._posted:
            self._posted.add(event)
            self._inbox.append(event)
            self._arrived.set()

    # Notices

    def _noticed(self, notice: Notice | None) -> None:
        if notice is None:
            for session_id in self._followed:
                self._context.sessions.doubt(session_id)
            self._post(_Signal.LOOK)
            return
        session_id = notice.session_id
        serving = self._dialogue.servings.get(session_id)
        if serving is None:
            begun = notice.labeling and notice.project == self._project
            if begun and self._dialogue.serves_any and session_id not in self._followed:
                self._post(_Begun(session_id))
            return
        self._context.sessions.noticed(session_id, notice.version)
        serving.serve_order = notice.serve_order
        concerned = notice.concerns(self._dialogue.holder)
        if self._dialogue.wants(session_id, concerned):
            self._post(_Changed(session_id, concerned))

    def _follow(self, session_id: SessionId) -> None:
        """Subscribe to the session's notices."""
        leaving = self._stack.enter_context(ExitStack())
        if not self._dialogue.serves_any:
            leaving.enter_context(self._context.notices.listening(session_id, self._noticed))
        self._context.sessions.follow(session_id)
        leaving.callback(self._context.sessions.leave, session_id)
        self._followed[session_id] = leaving.close

    def _unfollow(self, session_id: SessionId) -> None:
        self._followed.pop(session_id)()

    async def _whole(self, work: Coroutine[Any, Any, Outcome]) -> Outcome:
        """Await a change of the store, which is completed even if the client goes away."""
        self._change = asyncio.create_task(work)
        return await outlasting(self._change)

    async def _leave(self) -> None:
        """End the stream: its leases stay for the one that resumes it, and it gets nothing new."""
        if self._change is not None:
            # The change may make the holder wait for queries.
            await asyncio.gather(self._change, return_exceptions=True)
        if self._redis_is_away:
            # The client is to learn that at once. Unparked, a holder waits until one lease expires.
            return
        for session_id in self._dialogue.servings:
            try:
                await unbroken(self._labeling.park(session_id, self._dialogue.holder))
            except StateError:
                continue

    @property
    def _redis_is_away(self) -> bool:
        # Nothing can be read meanwhile; the return of Redis is an event of its own.
        return not self._context.notices.connected.is_set()

    async def _outcome_of_event(self, event: _Event) -> list[Command]:
        dialogue, now = self._dialogue, self._now()
        if isinstance(event, oracle_pb2.ConverseRequest):
            self._waiting.release()
            return dialogue.received(event, now)
        self._posted.discard(event)
        match event:
            case _Signal.DRAINING:
                return dialogue.draining(oracle_pb2.DRAIN_REASON_SHUTDOWN)
            case _Signal.AGED:
                return dialogue.draining(oracle_pb2.DRAIN_REASON_STREAM_AGE)
            case _Signal.IDLE:
                return dialogue.draining(oracle_pb2.DRAIN_REASON_IDLE)
            case _Signal.READ:
                return self._read_to_the_end()
            case _Signal.HELLO_OVERDUE:
                dialogue.hello_overdue()
                return []
            case _ if self._redis_is_away:
                for session_id in dialogue.servings:
                    dialogue.postponed(session_id, (), now)
                return []
            case _Signal.WOKEN:
                return dialogue.woken(now)
            case _Signal.LOOK:
                return [*await self._join_all(), *dialogue.changed_all(now)]
            case _Changed(session_id, concerned):
                return dialogue.changed(session_id, concerned, now)
            case _Begun(session_id):
                return await self._join(session_id)
        raise AssertionError(event)

    # Commands

    async def _perform(self, command: Command) -> None:
        # (Not recursive: one Look may lead to another for each of many sessions.)
        waiting = [command]
        while waiting:
            with bound_contextvars(**_about(waiting[0])):
                waiting[:1] = await self._outcome(waiting[0])

    async def _outcome(self, command: Command) -> list[Command]:
        dialogue = self._dialogue
        try:
            match command:
                case Send(response):
                    await self._call.write(response)
                case Open(session_ids):
                    return await self._open(session_ids)
                case Apply():
                    return await self._apply(command)
                case Refuse(item, request_id, fault):
                    return dialogue.refused(item, request_id, status_proto(fault))
                case Look():
                    return await self._look()
                case Deliver(session_id, leases):
                    assigns = await self._whole(self._labeling.assignments(session_id, leases))
                    self._note_assigns(len(assigns))
                    sent = [Send(oracle_pb2.ConverseResponse(assign=one)) for one in assigns]
                    rest = leases[len(assigns) :]
                    return [*sent, Deliver(session_id, rest)] if rest else list(sent)
                case Report(session_id):
                    if session_id not in self._followed:
                        # An earlier command found that the session was deleted.
                        return []
                    return dialogue.reported(await self._context.sessions.get(session_id))
                case ReleaseAll(session_id):
                    await self._whole(
                        self._labeling.apply(
                            session_id, dialogue.labeler, dialogue.holder, oracle_pb2.Release()
                        )
                    )
                case End():
                    pass
        except StoreUnavailable:
            # An idle stream survives this. What its client sends meanwhile gets no Ack.
            match command:
                case Report(session_id):
                    return dialogue.postponed(session_id, (), self._now())
                case Deliver(session_id, leases):
                    return dialogue.postponed(session_id, leases, self._now())
            raise
        except NotFound as error:
            if error.reason != "SESSION_NOT_FOUND" or isinstance(command, Open | Apply):
                raise
            return self._deleted(command.session_id)  # type: ignore[union-attr]
        return []

    async def _look(self) -> list[Command]:
        wanted = self._dialogue.wanted(self._now())
        if wanted is None:
            return []
        session_id, request = wanted
        try:
            outcome = await self._whole(self._labeling.lease(session_id, request, waits=True))
        except StoreUnavailable:
            return self._dialogue.postponed(session_id, (), self._now())
        except NotFound:
            return self._deleted(session_id)
        return self._dialogue.looked(session_id, outcome, self._now())

    async def _open(self, session_ids: tuple[SessionId, ...]) -> list[Command]:
        name_labeler(self._dialogue.labeler)
        if not session_ids:
            self._stack.enter_context(self._context.notices.listening_to_all(self._noticed))
        sessions, wanted = [], session_ids
        if not wanted:
            wanted = tuple(await unbroken(self._labeling.asking_sessions()))
        for session_id in wanted:
            self._follow(session_id)
            try:
                sessions.append(await self._context.sessions.get(session_id))
            except NotFound:
                # A session that the client named must exist.
                if session_ids:
                    raise
                self._unfollow(session_id)
        log.info("stream opened", extra={"client": self._dialogue.client})
        return self._dialogue.opened(sessions, self._now())

    async def _join_all(self) -> list[Command]:
        if not self._dialogue.serves_any:
            return []
        commands = []
        for session_id in await unbroken(self._labeling.asking_sessions()):
            if session_id not in self._followed:
                commands += await self._join(session_id)
        return commands

    async def _join(self, session_id: SessionId) -> list[Command]:
        self._follow(session_id)
        try:
            session = await self._context.sessions.get(session_id)
        except (NotFound, StoreUnavailable):
            # The session is gone already, or its next notice will come here again.
            self._unfollow(session_id)
            return []
        return self._dialogue.joined(session, self._now())

    def _deleted(self, session_id: SessionId) -> list[Command]:
        if session_id in self._followed:
            self._unfollow(session_id)
        return [] if self._dialogue.over else self._dialogue.deleted(session_id)

    async def _apply(self, command: Apply) -> list[Command]:
        dialogue, item, request_id = self._dialogue, command.item, command.request_id
        acks: dict[SessionId, oracle_pb2.Ack] = {}
        commands: list[Command] = []
        for session_id in command.session_ids:
            try:
                if isinstance(item, oracle_pb2.Answer):
                    self._context.quotas.answers.take(self._client)
                acks[session_id] = await self._whole(
                    self._labeling.apply(
                        session_id, dialogue.labeler, dialogue.holder, item, then=command.then
                    )
                )
            except StoreUnavailable:
                raise
            except StateError as error:
                gone = error.reason == "SESSION_NOT_FOUND"
                if len(command.session_ids) == 1:
                    refused = dialogue.refused(item, request_id, status_proto(error), session_id)
                    return [*refused, *(self._deleted(session_id) if gone else ())]
                if not gone:
                    raise
                commands += self._deleted(session_id)
        return [*dialogue.applied(item, request_id, acks), *commands]


def _about(command: Command) -> dict[str, SessionId]:
    """What the lines of the log name that a command causes: its session, if it has one."""
    match command:
        case Open(session_ids=(session_id,)) | Apply(session_ids=(session_id,)):
            return {"session_id": session_id}
        case Deliver() | Report() | ReleaseAll():
            return {"session_id": command.session_id}
    return {}
