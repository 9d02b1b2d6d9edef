"""The layout in force: which one all living processes can write, and who holds it back.

A process runs with any layout from ``keys.OLDEST_LAYOUT`` to ``keys.LAYOUT_VERSION`` and writes
what is in force. Each leaves a sign with the newest that it can write. Services raise the layout
once nobody has been there for ``QUIET_S`` who cannot write the next.
"""

import json
from dataclasses import dataclass
from typing import Any

from svddtune.state import keys
from svddtune.state.calls import AsyncScripts, Scripts
from svddtune.state.connect import Redis
from svddtune.state.faults import redis_faults

# How long the sign of a service lasts, and for how long no older process may have been seen.
SIGN_TTL_S = 15
QUIET_S = 60


@dataclass(frozen=True, slots=True)
class OlderProcess:
    """A living process that cannot write the newest layout."""

    # "service" or "worker".
    role: str
    name: str
    host: str
    pid: int
    version: str

    def __str__(self) -> str:
        return f"{self.role} {self.name[:8]} ({self.version}, process {self.pid} on {self.host})"


@dataclass(frozen=True, slots=True)
class LayoutState:
    """Where the layout stands."""

    # In force before the look, and now; they differ where the look raised it.
    before: int
    in_force: int
    # An operator holds it.
    held: bool
    older: tuple[OlderProcess, ...]
    # For how long no older process may be seen from now on.
    wait_s: float

    @property
    def obstacle(self) -> str:
        """What is in the way of the newest layout, in words; empty where nothing is."""
        if self.in_force >= keys.LAYOUT_VERSION:
            return ""
        if self.older:
            return "held back by " + ", ".join(map(str, self.older))
        if self.held:
            return "held by an operator"
        if self.wait_s:
            return f"an older process was there in the last minute; {self.wait_s:.0f} s to wait"
        return ""


def layout_state(client: Redis) -> LayoutState:
    """Look where the layout stands. Raises StoreUnavailable."""
    reply = Scripts(client)(
        "raise_layout", keys.prefix(0), layout=keys.LAYOUT_VERSION, quiet_s=QUIET_S, try_now=False
    )
    return _state(reply)


def raise_layout(client: Redis) -> LayoutState:
    """Raise the layout if nothing is in the way. Raises StoreUnavailable."""
    reply = Scripts(client)(
        "raise_layout", keys.prefix(0), layout=keys.LAYOUT_VERSION, quiet_s=QUIET_S, try_now=True
    )
    return _state(reply)


async def raise_layout_async(call: AsyncScripts) -> LayoutState:
    """As ``raise_layout``."""
    reply = await call(
        "raise_layout", keys.prefix(0), layout=keys.LAYOUT_VERSION, quiet_s=QUIET_S, try_now=True
    )
    return _state(reply)


def hold(client: Redis, *, held: bool) -> None:
    """Hold the layout in force, or do so no longer. Raises StoreUnavailable."""
    key = keys.prefix(0) + "layout:hold"
    with redis_faults():
        if held:
            client.set(key, 1)
        else:
            client.delete(key)


def not_migrated(client: Redis, partitions: int) -> int:
    """Ended sessions that have not reached the layout in force. Raises StoreUnavailable."""
    waiting = 0
    with redis_faults():
        for prefix in map(keys.prefix, range(partitions)):
            if int(client.get(f"{prefix}layout:migrated") or 0) >= keys.LAYOUT_VERSION:
                continue
            with client.pipeline(transaction=False) as pipeline:
                for one in client.zrange(f"{prefix}sessions", 0, -1):
                    pipeline.hmget(f"{prefix}s:{one.decode()}", "state", "ended_ms")
                waiting += sum(
                    state in (b"COMPLETED", b"CANCELLED", b"FAILED") and ended is None
                    for state, ended in pipeline.execute()
                )
    return waiting


def _state(reply: dict[str, Any]) -> LayoutState:
    return LayoutState(
        before=reply["before"],
        in_force=reply["in_force"],
        held=reply["held"],
        older=tuple(_older(*one) for one in reply["older"]),
        wait_s=reply["wait_ms"] / 1000,
    )


def _older(role: str, name: str, sign: str) -> OlderProcess:
    said = json.loads(sign)
    return OlderProcess(
        role,
        name,
        host=said.get("host", "?"),
        pid=said.get("pid", 0),
        version=said.get("version", "?"),
    )
