"""An atlas is computed once, a few jobs at a time, and only while a session needs it."""

import pytest
from tests.state.scene import Scene, play

from svddtune.config import SessionConfig
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state.session import ATLAS_PARTS, RankedRow, SessionId, SessionState, Verdict
from svddtune.v1 import result_pb2, tuning_pb2

pytestmark = pytest.mark.integration

NEEDS_ATLAS = SessionConfig(budget=6, strategy="knowledge_gradient")
BOUNDED = SessionConfig(budget=6, strategy="knowledge_gradient", gamma_bounds=(0.5, 8.0))
NARROW = SessionConfig(budget=6, strategy="knowledge_gradient", gamma_bounds=(0.5, 4.0))
LAMA = SessionConfig(budget=6, strategy="lama")
ROW = RankedRow(7)


async def create(scene: Scene, config: SessionConfig) -> SessionId:
    if not scene.dataset_id:
        await scene.upload()
    return await scene.sessions.create(scene.dataset_id, config, observation_count=12)


async def state_of(scene: Scene, session_id: SessionId) -> SessionState:
    return (await scene.sessions.get(session_id)).state


def do_next(scene: Scene) -> str:
    claim = scene.worker.next_claim()
    assert claim is not None
    scene.worker.do(claim)
    return claim.kind


