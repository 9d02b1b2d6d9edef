"""Calls that last longer than their callers' credentials: they are checked again and again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from svddtune.service.access.faults import ProviderAway
from svddtune.state.errors import StateError

# Seconds between two checks. A call goes on for at most about as long without credentials.
CHECK_S = 2.0


@asynccontextmanager
async def as_long_as(
    check: Callable[[], Awaitable[object]], *, every_s: float = CHECK_S
) -> AsyncIterator[None]:
    """Cancel the body once a check fails, and raise the error with which it failed.

    While a check cannot be made (ProviderAway), the body goes on.
    """
    faults: list[StateError] = []

    async def watch() -> None:
        while not faults:
            await asyncio.sleep(every_s)
            try:
                await check()
            except ProviderAway:
                continue
            except StateError as error:
                faults.append(error)
        ending.reschedule(asyncio.get_running_loop().time())

    try:
        async with asyncio.timeout(None) as ending:
            watching = asyncio.create_task(watch())
            try:
                yield
            finally:
                watching.cancel()
    except TimeoutError:
        if faults:
            raise faults[0] from None
        raise
