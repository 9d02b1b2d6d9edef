"""Notices: which sessions have changed, read once per process however many wait."""

import asyncio
import logging
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

from redis.exceptions import RedisError

from svddtune.state import keys
from svddtune.state.calls import AsyncScripts
from svddtune.state.connect import BLOCK_MS, AsyncRedis
from svddtune.state.errors import StoreUnavailable
from svddtune.state.retries import forget_connections
from svddtune.state.session import ServeOrder, SessionId

log = logging.getLogger(__name__)

# How often the store is asked to prove that it takes writes.
PROBE_S = 2.0
# Pauses between looks at a store that is away: they grow, so that it is not stormed at its return.
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Notice:
    """A session has changed."""

    session_id: SessionId
    version: int
    # The session asks now.
    labeling: bool
    # Its state is another than before.
    moved: bool
    serve_order: ServeOrder
    # Whose leases have changed without their doing, or who may get some now.
    holders: frozenset[str]
    # Until the first lease runs out; None where there is none.
    expires_in_s: float | None
    # Whose session it is.
    project: str = "default"

    def concerns(self, holder: str) -> bool:
        """Whether this holder should look at what it holds."""
        return self.moved or holder in self.holders


# Called with a notice, or with None: the connection is lost or back, look at everything.
Listener = Callable[[Notice | None], None]


class Notices:
    """Tells whoever listens in this process what any process changed.

    After a lost connection all are told to look, so nothing that was missed stays unseen; so they
    are where the store lost its data.
    """

    def __init__(self, client: AsyncRedis, *, partitions: int = 1) -> None:
        self._client = client
        self._call = AsyncScripts(client)
        self._streams = [keys.prefix(p) + "notices" for p in range(partitions)]
        self._listeners: defaultdict[SessionId, set[Listener]] = defaultdict(set)
        self._to_all: set[Listener] = set()
        self._stopping = False
        # The name of the data that were there last.
        self._data = ""
        self._next_probe = 0.0
        # Set while the reader has a connection to a server that takes writes: the process's view
        # of Redis.
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
        pause_s = _FIRST_PAUSE_S
        while not self._stopping:
            try:
                if await self._data_were_lost() or not positions:
                    positions = await self._tails()
                    self.connected.set()
                    self.tell_all()
                reply = await self._client.xread(positions, block=BLOCK_MS)
                pause_s = _FIRST_PAUSE_S
            except (RedisError, OSError, StoreUnavailable) as error:
                if self.connected.is_set():
                    log.warning("notices: %s", error)
                self.connected.clear()
                self.tell_all()
                positions, self._next_probe = {}, 0.0
                # The next look is on a new connection, wherever the address leads by then.
                await forget_connections(self._client.connection_pool)
                await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                continue
            for stream, entries in reply or ():
                for entry, fields in entries:
                    positions[stream.decode()] = entry.decode()
                    self._tell(_notice(fields))

    async def _data_were_lost(self) -> bool:
        """Let the store show from time to time that it takes writes and has what it had.

        True where all that was in it is gone. Raises StoreUnavailable.
        """
        now = asyncio.get_running_loop().time()
        if now < self._next_probe:
            return False
        # (Where the data were lost, older processes may be there: the layout is raised later.)
        reply = await self._call(
            "probe", keys.prefix(0), layout=keys.OLDEST_LAYOUT, name=uuid4().hex
        )
        self._next_probe = now + PROBE_S
        before, self._data = self._data, reply["data"]
        lost = before not in ("", self._data)
        if lost:
            log.error("the data in Redis are gone: the server was emptied or replaced")
        return lost

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
    due_ms = fields.get(b"due_ms")
    return Notice(
        session_id=SessionId(fields[b"session"].decode()),
        version=int(fields[b"version"]),
        labeling=fields[b"state"] == b"LABELING",
        moved=fields[b"moved"] == b"1",
        serve_order=ServeOrder(
            int(fields[b"priority"]),
            int(fields[b"created_ms"]),
            int(due_ms) if due_ms else None,
        ),
        holders=frozenset(fields[b"holders"].decode().split()),
        expires_in_s=int(expires_in_ms) / 1000 if expires_in_ms else None,
        project=fields.get(b"project", b"").decode() or "default",
    )
