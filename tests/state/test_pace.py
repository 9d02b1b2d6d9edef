"""Lease lengths follow the labeler's pace. The tests let time pass by shifting stored times."""

import json
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.profiles import sized
from tests.state.scene import Scene, play

from svddtune.state import keys
from svddtune.state.session import Lease, SessionId

pytestmark = pytest.mark.integration

LEASE_S = 100.0
# Longest duration of a script on a busy machine, in s: the tolerance of times.
SLACK_S = 2.0


async def now_ms(scene: Scene) -> int:
    """The server's clock."""
    seconds, micros = await scene.client.time()
    return int(seconds) * 1000 + int(micros) // 1000


async def let_pass(scene: Scene, session_id: SessionId, seconds: float) -> None:
    """Shift all stored times into the past."""
    ms = round(seconds * 1000)
    queries, labelers, leases = (
        keys.session(session_id, part) for part in ("queries", "labelers", "leases")
    )
    for n, text in (await scene.client.hgetall(queries)).items():
        query = json.loads(text)
        for lease in (query["leases"] or {}).values():
            lease["since"] -= ms
            lease["expires"] -= ms
        await scene.client.hset(queries, n, json.dumps(query))
    for name, text in (await scene.client.hgetall(labelers)).items():
        labeler = json.loads(text)
        await scene.client.hset(
            labelers, name, json.dumps(labeler | {"last": labeler["last"] - ms})
        )
    for member in await scene.client.zrange(leases, 0, -1):
        await scene.client.zincrby(leases, -ms, member)


async def answer_after(
    scene: Scene, session_id: SessionId, seconds: float, labeler: str = "ann"
) -> float:
    """Answer a query after some time; return the time that was logged, in s."""
    scene.worker.work_off()
    (lease,) = await scene.lease(session_id, labeler)
    await let_pass(scene, session_id, seconds)
    await scene.answer(session_id, lease, labeler=labeler)
    return (await scene.sessions.label_events(session_id))[-1].answer_seconds


async def length(scene: Scene, session_id: SessionId, labeler: str = "ann") -> float:
    """Return the length of this labeler's next lease, in s."""
    scene.worker.work_off()
    before = await now_ms(scene)
    (lease,) = await scene.lease(session_id, labeler)
    await scene.sessions.release(session_id, holder=f"{labeler}/")
    return (lease.expires_ms - before) / 1000


def about(seconds: float) -> object:
    return pytest.approx(seconds, abs=SLACK_S)


@pytest.mark.parametrize(
    ("took", "lasts"),
    [
        # The mean plus four times a spread of half the mean: three times the first answer.
        (60, 180),
        (100, 300),
        # Never below half of the session's lease_seconds, nor above four times that.
        (1, 50),
        (10, 50),
        (180, 400),
    ],
)
def test_first_answer_sets_lease_length(redis_url: str, took: float, lasts: float) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S)
        assert await length(scene, session_id) == about(LEASE_S)
        assert await answer_after(scene, session_id, took) == about(took)
        assert await length(scene, session_id) == about(lasts)
        # Another labeler's pace is not affected.
        assert await length(scene, session_id, "bob") == about(LEASE_S)

    play(redis_url, act)


@settings(
    max_examples=sized(10),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(times=st.lists(st.floats(0, 600), min_size=1, max_size=6))
def test_lease_length_stays_within_bounds_at_any_pace(redis_url: str, times: list[float]) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S, budget=12)
        for seconds in times:
            await answer_after(scene, session_id, seconds)
            lasts = await length(scene, session_id)
            assert LEASE_S / 2 <= lasts <= 4 * LEASE_S + SLACK_S

    play(redis_url, act)


def test_lease_length_of_steady_labeler_converges_to_its_pace(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S, budget=12)
        lengths = []
        for _ in range(10):
            await answer_after(scene, session_id, 80)
            lengths.append(await length(scene, session_id))
        # With equal times the spread vanishes, and the length approaches the 80 s per answer.
        assert lengths[0] == about(240)
        assert lengths == sorted(lengths, reverse=True)
        assert 80 < lengths[-1] < 100
        # A single longer answer lengthens leases again.
        assert await answer_after(scene, session_id, 95) == about(95)
        assert await length(scene, session_id) > lengths[-1] + 10

    play(redis_url, act)


