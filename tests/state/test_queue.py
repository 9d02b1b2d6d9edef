"""No job is lost or done twice, whatever happens to workers."""

import asyncio

import pytest
from tests.state.scene import Scene, ScriptedWorker, play
from tests.state.worker_loss import end_pauses, lose, silence_all

from svddtune.config import SessionConfig
from svddtune.state import keys
from svddtune.state.connect import connect, connect_blocking
from svddtune.state.errors import ClaimLost
from svddtune.state.queue import (
    BULK_TURN_S,
    MAX_ERRORS,
    MAX_LOST,
    QUIET_S,
    Ending,
    JobQueue,
    Recovered,
    let_go,
)
from svddtune.state.session import SessionState
from svddtune.state.workspace import Workspace

pytestmark = pytest.mark.integration

CONFIG = SessionConfig(budget=6, strategy="lama")


def dead_letters(worker: ScriptedWorker) -> list[dict[str, str]]:
    return [
        {name.decode(): value.decode(errors="replace") for name, value in fields.items()}
        for _, fields in worker.client.xrange(keys.prefix(0) + "q:dead")
    ]


def test_job_of_silent_worker_goes_to_another_and_the_first_cannot_commit(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        slow, quick = scene.worker, ScriptedWorker(redis_url)
        session_id = await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        claim = slow.next_claim()
        assert claim is not None
        assert quick.queue.recover() == Recovered()
        silence_all(slow)
        assert quick.queue.recover() == Recovered(lost=1)
        # It is the first of the dataset's jobs again. Another dataset's job came up meanwhile.
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
        # The job is done, and the slow worker still has no effect.
        with pytest.raises(ClaimLost):
            slow.do(claim)

    play(redis_url, act)


def test_job_keeps_the_trace_of_its_answer_when_it_goes_back(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease, trace="00-a-b-01")
        first = scene.worker.next_claim()
        assert first is not None
        assert (first.kind, first.trace) == ("SUGGEST", "00-a-b-01")
        silence_all(scene.worker)
        assert scene.worker.queue.recover() == Recovered(lost=1)
        again = scene.worker.next_claim()
        assert again is not None
        assert (again.entry != first.entry, again.trace) == (True, "00-a-b-01")
        # An answer without a trace: its job does not have that of the answer before.
        scene.worker.do(again)
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        last = scene.worker.next_claim()
        assert last is not None
        assert (last.kind, last.trace) == ("SUGGEST", "")

    play(redis_url, act)


def test_renewed_claim_is_not_taken_over(redis_url: str) -> None:
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


def test_repeated_recovery_requeues_job_once(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.answered_session()
        assert scene.worker.next_claim() is not None
        silence_all(scene.worker)
        assert scene.worker.queue.recover() == Recovered(lost=1)
        assert scene.worker.queue.recover() == Recovered()
        assert scene.worker.work_off() == ["SUGGEST"]

    play(redis_url, act)


@pytest.mark.parametrize("lane", ["hi", "bulk"])
def test_job_that_lost_nine_workers_still_completes(redis_url: str, lane: str) -> None:
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


def test_job_that_always_loses_its_worker_becomes_a_worker_lost_dead_letter(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.answered_session()
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


def test_lost_job_is_requeued_at_once_and_after_further_losses_with_pauses(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.answered_session()
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
        # The pauses add up to a minute, the time that a faulty pool of workers has to recover.
        assert sum(pauses) > 60_000

    play(redis_url, act)


def test_failed_job_is_retried_after_pauses_up_to_a_limit(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.answered_session()
        outcomes: list[bool] = []
        while claim := scene.worker.next_claim():
            # Losses do not count as errors, and errors do not count as losses.
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


def test_job_given_back_counts_no_attempt(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.answered_session()
        for _ in range(MAX_LOST + 1):
            claim = scene.worker.next_claim()
            assert claim is not None
            assert (claim.errors, claim.lost) == (0, 0)
            assert scene.worker.queue.give_back() == 1
            with pytest.raises(ClaimLost):
                scene.worker.do(claim)
        assert scene.worker.work_off() == ["SUGGEST"]

    play(redis_url, act)


def test_worker_that_signs_out_with_a_claim_gives_its_job_back(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        await scene.answered_session()
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
def test_observed_cause_of_worker_loss_decides_the_retry_limit(
    redis_url: str, how: Ending, limit: int, reason: str
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.answered_session()
        for _ in range(limit):
            assert (await scene.sessions.get(session_id)).state is SessionState.LABELING
            worker = ScriptedWorker(redis_url)
            assert worker.next_claim() is not None
            let_go(worker.client, keys.prefix(0), worker.queue.consumer, how, "SIGWHAT")
            # A repeated report counts once.
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
        session_id = await scene.answered_session()
        claim = scene.worker.next_claim()
        assert claim is not None
        scene.worker.queue.fail(claim, "JOB_FAILED", "no luck", final=True)
        await scene.sessions.resume(session_id)
        assert scene.worker.work_off() == ["SUGGEST"]
        session = await scene.sessions.get(session_id)
        assert (session.state, session.failure) == (SessionState.LABELING, None)

    play(redis_url, act)


def test_urgent_job_overtakes_bulk_jobs(redis_url: str) -> None:
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


def test_lost_consumer_group_is_recreated(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.client.flushall()
        assert scene.worker.queue.take() is None
        session_id = await scene.session()
        assert (await scene.sessions.get(session_id)).state is SessionState.LABELING

    play(redis_url, act)


@pytest.mark.parametrize("lost", [["bulk"], ["wake"], ["bulk", "wake"]])
def test_every_job_is_done_once_after_its_stream_lost_the_consumer_group(
    redis_url: str, lost: list[str]
) -> None:
    # Another worker may be about to make the groups anew, one after the other.
    async def act(scene: Scene) -> None:
        await scene.upload()
        await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        for lane in lost:
            await scene.client.xgroup_destroy(keys.prefix(0) + f"q:{lane}", keys.GROUP)
        assert scene.worker.work_off() == ["PREPARE", "SUGGEST"]
        for lane in ("hi", "bulk"):
            assert await scene.client.xlen(keys.prefix(0) + f"q:{lane}") == 0

    play(redis_url, act)


def test_worker_that_signs_out_leaves_no_consumer(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.session()
        scene.worker.queue.sign_in({"pid": 1})
        scene.worker.queue.sign_out()
        consumers = await scene.client.xinfo_consumers(keys.prefix(0) + "q:hi", keys.GROUP)
        assert consumers == []

    play(redis_url, act)


def test_dead_consumers_are_removed_and_those_with_a_sign_or_a_job_stay(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        client, queue = scene.worker.client, scene.worker.queue
        streams = queue._streams("hi", "bulk", "wake")
        dead = [f"{index:016x}" for index in range(112)]
        for name in dead:
            for stream in streams:
                client.xgroup_createconsumer(stream, keys.GROUP, name)
        signed = ScriptedWorker(redis_url)
        signed.queue.sign_in({"pid": 1})
        assert signed.queue.take_urgent() is None
        assert scene.worker.next_claim() is not None

        def consumers() -> set[str]:
            return {
                one["name"].decode()
                for stream in streams
                for one in client.xinfo_consumers(stream, keys.GROUP)
            }

        assert queue.forget_workers() == 0
        assert consumers() == {*dead, signed.queue.consumer, queue.consumer}
        assert queue.forget_workers(silence_s=0) == 112
        assert consumers() == {signed.queue.consumer, queue.consumer}
        assert queue.forget_workers(silence_s=0) == 0

    play(redis_url, act)


def test_forgotten_worker_that_was_only_stopped_goes_on_and_no_job_is_lost(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()
        session_id = await scene.sessions.create(scene.dataset_id, CONFIG, observation_count=12)
        stopped, other = ScriptedWorker(redis_url), scene.worker
        claim = stopped.next_claim()
        assert claim is not None
        silence_all(stopped)
        assert other.queue.forget_workers(silence_s=0) == 0
        assert other.queue.recover().lost == 1
        assert other.queue.forget_workers(silence_s=0) == 1
        with pytest.raises(ClaimLost):
            stopped.do(claim)
        assert stopped.work_off() == ["PREPARE", "SUGGEST"]
        assert (await scene.sessions.get(session_id)).state is SessionState.LABELING

    play(redis_url, act)


def test_failed_preparation_fails_waiting_session_and_the_next_session_retries_it(
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


def test_waiting_worker_does_jobs_that_arrive_in_both_lanes(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        first, second = await scene.session(), await scene.session()
        (lease,) = await scene.lease(first)
        waiting = asyncio.create_task(asyncio.to_thread(scene.worker.queue.take))
        while not any(  # until the worker is blocked in its read
            client["cmd"] == "xreadgroup" for client in await scene.client.client_list()
        ):
            await asyncio.sleep(0)
        await asyncio.gather(scene.sessions.finish(second), scene.answer(first, lease))
        claim = await waiting
        assert claim is not None
        kinds = [claim.kind]
        scene.worker.do(claim)
        kinds += scene.worker.work_off()
        assert sorted(kinds) == ["ESTIMATE", "FIT", "FIT", "PLAN", "SUGGEST"]

    play(redis_url, act)


async def dataset_jobs(scene: Scene, name: str) -> str:
    """Create a session on a dataset of its own, which needs 22 jobs of the dataset."""
    await scene.upload(ids=[f"{name}-{row}" for row in range(12)])
    config = SessionConfig(budget=6, strategy="knowledge_gradient")
    await scene.sessions.create(scene.dataset_id, config, observation_count=12)
    return scene.dataset_id


def test_datasets_take_turns_at_workers(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        datasets = {await dataset_jobs(scene, name) for name in "abc"}
        crew = [ScriptedWorker(redis_url) for _ in range(3)]
        for _ in range(5):
            # With as many workers as datasets, each dataset gets one worker.
            claims = [worker.next_claim() for worker in crew]
            assert {claim.dataset_id for claim in claims if claim} == datasets
            for worker, claim in zip(crew, claims, strict=True):
                assert claim is not None
                worker.do(claim)

    play(redis_url, act)


async def time_charged(scene: Scene, dataset_id: str) -> float:
    """Milliseconds of workers' time that a dataset with waiting jobs has used."""
    return float(await scene.client.zscore(keys.prefix(0) + "q:bulk:turn", dataset_id))


async def server_ms(scene: Scene) -> int:
    seconds, micro = await scene.client.time()
    return int(1000 * seconds + micro // 1000)


def test_finished_job_is_charged_to_its_dataset_with_the_time_it_took(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        dataset_id = await dataset_jobs(scene, "a")
        before = await server_ms(scene)
        claim = scene.worker.next_claim()
        assert claim is not None
        begun = await server_ms(scene)
        while await server_ms(scene) < begun + 50:
            pass
        ended = await server_ms(scene)
        scene.worker.do(claim)
        charged = await time_charged(scene, dataset_id)
        assert ended - begun <= charged <= await server_ms(scene) - before

    play(redis_url, act)


def test_short_jobs_do_not_wait_for_as_many_long_ones(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        large = await dataset_jobs(scene, "large")
        long = scene.worker.next_claim()
        assert long is not None
        small = await dataset_jobs(scene, "small")
        scene.worker.do(long)
        # The job counts as if it had taken an hour.
        await scene.client.zincrby(keys.prefix(0) + "q:bulk:turn", 3_600_000, large)
        owners = []
        for _ in range(24):
            claim = scene.worker.next_claim()
            assert claim is not None
            scene.worker.do(claim)
            owners.append(claim.dataset_id)
        # The small dataset's jobs and its session's first ranking come before the next long job.
        assert owners == [small] * 23 + [large]

    play(redis_url, act)


def test_bulk_jobs_get_turns_despite_endless_urgent_jobs(redis_url: str) -> None:
    now_s = 0.0

    async def act(scene: Scene) -> None:
        nonlocal now_s
        await dataset_jobs(scene, "a")
        worker = ScriptedWorker(redis_url, monotonic_s=lambda: now_s)
        urgent = {"kind": "PREVIEW", "session": "", "dataset": "", "payload": b""}
        lanes: list[str] = []
        for _ in range(24):
            await scene.client.xadd(keys.prefix(0) + "q:hi", urgent)
            claim = worker.queue.take()
            assert claim is not None
            lanes.append(claim.lane)
            worker.workspace.commit_nothing(claim)
            now_s += BULK_TURN_S / 8
        worker.close()
        assert lanes == ["bulk", *["hi"] * 7] * 3

    play(redis_url, act)


def test_worker_for_urgent_jobs_takes_bulk_jobs_only_while_no_urgent_one_comes(
    redis_url: str,
) -> None:
    now_s = 0.0

    async def act(scene: Scene) -> None:
        nonlocal now_s
        await dataset_jobs(scene, "a")
        scene.worker.queue.sign_in({})
        with connect(redis_url) as client, connect_blocking(redis_url) as blocking:
            queue = JobQueue(client, blocking, hi_only=True, monotonic_s=lambda: now_s)
            queue.sign_in({})
            workspace = Workspace(client)
            urgent = {"kind": "PREVIEW", "session": "", "dataset": "", "payload": b""}
            lanes: list[str | None] = []
            for offered, pause_s in [(0, 0.0), (1, 0.0), (0, QUIET_S / 2), (0, QUIET_S / 2)]:
                now_s += pause_s
                for _ in range(offered):
                    client.xadd(keys.prefix(0) + "q:hi", urgent)
                claim = queue.take()
                lanes.append(None if claim is None else claim.lane)
                if claim is not None:
                    workspace.commit_nothing(claim)
        assert lanes == ["bulk", "hi", None, "bulk"]

    play(redis_url, act)


def test_finished_owner_leaves_no_queue_entries(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await dataset_jobs(scene, "a")
        scene.worker.work_off()
        assert scene.worker.queue.take() is None
        left = {key.decode().split("q:")[1] async for key in scene.client.scan_iter("*q:*")}
        assert left == {"hi", "bulk", "wake"}

    play(redis_url, act)
