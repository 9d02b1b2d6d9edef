"""Jobs are neither lost nor counted twice, whatever happens to workers."""

import asyncio

import pytest
from tests.state.scene import Scene, ScriptedWorker, play
from tests.state.worker_loss import end_pauses, lose, silence_all

from svddtune.state import keys
from svddtune.state.errors import ClaimLost
from svddtune.state.queue import MAX_ERRORS, MAX_LOST, Ending, Recovered, let_go
from svddtune.state.session import SessionConfig, SessionState

pytestmark = pytest.mark.integration

CONFIG = SessionConfig(budget=6, strategy="lama")


def dead_letters(worker: ScriptedWorker) -> list[dict[str, str]]:
    return [
        {name.decode(): value.decode(errors="replace") for name, value in fields.items()}
        for _, fields in worker.client.xrange(keys.prefix(0) + "q:dead")
    ]


def test_job_of_a_silent_worker_goes_to_another_and_the_first_is_fenced(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        slow, quick = scene.worker, ScriptedWorker(redis_url)
        session_id = await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        claim = slow.next_claim()
        assert claim is not None
        assert quick.queue.recover() == Recovered()
        silence_all(slow)
        assert quick.queue.recover() == Recovered(lost=1)
        # Its place among the dataset's jobs is the first again; another's came up meanwhile.
        taken = quick.next_claim()
        while taken is not None and taken.kind != claim.kind:
            quick.do(taken)
            taken = quick.next_claim()
        assert taken is not None
        assert (taken.kind, taken.job, taken.lost) == (claim.kind, claim.job, 1)
        with pytest.raises(ClaimLost):
            slow.do(claim)
        with pytest.raises(ClaimLost):
            slow.queue.renew(claim)
        quick.do(taken)
        assert (await scene.sessions.get(session_id)).state is SessionState.LABELING
        # Done is done: the slow worker still changes nothing.
        with pytest.raises(ClaimLost):
            slow.do(claim)

    play(redis_url, act)


def test_renewed_claim_is_not_taken(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        claim = scene.worker.next_claim()
        assert claim is not None
        silence_all(scene.worker)
        scene.worker.queue.renew(claim)
        assert ScriptedWorker(redis_url).queue.recover() == Recovered()
        scene.worker.do(claim)

    play(redis_url, act)


def test_recovery_that_runs_twice_puts_a_job_back_once(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        assert scene.worker.next_claim() is not None
        silence_all(scene.worker)
        assert scene.worker.queue.recover() == Recovered(lost=1)
        assert scene.worker.queue.recover() == Recovered()
        assert scene.worker.work_off() == ["SUGGEST"]

    play(redis_url, act)


@pytest.mark.parametrize("lane", ["hi", "bulk"])
def test_job_that_lost_nine_workers_is_still_done(redis_url: str, lane: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        if lane == "hi":
            (lease,) = await scene.lease(session_id)
            await scene.answer(session_id, lease)
        else:
            await scene.sessions.finish(session_id)
        for _ in range(MAX_LOST - 1):
            claim = scene.worker.next_claim()
            assert claim is not None
            assert claim.lane == lane
            assert lose(scene.worker).dead == 0
        scene.worker.work_off()
        expected = SessionState.LABELING if lane == "hi" else SessionState.COMPLETED
        assert (await scene.sessions.get(session_id)).state is expected
        assert dead_letters(scene.worker) == []

    play(redis_url, act)


def test_job_that_always_loses_its_worker_becomes_a_dead_letter_that_says_so(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        dead = 0
        for losses in range(MAX_LOST):
            claim = scene.worker.next_claim()
            assert claim is not None
            assert claim.lost == losses
            dead = lose(scene.worker).dead
        assert dead == 1
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState.FAILED
        assert session.failure is not None
        assert session.failure.reason == "WORKER_LOST"
        assert session.failure.message.startswith("SUGGEST lost its worker 10 times")
        (letter,) = dead_letters(scene.worker)
        assert (letter["reason"], letter["lost"], letter["errors"]) == ("WORKER_LOST", "10", "0")
        assert await scene.client.xlen(keys.prefix(0) + "q:hi") == 0

    play(redis_url, act)


def test_first_loss_is_made_good_at_once_and_later_ones_after_pauses(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        pauses = []
        for _ in range(MAX_LOST - 1):
            assert scene.worker.next_claim() is not None
            silence_all(scene.worker)
            scene.worker.queue.recover()
            waiting = await scene.client.zrange(keys.prefix(0) + "q:later", 0, -1, withscores=True)
            seconds, micro = await scene.client.time()
            pauses += [waiting[0][1] - 1000 * seconds - micro / 1000 if waiting else 0]
            end_pauses(scene.worker)
            scene.worker.queue.recover()
        assert pauses[:2] == [0, 0]
        assert pauses[2] > 0
        assert pauses[2:] == sorted(pauses[2:])
        # In all, a worker pool has a minute for what was wrong with it.
        assert sum(pauses) > 60_000

    play(redis_url, act)


def test_failed_job_is_tried_again_after_a_pause_until_it_failed_too_often(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        outcomes: list[bool] = []
        while claim := scene.worker.next_claim():
            # What was lost before does not count as an error, nor the other way round.
            assert claim.errors == len(outcomes)
            lose(scene.worker)
            claim = scene.worker.next_claim()
            assert claim is not None
            outcomes.append(scene.worker.queue.fail(claim, "JOB_FAILED", "no luck"))
            assert scene.worker.next_claim() is None
            end_pauses(scene.worker)
            assert scene.worker.queue.recover().due == 1 - outcomes[-1]
        assert outcomes == [False] * (MAX_ERRORS - 1) + [True]
        session = await scene.sessions.get(session_id)
        assert session.failure is not None
        assert session.failure.message == "no luck"
        (letter,) = dead_letters(scene.worker)
        assert (letter["reason"], letter["lost"], letter["errors"]) == ("JOB_FAILED", "3", "3")

    play(redis_url, act)


def test_job_given_back_counts_nothing(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        for _ in range(MAX_LOST + 1):
            claim = scene.worker.next_claim()
            assert claim is not None
            assert (claim.errors, claim.lost) == (0, 0)
            assert scene.worker.queue.give_back() == 1
            with pytest.raises(ClaimLost):
                scene.worker.do(claim)
        assert scene.worker.work_off() == ["SUGGEST"]

    play(redis_url, act)


def test_worker_that_signs_out_with_a_claim_gives_it_back_and_leaves_no_consumer(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        assert scene.worker.next_claim() is not None
        scene.worker.queue.sign_out()
        consumers = await scene.client.xinfo_consumers(keys.prefix(0) + "q:hi", keys.GROUP)
        assert consumers == []
        assert ScriptedWorker(redis_url).work_off() == ["SUGGEST"]

    play(redis_url, act)


@pytest.mark.parametrize(
    ("how", "limit", "reason"),
    [("killed", MAX_LOST, "WORKER_LOST"), ("crashed", MAX_ERRORS, "WORKER_CRASHED")],
)
def test_who_saw_the_worker_end_says_how_and_that_decides_the_limit(
    redis_url: str, how: Ending, limit: int, reason: str
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        for _ in range(limit):
            assert (await scene.sessions.get(session_id)).state is SessionState.LABELING
            worker = ScriptedWorker(redis_url)
            assert worker.next_claim() is not None
            let_go(worker.client, keys.prefix(0), worker.queue.consumer, how, "SIGWHAT")
            # Seen twice is counted once.
            let_go(worker.client, keys.prefix(0), worker.queue.consumer, how, "SIGWHAT")
            end_pauses(worker)
            worker.queue.recover()
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState.FAILED
        assert session.failure is not None
        assert session.failure.reason == reason
        assert f"{limit} times (last: SIGWHAT)" in session.failure.message

    play(redis_url, act)


def test_failed_result_of_an_earlier_attempt_does_not_fail_the_session(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.sessions.finish(session_id)
        plan = scene.worker.next_claim()
        assert plan is not None
        other = ScriptedWorker(redis_url)
        silence_all(scene.worker)
        other.queue.recover()
        other.work_off()
        assert (await scene.sessions.get(session_id)).state is SessionState.COMPLETED
        await scene.sessions.resume(session_id)
        other.work_off()
        await scene.sessions.finish(session_id)
        stale = {
            "kind": "FIT",
            "session": session_id,
            "dataset": scene.dataset_id,
            "payload": b"",
            "about": "1",
        }
        await scene.client.xadd(keys.prefix(0) + "q:hi", stale)
        claim = scene.worker.next_claim()
        assert claim is not None
        assert claim.kind == "FIT"
        scene.worker.queue.fail(claim, "JOB_FAILED", "no luck", final=True)
        assert (await scene.sessions.get(session_id)).state is SessionState.ESTIMATING

    play(redis_url, act)


def test_failed_session_can_be_resumed(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        claim = scene.worker.next_claim()
        assert claim is not None
        scene.worker.queue.fail(claim, "JOB_FAILED", "no luck", final=True)
        await scene.sessions.resume(session_id)
        assert scene.worker.work_off() == ["SUGGEST"]
        session = await scene.sessions.get(session_id)
        assert (session.state, session.failure) == (SessionState.LABELING, None)

    play(redis_url, act)


def test_hi_overtakes_bulk(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        first = await scene.session()
        await scene.sessions.finish(first)
        claim = scene.worker.next_claim()
        assert claim is not None
        scene.worker.do(claim)
        second = await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        assert scene.worker.work_off() == ["SUGGEST", "FIT", "FIT", "ESTIMATE"]
        assert (await scene.sessions.get(second)).state is SessionState.LABELING

    play(redis_url, act)


def test_lost_group_is_made_again(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.client.flushall()
        assert scene.worker.queue.take() is None
        session_id = await scene.session()
        assert (await scene.sessions.get(session_id)).state is SessionState.LABELING

    play(redis_url, act)


def test_sign_out_leaves_no_consumer(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.session()
        scene.worker.queue.sign_in({"pid": 1})
        scene.worker.queue.sign_out()
        consumers = await scene.client.xinfo_consumers(keys.prefix(0) + "q:hi", keys.GROUP)
        assert consumers == []

    play(redis_url, act)


def test_session_that_waits_for_a_failed_preparation_fails_and_the_next_tries_anew(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        first = await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        claim = scene.worker.next_claim()
        assert claim is not None
        scene.worker.queue.fail(claim, "OUT_OF_MEMORY", "too large", final=True)
        assert (await scene.sessions.get(first)).state is SessionState.FAILED
        second = await scene.session()
        assert (await scene.sessions.get(second)).state is SessionState.LABELING

    play(redis_url, act)


def test_a_wake_up_with_a_job_in_both_lanes_loses_neither(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        prefix = keys.prefix(0)
        waiting = asyncio.create_task(asyncio.to_thread(scene.worker.queue.take))
        while not any(  # until the worker is blocked in its read
            client["cmd"] == "xreadgroup" for client in await scene.client.client_list()
        ):
            await asyncio.sleep(0)
        job = {"kind": "FIT", "session": "s", "dataset": "", "payload": b""}
        async with scene.client.pipeline(transaction=True) as pipe:
            pipe.xadd(prefix + "q:bulk", job)
            pipe.xadd(prefix + "q:hi", job)
            await pipe.execute()
        lanes = []
        claim = await waiting
        for _ in range(2):
            assert claim is not None
            lanes.append(claim.lane)
            scene.worker.workspace.commit_nothing(claim)
            claim = scene.worker.queue.take()
        assert sorted(lanes) == ["bulk", "hi"]
        assert claim is None

    play(redis_url, act)
