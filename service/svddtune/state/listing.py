"""What there is of a kind over all partitions, newest first, for calls that list it."""

from collections.abc import AsyncIterator
from typing import TypeAlias

from svddtune.state import keys, projects
from svddtune.state.connect import AsyncRedis
from svddtune.state.faults import store_call

# When something was created, in milliseconds on Redis's clock, and its id.
Position: TypeAlias = tuple[int, str]

# What one call looks at.
MOST_EXAMINED = 5_000
# What it reads in one round trip: a record may be large.
_AT_ONCE = 100


class Walk:
    """Goes through what a project has, in batches that grow, because a filter may accept few.

    The index of the default project has also what belongs to others; whoever goes through it tells
    these apart.

    Attributes
    ----------
    position : (int, str) or None
        The entry that was seen last; ``pass_by`` sets it.
    ended : bool
        Whether nothing follows the last batch.
    """

    def __init__(
        self, client: AsyncRedis, partitions: int, index: str, before: Position | None
    ) -> None:
        self._client = client
        own = projects.stored()
        name = f"{index}:{own}" if own else index
        self._keys = [keys.prefix(partition) + name for partition in range(partitions)]
        self.position = self._own = before
        self._began = before
        self.ended = False

    def pass_by(self, entry: Position, *, own: bool = True) -> None:
        """Go on behind an entry; ``own`` says whether it is one of the project."""
        self.position = entry
        if own:
            self._own = entry

    @property
    def next(self) -> Position | None:
        """Where the next page begins. It never names what belongs to another project."""
        if self.position == self._own or self.position is None:
            return self.position
        if self._own != self._began:
            return self._own
        # (Behind all of that millisecond.)
        return self.position[0], "~"

    async def batches(self, first: int) -> AsyncIterator[list[Position]]:
        """Yield entries behind the position, ``first`` of them at first, up to a limit in all."""
        size, left = first, MOST_EXAMINED
        while left and not self.ended:
            size = min(size, _AT_ONCE, left)
            found: list[Position] = []
            for key in self._keys:
                found += await _newest(self._client, key, size + 1, self.position)
            found.sort(reverse=True)
            self.ended = len(found) <= size
            batch = found[:size]
            yield batch
            left -= len(batch)
            size *= 2


async def _newest(
    client: AsyncRedis, key: str, limit: int, before: Position | None
) -> list[Position]:
    """Newest entries of a zset by (score, member), strictly before one of them."""
    top = "+inf" if before is None else str(before[0])
    found: list[Position] = []
    offset = 0
    async with store_call():
        while len(found) < limit:
            batch: list[tuple[bytes, float]] = await client.zrevrangebyscore(
                key, top, "-inf", start=offset, num=limit, withscores=True
            )
            offset += len(batch)
            entries = [(int(score), member.decode()) for member, score in batch]
            found += [one for one in entries if before is None or one < before]
            if len(batch) < limit:
                break
    return found[:limit]