def test_session_waits_for_atlas_if_its_strategy_needs_it(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        waiting, going = await create(scene, NEEDS_ATLAS), await create(scene, LAMA)
        assert do_next(scene) == "PREPARE"
        assert await state_of(scene, waiting) is SessionState.PREPARING
        assert await state_of(scene, going) is SessionState.LABELING
        scene.worker.work_off()
        session = await scene.sessions.get(waiting)
        assert session.state is SessionState.LABELING
        assert session.atlas_progress == 1.0
        assert len(await scene.lease(waiting)) == 1

    play(redis_url, act)


def test_sessions_share_one_atlas(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        first, second = await create(scene, NEEDS_ATLAS), await create(scene, NEEDS_ATLAS)
        kinds = []
        while claim := scene.worker.next_claim():
            scene.worker.do(claim)
            kinds.append(claim.kind)
        assert kinds.count("ATLAS") == ATLAS_PARTS
        third = await create(scene, NEEDS_ATLAS)
        for session_id in (first, second, third):
            assert await state_of(scene, session_id) is SessionState.LABELING

    play(redis_url, act)


def test_atlas_progress_is_reported(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await create(scene, NEEDS_ATLAS)
        seen = set()
        while claim := scene.worker.next_claim():
            scene.worker.do(claim)
            seen.add((await scene.sessions.get(session_id)).atlas_progress)
        assert seen == {done / ATLAS_PARTS for done in range(ATLAS_PARTS + 1)}

    play(redis_url, act)


def test_atlas_that_nobody_needs_pauses_until_a_session_needs_it(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        first = await create(scene, NEEDS_ATLAS)
        assert [do_next(scene) for _ in range(4)] == ["PREPARE", "ATLAS", "ATLAS", "ATLAS"]
        claim = scene.worker.next_claim()
        assert claim is not None
        assert scene.worker.workspace.atlas_is_wanted(claim)
        await scene.sessions.cancel(first)
        assert not scene.worker.workspace.atlas_is_wanted(claim)
        scene.worker.workspace.commit_nothing(claim)
        left = []
        while claim := scene.worker.next_claim():
            scene.worker.do(claim)
            left.append(claim.kind)
        assert len(left) <= 1

        second = await create(scene, NEEDS_ATLAS)
        again = []
        while claim := scene.worker.next_claim():
            scene.worker.do(claim)
            again.append(claim.kind)
        assert again.count("ATLAS") == ATLAS_PARTS - 3 - len(left)
        assert await state_of(scene, second) is SessionState.LABELING

    play(redis_url, act)


def test_failed_atlas_fails_sessions_that_need_it_until_resumed(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        needing, going = await create(scene, NEEDS_ATLAS), await create(scene, LAMA)
        do_next(scene)
        while (claim := scene.worker.next_claim()) and claim.kind != "ATLAS":
            scene.worker.do(claim)
        assert claim is not None
        scene.worker.queue.fail(claim, "OUT_OF_MEMORY", "too large", final=True)
        assert await state_of(scene, needing) is SessionState.FAILED
        assert await state_of(scene, going) is SessionState.LABELING
        await scene.sessions.resume(needing)
        scene.worker.work_off()
        assert await state_of(scene, needing) is SessionState.LABELING

    play(redis_url, act)


@pytest.mark.parametrize("finished", [True, False])
def test_deleted_dataset_leaves_no_atlas_keys(redis_url: str, finished: bool) -> None:
    async def act(scene: Scene) -> None:
        sessions = [await create(scene, config) for config in (NEEDS_ATLAS, BOUNDED)]
        if finished:
            scene.worker.work_off()
        else:
            for _ in range(5):
                do_next(scene)
        for session_id in sessions:
            await scene.sessions.delete(session_id)
        await scene.datasets.delete(scene.dataset_id)
        # Queued jobs find no dataset.
        scene.worker.work_off()
        left = [key.decode() async for key in scene.client.scan_iter()]
        assert [key for key in left if ":d:" in key] == []

    play(redis_url, act)


def test_sessions_with_different_gamma_bounds_have_separate_atlases(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        sessions = [await create(scene, one) for one in (NEEDS_ATLAS, BOUNDED, BOUNDED, NARROW)]
        jobs, kinds = [], []
        while claim := scene.worker.next_claim():
            if claim.kind == "ATLAS":
                jobs.append((claim.job.atlas.gamma_min, claim.job.atlas.gamma_max))
            kinds.append(claim.kind)
            scene.worker.do(claim)
        assert {bounds: jobs.count(bounds) for bounds in jobs} == {
            (0.0, 0.0): ATLAS_PARTS, (0.5, 8.0): ATLAS_PARTS, (0.5, 4.0): ATLAS_PARTS,
        }  # fmt: skip
        # The kernel means of a preparation cover the bounds of gamma.
        assert kinds.count("PREPARE") == 3
        for session_id in sessions:
            assert await state_of(scene, session_id) is SessionState.LABELING

    play(redis_url, act)


def test_failed_atlas_fails_only_sessions_with_its_gamma_bounds(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        plain, bounded = await create(scene, NEEDS_ATLAS), await create(scene, BOUNDED)
        failed = False
        while claim := scene.worker.next_claim():
            if claim.kind == "ATLAS" and claim.job.atlas.gamma_max == 8.0:
                scene.worker.queue.fail(claim, "OUT_OF_MEMORY", "too large", final=True)
                failed = True
            else:
                scene.worker.do(claim)
        assert failed
        assert await state_of(scene, plain) is SessionState.LABELING
        assert await state_of(scene, bounded) is SessionState.FAILED

    play(redis_url, act)


def test_session_keeps_live_evidence_and_its_history(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        seen = []
        for gamma in (2.0, 3.0):
            (lease,) = await scene.lease(session_id)
            await scene.answer(session_id, lease)
            claim = scene.worker.next_claim()
            assert claim is not None
            snapshot = scene.worker.workspace.snapshot(claim)
            assert snapshot is not None
            seen.append(
                [tuning_pb2.LiveEvidence.FromString(one).gamma for one in snapshot.history()]
            )
            live = tuning_pb2.LiveEvidence(gamma=gamma, c=0.5, advice="Go on.")
            scene.worker.workspace.commit_suggest(
                claim, snapshot, gamma=gamma, alignment=0.0, ranking=[ROW], live=live
            )
            session = await scene.sessions.get(session_id)
            assert tuning_pb2.LiveEvidence.FromString(session.live) == live
        assert seen == [[], [2.0]]

    play(redis_url, act)


def test_stop_rule_finishes_session(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(initial={0: Verdict.INLIER})
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease, want=1)
        claim = scene.worker.next_claim()
        assert claim is not None
        snapshot = scene.worker.workspace.snapshot(claim)
        assert snapshot is not None
        scene.worker.workspace.commit_suggest(
            claim, snapshot, gamma=1.0, alignment=0.0, ranking=[ROW], finish=True
        )
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState.ESTIMATING
        assert session.leased_count == 0
        scene.worker.work_off()
        session = await scene.sessions.get(session_id)
        assert (session.state, session.finish_reason) == (SessionState.COMPLETED, "STOP_RULE")

    play(redis_url, act)


def test_plan_without_missing_fits_leads_to_the_estimate(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.sessions.finish(session_id)
        claim = scene.worker.next_claim()
        assert claim is not None
        snapshot = scene.worker.workspace.snapshot(claim)
        assert snapshot is not None
        plan = jobs_pb2.GridPlan(choice=result_pb2.CHOICE_ATLAS)
        scene.worker.workspace.commit_plan(claim, snapshot.attempt, plan, [])
        assert scene.worker.work_off() == ["ESTIMATE"]
        assert await state_of(scene, session_id) is SessionState.COMPLETED

    play(redis_url, act)
