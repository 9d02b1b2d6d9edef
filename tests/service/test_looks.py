"""All who watch one session share the looks at it."""

import asyncio
import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import redis
from tests.service.harness import Harness
from tests.state.scene import Scene, play

from svddtune.service.looks import Look, Looks
from svddtune.state import keys
from svddtune.state.notices import Notices
from svddtune.state.session import SessionId, SessionState
from svddtune.v1 import tuning_pb2

pytestmark = pytest.mark.integration

WATCHERS = 40


def calls(scene: Scene) -> int:
    """Reads of a session that the server has served."""
    found = scene.worker.client.info("commandstats")
    return int(found.get("cmdstat_hgetall", {"calls": 0})["calls"])


async def watch(looks: Looks, session_id: SessionId, count: int) -> list[Look]:
    """Look so many times, each time when the last look is over."""
    seen: list[Look] = []
    with looks.watching(session_id) as shared:
        while len(seen) < count:
            look = await shared.look()
            if look not in seen:
                seen.append(look)
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, look.until - now))
    return seen


def test_watchers_of_one_session_cause_one_look_in_each_interval(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        looks = Looks(scene.sessions, Notices(scene.client), every_s=0.1)
        before = calls(scene)
        found = await asyncio.gather(*(watch(looks, session_id, 4) for _ in range(WATCHERS)))
        made = {look.until for seen in found for look in seen}
        # Of one look per watcher and interval there would be 160. (A service that runs at the same
        # server reads now and then.)
        assert 4 <= len(made) <= calls(scene) - before <= 20
        ordered = sorted(made)
        assert all(b - a > 0.099 for a, b in itertools.pairwise(ordered))

    play(redis_url, act)


def test_look_that_is_under_way_is_not_taken_for_one_after_a_change(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        notices = Notices(scene.client)
        looks = Looks(scene.sessions, notices, every_s=60)
        with looks.watching(session_id) as shared:
            with looks.watching(session_id) as other:
                early = asyncio.ensure_future(other.look())
                await asyncio.sleep(0)
                await scene.sessions.pause(session_id)
                # As the notice of the change does, for everybody who listens.
                notices.tell_all()
                assert (await shared.look()).session.state is SessionState.PAUSED
                await early
            # Whoever goes on watching still hears of changes.
            await scene.sessions.resume(session_id)
            notices.tell_all()
            kept = await shared.look()
            assert kept.session.state is not SessionState.PAUSED
            assert await shared.look() is kept
            assert await shared.look(anew=True) is not kept

    play(redis_url, act)


def test_failed_look_is_not_kept(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        looks = Looks(scene.sessions, Notices(scene.client), every_s=60)
        with looks.watching(session_id) as shared:
            key = keys.session(session_id)
            record = scene.worker.client.dump(key)
            scene.worker.client.delete(key)
            results = await asyncio.gather(
                *(shared.look() for _ in range(3)), return_exceptions=True
            )
            assert [type(one).__name__ for one in results] == ["NotFound"] * 3
            scene.worker.client.restore(key, 0, record)
            assert (await shared.look()).session.id == session_id

    play(redis_url, act)


@contextmanager
def looks_of(client: redis.Redis) -> Iterator[list[bool]]:
    """Whether somebody is there who works, each time that a service asks for it."""
    seen: list[bool] = []
    with client.monitor() as monitor:  # type: ignore[no-untyped-call]
        yield seen
        client.echo("over")
        for one in monitor.listen():
            if one["command"] == "ECHO over":
                break
            if one["command"].startswith("EXISTS") and "q:attended" in one["command"]:
                seen.append(one["client_type"] != "lua")


def test_service_looks_once_at_a_change_for_all_who_watch(harness: Harness) -> None:
    name = harness.session().name
    watches = [harness.watch(name) for _ in range(WATCHERS)]
    with ThreadPoolExecutor(WATCHERS) as threads, redis.Redis.from_url(harness.redis_url) as client:
        list(threads.map(next, watches))
        with looks_of(client) as seen:
            harness.tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name))
            told = list(threads.map(next, watches))
        assert {one.session.state for one in told} == {tuning_pb2.SESSION_STATE_PAUSED}
        # (The looks of intervals and those of readiness may come between.)
        assert 1 <= sum(seen) < WATCHERS / 2
