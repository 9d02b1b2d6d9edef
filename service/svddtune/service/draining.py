"""Draining: how open streams learn that this process is about to end."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from svddtune.state.errors import StateError


class ServerDraining(StateError):
    """The process goes away; another one will do."""

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
        """Count a stream in; ``wake`` is called when it should look at ``begun`` and end.

        Raises ServerDraining where it is too late to begin.
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
        """Raises ServerDraining once draining has begun."""
        if self.begun:
            raise ServerDraining

    async def drain(self, patience_s: float) -> None:
        """Ask all streams to end and give them some time for it."""
        self.begun = True
        for wake in list(self._wakers):
            wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._idle.wait()
