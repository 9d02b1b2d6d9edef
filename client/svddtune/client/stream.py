"""Keeps a dialogue on the wire: one thread, one stream at a time, reconnecting."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc

from svddtune.client.backoff import Backoff
from svddtune.client.dialogue import Dialogue
from svddtune.client.errors import (
    InternalError,
    SvddtuneError,
    Unavailable,
    WrongState,
    from_rpc_error,
)
from svddtune.v1 import oracle_pb2 as pb

_STREAM_S = 3600.0
_BYE_S = 5.0
_MAX_INTERNAL = 8


class DialogueStream:
    """Runs a `Dialogue` over `converse`. Hold `changed` around every use of the dialogue."""

    def __init__(
        self,
        dialogue: Dialogue,
        converse: Callable[..., Any],
        *,
        address: str,
        welcome_within_s: float,
        reconnect_for_s: float,
    ) -> None:
        self.changed = threading.Condition()
        self.error: SvddtuneError | None = None
        self.closed = False
        self._dialogue = dialogue
        self._converse = converse
        self._address = address
        self._welcome_within_s = welcome_within_s
        self._reconnect_for_s = reconnect_for_s
        self._outbox: queue.SimpleQueue[pb.ConverseRequest | None] | None = None
        self._call: Any = None
        self._thread = threading.Thread(target=self._run, name="svddtune-dialogue", daemon=True)
        self._thread.start()

    def send(self, message: pb.ConverseRequest) -> None:
        """Send now, or with the next Welcome where it awaits an Ack. The caller holds `changed`."""
        if self._outbox is not None and self._dialogue.welcomed:
            self._outbox.put(message)
        self.changed.notify_all()

    def close(self) -> None:
        """Say Bye, wait a moment for outstanding Acks, and end the thread."""
        with self.changed:
            self.closed = True
            if self._outbox is not None:
                if self._dialogue.welcomed:
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
        backoff, internal = Backoff(), 0
        lost_at, patience_s = time.monotonic(), self._welcome_within_s
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.closed or not self._is_over())
                if self.closed:
                    return
            error = self._one_stream()
            if self._was_welcomed:
                backoff.reset()
                lost_at, patience_s = time.monotonic(), self._reconnect_for_s
            if isinstance(error, InternalError) and not error.metadata:
                # Not from our service's own error path: a proxy's or the transport's.
                internal += 1
                fatal = internal > _MAX_INTERNAL
            else:
                fatal = error is not None and not isinstance(error, Unavailable)
            if fatal or (error and time.monotonic() - lost_at > patience_s):
                assert error is not None
                with self.changed:
                    self.error = error
                    self._dialogue.fail(error)
                    self.changed.notify_all()
                return
            delay_s = backoff.next_s(error.retry_after_s if error else None)
            with self.changed:
                self.changed.wait_for(lambda: self.closed, delay_s)

    def _is_over(self) -> bool:
        """True while no stream is needed: nothing more is asked and nothing waits."""
        return bool(self._dialogue.finished) and self._dialogue.idle

    def _one_stream(self) -> SvddtuneError | None:
        """Hold one stream until it ends; return the error it ended with."""
        outbox: queue.SimpleQueue[pb.ConverseRequest | None] = queue.SimpleQueue()
        self._was_welcomed = False
        with self.changed:
            outbox.put(self._dialogue.hello())
            self._outbox = outbox
        try:
            call = self._converse(self._requests(outbox), timeout=_STREAM_S)
            with self.changed:
                self._call = call
                if self.closed:
                    call.cancel()
            for response in call:
                with self.changed:
                    for message in self._dialogue.receive(response, time.monotonic()):
                        outbox.put(message)
                    if self._dialogue.welcomed and not self._was_welcomed:
                        self._was_welcomed = True
                        outbox.put(_WAKE)
                    self.changed.notify_all()
                    if self._dialogue.draining:
                        break
            return None
        except grpc.RpcError as error:
            return from_rpc_error(error, self._address)
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
        self, outbox: queue.SimpleQueue[pb.ConverseRequest | None]
    ) -> Iterator[pb.ConverseRequest]:
        """Yield what is to be sent on one stream; gRPC runs this in a thread of its own."""
        now = time.monotonic()
        welcome_by, beat_at = now + self._welcome_within_s, now + self._welcome_within_s
        welcomed = False
        while True:
            try:
                message = outbox.get(timeout=max(0.0, beat_at - time.monotonic()))
            except queue.Empty:
                with self.changed:
                    beat = self._dialogue.heartbeat() if welcomed else None
                    beat_at = time.monotonic() + self._dialogue.heartbeat_s
                    if not welcomed and time.monotonic() >= welcome_by:
                        if self._call is not None:
                            self._call.cancel()
                        return
                if beat is not None:
                    yield beat
                continue
            if message is None:
                return
            if message is _WAKE:
                welcomed = True
                beat_at = time.monotonic() + self._dialogue.heartbeat_s
                continue
            yield message


_WAKE = pb.ConverseRequest()
_CLOSED = WrongState("The dialogue is closed", reason="CLIENT_CLOSED")