def test_time_spent_on_other_query_does_not_count_for_an_answer(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S)
        leases = await scene.lease(session_id, "ann", most=3)
        times = []
        for lease, seconds in zip(leases, (30, 40, 20), strict=True):
            await let_pass(scene, session_id, seconds)
            await scene.answer(session_id, lease)
            times.append((await scene.sessions.label_events(session_id))[-1].answer_seconds)
        assert times == [about(30), about(40), about(20)]

    play(redis_url, act)


def test_unasked_answers_in_between_count_as_work(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S)
        (lease,) = await scene.lease(session_id, "ann")
        await let_pass(scene, session_id, 50)
        await scene.answer(session_id, 11)
        # Bob's answers do not count as ann's work.
        await let_pass(scene, session_id, 10)
        await scene.answer(session_id, 10, labeler="bob")
        await let_pass(scene, session_id, 5)
        await scene.answer(session_id, lease)
        events = await scene.sessions.label_events(session_id)
        # An answer without a lease has no known duration and does not change the pace.
        assert [one.answer_seconds for one in events] == [0, 0, about(15)]
        assert await length(scene, session_id, "bob") == about(LEASE_S)

    play(redis_url, act)


def test_late_answer_does_not_change_pace(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S)
        (late,) = await scene.lease(session_id, "ann")
        await let_pass(scene, session_id, 3600)
        await scene.sessions.expire(session_id)
        assert (await scene.answer(session_id, late)).applied
        assert (await scene.sessions.label_events(session_id))[-1].answer_seconds == 0
        assert await length(scene, session_id) == about(LEASE_S)

    play(redis_url, act)


async def left(scene: Scene, session_id: SessionId, lease: Lease) -> float:
    """Seconds until a lease runs out."""
    score = await scene.client.zscore(keys.session(session_id, "leases"), lease.lease_id)
    return float(score - await now_ms(scene)) / 1000


def test_heartbeat_never_shortens_a_lease(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S)
        beat = partial(scene.sessions.extend, session_id, holder="ann/", labeler="ann")
        # Ann gets this lease before her pace is known; then she answers fast.
        old, other = await scene.lease(session_id, "ann", most=2)
        await let_pass(scene, session_id, 2)
        await scene.answer(session_id, other)
        for lease_ids in ((), (old.lease_id,)):
            receipt = await beat(lease_ids=lease_ids)
            assert receipt.lost == ()
            # The receipt has the new end of the lease.
            assert (receipt.extended[old.lease_id] - await now_ms(scene)) / 1000 == about(98)
            assert await left(scene, session_id, old) == about(98)
        # Once less time is left than ann's current length, the lease gets that length.
        await let_pass(scene, session_id, 90)
        expires_ms = (await beat()).extended[old.lease_id]
        assert expires_ms == pytest.approx(await now_ms(scene) + 50_000, abs=2000)
        assert await left(scene, session_id, old) == about(50)
        (held,) = await scene.lease(session_id, "ann")
        assert (held.expires_ms - await now_ms(scene)) / 1000 == about(50)

    play(redis_url, act)


def test_heartbeat_of_slow_labeler_lengthens_its_leases(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S)
        first, second = await scene.lease(session_id, "ann", most=2)
        await let_pass(scene, session_id, 90)
        await scene.answer(session_id, first)
        assert await left(scene, session_id, second) == about(10)
        await scene.sessions.extend(session_id, holder="ann/", labeler="ann")
        assert await left(scene, session_id, second) == about(270)

    play(redis_url, act)


def test_heartbeat_after_expiry_does_not_revive_lease(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=LEASE_S)
        gone, kept = await scene.lease(session_id, "ann", most=2)
        assert await scene.lease(session_id, "bob", waits=True, most=9) != []
        await scene.run_out(session_id, gone.lease_id)
        receipt = await scene.sessions.extend(
            session_id, holder="ann/", labeler="ann", lease_ids=[gone.lease_id, kept.lease_id]
        )
        assert (set(receipt.extended), receipt.lost) == ({kept.lease_id}, (gone.lease_id,))
        assert await left(scene, session_id, kept) == about(LEASE_S)
        # Bob, who waits, gets the query in the same step.
        assert gone.query in await scene.held(session_id, "bob/")

    play(redis_url, act)
