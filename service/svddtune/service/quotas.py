"""What one client may have open or send in this process: streams, uploads, answers a second.

A client is a caller with a name in its project; where nobody shows who they are, it is a network
address. Each process counts by itself, because what is counted ends with its connections.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

from svddtune.service.access.caller import current
from svddtune.service.cache import Lru
from svddtune.service.status import Context
from svddtune.state.errors import QuotaExceeded

# Clients whose rate is remembered; one that has sent nothing for long needs no memory.
_MOST_CLIENTS = 10_000
# When it makes sense to ask again for what others have to end.
_RETRY_S = 5.0


def client_of(context: Context) -> str:
    """The client that makes a call, by the name in its project or by its address."""
    caller = current()
    if caller.known:
        return f"{caller.project}/{caller.name}"
    return _host(context.peer())


def _host(peer: str) -> str:
    """The address of a peer without its port, which differs from connection to connection."""
    scheme, _, address = unquote(peer).partition(":")
    return scheme if scheme == "unix" else address.rpartition(":")[0].strip("[]")


class Open:
    """Counts what each client has open at once."""

    def __init__(self, reason: str, what: str, most: int) -> None:
        """``most`` 0 means no limit."""
        self._reason, self._what, self._most = reason, what, most
        self._counts: Counter[str] = Counter()

    @contextmanager
    def one(self, client: str) -> Iterator[None]:
        """Count one more during the body. Raises QuotaExceeded with the reason of this limit."""
        used = self._counts[client]
        if self._most and used >= self._most:
            raise QuotaExceeded(
                self._reason,
                f"{client} has {used} {self._what} open at this server, which is the limit; end "
                f"one, or wait until one ends.",
                retry_s=_RETRY_S,
                limit=self._most,
                used=used,
                client=client,
            )
        self._counts[client] += 1
        try:
            yield
        finally:
            self._counts[client] -= 1
            if not self._counts[client]:
                del self._counts[client]


class AnswerRate:
    """A token bucket for each client: it fills at the rate, and holds those of one second.

    A batch may take more tokens than there are, if there is any; the next answer waits then until
    they are made up for. So a batch is never too large, and the rate holds in the long run.
    """

    def __init__(self, per_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """``per_s`` 0 means no limit."""
        self._per_s = per_s
        self._clock = clock
        # Tokens, and the moment at which that many were there.
        self._buckets: Lru[str, tuple[float, float]] = Lru(_MOST_CLIENTS)

    def take(self, client: str, answers: int = 1) -> None:
        """Take as many tokens as answers come. Raises QuotaExceeded (``RATE_EXCEEDED``)."""
        if not self._per_s:
            return
        now, most = self._clock(), max(1.0, self._per_s)
        tokens, then = self._buckets.get(client) or (most, now)
        tokens = min(most, tokens + (now - then) * self._per_s)
        if tokens < 1.0:
            wait_s = (1.0 - tokens) / self._per_s
            raise QuotaExceeded(
                "RATE_EXCEEDED",
                f"{client} sends more than {self._per_s:g} answers a second, which is the limit; "
                f"send it again in {wait_s:.2g} s.",
                retry_s=wait_s,
                limit=f"{self._per_s:g}",
                client=client,
            )
        self._buckets.put(client, (tokens - answers, now))


@dataclass(frozen=True, slots=True)
class Quotas:
    """The limits of a process on each of its clients; none by default."""

    streams: Open = field(default_factory=lambda: Open("TOO_MANY_STREAMS", "streams", 0))
    uploads: Open = field(default_factory=lambda: Open("TOO_MANY_UPLOADS", "uploads", 0))
    answers: AnswerRate = field(default_factory=lambda: AnswerRate(0.0))

    @classmethod
    def of(cls, *, streams: int, uploads: int, answers_per_s: float) -> "Quotas":
        """Quotas with these limits; 0 stands for none."""
        return cls(
            Open("TOO_MANY_STREAMS", "streams", streams),
            Open("TOO_MANY_UPLOADS", "uploads", uploads),
            AnswerRate(answers_per_s),
        )
