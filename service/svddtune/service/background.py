"""Tasks that a process needs for as long as it lives: none of them ends unnoticed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

# Pause before a task that has failed begins again.
AGAIN_S = 1.0


async def lasting(
    name: str, run: Callable[[], Awaitable[None]], *, again_s: float = AGAIN_S
) -> None:
    """Run a task until it returns or is cancelled; where it fails, log that and begin again."""
    while True:
        try:
            return await run()
        except Exception:
            log.exception("%s failed and begins again in %g s", name, again_s)
        await asyncio.sleep(again_s)
