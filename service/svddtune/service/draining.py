"""Draining: open streams and waiting calls are asked to end before their process does."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from svddtune.state.errors import StateError


class ServerDraining(StateError):
    """The process is shutting down; the client is to connect to another one."""

    def __init__(self) -> None:
        super().__init__("DRAINING", "This server is shutting down; connect again.")


class Draining:
    """The streams and waiting calls of this process."""

    def __init__(self) -> None:
        self.begun = False
        self._wakers: set[Callable[[], None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def stream(self, wake: Callable[[], None]) -> Iterator[None]:
        """Register a stream; ``wake`` is called when it is to check ``begun`` and end.

        Raises ServerDraining once draining has begun.
        """
        self.check()
        self._wakers.add(wake)
        self._idle.clear()
        try:
            yield
        finally:
            self._wakers.discard(wake)
            if not self._wakers:
                self._idle.set()

    def check(self) -> None:
        """Raise ServerDraining once draining has begun."""
        if self.begun:
            raise ServerDraining

    async def drain(self, patience_s: float) -> None:
        """Ask all streams to end, and wait at most ``patience_s`` seconds for them."""
        self.begun = True
        for wake in list(self._wakers):
            wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._idle.wait()
