"""Checks of the Redis server: version, eviction, persistence, replicas, clock, memory, layout."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from redis.exceptions import RedisError, ResponseError

from svddtune.admin.doctor.findings import Finding, error, ok, warning
from svddtune.admin.tables import mebibytes
from svddtune.state import keys
from svddtune.state.cluster import Cluster
from svddtune.state.connect import Redis
from svddtune.state.durability import durability_of
from svddtune.state.examine import FLOOR, connection_advice
from svddtune.state.layout import layout_state, not_migrated
from svddtune.state.upgrade import EARLIER_LAYOUT

# Difference of clocks above which times of the log and of leases are hard to compare.
_MOST_CLOCK_S = 2.0
_MEMORY_WARNING = 0.85
_MEMORY_ERROR = 0.95


@dataclass(frozen=True, slots=True)
class Server:
    """A server that has data: the only one, or a master of a Cluster."""

    client: Redis
    # What it says of itself.
    info: Mapping[str, Any]
    # HOST:PORT of a master of a Cluster; empty for the only server.
    name: str


def reachable(client: Redis) -> tuple[Finding, list[Server]]:
    """Whether the store answers, and its servers; none where it does not."""
    try:
        if isinstance(client, Cluster):
            servers = [Server(one, one.info(), _address(one)) for one in client.masters()]
        else:
            servers = [Server(client, client.info(), "")]
    except RedisError as fault:
        return error("store", str(fault).rstrip("."), connection_advice(client, fault)), []
    info = servers[0].info
    kind = "valkey" if "valkey_version" in info else "redis"
    version = info.get("valkey_version", info["redis_version"])
    of = f"Cluster of {len(servers)} masters, " if isinstance(client, Cluster) else ""
    return ok("store", f"{of}{kind} {version} answers"), servers


def _address(client: Redis) -> str:
    options = client.connection_pool.connection_kwargs
    return f"{options.get('host')}:{options.get('port')}"


def check_store(servers: Sequence[Server]) -> Iterator[Finding]:
    """Check a store whose servers have answered."""
    for server in servers:
        for found in _check_server(server.client, server.info):
            value = f"{server.name}: {found.value}" if server.name else found.value
            yield replace(found, value=value)


def _check_server(client: Redis, info: Mapping[str, Any]) -> Iterator[Finding]:
    yield _version(info)
    yield _role(info)
    yield _eviction(info)
    yield _persistence(client, info)
    yield _replicas(info)
    yield _clock(client)
    yield _memory(info)


def _version(info: Mapping[str, Any]) -> Finding:
    version = str(info["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < FLOOR:
        return error("version", version, "Use Redis 7.0 or Valkey 7.2, or newer.")
    return ok("version", version)


def _role(info: Mapping[str, Any]) -> Finding:
    if info.get("role") == "slave":
        master = f"{info.get('master_host')}:{info.get('master_port')}"
        return error(
            "role",
            f"replica of {master}",
            "It takes no writes. Give the URL of its master in --redis, or promote it: "
            "redis-cli REPLICAOF NO ONE.",
        )
    return ok("role", "master")


def _eviction(info: Mapping[str, Any]) -> Finding:
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        return error(
            "eviction",
            f"maxmemory-policy is {policy}",
            "Redis may drop labels when memory is short: redis-cli CONFIG SET maxmemory-policy "
            "noeviction, and the same in its configuration file.",
        )
    return ok("eviction", policy)


def _persistence(client: Redis, info: Mapping[str, Any]) -> Finding:
    for name in ("aof_last_write_status", "rdb_last_bgsave_status"):
        if info.get(name, "ok") != "ok":
            return error(
                "persistence",
                f"{name} is {info[name]}",
                "The last write to disk failed: free space on its disk, or repair it.",
            )
    try:
        fsync = client.config_get("appendfsync").get("appendfsync")
    except ResponseError:
        fsync = None
    durability = durability_of(info, fsync)
    if durability.survives_crash:
        return ok("persistence", "append-only file, appendfsync is always")
    advice = {
        "off": "redis-cli CONFIG SET appendonly yes, and the same in its configuration file.",
        "unknown": "Look at appendfsync in the server's configuration file: it should be always.",
    }.get(
        durability.fsync,
        "Where that matters: redis-cli CONFIG SET appendfsync always, and the same in its "
        "configuration file.",
    )
    return warning("persistence", durability.sentences[0], advice)


def _replicas(info: Mapping[str, Any]) -> Finding:
    count = int(info.get("connected_slaves", 0))
    offset = int(info.get("master_repl_offset", 0))
    behind = []
    for index in range(count):
        replica = info.get(f"slave{index}")
        if isinstance(replica, dict) and replica.get("state") != "online":
            behind.append(f"{replica['ip']}:{replica['port']} is {replica.get('state')}")
        elif isinstance(replica, dict) and offset - int(replica.get("offset", 0)) > 1 << 20:
            lag = mebibytes(offset - int(replica["offset"]))
            behind.append(f"{replica['ip']}:{replica['port']} is {lag} behind")
    if behind:
        return warning(
            "replicas",
            "; ".join(behind),
            "Labels that a replica lacks are lost if it takes over. Look at its log and its "
            "network, and let the service wait for replicas: --min-replicas 1.",
        )
    return ok("replicas", str(count))


def _clock(client: Redis) -> Finding:
    before = time.time()
    seconds, micros = client.time()
    after = time.time()
    difference = seconds + micros / 1e6 - (before + after) / 2
    if abs(difference) > _MOST_CLOCK_S + (after - before) / 2:
        return warning(
            "clock",
            f"the store's clock is {difference:+.1f} s from this machine's",
            "Leases go by the store's clock, expiry of tokens and logs by each machine's: let NTP "
            "set both.",
        )
    return ok("clock", f"{difference:+.2f} s from this machine's")


def _memory(info: Mapping[str, Any]) -> Finding:
    used, most = int(info["used_memory"]), int(info.get("maxmemory", 0))
    bound = most or int(info.get("total_system_memory", 0))
    name = "maxmemory" if most else "the machine's memory; maxmemory is not set"
    value = f"{mebibytes(used)} of {mebibytes(bound)} ({name})"
    share = used / bound if bound else 0.0
    if share < _MEMORY_WARNING:
        return ok("memory", value)
    advice = (
        "Delete sessions and datasets that are done with, or raise maxmemory: redis-cli CONFIG SET "
        "maxmemory SIZE."
    )
    return (error if share >= _MEMORY_ERROR else warning)("memory", value, advice)


def check_layout(client: Redis, partitions: int) -> Iterator[Finding]:
    """Check which layout is in force, who holds it back, and what has not reached it."""
    text = client.get(keys.prefix(0) + "layout")
    found = int(text) if text and text.isdigit() else 0
    if text is None:
        yield ok("layout", "no data yet")
    elif found == EARLIER_LAYOUT:
        yield warning(
            "layout",
            f"{found}, this version writes {keys.LAYOUT_VERSION}",
            "The next start of a service or worker of this version upgrades the data. Take a "
            "backup before, and stop all processes of 0.1.0.",
        )
    elif not keys.OLDEST_LAYOUT <= found <= keys.LAYOUT_VERSION:
        yield error(
            "layout",
            f"{text.decode(errors='replace')}, this version reads {keys.OLDEST_LAYOUT} to "
            f"{keys.LAYOUT_VERSION}",
            "Use the version of svddtune that wrote the data, or another Redis.",
        )
    elif found < keys.LAYOUT_VERSION:
        obstacle = layout_state(client).obstacle or "a service raises it within seconds"
        yield warning(
            "layout",
            f"{found}, this version writes {keys.LAYOUT_VERSION}: {obstacle}",
            "That is right during an upgrade only. Replace the older processes; svddtune layout "
            "shows what is in the way.",
        )
    else:
        yield ok("layout", str(found))
        if waiting := not_migrated(client, partitions):
            yield warning(
                "migration",
                f"{waiting} ended sessions have not reached layout {found}",
                "A service brings them there while it runs. Start one, or wait.",
            )
