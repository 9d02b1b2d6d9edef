"""Connections to Redis, and whether a server is fit to hold labels."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import redis
import redis.asyncio
from redis.exceptions import RedisError, ResponseError

from svddtune.state import keys
from svddtune.state.errors import StoreUnavailable
from svddtune.state.faults import CALL_S, unavailable
from svddtune.state.retries import AsyncRetries, Retries

# Blocking reads return at least this often, so that a reader notices a stop and a dead peer.
BLOCK_MS = 1000

# One attempt at a call may take this long. A server that stays silent is asked once more.
_ATTEMPT_S = 2.0
# No attempt begins later: the last one still ends in time.
_PATIENCE_S = CALL_S - _ATTEMPT_S

# Oldest servers with everything the scripts use: redis_version (Valkey reports 7.2.4 there).
FLOOR = (7, 0)

# redis-py's annotations tell neither synchronous from asynchronous replies nor bytes from text;
# the names say which client is meant.
Redis: TypeAlias = Any
AsyncRedis: TypeAlias = Any

# (redis-py keeps idle TCP connections alive itself, so that one that is half open is noticed.)
_SETTINGS: dict[str, Any] = {"protocol": 2, "socket_connect_timeout": _ATTEMPT_S}
# A blocked read is never retried by the library: its loop reconnects and looks again itself.
_BLOCKING_S = BLOCK_MS / 1000 + 2.0
# A worker's commands carry whole datasets, and nobody waits for the reply to one of them.
_WORKER_ATTEMPT_S = 5.0


def connect(url: str, *, patience_s: float = _PATIENCE_S) -> Redis:
    """Synchronous client for commands; connects on first use."""
    return _connect(url, Retries(patience_s), _WORKER_ATTEMPT_S)


def connect_blocking(url: str) -> Redis:
    """Synchronous client for one blocking reader."""
    return _connect(url, Retries(0), _BLOCKING_S)


def _connect(url: str, retries: Retries, timeout_s: float) -> Redis:
    pool = redis.ConnectionPool.from_url(url, retry=retries, socket_timeout=timeout_s, **_SETTINGS)
    retries.pool = pool
    client = redis.Redis(connection_pool=pool)
    client.auto_close_connection_pool = True
    return client


def connect_async(url: str, *, max_connections: int = 32) -> AsyncRedis:
    """Asynchronous client for commands; waits for a free connection instead of failing."""
    retries = AsyncRetries(_PATIENCE_S)
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        url,
        max_connections=max_connections,
        timeout=CALL_S,
        retry=retries,
        socket_timeout=_ATTEMPT_S,
        **_SETTINGS,
    )
    retries.pool = pool
    return redis.asyncio.Redis.from_pool(pool)


def connect_async_blocking(url: str) -> AsyncRedis:
    """Asynchronous client for one blocking reader."""
    retries = AsyncRetries(0)
    pool = redis.asyncio.ConnectionPool.from_url(
        url, retry=retries, socket_timeout=_BLOCKING_S, **_SETTINGS
    )
    retries.pool = pool
    return redis.asyncio.Redis.from_pool(pool)


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
        ``REDIS_UNAVAILABLE``, ``STORE_FULL``, or ``REDIS_UNSAFE`` where the server is too old, may
        evict keys, is a replica or holds data of another layout.
    """
    try:
        info: dict[str, Any] = client.info()
        policy = info.get("maxmemory_policy", "noeviction")
        _refuse_unfit(info, policy)
        _refuse_replica(info)
        _check_layout(client)
        return ServerReport(
            kind="valkey" if "valkey_version" in info else "redis",
            version=str(info.get("valkey_version", info["redis_version"])),
            warnings=tuple(_persistence_warnings(client, info)),
        )
    except RedisError as error:
        fault = unavailable(error)
        if fault.reason == "REDIS_UNAVAILABLE":
            fault = StoreUnavailable(
                fault.reason, f"Redis does not answer: {error}. Check --redis."
            )
        raise fault from error


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


def _refuse_replica(info: dict[str, Any]) -> None:
    if info.get("role") == "slave":
        master = f"{info.get('master_host')}:{info.get('master_port')}"
        raise StoreUnavailable(
            "REDIS_UNSAFE",
            f"This Redis is a replica of {master} and takes no writes. Name its master.",
            master=master,
        )


def _check_layout(client: Redis) -> None:
    key = keys.prefix(0) + "layout"
    # (A full server refuses to be written to, also where nothing is to be set.)
    if not client.exists(key):
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
