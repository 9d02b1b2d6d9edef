"""News for whoever waits."""

from __future__ import annotations

import asyncio


class Signal:
    """Wakes all tasks that wait; to be used within one event loop.

    A condition without its lock: nothing else runs between a look at the state and `wait`.
    """

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def notify(self) -> None:
        """Wake all tasks that wait now."""
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Return True after the next `notify`, False where it does not come in time."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        try:
            async with asyncio.timeout(timeout_s):
                await waiter
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(waiter)
        return True
