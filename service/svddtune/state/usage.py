"""What a project may have in the store, all services together.

The scripts that create and delete count what a project has, and refuse what would be too much. A
project's sessions and datasets are spread over the partitions, and a script knows its own. What the
project has in the others is read before: calls to several partitions at the same moment may
therefore exceed a limit by as much as they create. With one partition, the default, none does.
"""

from dataclasses import dataclass, fields

from svddtune.state import keys, projects
from svddtune.state.calls import refusal
from svddtune.state.connect import AsyncRedis
from svddtune.state.faults import store_call


@dataclass(frozen=True, slots=True)
class ProjectLimits:
    """The most that each project may have; 0 for no limit."""

    sessions: int = 0
    datasets: int = 0
    # Of the values of all rows, 8 for each.
    bytes: int = 0


class Usage:
    """Limits of the current project, as the scripts take them."""

    def __init__(
        self, client: AsyncRedis, *, partitions: int = 1, limits: ProjectLimits | None = None
    ) -> None:
        self._client = client
        self._partitions = partitions
        given = limits or ProjectLimits()
        # By kind; those that there are.
        self._limits = {
            one.name: getattr(given, one.name) for one in fields(given) if getattr(given, one.name)
        }

    async def limits(self, partition: int) -> dict[str, list[int]]:
        """By kind: the limit, and what the project has outside a partition."""
        others = [one for one in range(self._partitions) if one != partition]
        elsewhere = await self._used(others) if self._limits else {}
        return {kind: [most, elsewhere.get(kind, 0)] for kind, most in self._limits.items()}

    async def check(self, **added: int) -> None:
        """Return where the project may have so much more of each kind, as of now.

        Raises QuotaExceeded (``QUOTA_EXCEEDED``).
        """
        used = await self._used(range(self._partitions)) if self._limits else {}
        for kind, most in self._limits.items():
            if used[kind] + added.get(kind, 0) > most and kind in added:
                figures = {"quota": kind, "limit": most, "used": used[kind]}
                raise refusal("QUOTA_EXCEEDED", figures | {"project": projects.current()}, {})

    async def _used(self, partitions: "range | list[int]") -> dict[str, int]:
        if not partitions:
            return {}
        kinds, project = list(self._limits), projects.current()
        reads: list[tuple[object, ...]] = [
            ("HMGET", keys.usage(partition, project), *kinds) for partition in partitions
        ]
        async with store_call():
            replies = await self._client.together(reads)
        return {
            kind: sum(int(reply[index] or 0) for reply in replies)
            for index, kind in enumerate(kinds)
        }
