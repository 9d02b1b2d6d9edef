"""Figures of the queues, the workers and the memory of Redis: for metrics, and for people."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from svddtune.state import keys
from svddtune.state.calls import AsyncScripts, Scripts
from svddtune.state.connect import Redis
from svddtune.state.faults import redis_faults
from svddtune.state.queue import WORKER_TTL_S

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


@dataclass(frozen=True, slots=True)
class PresentWorker:
    """A worker that is there."""

    name: str
    # When it last gave a sign, and when it started, by the clocks of Redis and of its machine.
    seen_ms: int
    started_ms: int
    # Kind of its job; "" while it has none.
    job: str
    # Memory of its own; 0 where its system does not say.
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Load:
    """Who computes and what waits, over all partitions."""

    # Longest running first.
    workers: tuple[PresentWorker, ...]
    lanes: dict[str, LaneFigures]
    dead: int


async def read_load(call: AsyncScripts, partitions: int) -> Load:
    """Read the load. Raises StoreUnavailable."""
    replies = [await call("figures", keys.prefix(partition)) for partition in range(partitions)]
    found: dict[str, PresentWorker] = {}
    for reply in replies:
        for name, sign, kind, ttl_ms in reply["present"]:
            said, before = json.loads(sign), found.get(name)
            found[name] = PresentWorker(
                name,
                seen_ms=reply["now_ms"] - max(0, 1000 * WORKER_TTL_S - ttl_ms),
                started_ms=said.get("started_ms") or 0,
                job=kind or (before.job if before else ""),
                memory_bytes=said.get("memory_bytes") or 0,
            )
    workers = sorted(found.values(), key=lambda one: (one.started_ms, one.name))
    return Load(tuple(workers), _lanes(replies), sum(reply["dead"] for reply in replies))


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
        lanes=_lanes(replies),
        paused=sum(reply["paused"] for reply in replies),
        dead=sum(reply["dead"] for reply in replies),
        # Each worker serves all partitions.
        workers=max(reply["workers"] for reply in replies),
        urgent_workers=max(reply["urgent_workers"] for reply in replies),
        asking=sum(reply["asking"] for reply in replies),
        used_bytes=int(memory["used_memory"]),
        most_bytes=int(memory.get("maxmemory", 0)),
    )


def _lanes(replies: Sequence[dict[str, Any]]) -> dict[str, LaneFigures]:
    return {lane: _lane([reply["lanes"][lane] for reply in replies]) for lane in LANES}


def _lane(parts: list[dict[str, Any]]) -> LaneFigures:
    return LaneFigures(
        queued=sum(part["queued"] for part in parts),
        running=sum(part["running"] for part in parts),
        oldest_s=max(part["oldest_ms"] for part in parts) / 1000,
    )
