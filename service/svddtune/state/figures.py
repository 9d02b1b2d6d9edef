"""Figures of the queues, the workers and the memory of Redis, for metrics. Synchronous."""

import math
from dataclasses import dataclass
from typing import Any

from svddtune.state import keys
from svddtune.state.calls import Scripts
from svddtune.state.connect import Redis
from svddtune.state.faults import redis_faults

LANES = ("hi", "bulk")


@dataclass(frozen=True, slots=True)
class LaneFigures:
    """One lane, over all partitions."""

    queued: int
    running: int
    # For how long the oldest job that waits has waited, in seconds; 0 where none waits.
    oldest_s: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What there is at one moment, over all partitions."""

    lanes: dict[str, LaneFigures]
    # Failed jobs that are tried again after a pause, and dead letters.
    paused: int
    dead: int
    # Workers that are there, and those of them that are kept for urgent jobs.
    workers: int
    urgent_workers: int
    # Sessions that ask.
    asking: int
    used_bytes: int
    # 0 where Redis has no limit.
    most_bytes: int


def read_figures(client: Redis, partitions: int) -> Figures:
    """Read the figures. Raises StoreUnavailable."""
    call = Scripts(client)
    replies = [call("figures", keys.prefix(partition)) for partition in range(partitions)]
    with redis_faults():
        # (A cluster has several servers: the fullest counts.)
        servers = client.masters() if hasattr(client, "masters") else [client]
        found: list[dict[str, Any]] = [one.info("memory") for one in servers]
    memory = max(
        found,
        key=lambda one: int(one["used_memory"]) / (int(one.get("maxmemory", 0)) or math.inf),
    )
    return Figures(
        lanes={lane: _lane([reply["lanes"][lane] for reply in replies]) for lane in LANES},
        paused=sum(reply["paused"] for reply in replies),
        dead=sum(reply["dead"] for reply in replies),
        # Each worker serves all partitions.
        workers=max(reply["workers"] for reply in replies),
        urgent_workers=max(reply["urgent_workers"] for reply in replies),
        asking=sum(reply["asking"] for reply in replies),
        used_bytes=int(memory["used_memory"]),
        most_bytes=int(memory.get("maxmemory", 0)),
    )


def _lane(parts: list[dict[str, Any]]) -> LaneFigures:
    return LaneFigures(
        queued=sum(part["queued"] for part in parts),
        running=sum(part["running"] for part in parts),
        oldest_s=max(part["oldest_ms"] for part in parts) / 1000,
    )
