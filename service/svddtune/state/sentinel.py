"""Connections to the master that Sentinels name.

Every new connection asks them first. After a failover a client makes new connections (``retries``),
and so comes to the new master.
"""

from typing import Any

import redis.asyncio.sentinel
import redis.sentinel

from svddtune.state.address import Address

# How long a Sentinel may take to answer before the next one is asked.
_ANSWER_S = 0.5

# (The driver's annotations are incomplete.)
_sentinel: Any = redis.sentinel.Sentinel
_async_sentinel: Any = redis.asyncio.sentinel.Sentinel


def follow_master(pool: Any, address: Address) -> None:
    """Let a pool of synchronous connections lead to the master."""
    options = _sentinel_options(pool, address)

    class Connection(pool.connection_class):  # type: ignore[misc]
        def _connect(self) -> Any:
            sentinels: Any = _sentinel(address.nodes, **options)
            try:
                self.host, self.port = sentinels.discover_master(address.name)
            finally:
                for one in sentinels.sentinels:
                    one.close()
            return super()._connect()

    pool.connection_class = Connection


def follow_master_async(pool: Any, address: Address) -> None:
    """Let a pool of asynchronous connections lead to the master."""
    options = _sentinel_options(pool, address)

    class Connection(pool.connection_class):  # type: ignore[misc]
        async def _connect(self) -> None:
            sentinels: Any = _async_sentinel(address.nodes, **options)
            try:
                self.host, self.port = await sentinels.discover_master(address.name)
            finally:
                for one in sentinels.sentinels:
                    await one.aclose()
            await super()._connect()

    pool.connection_class = Connection


def _sentinel_options(pool: Any, address: Address) -> dict[str, Any]:
    """Options of the connections to Sentinels: TLS as to the servers, credentials of their own."""
    tls = address.url.startswith("rediss")
    given = {k: v for k, v in pool.connection_kwargs.items() if k.startswith("ssl_")}
    return {
        "socket_timeout": _ANSWER_S,
        "socket_connect_timeout": _ANSWER_S,
        "protocol": 2,
        **({"ssl": True} | given if tls else {}),
        **address.of_sentinels,
    }
