"""Faults of Redis as the one error that callers know."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from redis.exceptions import NoPermissionError, OutOfMemoryError, RedisError
from redis.exceptions import TimeoutError as RedisTimeout

from svddtune.state.errors import StoreUnavailable

log = logging.getLogger(__name__)

# A call of the service ends within this time, whatever happens: its caller waits.
CALL_S = 5.0


class NotReplicated(RedisError):
    """The master has a write, but fewer replicas than wanted have it."""


def unavailable(error: RedisError) -> StoreUnavailable:
    """What a fault means to whoever needed the store."""
    # MISCONF: an earlier write did not reach the disk. It may be back in a moment, as memory may.
    if isinstance(error, OutOfMemoryError) or str(error).startswith("MISCONF"):
        return StoreUnavailable(
            "STORE_FULL",
            "Redis accepts no writes because its memory or disk is full. Nothing is lost; its "
            "operator has to free space.",
        )
    # (The second is what a script is told.)
    if isinstance(error, NoPermissionError) or "ACL failure" in str(error):
        return StoreUnavailable(
            "STORE_FORBIDDEN",
            "Redis does not allow a command to the user that svddtune has there. Its operator has "
            "to grant what docs/redis.md lists; the log names the command.",
        )
    if isinstance(error, NotReplicated):
        return StoreUnavailable(
            "NOT_REPLICATED",
            "Too few replicas of Redis have the change in time: it would be lost if the master "
            "failed now. Send it again with the same id; it counts once.",
        )
    return StoreUnavailable(
        "STORE_UNAVAILABLE", "Redis cannot be reached at the moment; try again."
    )


@contextmanager
def redis_faults() -> Iterator[None]:
    """Turn a Redis fault in the body into StoreUnavailable."""
    try:
        yield
    except RedisError as error:
        # The driver's words name hosts and paths: they are for the log, not for callers.
        log.warning("redis: %s", error)
        raise unavailable(error) from error


@asynccontextmanager
async def store_call() -> AsyncIterator[None]:
    """As ``redis_faults``, and the body is over within ``CALL_S``."""
    with redis_faults():
        try:
            async with asyncio.timeout(CALL_S):
                yield
        except TimeoutError as error:
            raise RedisTimeout(f"no reply within {CALL_S:g} s") from error
