"""A unary Lease: takes what there is, or waits for it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from svddtune.service.conversation import House
from svddtune.service.status import unbroken
from svddtune.state.errors import NotFound
from svddtune.state.notices import Notice
from svddtune.state.session import Asking, LeaseOutcome, SessionId, SessionState
from svddtune.v1 import oracle_pb2

_NOTHING_MORE = frozenset(SessionState) - {
    SessionState.PREPARING,
    SessionState.LABELING,
    SessionState.PAUSED,
}


class LeaseCall:
    """One call for one session, or for any that asks."""

    def __init__(
        self, house: House, asking: Asking, named: SessionId | None, wait_s: float
    ) -> None:
        self._house = house
        self._asking = asking
        self._named = named
        self._wait_s = wait_s
        self._changed = asyncio.Event()
        # Set where the session named asks nothing more.
        self.finished_reason = ""

    async def run(self) -> list[oracle_pb2.Assign]:
        """What the labeler holds then; empty where the wait was in vain or nothing more comes."""
        notices, loop = self._house.notices, asyncio.get_running_loop()
        deadline = loop.time() + self._wait_s
        listening = (
            notices.listening(self._named, self._noticed)
            if self._named
            else notices.listening_to_all(self._noticed)
        )
        with listening, self._house.draining.stream(self._changed.set):
            while True:
                self._changed.clear()
                assigns = await self._take()
                if assigns or self.finished_reason or loop.time() >= deadline:
                    return assigns
                timer = loop.call_at(deadline, self._changed.set)
                try:
                    await self._changed.wait()
                finally:
                    timer.cancel()
                self._house.draining.check()

    def _noticed(self, notice: Notice | None) -> None:
        if notice is None or notice.concerns(self._asking.holder):
            self._changed.set()

    async def _take(self) -> list[oracle_pb2.Assign]:
        if self._named:
            outcome = await self._lease(self._named, self._asking.most)
            return list(await self._assigns(self._named, outcome))
        assigns: list[oracle_pb2.Assign] = []
        for session_id in await unbroken(self._house.labeling.asking_sessions()):
            # What it holds anywhere comes again; new queries only while there is room.
            room = max(0, self._asking.most - len(assigns))
            try:
                outcome = await self._lease(session_id, room)
            except NotFound:
                continue
            assigns += await self._assigns(session_id, outcome)
        return assigns

    async def _lease(self, session_id: SessionId, most: int) -> LeaseOutcome:
        asking = replace(self._asking, most=most)
        waits = self._wait_s > 0
        return await unbroken(self._house.labeling.lease(session_id, asking, waits=waits))

    async def _assigns(
        self, session_id: SessionId, outcome: LeaseOutcome
    ) -> Sequence[oracle_pb2.Assign]:
        if self._named and (outcome.withdrawn or outcome.state in _NOTHING_MORE):
            reason = outcome.finish_reason or outcome.state.value
            self.finished_reason = "LABELER_WITHDRAWN" if outcome.withdrawn else reason
        return await unbroken(self._house.labeling.assignments(session_id, outcome.leases))
