"""Draining: open streams and waiting calls are asked to end before their process does."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from svddtune.state.errors import StateError

Request = TypeVar("Request")


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

    async def requests(self, incoming: AsyncIterator[Request]) -> AsyncGenerator[Request, None]:
        """The requests of a stream; raises ServerDraining before the next one."""
        begun = asyncio.Event()
        with self.stream(begun.set):
            draining = asyncio.ensure_future(begun.wait())
            coming: asyncio.Future[Request | None] | None = None
            try:
                while True:
                    coming = asyncio.ensure_future(_next(incoming))
                    await asyncio.wait((coming, draining), return_when=asyncio.FIRST_COMPLETED)
                    self.check()
                    request = await coming
                    if request is None:
                        return
                    yield request
            finally:
                if coming:
                    coming.cancel()
                draining.cancel()

    async def drain(self, patience_s: float) -> None:
        """Ask all streams to end, and wait at most ``patience_s`` seconds for them."""
        self.begun = True
        for wake in list(self._wakers):
            wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._idle.wait()


async def _next(incoming: AsyncIterator[Request]) -> Request | None:
    """The next request; None at the end."""
    async for request in incoming:
        return request
    return None
