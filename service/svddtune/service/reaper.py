"""The reaper: expires leases in time, with one timer per session and no polling."""

import asyncio
import logging

from svddtune.service.status import unbroken
from svddtune.state.errors import NotFound, StateError, StoreUnavailable
from svddtune.state.notices import Notice, Notices
from svddtune.state.session import SessionId
from svddtune.state.store import SessionStore

log = logging.getLogger(__name__)

# Redis's clock decides: a timer that fires a moment late asks only once.
_MARGIN_S = 0.02
# Pause after the store did not answer.
_AGAIN_S = 1.0


class Reaper:
    """Expires the leases of all sessions. Several processes may try; only one has an effect."""

    def __init__(self, store: SessionStore, notices: Notices) -> None:
        self._store = store
        self._notices = notices
        self._timers: dict[SessionId, asyncio.TimerHandle] = {}
        # Sessions, or all (None), that are to be checked again after the store did not answer.
        self._again: dict[SessionId | None, asyncio.TimerHandle] = {}
        self._due: asyncio.Queue[SessionId | None] = asyncio.Queue()

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            with self._notices.listening_to_all(self._noticed):
                # (After a restart, notices may have been missed.)
                self._due.put_nowait(None)
                while True:
                    session_id = await self._due.get()
                    try:
                        if session_id is None:
                            await self._look_at_all()
                        else:
                            await self._expire(session_id)
                    except StateError as error:
                        if not isinstance(error, StoreUnavailable):
                            log.exception("could not expire leases of %s; trying again", session_id)
                        # No further notice may ever mention these leases.
                        self._look_again(session_id)
        finally:
            for timer in (*self._timers.values(), *self._again.values()):
                timer.cancel()
            self._timers.clear()
            self._again.clear()

    def _noticed(self, notice: Notice | None) -> None:
        if notice is None:
            self._due.put_nowait(None)
        elif notice.expires_in_s is not None:
            self._arm(notice.session_id, notice.expires_in_s)

    def _arm(self, session_id: SessionId, in_s: float) -> None:
        loop = asyncio.get_running_loop()
        when = loop.time() + in_s + _MARGIN_S
        timer = self._timers.get(session_id)
        if timer is not None:
            if timer.when() <= when:
                # That timer will read how long is left and set the next one.
                return
            timer.cancel()
        self._timers[session_id] = loop.call_at(when, self._ring, session_id)

    def _look_again(self, session_id: SessionId | None) -> None:
        if session_id not in self._again:
            loop = asyncio.get_running_loop()
            self._again[session_id] = loop.call_later(_AGAIN_S, self._ring_again, session_id)

    def _ring_again(self, session_id: SessionId | None) -> None:
        del self._again[session_id]
        self._due.put_nowait(session_id)

    def _ring(self, session_id: SessionId) -> None:
        del self._timers[session_id]
        self._due.put_nowait(session_id)

    async def _look_at_all(self) -> None:
        for session_id in await unbroken(self._store.labeling()):
            await self._expire(session_id)

    async def _expire(self, session_id: SessionId) -> None:
        try:
            left_s = await unbroken(self._store.expire(session_id))
        except NotFound:
            return
        if left_s is not None:
            self._arm(session_id, left_s)
