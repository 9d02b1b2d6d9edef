"""Sessions that have ended and unused datasets go once their time is over, as by a deletion."""

import asyncio

import pytest
from tests.state.lost_replies import completed, of_before_retention
from tests.state.scene import Scene, play
from tests.state.test_layout import keeper

from svddtune.state import keys, projects
from svddtune.state.errors import NotFound
from svddtune.state.retention import (
    AS_SERVICE_IS_SET,
    MOST_AT_ONCE,
    Removed,
    RemovedDataset,
    RemovedSession,
    Retention,
    remove_expired,
)
from svddtune.state.store import SessionStore

pytestmark = pytest.mark.integration

MINUTE = 60_000
BOTH = Retention(session_ms=MINUTE, dataset_ms=MINUTE)


async def age(scene: Scene, index: str, by_ms: int = MINUTE) -> None:
    """Let all that an index has have been there for so much longer."""
    for member in await scene.client.zrange(keys.prefix(0) + index, 0, -1):
        await scene.client.zincrby(keys.prefix(0) + index, -by_ms, member)


async def stored(scene: Scene) -> set[str]:
    """Keys of sessions, datasets, and what their projects have."""
    found = [key.decode() async for key in scene.client.scan_iter(count=1000)]
    groups = {"session", "dataset", "index", "retention", "labeling"}
    return {key for key in found if keys.group_of(key) in groups}


