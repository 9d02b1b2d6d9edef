"""Unary calls that can be cancelled, and the meaning of their errors."""

from __future__ import annotations

import threading
from typing import Any

import grpc
from google.rpc import status_pb2

from svddtune.client.wire.status import status_of

# After these statuses the server has not examined the item.
_NOT_THE_ITEM = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
    }
)


class Refused(Exception):
    """The server examined the item of a call and refuses it."""

    def __init__(self, failure: grpc.RpcError) -> None:
        super().__init__(str(failure.details()))
        self.failure = failure

    @property
    def code(self) -> grpc.StatusCode:
        """What kind of refusal it is."""
        return self.failure.code()

    @property
    def status(self) -> status_pb2.Status:
        """The refusal as a stream tells it."""
        return status_of(self.failure)


class RunningCalls:
    """Makes calls from several threads until it is stopped.

    Parameters
    ----------
    timeout_s : float
        Deadline of each call in seconds, on top of the time that the server is asked to wait.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._running: set[Any] = set()
        self._ended = False

    def make(self, method: Any, request: Any, *, wait_s: float = 0.0) -> Any:
        """Return the response.

        Raises
        ------
        Refused
            The server refuses the item of the call.
        grpc.RpcError
            The call itself failed.
        grpc.FutureCancelledError
            It was stopped.
        """
        call = method.future(request, timeout=wait_s + self._timeout_s)
        with self._lock:
            self._running.add(call)
            ended = self._ended
        if ended:
            call.cancel()
        try:
            return call.result()
        except grpc.RpcError as error:
            if error.code() in _NOT_THE_ITEM:
                raise
            raise Refused(error) from None
        finally:
            with self._lock:
                self._running.discard(call)

    def stop(self) -> None:
        """Cancel the running calls."""
        with self._lock:
            running = list(self._running)
        for call in running:
            call.cancel()

    def end(self) -> None:
        """Cancel all calls, later ones included."""
        with self._lock:
            self._ended = True
        self.stop()
