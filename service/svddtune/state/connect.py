"""Connections to Redis, and whether a server is fit to hold labels."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import redis
import redis.asyncio
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from svddtune.state import keys
from svddtune.state.errors import StoreUnavailable

# Blocking reads return at least this often, so that a reader notices a stop and a dead peer.
BLOCK_MS = 1000

# Oldest servers with everything the scripts use: redis_version (Valkey reports 7.2.4 there).
FLOOR = (7, 0)

# redis-py's annotations tell neither synchronous from asynchronous replies nor bytes from text;
# the names say which client is meant.
Redis: TypeAlias = Any
AsyncRedis: TypeAlias = Any

_COMMANDS: dict[str, Any] = {"socket_timeout": 5.0, "socket_connect_timeout": 3.0}
# All writes are scripts that may safely run twice, so a lost reply is simply asked for again.
_RETRIES = 3
# A blocked read is never retried by the library: its loop reconnects and looks again itself.
_BLOCKING: dict[str, Any] = {
    "socket_timeout": BLOCK_MS / 1000 + 2.0,
    "socket_connect_timeout": 3.0,
    "retry": Retry(ExponentialWithJitterBackoff(), 0),
}


def _retry() -> Retry:
    return Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), _RETRIES)


def connect(url: str) -> Redis:
    """Synchronous client for commands; connects on first use."""
    return redis.Redis.from_url(url, protocol=2, retry=_retry(), **_COMMANDS)


def connect_blocking(url: str) -> Redis:
    """Synchronous client for one blocking reader."""
    return redis.Redis.from_url(url, protocol=2, **_BLOCKING)


def connect_async(url: str, *, max_connections: int = 32) -> AsyncRedis:
    """Asynchronous client for commands; waits for a free connection instead of failing."""
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        url,
        protocol=2,
        max_connections=max_connections,
        timeout=5,
        retry=redis.asyncio.retry.Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), _RETRIES),
        **_COMMANDS,
    )
    return redis.asyncio.Redis.from_pool(pool)


def connect_async_blocking(url: str) -> AsyncRedis:
    """Asynchronous client for one blocking reader."""
    settings = _BLOCKING | {"retry": redis.asyncio.retry.Retry(ExponentialWithJitterBackoff(), 0)}
    return redis.asyncio.Redis.from_url(url, protocol=2, **settings)


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What a Redis-compatible server says of itself."""

    # "redis" or "valkey".
    kind: str
    version: str
    warnings: tuple[str, ...]


def examine(client: Redis) -> ServerReport:
    """Check that a server may hold labels; mark its layout version.

    Raises
    ------
    StoreUnavailable
        ``REDIS_UNAVAILABLE``, or ``REDIS_UNSAFE`` where the server is too old, may evict keys or
        holds data of another layout.
    """
    try:
        info: dict[str, Any] = client.info()
        policy = info.get("maxmemory_policy", "noeviction")
        _refuse_unfit(info, policy)
        _check_layout(client)
        return ServerReport(
            kind="valkey" if "valkey_version" in info else "redis",
            version=str(info.get("valkey_version", info["redis_version"])),
            warnings=tuple(_persistence_warnings(client, info)),
        )
    except RedisError as error:
        raise StoreUnavailable(
            "REDIS_UNAVAILABLE", f"Redis does not answer: {error}. Check --redis."
        ) from error


def _refuse_unfit(info: dict[str, Any], policy: str) -> None:
    version = tuple(int(part) for part in str(info["redis_version"]).split(".")[:2])
    if version < FLOOR:
        raise StoreUnavailable(
            "REDIS_UNSAFE",
            f"Redis {info['redis_version']} is too old; 7.0 or newer is needed (Valkey 7.2).",
            version=info["redis_version"],
        )
    if policy != "noeviction":
        raise StoreUnavailable(
            "REDIS_UNSAFE",
            f"maxmemory-policy is {policy}: Redis may drop labels and jobs when memory is short. "
            "Set it to noeviction.",
            maxmemory_policy=policy,
        )


def _check_layout(client: Redis) -> None:
    key = keys.prefix(0) + "layout"
    client.set(key, keys.LAYOUT_VERSION, nx=True)
    found = int(client.get(key) or 0)
    if found != keys.LAYOUT_VERSION:
        raise StoreUnavailable(
            "REDIS_UNSAFE",
            f"The data in this Redis have layout {found}; this version writes "
            f"{keys.LAYOUT_VERSION}.",
            layout=found,
        )


def _persistence_warnings(client: Redis, info: dict[str, Any]) -> list[str]:
    if not info.get("aof_enabled"):
        return ["append-only file is off: acknowledged labels are lost with the server"]
    try:
        fsync = client.config_get("appendfsync").get("appendfsync")
    except ResponseError:
        return ["CONFIG is not allowed here: appendfsync could not be checked"]
    if fsync != "always":
        return [f"appendfsync is {fsync}: the last second of labels is lost with the machine"]
    return []
