"""Coroutines as tests: each in an event loop of its own that must be left empty."""

import asyncio
from collections.abc import Coroutine
from typing import Any

LIMIT_S = 60.0


def run(scene: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine; fail where it leaves a task behind."""

    async def watched() -> None:
        async with asyncio.timeout(LIMIT_S):
            await scene
        for _ in range(100):  # gRPC's own tasks need some turns of the loop to end
            left = asyncio.all_tasks() - {asyncio.current_task()}
            if not left:
                return
            await asyncio.wait(left, timeout=0.01)
        raise AssertionError(f"tasks are left: {left}")

    asyncio.run(watched())
