"""A unary Lease: leases the queries there are, or waits for the first one."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from svddtune.service.conversation import StreamContext
from svddtune.service.convert import finish_reason, fitting
from svddtune.service.status import unbroken
from svddtune.state.errors import NotFound
from svddtune.state.notices import Notice
from svddtune.state.session import Lease, LeaseOutcome, LeaseRequest, SessionId, SessionState
from svddtune.v1 import oracle_pb2

_NOTHING_MORE = frozenset(SessionState) - {
    SessionState.PREPARING,
    SessionState.LABELING,
    SessionState.PAUSED,
}


class LeaseCall:
    """One call, for one session or for all that ask."""

    def __init__(
        self, context: StreamContext, request: LeaseRequest, named: SessionId | None, wait_s: float
    ) -> None:
        self._context = context
        self._request = request
        self._named = named
        self._wait_s = wait_s
        self._changed = asyncio.Event()
        # Why the session named asks nothing more; unspecified while it may.
        self.finish_reason = oracle_pb2.FINISH_REASON_UNSPECIFIED

    async def run(self) -> list[oracle_pb2.Assign]:
        """The queries held then; empty if the wait ended without one or nothing more comes."""
        notices, loop = self._context.notices, asyncio.get_running_loop()
        began = loop.time()
        deadline = began + self._wait_s
        listening = (
            notices.listening(self._named, self._noticed)
            if self._named
            else notices.listening_to_all(self._noticed)
        )
        with listening, self._context.draining.stream(self._changed.set):
            while True:
                self._changed.clear()
                assigns = await self._take()
                for _ in assigns:
                    self._context.meters.waited(loop.time() - began)
                if assigns or self.finish_reason or loop.time() >= deadline:
                    return assigns
                timer = loop.call_at(deadline, self._changed.set)
                try:
                    await self._changed.wait()
                finally:
                    timer.cancel()
                self._context.draining.check()

    def _noticed(self, notice: Notice | None) -> None:
        if notice is None or notice.concerns(self._request.holder):
            self._changed.set()

    async def _take(self) -> list[oracle_pb2.Assign]:
        if self._named:
            outcome = await self._lease(self._named, self._request.most)
            if outcome.over_for_labeler or outcome.state in _NOTHING_MORE:
                self.finish_reason = finish_reason(outcome)
            return list(await self._assigns(self._named, outcome.leases))
        assigns: list[oracle_pb2.Assign] = []
        for session_id, leases in (await self._take_of_any()).items():
            more = await self._assigns(session_id, leases)
            assigns += more
            if len(more) < len(leases) or len(fitting(assigns)) < len(assigns):
                # One response does not hold the rest; it comes with the next call.
                break
        return assigns

    async def _take_of_any(self) -> dict[SessionId, tuple[Lease, ...]]:
        """Leases in each session that asks, with new ones up to the number requested."""
        asking = await unbroken(self._context.labeling.asking_sessions())
        held: dict[SessionId, tuple[Lease, ...]] = {}
        for session_id in asking:
            with suppress(NotFound):
                held[session_id] = (await self._lease(session_id, 0)).leases
        served, ready = self._context.served, set(held)

        def rank(session_id: SessionId) -> tuple[tuple[float, float], float, int]:
            at = served.get((self._request.holder, session_id)) or 0.0
            return asking[session_id].rank, at, asking[session_id].created_ms

        while ready and sum(map(len, held.values())) < self._request.most:
            session_id = min(ready, key=rank)
            before = held[session_id]
            with suppress(NotFound):
                held[session_id] = (await self._lease(session_id, len(before) + 1)).leases
            if len(held[session_id]) > len(before):
                served.put((self._request.holder, session_id), asyncio.get_running_loop().time())
            else:
                ready.remove(session_id)
        return held

    async def _lease(self, session_id: SessionId, most: int) -> LeaseOutcome:
        request = replace(self._request, most=most)
        waits = self._wait_s > 0
        return await unbroken(self._context.labeling.lease(session_id, request, waits=waits))

    async def _assigns(
        self, session_id: SessionId, leases: Sequence[Lease]
    ) -> Sequence[oracle_pb2.Assign]:
        return await unbroken(self._context.labeling.assignments(session_id, leases))
