"""Connections follow the master, and calls end in time."""

import asyncio
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError, ReadOnlyError
from tests.proxy import proxy_to

from svddtune.stack import EmbeddedServer
from svddtune.state.connect import connect, connect_async
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import StoreUnavailable
from svddtune.state.session import DatasetId

pytestmark = pytest.mark.integration

DATASET = DatasetId("d" * 32)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """A second server."""
    with EmbeddedServer(tmp_path, fsync="no") as server:
        yield server


def test_refused_write_drops_all_connections_to_demoted_master(
    redis_url: str, other: EmbeddedServer
) -> None:
    async def act() -> None:
        client = connect_async(proxy.url)
        # The calls opened one connection each. From now on they are idle.
        await asyncio.gather(*(client.blpop("nothing", timeout=0.1) for _ in range(5)))
        master.replicaof("127.0.0.1", 1)
        proxy.target = other.url
        await client.set("written", "here")
        # None of them reads from the old master.
        found = await asyncio.gather(*(client.get("written") for _ in range(5)))
        await client.aclose()
        assert found == [b"here"] * 5

    with connect(redis_url) as master, proxy_to(redis_url) as proxy:
        try:
            asyncio.run(act())
        finally:
            master.replicaof("NO", "ONE")


def test_synchronous_client_follows_failover(redis_url: str, other: EmbeddedServer) -> None:
    with connect(redis_url) as master, proxy_to(redis_url) as proxy, connect(proxy.url) as client:
        try:
            client.set("written", "there")
            master.replicaof("127.0.0.1", 1)
            proxy.target = other.url
            client.set("written", "here")
            with connect(other.url) as new:
                assert new.get("written") == b"here"
        finally:
            master.replicaof("NO", "ONE")
            master.flushall()


def test_server_that_stays_a_replica_raises_once_patience_ends(redis_url: str) -> None:
    with connect(redis_url) as master, connect(redis_url, patience_s=0.1) as client:
        master.replicaof("127.0.0.1", 1)
        try:
            with pytest.raises(ReadOnlyError):
                client.set("written", "there")
        finally:
            master.replicaof("NO", "ONE")


def test_server_that_returns_within_patience_causes_no_error(tmp_path: Path) -> None:
    with (
        EmbeddedServer(tmp_path, fsync="no") as first,
        connect(first.url, patience_s=20) as client,
        connect(first.url, patience_s=0) as impatient,
        ThreadPoolExecutor() as threads,
    ):
        client.ping()
        first.stop()
        with pytest.raises(ConnectionError):
            impatient.ping()
        reply = threads.submit(client.ping)
        with EmbeddedServer(tmp_path, fsync="no"):
            assert reply.result()


def test_call_to_frozen_server_fails_within_its_timeout(other: EmbeddedServer) -> None:
    async def act() -> None:
        client = connect_async(other.url)
        datasets = DatasetStore(client)
        assert not await datasets.exists(DATASET)
        os.kill(other.process.pid, signal.SIGSTOP)
        try:
            async with asyncio.timeout(15):
                with pytest.raises(StoreUnavailable):
                    await datasets.exists(DATASET)
        finally:
            os.kill(other.process.pid, signal.SIGCONT)
        # The connection of the abandoned call is not used again.
        assert not await datasets.exists(DATASET)
        await client.aclose()

    asyncio.run(act())
