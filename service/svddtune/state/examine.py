"""Whether a server is fit to hold labels, and whether its data are this version's."""

import os
from dataclasses import dataclass
from typing import Any

from redis.connection import SSLConnection
from redis.exceptions import AuthenticationError, RedisError, ResponseError

from svddtune.state import keys
from svddtune.state.cluster import Cluster
from svddtune.state.connect import Redis
from svddtune.state.durability import Durability, durability_of, weakest
from svddtune.state.errors import StoreUnavailable
from svddtune.state.faults import unavailable
from svddtune.state.upgrade import EARLIER_LAYOUT, upgrade

# Oldest servers with everything the scripts use: redis_version (Valkey reports 7.2.4 there).
FLOOR = (7, 0)
# Options of a URL that name files.
_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What a Redis-compatible server says of itself."""

    # "redis" or "valkey".
    kind: str
    version: str
    durability: Durability


def examine(client: Redis, *, min_replicas: int = 0) -> ServerReport:
    """Check that a server may hold labels; mark its layout version, or upgrade its data.

    Raises
    ------
    StoreUnavailable
        ``STORE_UNAVAILABLE``, ``STORE_FULL``, or ``REDIS_UNSAFE`` where the server is too old, may
        evict keys, is a replica or holds data of another layout.
    """
    try:
        in_cluster = isinstance(client, Cluster)
        found: list[Durability] = []
        for master in client.masters() if in_cluster else [client]:
            info: dict[str, Any] = master.info()
            policy = info.get("maxmemory_policy", "noeviction")
            _refuse_unfit(info, policy)
            _refuse_replica(info)
            found.append(durability_of(info, _appendfsync(master), min_replicas))
        if info.get("cluster_enabled") and not in_cluster:
            _refuse_part_of_cluster(client)
        _check_layout(client)
        return ServerReport(
            kind="valkey" if "valkey_version" in info else "redis",
            version=str(info.get("valkey_version", info["redis_version"])),
            durability=weakest(found),
        )
    except RedisError as error:
        fault = unavailable(error)
        if fault.reason == "STORE_UNAVAILABLE":
            said, advice = str(error).rstrip("."), connection_advice(client, error)
            fault = StoreUnavailable(fault.reason, f"Redis does not answer: {said}. {advice}")
        if fault.reason == "STORE_FORBIDDEN":
            fault = StoreUnavailable(
                fault.reason,
                f"Redis refuses a command: {str(error).rstrip('.')}. Grant the rights that "
                f"docs/redis.md lists.",
            )
        raise fault from error


def connection_advice(client: Redis, error: RedisError) -> str:
    """What the operator can do about a connection that failed."""
    pool = client.connection_pool
    options: dict[str, Any] = pool.connection_kwargs
    encrypted = issubclass(pool.connection_class, SSLConnection)
    for name in _FILES:
        if (file := options.get(name)) and not os.access(file, os.R_OK):
            return f"{name} in the URL names the file {file}, which cannot be read."
    text = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return (
            "If the authority that signed the server's certificate is your own, name its file in "
            "the URL: rediss://HOST?ssl_ca_certs=FILE. The certificate must hold this host's name."
        )
    if "SSL:" in text:
        return "If the server does not use TLS at this port, write redis:// in the URL."
    if isinstance(error, AuthenticationError):
        return "Check the user and the password in the URL: redis://USER:PASSWORD@HOST."
    if "closed by server" in text or "reset by peer" in text:
        if encrypted and "ssl_certfile" not in options:
            return (
                "If the server wants a client certificate, name its files in the URL: "
                "?ssl_certfile=FILE&ssl_keyfile=FILE."
            )
        return "If the server uses TLS at this port, write rediss:// in the URL."
    return "Check the URL in --redis."


def _refuse_unfit(info: dict[str, Any], policy: str) -> None:
    version = tuple(int(part) for part in str(info["redis_version"]).split(".")[:2])
    if version < FLOOR:
        raise StoreUnavailable(
            "REDIS_UNSAFE",
            f"Redis {info['redis_version']} is too old; use Redis 7.0 or Valkey 7.2, or newer.",
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
            f"This Redis is a replica of {master} and accepts no writes. Give the URL of its "
            f"master in --redis.",
            master=master,
        )


def _refuse_part_of_cluster(client: Redis) -> None:
    masters = {tuple(master[:2]) for _, _, master, *_ in client.execute_command("CLUSTER SLOTS")}
    if len(masters) > 1:
        raise StoreUnavailable(
            "REDIS_UNSAFE",
            f"This Redis is one of {len(masters)} masters of a Cluster and has only a part of the "
            f"data. Write redis+cluster://HOST:PORT (rediss+cluster:// with TLS) in --redis.",
            masters=len(masters),
        )


def _check_layout(client: Redis) -> None:
    key = keys.prefix(0) + "layout"
    # (A full server refuses to be written to, also where nothing is to be set.)
    if not client.exists(key):
        client.set(key, keys.LAYOUT_VERSION, nx=True)
    found = int(client.get(key) or 0)
    if found == EARLIER_LAYOUT:
        upgrade(client)
    elif found > keys.LAYOUT_VERSION:
        raise _unknown(
            found,
            "A newer version has raised it. Use that version, or another Redis.",
        )
    elif found < keys.OLDEST_LAYOUT:
        raise _unknown(found, "Use the version of svddtune that wrote them, or another Redis.")


def _unknown(found: int, way_out: str) -> StoreUnavailable:
    return StoreUnavailable(
        "REDIS_UNSAFE",
        f"The data in this Redis have layout {found}, but this version reads layouts "
        f"{keys.OLDEST_LAYOUT} to {keys.LAYOUT_VERSION}. {way_out}",
        layout=found,
    )


def _appendfsync(client: Redis) -> str | None:
    """When the server syncs; None where it does not tell."""
    try:
        found: str | None = client.config_get("appendfsync").get("appendfsync")
    except ResponseError:
        return None
    return found
