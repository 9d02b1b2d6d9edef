"""The server's clock jumps: what it measures goes on, and no job waits for as long as it jumped."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.chaos.deployment import Store, clock_library
from tests.state.scene import Scene, play
from tests.waiting import wait_until

from svddtune.config import SessionConfig
from svddtune.state import keys

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(clock_library() is None, reason="needs libfaketime"),
]

CONFIG = SessionConfig(budget=6, strategy="lama")
HOUR_S = 3600.0
LATER = keys.prefix(0) + "q:later"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(Store(tmp_path)) as store:
        yield store


def jump(store: Store, client: Any, seconds: float) -> None:
    """Let the clock jump; return once it has."""
    before = client.time()[0]
    store.jump(seconds)
    wait_until(lambda: abs(client.time()[0] - before - seconds) < 60)


def test_job_of_a_dead_worker_and_paused_job_do_not_wait_for_a_clock_that_went_back(
    store: Store,
) -> None:
    async def act(scene: Scene) -> None:
        queue, client = scene.worker.queue, scene.worker.client
        await scene.upload()
        await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        dead = scene.worker.next_claim()
        assert dead is not None
        paused = scene.worker.next_claim()
        assert paused is not None
        queue.fail(paused, "JOB_FAILED", "once")
        queue.sign_in({"pid": 1})
        jump(store, client, -HOUR_S)
        queue.recover()

        def silent_ms() -> int:
            (claim,) = client.xpending_range(dead.stream, keys.GROUP, "-", "+", 10)
            return int(claim["time_since_delivered"])

        # It counts again, so that the claim lapses in its time.
        wait_until(lambda: silent_ms() > 0, timeout_s=5)
        ((_, due_ms),) = client.zrange(LATER, 0, -1, withscores=True)
        assert due_ms / 1000 - client.time()[0] <= 31

    play(store.server.url, act)


def test_lease_does_not_last_longer_because_the_clock_went_back(store: Store) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (held, _) = await scene.lease(session_id, most=2)
        jump(store, scene.worker.client, -HOUR_S)
        left_s = await scene.sessions.expire(session_id)
        # A default lease lasts ten minutes, and at most four times as long.
        assert left_s is not None
        assert left_s <= 2400
        await scene.answer(session_id, held)
        labeled = [
            fields
            for _, fields in await scene.client.xrange(keys.session(session_id, "events"))
            if fields[b"kind"] == b"LABELED"
        ]
        assert [int(fields[b"ms"]) >= 0 for fields in labeled] == [True]

    play(store.server.url, act)


def test_jobs_are_done_once_after_the_clock_went_forward(store: Store) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        claim = scene.worker.next_claim()
        assert claim is not None
        jump(store, scene.worker.client, HOUR_S)
        assert scene.worker.queue.recover().lost == 1
        assert scene.worker.work_off() == [claim.kind, "SUGGEST"]

    play(store.server.url, act)
