"""Jobs are neither lost nor counted twice, whatever happens to workers."""

import asyncio

import pytest
from tests.state.scene import Scene, ScriptedWorker, play

from svddtune.state import keys
from svddtune.state.errors import ClaimLost
from svddtune.state.queue import MAX_DELIVERIES, Claim
from svddtune.state.session import SessionConfig, SessionState

pytestmark = pytest.mark.integration

CONFIG = SessionConfig(budget=6, strategy="lama")


def silence(worker: ScriptedWorker, claim: Claim) -> None:
    """Let the claim's worker have been silent for a minute."""
    worker.client.xclaim(
        claim.stream, keys.GROUP, claim.consumer, 0, [claim.entry], idle=60_000, justid=True
    )


def test_job_of_a_silent_worker_goes_to_another_and_the_first_is_fenced(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        slow, quick = scene.worker, ScriptedWorker(redis_url)
        session_id = await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        claim = slow.next_claim()
        assert claim is not None
        assert quick.queue.recover() is None
        silence(slow, claim)
        taken = quick.queue.recover()
        assert taken is not None
        assert (taken.entry, taken.deliveries) == (claim.entry, 2)
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
        silence(scene.worker, claim)
        scene.worker.queue.renew(claim)
        assert ScriptedWorker(redis_url).queue.recover() is None
        scene.worker.do(claim)

    play(redis_url, act)


def test_job_that_kills_its_workers_becomes_a_dead_letter(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        session_id = await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        claim = scene.worker.next_claim()
        for delivery in range(2, MAX_DELIVERIES + 1):
            assert claim is not None
            silence(scene.worker, claim)
            claim = scene.worker.queue.recover()
            assert claim is not None
            assert claim.deliveries == delivery
        assert claim is not None
        silence(scene.worker, claim)
        assert scene.worker.queue.recover() is None
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState.FAILED
        assert session.failure is not None
        assert session.failure.reason == "WORKER_CRASHED"
        assert await scene.client.xlen(keys.prefix(0) + "q:dead") == 1
        assert await scene.client.xlen(keys.prefix(0) + "q:hi") == 0

    play(redis_url, act)


def test_failed_job_is_tried_again_until_it_was_delivered_too_often(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        claim = scene.worker.next_claim()
        outcomes = []
        while claim is not None:
            outcomes.append(scene.worker.queue.fail(claim, "JOB_FAILED", "no luck"))
            claim = scene.worker.queue.recover()
        assert outcomes == [False] * (MAX_DELIVERIES - 1) + [True]
        session = await scene.sessions.get(session_id)
        assert session.failure is not None
        assert session.failure.message == "no luck"

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
        job = {"kind": "FIT", "session": "", "dataset": "", "payload": b""}
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
            claim = scene.worker.queue.take() or scene.worker.queue.recover()
        assert sorted(lanes) == ["bulk", "hi"]
        assert claim is None

    play(redis_url, act)