def test_ended_session_and_then_its_dataset_go_after_their_time_and_leave_nothing(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await completed(scene)
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        await age(scene, "ended")
        gone = await remove_expired(scene.client, 0, BOTH)
        assert gone == Removed(sessions=(RemovedSession(session_id, "default"),))
        with pytest.raises(NotFound):
            await scene.sessions.get(session_id)
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        await age(scene, "unused")
        gone = await remove_expired(scene.client, 0, BOTH)
        assert gone == Removed(datasets=(RemovedDataset(scene.dataset_id, "default", ""),))
        assert await stored(scene) == set()

    play(redis_url, act)


def test_without_a_setting_nothing_goes(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await completed(scene)
        await age(scene, "ended", 10**12)
        assert await remove_expired(scene.client, 0, Retention()) == Removed()
        only_datasets = Retention(dataset_ms=1)
        assert await remove_expired(scene.client, 0, only_datasets) == Removed()
        await scene.sessions.get(session_id)

    play(redis_url, act)


def test_session_that_goes_on_and_its_dataset_stay(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await completed(scene)
        await scene.sessions.resume(session_id)
        prefix = keys.prefix(0)
        # As a process of an earlier version leaves it, which does not know of the indexes.
        await scene.client.zadd(prefix + "ended", {session_id: 1})
        await scene.client.zadd(prefix + "unused", {scene.dataset_id: 1})
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        assert await scene.client.exists(prefix + "ended", prefix + "unused") == 0
        await scene.sessions.get(session_id)
        await scene.datasets.get(scene.dataset_id)

    play(redis_url, act)


@pytest.mark.parametrize("setting", [Retention(), Retention(session_ms=10 * MINUTE)])
def test_session_goes_at_its_own_time_whatever_the_setting(
    redis_url: str, setting: Retention
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(retention_ms=MINUTE)
        await scene.sessions.cancel(session_id)
        session = await scene.sessions.get(session_id)
        assert session.expires_ms == session.updated_ms + MINUTE
        assert await remove_expired(scene.client, 0, setting) == Removed()
        await age(scene, "ending")
        gone = await remove_expired(scene.client, 0, setting)
        assert gone.sessions == (RemovedSession(session_id, "default", own=True),)
        await age(scene, "unused")
        await remove_expired(scene.client, 0, BOTH)
        assert await stored(scene) == set()

    play(redis_url, act)


def test_session_that_is_kept_for_good_stays_and_another_its_longer_time(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        for_good = await scene.session(retention_ms=0)
        longer = await scene.session(retention_ms=3 * MINUTE)
        for one in (for_good, longer):
            await scene.sessions.cancel(one)
        await age(scene, "ended", 10**12)
        await age(scene, "ending", 2 * MINUTE)
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        assert (await scene.sessions.get(for_good)).expires_ms is None

    play(redis_url, act)


def test_time_of_an_ended_session_can_be_changed_and_given_back_to_the_setting(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await completed(scene)
        store = SessionStore(scene.client, kept_ms=MINUTE)
        ended = (await store.get(session_id)).expires_ms
        assert ended is not None

        async def changed(retention_ms: int) -> int | None:
            await store.update(session_id, retention_ms=retention_ms)
            return (await store.get(session_id)).expires_ms

        assert await changed(5 * MINUTE) == ended + 4 * MINUTE
        await age(scene, "ended", 10**12)
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        assert await changed(0) is None
        await age(scene, "ending", 10**12)
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        assert await changed(AS_SERVICE_IS_SET) == ended
        assert (await store.get(session_id)).retention_ms is None
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        await age(scene, "ended")
        gone = await remove_expired(scene.client, 0, BOTH)
        assert gone.sessions == (RemovedSession(session_id, "default"),)

    play(redis_url, act)


def test_session_with_a_time_of_its_own_that_goes_on_has_no_end(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await completed(scene)
        await scene.sessions.update(session_id, retention_ms=MINUTE)
        await scene.sessions.resume(session_id)
        session = await scene.sessions.get(session_id)
        assert (session.expires_ms, session.retention_ms) == (None, MINUTE)
        assert await scene.client.exists(keys.prefix(0) + "ending") == 0
        # As a process of an earlier version leaves it that let it go on.
        await scene.client.zadd(keys.prefix(0) + "ending", {session_id: 1})
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        assert await scene.client.exists(keys.prefix(0) + "ending") == 0
        await scene.sessions.get(session_id)

    play(redis_url, act)


def test_own_time_holds_where_a_process_of_an_earlier_version_ended_the_session(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(retention_ms=10 * MINUTE)
        await scene.sessions.cancel(session_id)
        await scene.client.delete(keys.prefix(0) + "ending")
        await scene.client.zadd(keys.prefix(0) + "ended", {session_id: 1})
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        await age(scene, "ending", 10 * MINUTE)
        gone = await remove_expired(scene.client, 0, BOTH)
        assert [one.session_id for one in gone.sessions] == [session_id]

    play(redis_url, act)


def test_what_expires_is_no_longer_counted_for_its_project(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        client, usage = scene.client, keys.prefix(0) + "usage:north"
        with projects.working_for("north"):
            by_setting = await scene.session()
            by_itself = await scene.session(retention_ms=MINUTE)
            for one in (by_setting, by_itself):
                await scene.sessions.cancel(one)
            await scene.upload(n=13)
        before = {kind: int(count) for kind, count in (await client.hgetall(usage)).items()}
        assert before == {b"sessions": 2, b"datasets": 2, b"bytes": 8 * 2 * (12 + 13)}
        await age(scene, "ending")
        await remove_expired(client, 0, Retention())
        assert await client.hget(usage, "sessions") == b"1"
        await age(scene, "ended")
        await age(scene, "unused")
        await remove_expired(client, 0, BOTH)
        assert {kind: int(count) for kind, count in (await client.hgetall(usage)).items()} == {
            b"datasets": 1,
            b"bytes": 8 * 2 * 12,
        }
        await age(scene, "unused")
        await remove_expired(client, 0, BOTH)
        assert not await client.exists(usage)

    play(redis_url, act)


def test_end_that_lies_ahead_as_after_a_clock_that_went_back_removes_nothing(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await completed(scene)
        await age(scene, "ended", -60 * MINUTE)
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        await scene.sessions.get(session_id)

    play(redis_url, act)


def test_several_services_remove_each_session_once(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        first = await scene.session()
        sessions = {first} | {await scene.session() for _ in range(5)}
        for session_id in sessions:
            await scene.sessions.cancel(session_id)
        await age(scene, "ended")
        found = await asyncio.gather(*(remove_expired(scene.client, 0, BOTH) for _ in range(4)))
        removed = [one.session_id for each in found for one in each.sessions]
        assert len(removed) == len(sessions)
        assert set(removed) == sessions

    play(redis_url, act)


def test_call_removes_a_limited_number_and_says_that_there_may_be_more(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        for _ in range(MOST_AT_ONCE + 1):
            await scene.sessions.cancel(await scene.session())
        await age(scene, "ended")
        first = await remove_expired(scene.client, 0, BOTH)
        assert (len(first.sessions), first.full) == (MOST_AT_ONCE, True)
        second = await remove_expired(scene.client, 0, BOTH)
        assert (len(second.sessions), second.full) == (1, False)

    play(redis_url, act)


def test_time_of_what_an_earlier_version_left_begins(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await completed(scene)
        of_before_retention(scene, session_id)
        await age(scene, "ended")
        assert await remove_expired(scene.client, 0, BOTH) == Removed()
        await scene.client.delete(keys.prefix(0) + "layout:migrated")
        await keeper(scene).keep()
        await age(scene, "ended")
        gone = await remove_expired(scene.client, 0, BOTH)
        assert [one.session_id for one in gone.sessions] == [session_id]

    play(redis_url, act)
