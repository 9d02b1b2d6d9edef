"""Sessions for many streams: each is loaded once per change, however many streams read it."""

import asyncio
from dataclasses import dataclass, field

from svddtune.service.status import unbroken
from svddtune.state.session import Session, SessionId
from svddtune.state.store import SessionStore


@dataclass(slots=True)
class _Entry:
    followers: int = 0
    # The newest version in a notice.
    told: int = 0
    latest: Session | None = None
    doubts: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SharedSessions:
    """The followed sessions of a process."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._entries: dict[SessionId, _Entry] = {}

    def follow(self, session_id: SessionId) -> None:
        """Keep a session until each ``follow`` has had its ``leave``."""
        self._entries.setdefault(session_id, _Entry()).followers += 1

    def leave(self, session_id: SessionId) -> None:
        """Undo one ``follow``."""
        entry = self._entries[session_id]
        entry.followers -= 1
        if entry.followers == 0:
            del self._entries[session_id]

    def noticed(self, session_id: SessionId, version: int) -> None:
        """A notice says that a followed session has this version."""
        entry = self._entries[session_id]
        entry.told = max(entry.told, version)

    def doubt(self, session_id: SessionId) -> None:
        """Notices of a followed session may have been missed: load it anew."""
        entry = self._entries[session_id]
        entry.told, entry.latest = 0, None
        entry.doubts += 1

    async def get(self, session_id: SessionId) -> Session:
        """The session, no older than the newest notice. Raises what ``SessionStore.get`` does."""
        entry = self._entries[session_id]
        async with entry.lock:
            if entry.latest is None or entry.latest.version < entry.told:
                doubts = entry.doubts
                found = await unbroken(self._store.get(session_id))
                if entry.doubts != doubts:
                    return found
                entry.latest = found
                entry.told = max(entry.told, found.version)
            return entry.latest
