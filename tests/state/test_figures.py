"""What the metrics tell of queues, leases and workers."""

import pytest
from tests.state.scene import N, Scene, ScriptedWorker, lease_request, play

from svddtune.config import SessionConfig
from svddtune.state.connect import connect
from svddtune.state.figures import Figures, read_figures
from svddtune.state.inspection import JobState, jobs
from svddtune.state.observed import Observer, observe, observer

pytestmark = pytest.mark.integration


def figures(url: str) -> Figures:
    with connect(url, patience_s=0) as client:
        return read_figures(client, 1)


def waiting_jobs(url: str) -> int:
    with connect(url, patience_s=0) as client:
        return sum(one.state is JobState.QUEUED for one in jobs(client, 1))


class Counting:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.scripts: list[str] = []
        self.expired = 0

    def script_ran(self, script: str, seconds: float) -> None:
        assert seconds > 0
        self.scripts.append(script)

    def attempt_failed(self) -> None:
        raise AssertionError("Redis is there")

    def leases_expired(self, count: int) -> None:
        self.expired += count


def test_empty_store_has_zeros(redis_url: str) -> None:
    found = figures(redis_url)
    assert [(one.queued, one.running, one.oldest_s) for one in found.lanes.values()] == [
        (0, 0, 0.0),
        (0, 0, 0.0),
    ]
    assert (found.paused, found.dead, found.workers, found.urgent_workers) == (0, 0, 0, 0)
    assert found.used_bytes > 0


def test_jobs_are_counted_while_they_wait_and_run(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        dataset_id = await scene.upload()
        await scene.sessions.create(
            dataset_id, SessionConfig(budget=6, strategy="random"), observation_count=N
        )

    play(redis_url, act)
    waiting = figures(redis_url)
    before = waiting.lanes["bulk"].queued
    assert (before, waiting.lanes["bulk"].running) == (waiting_jobs(redis_url), 0)
    assert before > 0
    assert 0 <= waiting.lanes["bulk"].oldest_s < 60
    worker = ScriptedWorker(redis_url)
    claim = worker.next_claim()
    assert claim is not None
    running = figures(redis_url)
    assert (running.lanes["bulk"].queued, running.lanes["bulk"].running) == (before - 1, 1)
    worker.do(claim)
    worker.work_off()
    done = figures(redis_url)
    assert (done.asking, done.lanes["bulk"].queued, done.lanes["bulk"].oldest_s) == (1, 0, 0.0)
    worker.close()


def test_leases_that_run_out_are_counted_once(redis_url: str) -> None:
    counting, before = Counting(), observer()

    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        outcome = await scene.sessions.lease(session_id, lease_request("ann"))
        (lease,) = outcome.leases
        await scene.run_out(session_id, lease.lease_id)
        await scene.sessions.expire(session_id)
        await scene.sessions.expire(session_id)

    observe(counting)
    try:
        play(redis_url, act)
    finally:
        observe(before)
    assert counting.expired == 1
    assert counting.scripts.count("expire") == 2


def test_observer_is_nobody_by_default() -> None:
    nobody: Observer = observer()
    nobody.script_ran("answer", 0.1)
    nobody.attempt_failed()
    nobody.leases_expired(1)
