"""Batches of unasked verdicts: each counts as if it came alone, and one ranking follows."""

import pytest
from tests.state.scene import Scene, play

from svddtune.state.session import LabelCounts, SessionState, Verdict

pytestmark = pytest.mark.integration


def test_batch_has_the_effect_of_its_answers_one_by_one(redis_url: str) -> None:
    verdicts = {0: 1, 1: -1, 5: 1, 7: 0}

    async def act(scene: Scene) -> None:
        together = await scene.session(budget=12)
        receipt = await scene.answer_batch(together, verdicts)
        alone = await scene.session(budget=12)
        for row, verdict in verdicts.items():
            await scene.answer(alone, row, Verdict(verdict), answer_id=f"batch-{row}")
        assert receipt.applied == 4
        assert receipt.counts == await scene.counts(together) == await scene.counts(alone)
        one, other = [
            [
                (event.kind, event.row, event.verdict, event.labeler, event.answer_id)
                for event in await scene.sessions.label_events(session_id)
            ]
            for session_id in (together, alone)
        ]
        assert one == other

    play(redis_url, act)


def test_one_ranking_follows_a_batch(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        await scene.answer_batch(session_id, dict.fromkeys(range(6), 1))
        assert scene.worker.work_off() == ["SUGGEST"]

    play(redis_url, act)


def test_ranking_waits_for_the_last_batch(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        await scene.lease(session_id, "bob", waits=True)
        await scene.answer_batch(session_id, {0: 1, 1: 1}, hold_s=60.0)
        await scene.answer_batch(session_id, {2: -1}, hold_s=60.0)
        assert scene.worker.work_off() == []
        await scene.answer_batch(session_id, {3: -1})
        assert scene.worker.work_off() == ["SUGGEST"]

    play(redis_url, act)


def test_ranking_follows_though_the_last_batch_was_sent_before(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        await scene.answer_batch(session_id, {3: -1}, hold_s=60.0)
        await scene.answer_batch(session_id, {3: -1})
        assert scene.worker.work_off() == ["SUGGEST"]

    play(redis_url, act)


def test_ranking_follows_in_time_though_no_further_batch_comes(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        await scene.answer_batch(session_id, {0: 1}, hold_s=60.0)
        left_s = await scene.sessions.expire(session_id)
        assert left_s is not None
        assert 0.0 < left_s <= 60.0
        await scene.answer_batch(session_id, {1: 1}, hold_s=0.001)
        while (left_s := await scene.sessions.expire(session_id)) is not None:
            assert left_s <= 0.001
        assert scene.worker.work_off() == ["SUGGEST"]

    play(redis_url, act)


def test_repeated_batch_changes_nothing(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        first = await scene.answer_batch(session_id, {0: 1, 1: -1})
        events = await scene.sessions.label_events(session_id)
        again = await scene.answer_batch(session_id, {0: 1, 1: -1})
        assert again == first
        assert await scene.sessions.label_events(session_id) == events

    play(redis_url, act)


def test_refused_answers_are_named_and_the_others_count(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        await scene.answer(session_id, 3, labeler="bob")
        await scene.answer_batch(session_id, {5: 1})
        receipt = await scene.answer_batch(session_id, {3: 1, 4: 1, 5: -1})
        assert receipt.applied == 1
        assert {place: error.reason for place, error in receipt.refused.items()} == {
            0: "ALREADY_ANSWERED",
            2: "ANSWER_ID_REUSED",
        }
        assert "batch-5" in receipt.refused[2].message
        assert receipt.counts == LabelCounts(inlier=3)

    play(redis_url, act)


def test_answers_beyond_the_budget_are_refused_and_the_session_ends(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=6)
        receipt = await scene.answer_batch(session_id, dict.fromkeys(range(8), 1), hold_s=60.0)
        assert receipt.applied == 6
        assert {error.reason for error in receipt.refused.values()} == {"SESSION_NOT_ACTIVE"}
        assert sorted(receipt.refused) == [6, 7]
        assert await scene.state(session_id) is SessionState.ESTIMATING

    play(redis_url, act)


def test_batch_answers_open_queries(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        (lease,) = await scene.lease(session_id, "bob")
        receipt = await scene.answer_batch(session_id, {lease.row: -1})
        assert receipt.applied == 1
        assert await scene.held(session_id, "bob/") == []

    play(redis_url, act)


def test_corrections_replace_earlier_votes(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        await scene.answer_batch(session_id, {0: 1, 1: 1})
        receipt = await scene.answer_batch(session_id, {0: -1}, prefix="again", replace=True)
        assert receipt.counts == LabelCounts(inlier=1, outlier=1)

    play(redis_url, act)
