"""Keeps a dialogue on the wire: one thread, one stream at a time, reconnecting."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import grpc

from svddtune.client.dialogue import refusals
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.dialogue.reconnect import STREAM_S, WAKE, Pulse, Reconnect
from svddtune.client.dialogue.unary import UnaryConverse
from svddtune.client.errors import SvddtuneError, WrongState
from svddtune.client.types import Ack
from svddtune.client.wire.connection import Connection
from svddtune.client.wire.status import from_rpc_error
from svddtune.v1 import oracle_pb2 as pb

_BYE_S = 5.0


class DialogueStream:
    """Runs a `Dialogue` until `close`. Hold `lock` around every use of the dialogue.

    Parameters
    ----------
    stream : bool
        False sends unary calls instead, for networks that carry no streams.

    Attributes
    ----------
    changed : threading.Condition
        Notified after every change; its lock is `lock`.
    """

    def __init__(self, dialogue: Dialogue, connection: Connection, *, stream: bool) -> None:
        self.changed = self.lock = threading.Condition()
        self._error: SvddtuneError | None = None
        self._closed = False
        self._dialogue = dialogue
        self._converse: Callable[..., Any] = (
            connection.oracle.Converse
            if stream
            else UnaryConverse(connection.channel, timeout_s=connection.timeout_s)
        )
        self._address = connection.address
        self._welcome_within_s = connection.timeout_s
        self._outbox: queue.SimpleQueue[pb.ConverseRequest | None] | None = None
        self._call: Any = None
        self._thread = threading.Thread(target=self._run, name="svddtune-dialogue", daemon=True)
        self._thread.start()

    def start(self) -> None:
        """Raise if the stream was closed; the constructor has started the thread.

        The next call raises an error that has ended the dialogue meanwhile. Raised here too, it
        would come from one place or the other by chance.
        """
        with self.lock:
            refusals.check_open(self._dialogue, None, self._closed)

    def check_open(self) -> None:
        """Raise what ended the dialogue, where something did. Hold `lock`."""
        refusals.check_open(self._dialogue, self._error, self._closed)

    def check_settled(self) -> None:
        """Raise where a wait for a query would last for ever. Hold `lock`."""
        refusals.check_settled(self._dialogue)

    def send(self, message: pb.ConverseRequest) -> None:
        """Send now; without a stream the dialogue itself says it on the next. Hold `lock`."""
        if self._outbox is not None and self._dialogue.welcomed:
            self._outbox.put(message)
        self.changed.notify_all()

    def submit(self, message: pb.ConverseRequest, future: Future[Ack]) -> Future[Ack]:
        """Send a message; return the future of its Ack. Hold `lock`."""
        self.send(message)
        return future

    def wait(self, future: Future[Ack], within_s: float) -> Ack:
        """Return the Ack; raise TimeoutError where it is late. Do not hold `lock`."""
        return future.result(within_s)

    def close(self, *, keep_leases: bool = False) -> None:
        """End the thread: say Bye and wait a moment for outstanding Acks, or just break off."""
        with self.changed:
            self._closed = True
            if self._outbox is not None:
                if self._dialogue.welcomed and not keep_leases:
                    self._outbox.put(pb.ConverseRequest(bye=pb.Bye()))
                    self._outbox.put(None)
                elif self._call is not None:
                    self._call.cancel()
            self.changed.notify_all()
        if threading.current_thread() is self._thread:
            return
        self._thread.join(_BYE_S)
        if self._thread.is_alive():
            with self.changed:
                if self._call is not None:
                    self._call.cancel()
            self._thread.join()
        with self.changed:
            self._dialogue.fail(_CLOSED)

    def _run(self) -> None:
        reconnect = Reconnect(
            self._dialogue, first_within_s=self._welcome_within_s, now=time.monotonic()
        )
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self._closed or not self._dialogue.over)
                if self._closed:
                    return
            error = self._one_stream(reconnect)
            with self.changed:
                try:
                    delay_s = reconnect.ended(error, time.monotonic())
                except SvddtuneError as last:
                    self._error = last
                    self._dialogue.fail(last)
                    self.changed.notify_all()
                    return
                self.changed.notify_all()
                self.changed.wait_for(lambda: self._closed, delay_s)

    def _one_stream(self, reconnect: Reconnect) -> SvddtuneError | None:
        """Hold one stream until it ends; return the error it ended with."""
        outbox: queue.SimpleQueue[pb.ConverseRequest | None] = queue.SimpleQueue()
        pulse = Pulse(self._dialogue, welcome_within_s=self._welcome_within_s, now=time.monotonic())
        with self.changed:
            outbox.put(self._dialogue.hello())
            self._outbox = outbox
        try:
            call = self._converse(self._requests(outbox, pulse), timeout=STREAM_S)
            with self.changed:
                self._call = call
                if self._closed:
                    call.cancel()
            for response in call:
                with self.changed:
                    for message in reconnect.heard(response, time.monotonic()):
                        outbox.put(message)
                    self.changed.notify_all()
                    if self._dialogue.draining:
                        break
            return None
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.CANCELLED and pulse.late(time.monotonic()):
                return refusals.no_welcome(self._address)
            return from_rpc_error(error, self._address)
        except SvddtuneError as error:  # there is no token to send
            return error
        except ValueError as error:  # grpc's way of saying that the channel is closed
            return WrongState(str(error), reason="CLIENT_CLOSED")
        finally:
            with self.changed:
                self._outbox = None
                self._dialogue.welcomed = False
                if self._call is not None:
                    self._call.cancel()
                    self._call = None
            outbox.put(None)

    def _requests(
        self, outbox: queue.SimpleQueue[pb.ConverseRequest | None], pulse: Pulse
    ) -> Iterator[pb.ConverseRequest]:
        """Yield what is to be sent on one stream; gRPC runs this in a thread of its own."""
        while True:
            with self.changed:
                wait_s = pulse.wait_s(time.monotonic())
            try:
                message = outbox.get(timeout=wait_s)
            except queue.Empty:
                with self.changed:
                    now = time.monotonic()
                    if self._outbox is outbox and pulse.late(now):
                        if self._call is not None:
                            self._call.cancel()
                        return
                    message = pulse.beat(now)
                if message is None:
                    continue
            if message is None:
                return
            if message is not WAKE:
                yield message


_CLOSED = WrongState("The dialogue is closed", reason="CLIENT_CLOSED")
