"""The comparison of the detectors: when it is computed, and what becomes of it."""

from typing import Any

import pytest
from tests.state.lost_replies import claim_of
from tests.state.scene import Scene, play

from svddtune.state.session import SessionId, SessionState, Verdict
from svddtune.v1 import result_pb2

pytestmark = pytest.mark.integration


async def labelled(scene: Scene, inliers: int, outliers: int, **config: object) -> SessionId:
    """Create a session, with an atlas by default, and label rows unasked."""
    settings: dict[str, Any] = {"strategy": "knowledge_gradient", "budget": 11} | config
    session_id = await scene.session(**settings)
    for row in range(inliers + outliers):
        verdict = Verdict.OUTLIER if row < outliers else Verdict.INLIER
        await scene.answer(session_id, row, verdict)
    return session_id


async def better(scene: Scene, session_id: SessionId) -> result_pb2.DetectorComparison:
    """What the session says of its detectors."""
    stored = (await scene.sessions.get(session_id)).detectors
    return result_pb2.DetectorComparison.FromString(stored)


def test_detectors_are_compared_after_ranking_of_five_labels_of_both_classes(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await labelled(scene, 3, 2)
        assert scene.worker.work_off() == ["SUGGEST", "REFINE"]
        compared = await better(scene, session_id)
        assert (compared.labels, compared.better) == (5, result_pb2.DETECTOR_REFINED)

    play(redis_url, act)


@pytest.mark.parametrize(("inliers", "outliers"), [(2, 2), (6, 1), (1, 6)])
def test_detectors_are_not_compared_on_too_few_labels(
    redis_url: str, inliers: int, outliers: int
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await labelled(scene, inliers, outliers)
        assert "REFINE" not in scene.worker.work_off()
        assert (await scene.sessions.get(session_id)).detectors == b""

    play(redis_url, act)


def test_detectors_are_not_compared_for_strategy_without_atlas(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await labelled(scene, 4, 4, strategy="lama")
        assert "REFINE" not in scene.worker.work_off()

    play(redis_url, act)


def test_detectors_are_compared_anew_after_five_further_labels(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await labelled(scene, 3, 2)
        scene.worker.work_off()
        for row in range(5, 10):
            await scene.answer(session_id, row)
            done = scene.worker.work_off()
            assert ("REFINE" in done) == (row == 9)
        assert (await better(scene, session_id)).labels == 10

    play(redis_url, act)


def test_queued_comparison_is_dropped_when_session_finishes(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await labelled(scene, 3, 2)
        scene.worker.do(claim_of(scene, "SUGGEST"))
        await scene.sessions.finish(session_id)
        assert "REFINE" not in scene.worker.work_off()
        assert await scene.state(session_id) is SessionState.COMPLETED

    play(redis_url, act)


def test_session_goes_on_after_comparison_was_given_up(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await labelled(scene, 3, 2)
        scene.worker.queue.fail(claim_of(scene, "REFINE"), "JOB_FAILED", "words", final=True)
        assert await scene.state(session_id) is SessionState.LABELING
        await scene.answer(session_id, 5)
        # It is not tried again for each label.
        assert scene.worker.work_off() == ["SUGGEST"]
        for row in range(6, 10):
            await scene.answer(session_id, row)
        assert "REFINE" in scene.worker.work_off()

    play(redis_url, act)


def test_comparison_of_deleted_session_is_dropped(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await labelled(scene, 3, 2)
        claim = claim_of(scene, "REFINE")
        await scene.sessions.delete(session_id)
        assert not scene.worker.workspace.commit_refine(claim, 5, None)
        assert scene.worker.work_off() == []

    play(redis_url, act)
