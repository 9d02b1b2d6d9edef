"""Concurrent commands share round trips, and each keeps its own reply, error and attempts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError, ResponseError
from tests.proxy import proxy_to

from svddtune.stack import EmbeddedServer
from svddtune.state.connect import AsyncRedis, connect, connect_async

pytestmark = pytest.mark.integration

LONG = b"x" * (1 << 17)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server for keys of any name."""
    with EmbeddedServer(tmp_path_factory.mktemp("server"), fsync="no") as server:
        yield server


@pytest.fixture
def url(server: EmbeddedServer) -> str:
    """Its URL; it is empty."""
    with connect(server.url) as client:
        client.flushall()
    return server.url


def with_client(url: str, act: Callable[[AsyncRedis], Awaitable[None]]) -> None:
    async def run() -> None:
        client = connect_async(url)
        try:
            await act(client)
        finally:
            await client.aclose()

    asyncio.run(run())


def test_concurrent_commands_share_few_reads_of_the_server(url: str) -> None:
    async def act(client: AsyncRedis) -> None:
        await client.set("number", 1)
        before = (await client.info("stats"))["total_reads_processed"]
        found = await asyncio.gather(*(client.incr("number") for _ in range(200)))
        after = (await client.info("stats"))["total_reads_processed"]
        assert sorted(found) == list(range(2, 202))
        assert after - before <= 20

    with_client(url, act)


def test_error_of_one_command_reaches_its_caller_alone(url: str) -> None:
    async def act(client: AsyncRedis) -> None:
        await client.set("text", "no number")
        found = await asyncio.gather(
            client.get("text"), client.incr("text"), client.incr("n"), return_exceptions=True
        )
        assert found[0] == b"no number"
        assert isinstance(found[1], ResponseError)
        assert found[2] == 1

    with_client(url, act)


def test_commands_after_a_cancelled_one_get_their_own_replies(url: str) -> None:
    async def act(client: AsyncRedis) -> None:
        await asyncio.gather(*(client.set(f"key{i}", i) for i in range(5)))
        for steps in range(5):
            calls = [asyncio.create_task(client.get(f"key{i}")) for i in range(5)]
            # Cancelled before it is sent, or while its reply is awaited.
            for _ in range(steps):
                await asyncio.sleep(0)
            calls[2].cancel()
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert isinstance(found.pop(2), asyncio.CancelledError)
            assert found == [b"0", b"1", b"3", b"4"]
            assert await client.get("key2") == b"2"

    with_client(url, act)


def test_script_that_the_server_does_not_know_is_loaded(url: str) -> None:
    async def act(client: AsyncRedis) -> None:
        double = client.register_script("return 2 * ARGV[1]")
        await client.script_flush()
        found = await asyncio.gather(*(double(args=[i]) for i in range(10)))
        assert found == [2 * i for i in range(10)]

    with_client(url, act)


def test_reads_together_come_in_order_and_are_parsed(url: str) -> None:
    async def act(client: AsyncRedis) -> None:
        await client.hset("hash", mapping={"a": 1, "b": LONG})
        await client.zadd("sorted", {"x": 1})
        found = await client.together([("HGETALL", "hash"), ("ZCARD", "sorted"), ("GET", "none")])
        assert found == [{b"a": b"1", b"b": LONG}, 1, None]
        assert await client.together([]) == []

    with_client(url, act)


def test_concurrent_commands_follow_a_failover(url: str, tmp_path: Path) -> None:
    async def act(client: AsyncRedis) -> None:
        await client.set("written", "there")
        master.replicaof("127.0.0.1", 1)
        proxy.target = other.url
        await asyncio.gather(*(client.set(f"key{i}", i) for i in range(20)))
        assert await client.together([("GET", "key3"), ("GET", "written")]) == [b"3", None]

    with (
        EmbeddedServer(tmp_path, fsync="no") as other,
        connect(url) as master,
        proxy_to(url) as proxy,
    ):
        try:
            with_client(proxy.url, act)
        finally:
            master.replicaof("NO", "ONE")


def test_every_command_fails_where_the_server_is_gone(tmp_path: Path) -> None:
    async def act(client: AsyncRedis) -> None:
        await client.set("written", "here")
        gone.stop()
        found = await asyncio.gather(
            *(client.get("written") for _ in range(100)), return_exceptions=True
        )
        assert all(isinstance(one, ConnectionError) for one in found)

    with EmbeddedServer(tmp_path, fsync="no") as gone:
        with_client(gone.url, act)
