"""The layout is raised once every living process can write it, and ended sessions follow."""

import json
from collections.abc import Iterator

import pytest
import redis
from tests.state.scene import Scene, play

from svddtune.client.cli.app import run
from svddtune.state import keys, layout
from svddtune.state.connect import Redis
from svddtune.state.errors import StoreUnavailable
from svddtune.state.examine import examine
from svddtune.state.migration import LayoutKeeper
from svddtune.state.recount import compare
from svddtune.state.session import SessionId

pytestmark = pytest.mark.integration

P = keys.prefix(0)
EARLIER = str(keys.OLDEST_LAYOUT)
NEWEST = str(keys.LAYOUT_VERSION).encode()


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


async def earlier(scene: Scene) -> SessionId:
    """A session that ended while the earlier layout was in force."""
    await scene.client.set(P + "layout", EARLIER)
    session_id = await scene.session()
    await scene.vote(session_id, "ann")
    await scene.sessions.finish(session_id)
    scene.worker.work_off()
    return session_id


def keeper(scene: Scene) -> LayoutKeeper:
    return LayoutKeeper(scene.client, {"host": "here", "pid": 1, "version": "new"})


def test_sessions_that_end_in_the_earlier_layout_are_written_in_it(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await earlier(scene)
        assert await scene.client.exists(keys.session(session_id, "explanations"))
        assert not await scene.client.hexists(keys.session(session_id), "ended_ms")
        assert not await scene.client.exists(P + "ended")
        assert not await scene.client.exists(P + "unused")

    play(redis_url, act)


def test_service_raises_the_layout_and_migrates_what_had_ended(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await earlier(scene)
        assert layout.not_migrated(scene.worker.client, 1) == 1
        log = await scene.sessions.label_events(session_id)
        one, other = keeper(scene), keeper(scene)
        await one.keep()
        assert await scene.client.get(P + "layout") == NEWEST
        assert await scene.client.get(P + "layout:migrated") == NEWEST
        assert await scene.client.hexists(keys.session(session_id), "ended_ms")
        assert not await scene.client.exists(keys.session(session_id, "explanations"))
        assert await scene.client.zscore(P + "ended", session_id) is not None
        assert layout.not_migrated(scene.worker.client, 1) == 0
        assert await scene.sessions.label_events(session_id) == log
        # Another service finds nothing to do.
        before = await scene.client.hgetall(keys.session(session_id))
        await other.keep()
        assert await scene.client.hgetall(keys.session(session_id)) == before

    play(redis_url, act)


def test_migration_that_was_broken_off_is_taken_up(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        first, second = await earlier(scene), await earlier(scene)
        # A service that was killed between two sessions.
        await scene.client.set(P + "layout", NEWEST)
        await scene.sessions._call("compact_session", P, session=first)
        ended = await scene.client.hget(keys.session(first), "ended_ms")
        assert layout.not_migrated(scene.worker.client, 1) == 1
        await keeper(scene).keep()
        assert layout.not_migrated(scene.worker.client, 1) == 0
        assert await scene.client.hget(keys.session(first), "ended_ms") == ended
        assert await scene.client.hexists(keys.session(second), "ended_ms")

    play(redis_url, act)


def test_what_earlier_processes_made_and_deleted_uncounted_is_counted(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await earlier(scene)
        client = scene.worker.client
        # As they leave it: no marks, and counts of what they have deleted.
        client.hdel(keys.session(session_id), "counted")
        client.hdel(keys.dataset(0, scene.dataset_id), "counted")
        client.hset(keys.usage(0, "default"), mapping={"sessions": 3})
        client.hset(keys.usage(0, "gone"), mapping={"sessions": 2})
        assert not all(one.right for one in compare(client, 1))
        for _ in range(2):
            await keeper(scene).keep()
            assert [one.project for one in compare(client, 1)] == ["default"]
            assert compare(client, 1)[0].right
            assert client.hget(keys.usage(0, "default"), "sessions") == b"1"
            # Another service that did not hear of it counts the same.
            client.delete(P + "layout:migrated")

    play(redis_url, act)


def test_other_partitions_follow(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await LayoutKeeper(scene.client, {}, partitions=3).keep()
        for partition in range(3):
            assert await scene.client.get(keys.prefix(partition) + "layout") == NEWEST

    play(redis_url, act)


@pytest.mark.parametrize("role", ["service", "worker"])
def test_living_process_that_cannot_write_the_layout_holds_it_back(
    redis_url: str, role: str
) -> None:
    async def act(scene: Scene) -> None:
        client = scene.worker.client
        await scene.client.set(P + "layout", EARLIER)
        # (Workers of the earlier layout do not name any.)
        said = {"host": "there", "pid": 7, "version": "old"}
        if role == "worker":
            scene.worker.next_claim()
            scene.worker.queue.take()
            scene.worker.queue.sign_in(dict(said))
        else:
            client.sadd(P + "services", "0ld")
            client.set(P + "service:0ld", json.dumps(said | {"layout": 3}), ex=15)
        await keeper(scene).keep()
        found = layout.layout_state(client)
        assert found.in_force == keys.OLDEST_LAYOUT
        assert "process 7 on there" in found.obstacle
        # It has gone; it may come back within the minute.
        client.delete(*client.keys(f"*{role}:*"))
        await keeper(scene).keep()
        found = layout.raise_layout(client)
        assert (found.in_force, found.older) == (keys.OLDEST_LAYOUT, ())
        assert 0 < found.wait_s <= layout.QUIET_S
        client.delete(P + "layout:older")
        await keeper(scene).keep()
        assert client.get(P + "layout") == NEWEST

    play(redis_url, act)


def test_service_of_layout_3_holds_it_back_by_its_probe(client: Redis) -> None:
    client.set(P + "layout", EARLIER)
    client.set(P + "probe", 1, ex=60)
    found = layout.raise_layout(client)
    assert found.in_force == keys.OLDEST_LAYOUT
    assert found.wait_s > 50
    client.delete(P + "probe")
    assert layout.raise_layout(client).in_force == keys.LAYOUT_VERSION


def test_operator_holds_and_raises_the_layout(
    client: Redis, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    client.set(P + "layout", EARLIER)
    assert run(["layout", "--hold", "--redis", redis_url]) == 0
    assert layout.raise_layout(client).in_force == keys.OLDEST_LAYOUT
    client.set(P + "probe", 1, ex=60)
    assert run(["layout", "--raise", "--redis", redis_url]) != 0
    assert "LAYOUT_IN_USE" in capsys.readouterr().err
    client.delete(P + "probe")
    assert run(["layout", "--raise", "--redis", redis_url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["in_force"] == keys.LAYOUT_VERSION
    assert not client.exists(P + "layout:hold")


@pytest.mark.parametrize("found", range(keys.OLDEST_LAYOUT, keys.LAYOUT_VERSION + 1))
def test_process_starts_with_every_layout_that_it_reads(client: Redis, found: int) -> None:
    client.set(P + "layout", found)
    examine(client)
    assert client.get(P + "layout") == str(found).encode()


@pytest.mark.parametrize("found", [0, 1, keys.LAYOUT_VERSION + 1])
def test_other_layouts_are_refused_with_the_way_out(client: Redis, found: int) -> None:
    client.set(P + "layout", found)
    with pytest.raises(StoreUnavailable, match="another Redis") as refusal:
        examine(client)
    assert refusal.value.reason == "REDIS_UNSAFE"
    assert refusal.value.metadata["layout"] == str(found)
    client.flushall()
