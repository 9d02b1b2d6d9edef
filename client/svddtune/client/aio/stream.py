"""Keeps a dialogue on the wire: one task, one stream at a time, reconnecting."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import time
from collections.abc import Callable
from typing import Any

import grpc

from svddtune.client.aio.connection import AsyncConnection
from svddtune.client.aio.signal import Signal
from svddtune.client.aio.unary import AsyncUnaryConverse
from svddtune.client.dialogue import refusals
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.dialogue.reconnect import STREAM_S, WAKE, Pulse, Reconnect
from svddtune.client.errors import SvddtuneError, Unavailable, WrongState
from svddtune.client.types import Ack
from svddtune.client.wire.status import from_rpc_error
from svddtune.v1 import oracle_pb2 as pb

_BYE_S = 5.0
# None ends what is sent on one stream.
_Outbox = asyncio.Queue[pb.ConverseRequest | None]


class AsyncDialogueStream:
    """Runs a `Dialogue` between `start` and `close`; the counterpart of `DialogueStream`.

    Attributes
    ----------
    lock : context manager
        Locks nothing, because only one task of an event loop runs at a time.
    """

    def __init__(self, dialogue: Dialogue, connection: AsyncConnection, *, stream: bool) -> None:
        self.changed = Signal()
        self.lock = contextlib.nullcontext()
        self._error: SvddtuneError | None = None
        self._closed = False
        self._dialogue = dialogue
        self._converse: Callable[..., Any] = (
            connection.oracle.Converse
            if stream
            else AsyncUnaryConverse(connection.blocking_channel(), timeout_s=connection.timeout_s)
        )
        self._address = connection.address
        self._welcome_within_s = connection.timeout_s
        self._outbox: _Outbox | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Open the first stream, in the running event loop; raise if it was closed."""
        refusals.check_open(self._dialogue, None, self._closed)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="svddtune-dialogue")

    def check_open(self) -> None:
        """Raise what ended the dialogue, where something did, or where it was not started."""
        refusals.check_open(self._dialogue, self._error, self._closed)
        refusals.check_started(self._dialogue, self._task is not None)

    def check_settled(self) -> None:
        """Do nothing: another task may settle the last query while one waits for the next."""

    def send(self, message: pb.ConverseRequest) -> None:
        """Send now; without a stream the dialogue itself says it on the next."""
        if self._outbox is not None and self._dialogue.welcomed:
            self._outbox.put_nowait(message)
        self.changed.notify()

    def submit(
        self, message: pb.ConverseRequest, future: concurrent.futures.Future[Ack]
    ) -> asyncio.Future[Ack]:
        """Send a message; return the future of its Ack."""
        self.send(message)
        acked = asyncio.wrap_future(future)
        # Mark an error as seen: the event loop would log it where nobody waits for the Ack.
        acked.add_done_callback(lambda done: done.cancelled() or done.exception())
        return acked

    async def wait(self, future: asyncio.Future[Ack], within_s: float) -> Ack:
        """Return the Ack; raise TimeoutError where it does not come in time."""
        async with asyncio.timeout(within_s):
            return await asyncio.shield(future)

    async def close(self, *, keep_leases: bool = False) -> None:
        """End the task: say Bye and wait a moment for outstanding Acks, or just break off."""
        self._closed = True
        self.changed.notify()
        if self._task is None:
            return
        try:
            if self._outbox is not None and self._dialogue.welcomed and not keep_leases:
                self._outbox.put_nowait(pb.ConverseRequest(bye=pb.Bye()))
                self._outbox.put_nowait(None)
                await asyncio.wait((self._task,), timeout=_BYE_S)
        finally:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._dialogue.fail(_CLOSED)
            self.changed.notify()

    async def _run(self) -> None:
        reconnect = Reconnect(
            self._dialogue, first_within_s=self._welcome_within_s, now=time.monotonic()
        )
        while not self._closed:
            if self._dialogue.over:
                await self.changed.wait()
                continue
            error = await self._one_stream(reconnect)
            try:
                delay_s = reconnect.ended(error, time.monotonic())
            except SvddtuneError as last:
                self._error = last
                self._dialogue.fail(last)
                return
            finally:
                self.changed.notify()
            if not self._closed:
                await asyncio.sleep(delay_s)

    async def _one_stream(self, reconnect: Reconnect) -> SvddtuneError | None:
        """Hold one stream until it ends; return the error it ended with."""
        outbox: _Outbox = asyncio.Queue()
        outbox.put_nowait(self._dialogue.hello())
        try:
            call = self._converse(timeout=STREAM_S)
        except (grpc.RpcError, asyncio.InvalidStateError, grpc.aio.UsageError) as error:
            return WrongState(str(error), reason="CLIENT_CLOSED")
        self._outbox = outbox
        reader = asyncio.create_task(self._read(call, outbox, reconnect))
        writer = asyncio.create_task(self._write(call, outbox))
        try:
            await asyncio.wait((reader, writer), return_when=asyncio.FIRST_COMPLETED)
            if writer.done() and not writer.cancelled() and writer.exception() is None:
                late = writer.result()
                if late is not None:
                    return late
            # What ended the writer, if not our Bye, the reader hears too.
            await asyncio.wait((reader,))
            return self._why(reader)
        finally:
            self._outbox = None
            self._dialogue.welcomed = False
            call.cancel()
            reader.cancel()
            writer.cancel()
            await asyncio.gather(reader, writer, return_exceptions=True)

    def _why(self, reader: asyncio.Task[None]) -> SvddtuneError | None:
        if reader.cancelled():
            return Unavailable("The connection was closed", reason="CLIENT_CLOSED")
        error = reader.exception()
        if isinstance(error, grpc.RpcError):
            return from_rpc_error(error, self._address)
        if isinstance(error, SvddtuneError):  # there is no token to send
            return error
        if isinstance(error, ValueError):  # raised by a blocking channel that is closed
            return WrongState(str(error), reason="CLIENT_CLOSED")
        if error is not None:
            raise error
        return None

    async def _read(self, call: Any, outbox: _Outbox, reconnect: Reconnect) -> None:
        async for response in call:
            for message in reconnect.heard(response, time.monotonic()):
                outbox.put_nowait(message)
            self.changed.notify()
            if self._dialogue.draining:
                return

    async def _write(self, call: Any, outbox: _Outbox) -> SvddtuneError | None:
        """Send what is to be sent on one stream; return an error where the Welcome is late."""
        pulse = Pulse(self._dialogue, welcome_within_s=self._welcome_within_s, now=time.monotonic())
        while True:
            message: pb.ConverseRequest | None
            try:
                async with asyncio.timeout(pulse.wait_s(time.monotonic())):
                    message = await outbox.get()
            except TimeoutError:
                if pulse.late(time.monotonic()):
                    return refusals.no_welcome(self._address)
                message = pulse.beat(time.monotonic())
                if message is None:
                    continue
            if message is None:
                await call.done_writing()
                return None
            if message is not WAKE:
                await call.write(message)


_CLOSED = WrongState("The dialogue is closed", reason="CLIENT_CLOSED")
