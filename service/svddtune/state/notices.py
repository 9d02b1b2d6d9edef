"""Notices: which sessions have changed, read once per process however many wait."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from redis.exceptions import RedisError

from svddtune.state import keys
from svddtune.state.connect import BLOCK_MS, AsyncRedis
from svddtune.state.session import SessionId, Standing

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Notice:
    """A session has changed."""

    session_id: SessionId
    version: int
    # The session asks now.
    labeling: bool
    # Its state is another than before.
    moved: bool
    standing: Standing
    # Whose leases have changed without their doing, or who may get some now.
    holders: frozenset[str]
    # Until the first lease runs out; None where there is none.
    expires_in_s: float | None

    def concerns(self, holder: str) -> bool:
        """Whether this holder should look at what it holds."""
        return self.moved or holder in self.holders


# Called with a notice, or with None: the connection is lost or back, look at everything.
Listener = Callable[[Notice | None], None]


class Notices:
    """Tells whoever listens in this process what any process changed.

    After a lost connection all are told to look, so nothing that was missed stays unseen.
    """

    def __init__(self, client: AsyncRedis, *, partitions: int = 1) -> None:
        self._client = client
        self._streams = [keys.prefix(p) + "notices" for p in range(partitions)]
        self._listeners: defaultdict[SessionId, set[Listener]] = defaultdict(set)
        self._to_all: set[Listener] = set()
        self._stopping = False
        # Set while the reader has a working connection: the process's view of Redis.
        self.connected = asyncio.Event()

    @contextmanager
    def listening(self, session_id: SessionId, listener: Listener) -> Iterator[None]:
        """Call a listener at each change of one session."""
        self._listeners[session_id].add(listener)
        try:
            yield
        finally:
            self._listeners[session_id].discard(listener)
            if not self._listeners[session_id]:
                del self._listeners[session_id]

    @contextmanager
    def listening_to_all(self, listener: Listener) -> Iterator[None]:
        """Call a listener at each change of any session."""
        self._to_all.add(listener)
        try:
            yield
        finally:
            self._to_all.discard(listener)

    @contextmanager
    def watching(self, session_id: SessionId) -> Iterator[asyncio.Event]:
        """An event that is set at each change of a session; clear it before looking."""
        event = asyncio.Event()
        with self.listening(session_id, lambda notice: event.set()):
            yield event

    def tell_all(self) -> None:
        """Let everybody look."""
        for listeners in [self._to_all, *self._listeners.values()]:
            for listener in list(listeners):
                _call(listener, None)

    def stop(self) -> None:
        """Let ``run`` return after the read it is in."""
        self._stopping = True

    async def run(self) -> None:
        """Read until stopped; reconnects by itself.

        A blocked read is never cancelled: a notice that arrived meanwhile would be lost.

        What it does not expect it raises; then nobody hears anything until it runs again.
        """
        try:
            await self._read()
        except BaseException:
            self.connected.clear()
            self.tell_all()
            raise

    async def _read(self) -> None:
        positions: dict[str, str] = {}
        while not self._stopping:
            try:
                if not positions:
                    positions = await self._tails()
                    self.connected.set()
                    self.tell_all()
                reply = await self._client.xread(positions, block=BLOCK_MS)
            except (RedisError, OSError) as error:
                if self.connected.is_set():
                    log.warning("notices: %s", error)
                self.connected.clear()
                self.tell_all()
                positions = {}
                await asyncio.sleep(0.2)
                continue
            for stream, entries in reply or ():
                for entry, fields in entries:
                    positions[stream.decode()] = entry.decode()
                    self._tell(_notice(fields))

    def _tell(self, notice: Notice) -> None:
        for listener in [*self._listeners.get(notice.session_id, ()), *self._to_all]:
            _call(listener, notice)

    async def _tails(self) -> dict[str, str]:
        tails = {}
        for stream in self._streams:
            last = await self._client.xrevrange(stream, count=1)
            tails[stream] = last[0][0].decode() if last else "0-0"
        return tails


def _call(listener: Listener, notice: Notice | None) -> None:
    try:
        listener(notice)
    except Exception:
        # The others are told all the same.
        log.exception("a listener failed")


def _notice(fields: Mapping[bytes, bytes]) -> Notice:
    expires_in_ms = fields[b"expires_in_ms"]
    return Notice(
        session_id=SessionId(fields[b"session"].decode()),
        version=int(fields[b"version"]),
        labeling=fields[b"state"] == b"LABELING",
        moved=fields[b"moved"] == b"1",
        standing=Standing(int(fields[b"priority"]), int(fields[b"created_ms"])),
        holders=frozenset(fields[b"holders"].decode().split()),
        expires_in_s=int(expires_in_ms) / 1000 if expires_in_ms else None,
    )
