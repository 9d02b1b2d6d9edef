"""What becomes of an acknowledged label when the store fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis.exceptions import ResponseError

from svddtune.state.connect import AsyncRedis
from svddtune.state.faults import store_call

_WEAKEST_FIRST = ("off", "unknown", "no", "everysec", "always")


@dataclass(frozen=True, slots=True)
class Durability:
    """What a store and the settings of a service promise of an acknowledged label."""

    # When the append-only file is synced: always, everysec or no; off where there is none; unknown
    # where the server does not tell.
    fsync: str
    # Replicas that are connected.
    replicas: int
    # Replicas that an acknowledgement waits for.
    min_replicas: int = 0

    @property
    def survives_crash(self) -> bool:
        """Whether an acknowledged label is there after the store's machine fails and returns."""
        return self.fsync == "always"

    @property
    def survives_failover(self) -> bool:
        """Whether it is there after the most advanced replica has become the master."""
        return self.min_replicas > 0

    @property
    def sentences(self) -> tuple[str, str]:
        """What is lost in a crash and in a failover, and what to do about it."""
        return self._of_crash(), self._of_failover()

    def _of_crash(self) -> str:
        match self.fsync:
            case "always":
                return "if the store's machine fails, no acknowledged label is lost"
            case "off":
                return (
                    "the append-only file is off: if the server stops, acknowledged labels are lost"
                )
            case "unknown":
                return "the server does not tell appendfsync, so it could not be checked"
            case fsync:
                return (
                    f"appendfsync is {fsync}: if the machine fails, the labels of the last "
                    f"{'second' if fsync == 'everysec' else 'half minute'} are lost"
                )

    def _of_failover(self) -> str:
        if self.min_replicas > self.replicas:
            return (
                f"--min-replicas is {self.min_replicas}, but {self.replicas} are connected: "
                f"nothing is acknowledged until there are {self.min_replicas}"
            )
        if self.min_replicas:
            return "if a replica takes over, no acknowledged label is lost"
        if self.replicas:
            return (
                "acknowledgements do not wait for replicas: if a replica takes over, acknowledged "
                "labels that it lacks are lost; set --min-replicas 1"
            )
        return "there is no replica that could take over"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences that an operator should act on."""
        crash, failover = self.sentences
        lags = bool(self.replicas) and not self.min_replicas
        return (
            *(() if self.survives_crash else (crash,)),
            *((failover,) if lags or self.min_replicas > self.replicas else ()),
        )


def durability_of(
    info: Mapping[str, Any], appendfsync: str | None, min_replicas: int = 0
) -> Durability:
    """From what INFO and CONFIG GET said; None where CONFIG is not allowed."""
    fsync = "off" if not info.get("aof_enabled") else appendfsync or "unknown"
    return Durability(fsync, int(info.get("connected_slaves", 0)), min_replicas)


def weakest(found: Sequence[Durability]) -> Durability:
    """What holds for the data on all of some masters."""
    return Durability(
        fsync=min((one.fsync for one in found), key=_WEAKEST_FIRST.index),
        replicas=min(one.replicas for one in found),
        min_replicas=found[0].min_replicas,
    )


async def read_durability(client: AsyncRedis, min_replicas: int) -> Durability:
    """As it is now. Raises StoreUnavailable."""
    async with store_call():
        found = []
        for master in await client.masters():
            info = await master.info("everything")
            try:
                appendfsync = (await master.config_get("appendfsync")).get("appendfsync")
            except ResponseError:
                appendfsync = None
            found.append(durability_of(info, appendfsync, min_replicas))
    return weakest(found)
