"""Calls whose replies wait until replicas have what they wrote.

WAIT counts the replicas that have what its own connection wrote last. So it goes in the pipeline of
the calls, with a write of its own before it: a call that is made again finds its receipt and writes
nothing, and WAIT would count every replica for it, also one that never got the first call.
"""

from collections.abc import Sequence
from typing import Any

from redis.exceptions import RedisError

from svddtune.state.faults import NotReplicated
from svddtune.state.pipelining import Command, PipeliningRedis

# How long a reply waits for the replicas. A caller then is told that they are late.
WAIT_MS = 1000
_MARK_S = 60


class ReplicatedRedis(PipeliningRedis):
    """Commands whose replies come once ``min_replicas`` replicas have what was written.

    Where they are late, a command that succeeded on the master ends with NotReplicated. The first
    key of each command is its third argument, as in EVALSHA.
    """

    def __init__(self, *args: Any, min_replicas: int = 1, **options: Any) -> None:
        super().__init__(*args, **options)
        self.min_replicas = min_replicas

    async def _alone(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        async def attempt() -> Any:
            (reply,) = await self._waited_for([(args, options)])
            if isinstance(reply, Exception):
                raise reply
            return reply

        # (Its attempts share the rule of the pool: one that meets a replica asks again where the
        # master is.)
        retries: Any = self.connection_pool.connection_kwargs["retry"]
        return await retries.call_with_retry(attempt, _nothing)

    async def _replies(self, batch: list[Command]) -> list[Any]:
        return await self._waited_for([(args, options) for args, options, _ in batch])

    async def _waited_for(
        self, commands: Sequence[tuple[tuple[Any, ...], dict[str, Any]]]
    ) -> list[Any]:
        """Replies or errors, in order."""
        pipeline: Any = self.pipeline(transaction=False)
        for args, options in commands:
            pipeline.execute_command(*args, **options)
        pipeline.execute_command("SET", _mark_beside(commands[-1][0]), "", "EX", _MARK_S)
        pipeline.execute_command("WAIT", self.min_replicas, WAIT_MS)
        found = list(await pipeline.execute(raise_on_error=False))
        replies, (marked, replicas) = found[:-2], found[-2:]
        late = _fault(marked, replicas, self.min_replicas)
        if late is None:
            return replies
        return [reply if isinstance(reply, Exception) else late for reply in replies]


def _fault(marked: Any, replicas: Any, wanted: int) -> RedisError | None:
    for reply in (marked, replicas):
        if isinstance(reply, RedisError):
            return reply
    if int(replicas) < wanted:
        return NotReplicated(f"{replicas} of {wanted} replicas have it after {WAIT_MS} ms")
    return None


def _mark_beside(args: tuple[Any, ...]) -> str:
    """The key that proves writes, in the partition of a script's call."""
    return str(args[3]).partition("}:")[0] + "}:proof"


async def _nothing(error: Exception) -> None:
    """After an attempt that failed: the pipeline has given its connection back."""
