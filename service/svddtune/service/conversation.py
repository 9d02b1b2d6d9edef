"""One Converse stream: carries out what the dialogue commands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from enum import Enum
from typing import Any

from svddtune.service.draining import Draining
from svddtune.service.labeling import Labeling
from svddtune.service.oracle import (
    Apply,
    Command,
    Deliver,
    Dialogue,
    End,
    Look,
    Open,
    Refuse,
    ReleaseAll,
    Report,
    Send,
)
from svddtune.service.status import Context, status_proto, unbroken
from svddtune.state.errors import NotFound, StateError, StoreUnavailable
from svddtune.state.notices import Notices
from svddtune.state.session import SessionId
from svddtune.v1 import oracle_pb2

# Messages of the client that may wait here; more of them wait in the client.
_MOST_WAITING = 64


class _Signal(Enum):
    """What happens beside the client's messages."""

    CHANGED = "CHANGED"
    WOKEN = "WOKEN"
    DRAINING = "DRAINING"
    HALF_CLOSED = "HALF_CLOSED"


class Conversation:
    """Reads, acts and writes for one stream: one task reads, this one does the rest in order."""

    def __init__(
        self, labeling: Labeling, notices: Notices, draining: Draining, context: Context
    ) -> None:
        self._labeling = labeling
        self._notices = notices
        self._draining = draining
        self._context = context
        self._dialogue = Dialogue()
        self._inbox: asyncio.Queue[oracle_pb2.ConverseRequest | _Signal] = asyncio.Queue()
        self._waiting = asyncio.Semaphore(_MOST_WAITING)
        self._posted: set[_Signal] = set()
        self._now = asyncio.get_running_loop().time

    async def run(self, requests: AsyncIterator[oracle_pb2.ConverseRequest]) -> None:
        """Talk until either side ends it."""
        with ExitStack() as stack:
            stack.enter_context(self._draining.stream(lambda: self._post(_Signal.DRAINING)))
            self._stack = stack
            self._tasks: list[asyncio.Task[None]] = [asyncio.create_task(self._read(requests))]
            try:
                while not self._dialogue.over:
                    with self._timer():
                        event = await self._inbox.get()
                    for command in self._event(event):
                        await self._perform(command)
            finally:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, requests: AsyncIterator[oracle_pb2.ConverseRequest]) -> None:
        async for request in requests:
            await self._waiting.acquire()
            self._inbox.put_nowait(request)
        self._post(_Signal.HALF_CLOSED)

    async def _follow(self, changes: asyncio.Event) -> None:
        while True:
            await changes.wait()
            changes.clear()
            self._post(_Signal.CHANGED)

    def _post(self, signal: _Signal) -> None:
        if signal not in self._posted:
            self._posted.add(signal)
            self._inbox.put_nowait(signal)

    def _timer(self) -> "_Timer":
        return _Timer(self._dialogue.wake_at, lambda: self._post(_Signal.WOKEN))

    @property
    def _redis_is_away(self) -> bool:
        # While it is there is nothing to see; its return is a change too.
        return not self._notices.connected.is_set()

    def _event(self, event: oracle_pb2.ConverseRequest | _Signal) -> list[Command]:
        if not isinstance(event, _Signal):
            self._waiting.release()
            return self._dialogue.received(event, self._now())
        self._posted.discard(event)
        match event:
            case _Signal.CHANGED | _Signal.WOKEN if self._redis_is_away:
                return self._dialogue.postponed((), self._now())
            case _Signal.CHANGED:
                return self._dialogue.changed(self._now())
            case _Signal.WOKEN:
                return self._dialogue.woken(self._now())
            case _Signal.DRAINING:
                return self._dialogue.draining()
            case _Signal.HALF_CLOSED:
                return self._dialogue.half_closed()

    async def _perform(self, command: Command) -> None:
        for further in await self._outcome(command):
            await self._perform(further)

    async def _outcome(self, command: Command) -> list[Command]:
        dialogue = self._dialogue
        try:
            match command:
                case Send(response):
                    await self._context.write(response)
                case Open(session_id):
                    self._watch(session_id)
                    return dialogue.opened(await unbroken(self._labeling.session(session_id)))
                case Apply(request):
                    return await self._apply(request)
                case Refuse(request, fault):
                    return dialogue.refused(request, status_proto(fault))
                case Look(most):
                    outcome = await unbroken(
                        self._labeling.lease(
                            dialogue.session_id,
                            holder=dialogue.holder,
                            labeler=dialogue.labeler,
                            most=most,
                        )
                    )
                    return dialogue.looked(outcome, self._now())
                case Deliver(leases):
                    assigns = await unbroken(
                        self._labeling.assignments(dialogue.session_id, leases)
                    )
                    return [Send(oracle_pb2.ConverseResponse(assign=one)) for one in assigns]
                case Report():
                    session = await unbroken(self._labeling.session(dialogue.session_id))
                    return dialogue.reported(session)
                case ReleaseAll():
                    await unbroken(self._labeling.release(dialogue.session_id, dialogue.holder))
                case End():
                    pass
        except StoreUnavailable:
            # An idle stream outlives this; what its client says meanwhile is not acknowledged.
            match command:
                case Look() | Report():
                    return dialogue.postponed((), self._now())
                case Deliver(leases):
                    return dialogue.postponed(leases, self._now())
            raise
        except NotFound as error:
            if error.reason != "SESSION_NOT_FOUND" or isinstance(command, Open):
                raise
            return [] if dialogue.over else dialogue.deleted()
        return []

    async def _apply(self, request: oracle_pb2.ConverseRequest) -> list[Command]:
        try:
            ack = await unbroken(self._store(request))
        except StoreUnavailable:
            raise
        except StateError as error:
            if error.reason == "SESSION_NOT_FOUND":
                raise
            return self._dialogue.refused(request, status_proto(error))
        return self._dialogue.applied(request, ack, self._now())

    async def _store(self, request: oracle_pb2.ConverseRequest) -> oracle_pb2.Ack:
        session_id, labeler = self._dialogue.session_id, self._dialogue.labeler
        holder = self._dialogue.holder
        match request.WhichOneof("message"):
            case "answer":
                return await self._labeling.answer(
                    session_id, labeler, holder, request.answer, want=self._dialogue.credit
                )
            case "skip":
                return await self._labeling.skip(session_id, labeler, request.skip)
            case "extend":
                return await self._labeling.extend(session_id, holder, request.extend)
            case "release":
                return await self._labeling.release(session_id, holder, request.release.lease_ids)
            case "retract":
                return await self._labeling.retract(session_id, labeler, request.retract)
        raise AssertionError(request)

    def _watch(self, session_id: SessionId) -> None:
        changes = self._stack.enter_context(self._notices.watching(session_id))
        self._tasks.append(asyncio.create_task(self._follow(changes)))


class _Timer:
    """Calls back at a moment of the loop's clock, unless left before."""

    def __init__(self, when: float | None, call: Any) -> None:
        self._handle = None if when is None else asyncio.get_running_loop().call_at(when, call)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        if self._handle:
            self._handle.cancel()
