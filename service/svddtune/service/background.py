"""Background tasks that run as long as their process: a failure is logged, never silent."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

# Pause before a failed task is restarted.
AGAIN_S = 1.0


async def lasting(
    name: str, run: Callable[[], Awaitable[None]], *, again_s: float = AGAIN_S
) -> None:
    """Run a task until it returns or is cancelled; if it fails, log that and restart it."""
    while True:
        try:
            return await run()
        except Exception:
            log.exception("%s failed and will start again in %g s", name, again_s)
        await asyncio.sleep(again_s)
