"""Sessions share the workers by the time served, divided by the weight of their priority.

The tests say how long a job takes: they set the time since its worker's last sign.
"""

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.profiles import sized
from tests.state.scene import Scene, ScriptedWorker, play

from svddtune.config import SessionConfig
from svddtune.state import keys
from svddtune.state.queue import Claim
from svddtune.state.session import SessionId

pytestmark = pytest.mark.integration

HOUR_MS = 3_600_000
# What the scripts' own time may add to a duration of hours, in weighted ms.
SLACK_MS = HOUR_MS / 10
ROWS = 60

PRIORITIES = st.lists(st.sampled_from([-100, -25, 0, 7, 50, 100]), min_size=3, max_size=5)
HOURS = st.lists(st.integers(1, 9), min_size=12, max_size=12)
PROPERTY = settings(
    max_examples=sized(20), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def weight(priority: int) -> float:
    """Twice as much with every 25 steps."""
    return float(2 ** (priority / 25))


@dataclass
class Scheduler:
    """Who may be next, by definition."""

    weights: dict[str, float]
    served: dict[str, float] = field(default_factory=dict)
    # The weighted time of the owner that was next last: newcomers start there.
    clock: float = 0.0

    def comes(self, owner: str) -> None:
        """An owner has a job that waits."""
        self.served[owner] = max(self.served.get(owner, 0.0), self.clock)

    def next_of(self, waiting: set[str]) -> set[str]:
        """One of them is next: those with the least time, of the owners with a job that waits."""
        self.clock = min(self.served[owner] for owner in waiting)
        return {owner for owner in waiting if self.served[owner] <= self.clock + SLACK_MS}

    def ends(self, owner: str, ms: float) -> None:
        """A job of the owner took so long."""
        self.served[owner] += ms / self.weights[owner]


def let_take(worker: ScriptedWorker, claim: Claim, ms: int) -> None:
    """Let so much time have passed since the worker's last sign."""
    worker.client.xclaim(
        claim.stream, keys.GROUP, claim.consumer, 0, [claim.entry], idle=ms, justid=True
    )


async def on_own_dataset(scene: Scene, name: str, priority: int) -> tuple[SessionId, str]:
    """Create a session with 22 bulk jobs of its dataset; the two ids."""
    await scene.upload(ids=[f"{name}-{row}" for row in range(12)])
    config = SessionConfig(budget=6, strategy="knowledge_gradient", priority=priority)
    session_id = await scene.sessions.create(scene.dataset_id, config, observation_count=12)
    return session_id, str(scene.dataset_id)


@PROPERTY
@given(priorities=PRIORITIES, hours=HOURS)
def test_bulk_jobs_begin_as_a_scheduler_by_definition_begins_them(
    redis_url: str, priorities: list[int], hours: list[int]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.client.flushall()
        scene.worker.queue.prepare()
        model = Scheduler({})

        async def come(priority: int) -> None:
            _, owner = await on_own_dataset(scene, str(len(model.weights)), priority)
            model.weights[owner] = weight(priority)
            model.comes(owner)

        for priority in priorities[:-1]:
            await come(priority)
        for step, duration in enumerate(hours):
            if step == len(hours) // 2:
                await come(priorities[-1])
            claim = scene.worker.next_claim()
            assert claim is not None
            assert claim.dataset_id in model.next_of(set(model.weights))
            let_take(scene.worker, claim, duration * HOUR_MS)
            if duration % 2:
                # What a renewal has charged is not charged again.
                scene.worker.queue.renew(claim)
            scene.worker.do(claim)
            model.ends(claim.dataset_id, duration * HOUR_MS)

    play(redis_url, act)


async def asking_sessions(scene: Scene, priorities: list[int]) -> dict[str, int]:
    """Sessions on one dataset that ask, with their priorities."""
    await scene.upload(n=ROWS)
    sessions = {}
    for priority in priorities:
        config = SessionConfig(budget=ROWS, strategy="lama", priority=priority)
        session_id = await scene.sessions.create(scene.dataset_id, config, observation_count=ROWS)
        sessions[str(session_id)] = priority
    scene.worker.work_off()
    return sessions


async def answer_next(scene: Scene, session_id: str) -> None:
    (lease,) = await scene.lease(SessionId(session_id))
    await scene.answer(SessionId(session_id), lease)


@PROPERTY
@given(priorities=PRIORITIES, hours=HOURS)
def test_rankings_begin_as_a_scheduler_by_definition_begins_them(
    redis_url: str, priorities: list[int], hours: list[int]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.client.flushall()
        scene.worker.queue.prepare()
        sessions = await asking_sessions(scene, priorities)
        model = Scheduler({owner: weight(priority) for owner, priority in sessions.items()})
        for owner in sessions:
            await answer_next(scene, owner)
            model.comes(owner)
        waiting = set(sessions)
        # One job is offered as soon as it comes, and one as soon as the worker has done another.
        expected = {next(iter(sessions))}
        for duration in hours:
            claim = scene.worker.next_claim()
            assert claim is not None
            assert claim.kind == "SUGGEST"
            owner = str(claim.session_id)
            assert owner in expected
            let_take(scene.worker, claim, duration * HOUR_MS)
            waiting.remove(owner)
            model.ends(owner, duration * HOUR_MS)
            expected = model.next_of(waiting)
            scene.worker.do(claim)
            await answer_next(scene, owner)
            model.comes(owner)
            waiting.add(owner)

    play(redis_url, act)


def test_each_25_steps_of_priority_double_a_sessions_share(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        sessions = await asking_sessions(scene, [0, 0, 25, 25])
        for session_id in sessions:
            await answer_next(scene, session_id)
        done: Counter[int] = Counter()
        for _ in range(36):
            claim = scene.worker.next_claim()
            assert claim is not None
            let_take(scene.worker, claim, HOUR_MS)
            scene.worker.do(claim)
            done[sessions[str(claim.session_id)]] += 1
            await answer_next(scene, str(claim.session_id))
        assert abs(done[25] - 2 * done[0]) <= 4

    play(redis_url, act)


def test_priority_that_changes_weighs_the_next_job(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id, owner = await on_own_dataset(scene, "a", 0)
        charged: list[float] = []
        for priority in (0, 100):
            await scene.sessions.update(session_id, priority=priority)
            claim = scene.worker.next_claim()
            assert claim is not None
            let_take(scene.worker, claim, 16 * HOUR_MS)
            scene.worker.do(claim)
            served = await scene.client.zscore(keys.prefix(0) + "q:bulk:turn", owner)
            charged.append(served - sum(charged))
        assert charged == [
            pytest.approx(16 * HOUR_MS, abs=SLACK_MS),
            pytest.approx(HOUR_MS, abs=SLACK_MS),
        ]

    play(redis_url, act)


def test_more_urgent_jobs_than_workers_are_all_done(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        sessions = await asking_sessions(scene, [0] * 6)
        for session_id in sessions:
            await answer_next(scene, session_id)
        crew = [ScriptedWorker(redis_url) for _ in range(3)]
        done = []
        while claims := [(one, claim) for one in crew if (claim := one.next_claim())]:
            for one, claim in claims:
                one.do(claim)
                done.append(str(claim.session_id))
        assert sorted(done) == sorted(sessions)
        for one in crew:
            one.close()

    play(redis_url, act)
