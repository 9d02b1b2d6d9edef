"""Looks at watched sessions: one for all streams of this process that watch the same session.

A look holds until the session changes, or for an interval: nothing tells when workers come and go.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from svddtune.service.status import lasting, outlasting
from svddtune.state.notices import Notices
from svddtune.state.session import Session, SessionId
from svddtune.state.store import SessionStore

# Seconds that a look holds.
EVERY_S = 3.0


@dataclass(frozen=True, slots=True)
class Look:
    """What a session was like."""

    session: Session
    # Some worker is there.
    attended: bool
    # When to look again, by the clock of the event loop.
    until: float


class SharedLook:
    """The last look at one session, or the one that is under way."""

    def __init__(self, store: SessionStore, session_id: SessionId, every_s: float) -> None:
        self._store, self._session_id, self._every_s = store, session_id, every_s
        self._task: asyncio.Task[Look] | None = None
        self.watchers = 0

    async def look(self, *, anew: bool = False) -> Look:
        """The session; ``anew`` where no earlier look will do.

        Raises NotFound, StoreUnavailable.
        """
        if anew or self._task is None or self._is_over(self._task):
            self._task = lasting(self._look())
        return await outlasting(self._task)

    def forget(self) -> None:
        """Let the next look be a new one, also where one is under way."""
        self._task = None

    def _is_over(self, task: asyncio.Task[Look]) -> bool:
        if not task.done():
            return False
        if task.cancelled() or task.exception():
            return True
        return asyncio.get_running_loop().time() >= task.result().until

    async def _look(self) -> Look:
        session = await self._store.get(self._session_id)
        attended = await self._store.attended(self._session_id)
        return Look(session, attended, asyncio.get_running_loop().time() + self._every_s)


class Looks:
    """The looks of this process."""

    def __init__(self, store: SessionStore, notices: Notices, *, every_s: float = EVERY_S) -> None:
        self._store, self._notices, self._every_s = store, notices, every_s
        self._shared: dict[SessionId, SharedLook] = {}

    @contextmanager
    def watching(self, session_id: SessionId) -> Iterator[SharedLook]:
        """The look that all share who watch a session."""
        shared = self._shared.get(session_id)
        if shared is None:
            shared = SharedLook(self._store, session_id, self._every_s)
            self._shared[session_id] = shared
        shared.watchers += 1
        try:
            with self._notices.listening(session_id, lambda notice: shared.forget()):
                yield shared
        finally:
            shared.watchers -= 1
            if not shared.watchers:
                del self._shared[session_id]
