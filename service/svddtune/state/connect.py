"""Connections to Redis."""

from typing import Any, TypeAlias

import redis
import redis.asyncio

from svddtune.state.faults import CALL_S
from svddtune.state.pipelining import PipeliningRedis
from svddtune.state.retries import AsyncRetries, Retries

# Blocking reads return at least this often, so that a reader notices a stop and a dead peer.
BLOCK_MS = 1000

# One attempt at a call may take this long. A server that stays silent is asked once more.
_ATTEMPT_S = 2.0
# No attempt begins later: the last one still ends in time.
_PATIENCE_S = CALL_S - _ATTEMPT_S

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
    """Asynchronous client for commands that do not block.

    Concurrent commands share round trips. It waits for a free connection instead of failing.
    """
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
    return PipeliningRedis.from_pool(pool)


def connect_async_blocking(url: str) -> AsyncRedis:
    """Asynchronous client for one blocking reader."""
    retries = AsyncRetries(0)
    pool = redis.asyncio.ConnectionPool.from_url(
        url, retry=retries, socket_timeout=_BLOCKING_S, **_SETTINGS
    )
    retries.pool = pool
    return redis.asyncio.Redis.from_pool(pool)
