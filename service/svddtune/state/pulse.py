"""Whether the store takes writes, and what it says of its layout and of workers."""

from dataclasses import dataclass

from svddtune.state import keys
from svddtune.state.connect import AsyncRedis
from svddtune.state.faults import store_call


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the store said at one moment, after it took a write."""

    # None where there are no data yet.
    layout: int | None
    # Some worker gave a sign of life in the last 15 seconds. All take urgent jobs.
    attended: bool


async def feel_pulse(client: AsyncRedis) -> Pulse:
    """Write to the store, then read. Raises StoreUnavailable."""
    prefix = keys.prefix(0)  # every worker serves all partitions
    async with store_call():
        await client.set(f"{prefix}proof", 1, ex=60)
        layout = await client.get(f"{prefix}layout")
        attended = await client.exists(f"{prefix}q:attended")
    return Pulse(None if layout is None else int(layout), bool(attended))
