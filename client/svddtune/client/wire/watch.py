"""Watching a session over several streams, without I/O."""

from __future__ import annotations

import time

from svddtune.client.errors import Unauthenticated, Unavailable
from svddtune.client.types import SessionState, SessionUpdate
from svddtune.client.wire import convert
from svddtune.client.wire.backoff import Backoff
from svddtune.v1 import tuning_pb2

_STREAM_S = 3600.0
# Before the first update there may be no such service: do not wait for ever.
_FIRST_TRIES = 5


class Watch:
    """The watching of one session until it ends, over several streams if needed."""

    def __init__(self, name: str, *, timeout_s: float | None) -> None:
        self._name = name
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._token = ""
        self._failures = 0
        self._backoff = Backoff()
        self._asked_s: float | None = None
        self._state: SessionState | None = None
        # Whether the present stream has brought anything.
        self._served = False

    def request(self) -> tuning_pb2.WatchSessionRequest:
        """Return the request of the next stream."""
        self._served = False
        return tuning_pb2.WatchSessionRequest(name=self._name, resume_token=self._token)

    def stream_s(self) -> float:
        """Return how long the next stream may last; Unavailable (WAIT_TIMEOUT) where time is up."""
        if self._deadline is None:
            return _STREAM_S
        remaining_s = self._deadline - time.monotonic()
        if remaining_s <= 0:
            where = f"is still {self._state.value}" if self._state else "was not seen"
            raise Unavailable(f"{self._name} {where} when the timeout ended", reason="WAIT_TIMEOUT")
        return min(_STREAM_S, remaining_s)

    def heard(self, message: tuning_pb2.WatchSessionResponse) -> SessionUpdate:
        """Apply a message."""
        self._backoff.reset()
        self._asked_s = None
        self._served = True
        self._token = message.resume_token
        session = convert.session_from_proto(message.session)
        self._state = session.state
        return SessionUpdate(session, tuple(map(convert.event_from_proto, message.events)))

    def failed(self, error: Unavailable | Unauthenticated) -> None:
        """Apply the end of a stream; raise its error where another attempt cannot help."""
        # A token that expired on the stream: the next one asks for another.
        if isinstance(error, Unauthenticated) and not self._served:
            raise error
        self._failures += 1
        if self._state is None and self._failures >= _FIRST_TRIES:
            raise error
        self._asked_s = error.retry_after_s

    def pause_s(self) -> float:
        """Return the seconds until the next stream."""
        delay_s = self._backoff.next_s(self._asked_s)
        if self._deadline is None:
            return delay_s
        return max(0.0, min(delay_s, self._deadline - time.monotonic()))
