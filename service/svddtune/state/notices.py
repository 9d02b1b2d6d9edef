"""Notices: which sessions have changed, read once per process however many wait."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from svddtune.state import keys
from svddtune.state.connect import BLOCK_MS, AsyncRedis
from svddtune.state.session import SessionId

log = logging.getLogger(__name__)


class Notices:
    """Wakes whoever waits for a session, in this process, when any process changed it.

    A wake-up says "look again", no more: one may come for nothing, and after a lost connection all
    waiters are woken, so nothing that was missed stays unseen.
    """

    def __init__(self, client: AsyncRedis, *, partitions: int = 1) -> None:
        self._client = client
        self._streams = [keys.prefix(p) + "notices" for p in range(partitions)]
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._stopping = False
        # Set while the reader has a working connection: the process's view of Redis.
        self.connected = asyncio.Event()

    @contextmanager
    def watching(self, session_id: SessionId) -> Iterator[asyncio.Event]:
        """An event that is set at each change of the session; clear it before looking."""
        event = asyncio.Event()
        self._waiting[session_id].add(event)
        try:
            yield event
        finally:
            self._waiting[session_id].discard(event)
            if not self._waiting[session_id]:
                del self._waiting[session_id]

    def wake_all(self) -> None:
        """Let everybody look again."""
        for events in self._waiting.values():
            for event in events:
                event.set()

    def stop(self) -> None:
        """Let ``run`` return after the read it is in."""
        self._stopping = True

    async def run(self) -> None:
        """Read until stopped; reconnects by itself.

        A blocked read is never cancelled: a notice that arrived meanwhile would be lost.
        """
        positions: dict[str, str] = {}
        while not self._stopping:
            try:
                if not positions:
                    positions = await self._tails()
                    self.connected.set()
                    self.wake_all()
                reply = await self._client.xread(positions, block=BLOCK_MS)
            except (RedisError, OSError) as error:
                if self.connected.is_set():
                    log.warning("notices: %s", error)
                self.connected.clear()
                self.wake_all()
                positions = {}
                await asyncio.sleep(0.2)
                continue
            for stream, entries in reply or ():
                for entry, fields in entries:
                    positions[stream.decode()] = entry.decode()
                    for event in self._waiting.get(fields[b"session"].decode(), ()):
                        event.set()

    async def _tails(self) -> dict[str, str]:
        tails = {}
        for stream in self._streams:
            last = await self._client.xrevrange(stream, count=1)
            tails[stream] = last[0][0].decode() if last else "0-0"
        return tails
