"""Connections to Redis."""

from typing import Any, TypeAlias

import redis
import redis.asyncio

from svddtune.state.address import Address, parse
from svddtune.state.cluster import AsyncCluster, Cluster
from svddtune.state.faults import CALL_S
from svddtune.state.pipelining import PipeliningRedis
from svddtune.state.replication import ReplicatedRedis
from svddtune.state.retries import AsyncRetries, Retries
from svddtune.state.sentinel import follow_master, follow_master_async

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
    """Synchronous client for commands; connects on first use. Raises ValueError for a wrong URL."""
    return _connect(url, patience_s, _WORKER_ATTEMPT_S)


def connect_blocking(url: str) -> Redis:
    """Synchronous client for one blocking reader."""
    return _connect(url, 0, _BLOCKING_S)


def _connect(url: str, patience_s: float, timeout_s: float) -> Redis:
    address = parse(url)
    if address.kind == "cluster":
        # (The client of the Cluster makes the attempts: each may lead to another master.)
        return Cluster(
            address, lambda node_url: _connect(node_url, 0, timeout_s), patience_s=patience_s
        )
    retries = Retries(patience_s)
    pool = redis.ConnectionPool.from_url(
        _of_server(address), retry=retries, socket_timeout=timeout_s, **_SETTINGS
    )
    if address.kind == "sentinel":
        follow_master(pool, address)
    retries.pool = pool
    client = redis.Redis(connection_pool=pool)
    client.auto_close_connection_pool = True
    return client


def _of_server(address: Address) -> str:
    """The URL of one server; Sentinels are asked for the master's host at each connection."""
    return address.at(address.nodes[0]) if address.kind == "sentinel" else address.url


def connect_async(url: str, *, max_connections: int = 32, min_replicas: int = 0) -> AsyncRedis:
    """Asynchronous client for commands that do not block.

    Concurrent commands share round trips. It waits for a free connection instead of failing.
    Changes that are promised to a caller are acknowledged once ``min_replicas`` replicas have them.
    """
    return _connect_async(url, max_connections, min_replicas, _PATIENCE_S)


def _connect_async(
    url: str, max_connections: int, min_replicas: int, patience_s: float
) -> AsyncRedis:
    address = parse(url)
    if address.kind == "cluster":
        return AsyncCluster(
            address,
            lambda node_url: _connect_async(node_url, max_connections, min_replicas, 0),
            patience_s=patience_s,
        )
    retries = AsyncRetries(patience_s)
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        _of_server(address),
        max_connections=max_connections,
        timeout=CALL_S,
        retry=retries,
        socket_timeout=_ATTEMPT_S,
        **_SETTINGS,
    )
    if address.kind == "sentinel":
        follow_master_async(pool, address)
    retries.pool = pool
    client: AsyncRedis = PipeliningRedis.from_pool(pool)
    if min_replicas:
        client.durable = ReplicatedRedis(connection_pool=pool, min_replicas=min_replicas)
    return client


def connect_async_blocking(url: str) -> AsyncRedis:
    """Asynchronous client for one blocking reader."""
    address = parse(url)
    if address.kind == "cluster":
        return AsyncCluster(address, connect_async_blocking, patience_s=0)
    retries = AsyncRetries(0)
    pool = redis.asyncio.ConnectionPool.from_url(
        _of_server(address), retry=retries, socket_timeout=_BLOCKING_S, **_SETTINGS
    )
    if address.kind == "sentinel":
        follow_master_async(pool, address)
    retries.pool = pool
    return redis.asyncio.Redis.from_pool(pool)
