"""Decides when a dialogue's next stream is opened, and what keeps a stream alive.

Without I/O and without a clock of its own: the stream of threads and the one of asyncio both ask
here. Moments are seconds of any monotonic clock.
"""

from __future__ import annotations

from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.errors import InternalError, SvddtuneError, Unauthenticated, Unavailable
from svddtune.client.wire.backoff import Backoff
from svddtune.v1 import oracle_pb2 as pb

# Longest life of one stream, in seconds. Servers send Drain long before.
STREAM_S = 6 * 3600.0
# Seconds to try for another stream after one was lost.
RECONNECT_FOR_S = 600.0
# After a drained stream that was younger, the next one waits as after a broken stream.
_DRAINED_AT_ONCE_S = 0.5
_MAX_INTERNAL = 8
# Not sent to the server: it tells the sender to recompute when the next heartbeat is due.
WAKE = pb.ConverseRequest()


class Reconnect:
    """Decides what follows the end of a stream.

    Parameters
    ----------
    first_within_s : float
        Seconds to try for the first stream.
    """

    def __init__(self, dialogue: Dialogue, *, first_within_s: float, now: float) -> None:
        self._dialogue = dialogue
        self._backoff = Backoff()
        self._patience_s = first_within_s
        self._lost_at = now
        self._welcomed_at: float | None = None
        self._internal = 0

    def heard(self, response: pb.ConverseResponse, now: float) -> list[pb.ConverseRequest]:
        """Pass one message to the dialogue; return what must be sent because of it."""
        before_s = self._dialogue.heartbeat_s
        messages = self._dialogue.receive(response, now)
        if response.HasField("welcome"):
            self._welcomed_at = now
            self._backoff.reset()
            return [*messages, WAKE]
        return [*messages, WAKE] if self._dialogue.heartbeat_s < before_s else messages

    def ended(self, error: SvddtuneError | None, now: float) -> float:
        """Return the seconds until the next stream.

        Raises
        ------
        SvddtuneError
            `error`, where another attempt cannot help or the time for attempts is over.
        """
        welcomed = self._welcomed_at is not None
        lasted_s = 0.0 if self._welcomed_at is None else now - self._welcomed_at
        if self._welcomed_at is not None:
            self._lost_at, self._patience_s = now, RECONNECT_FOR_S
            self._welcomed_at = None
        if error is None:
            at_once = self._dialogue.draining and lasted_s >= _DRAINED_AT_ONCE_S
            return 0.0 if at_once else self._backoff.next_s()
        if self._dialogue.survives(error):
            return 0.0
        if isinstance(error, Unauthenticated) and welcomed:
            # The token was valid when the stream began; the next stream asks for another.
            return self._backoff.next_s()
        if self._is_fatal(error) or now - self._lost_at > self._patience_s:
            raise error
        return self._backoff.next_s(error.retry_after_s)

    def _is_fatal(self, error: SvddtuneError) -> bool:
        if isinstance(error, InternalError) and not error.metadata:
            # Without metadata it comes from a proxy or the transport, not from our service.
            self._internal += 1
            return self._internal > _MAX_INTERNAL
        return not isinstance(error, Unavailable)


class Pulse:
    """When one stream needs a heartbeat, and whether its Welcome is late."""

    def __init__(self, dialogue: Dialogue, *, welcome_within_s: float, now: float) -> None:
        self._dialogue = dialogue
        self._welcome_by = now + welcome_within_s
        self._beaten_at = now

    def wait_s(self, now: float) -> float:
        """Return the seconds until `beat` is due."""
        due = self._beaten_at + self._dialogue.heartbeat_s
        return max(0.0, (due if self._dialogue.welcomed else self._welcome_by) - now)

    def late(self, now: float) -> bool:
        """Return whether the Welcome should have come by now."""
        return not self._dialogue.welcomed and now >= self._welcome_by

    def beat(self, now: float) -> pb.ConverseRequest | None:
        """Return the heartbeat where it is due, None where there is nothing to keep."""
        if not self._dialogue.welcomed or self.wait_s(now) > 0:
            return None
        self._beaten_at = now
        return self._dialogue.heartbeat()
