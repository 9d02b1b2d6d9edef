"""Each answer has one effect, and the labels are a fold over the log."""

from functools import partial

import pytest
from tests.state.scene import Scene, play

from svddtune.config import SessionConfig
from svddtune.state import keys
from svddtune.state.errors import Conflict, InvalidInput, NotFound, StateError, WrongState
from svddtune.state.session import Answer, RankedRow, SessionState, Verdict

pytestmark = pytest.mark.integration


def test_repeated_answer_has_one_effect_and_the_same_receipt(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        first = await scene.answer(session_id, lease, answer_id="one")
        assert await scene.answer(session_id, lease, answer_id="one") == first
        assert len(await scene.sessions.label_events(session_id)) == 1

    play(redis_url, act)


def test_answer_id_with_other_content_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease, Verdict.INLIER, answer_id="one")
        with pytest.raises(InvalidInput) as refused:
            await scene.answer(session_id, lease, Verdict.OUTLIER, answer_id="one")
        assert refused.value.reason == "ANSWER_ID_REUSED"

    play(redis_url, act)


def test_two_labelers_may_use_the_same_answer_ids(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        first = await scene.answer(session_id, 3, answer_id="one")
        second = await scene.answer(session_id, 4, Verdict.OUTLIER, labeler="bob", answer_id="one")
        assert (second.counts.inlier, second.counts.outlier) == (1, 1)
        await scene.answer(session_id, 6, answer_id="batch-5")
        batch = await scene.answer_batch(session_id, {5: 1}, labeler="bob")
        assert batch.applied == 1
        undo = partial(scene.sessions.retract, session_id, answer_id="undo")
        assert (await undo(labeler="ann", row=3)).applied
        assert (await undo(labeler="bob", row=4)).applied
        # Each labeler's repeat gets its own receipt.
        assert await scene.answer(session_id, 3, answer_id="one") == first
        again = await scene.answer(session_id, 4, Verdict.OUTLIER, labeler="bob", answer_id="one")
        assert again == second
        assert len(await scene.sessions.label_events(session_id)) == 6

    play(redis_url, act)


def test_answer_stored_by_the_earlier_layout_is_known_to_its_labeler_alone(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        first = await scene.answer(session_id, 3, answer_id="one")
        key = keys.session(session_id, "answers")
        stored = await scene.client.hget(key, "ann/one")
        # Layout 2 has the answer id alone.
        await scene.client.hset(key, "one", stored)
        await scene.client.hdel(key, "ann/one")
        assert await scene.answer(session_id, 3, answer_id="one") == first
        other = await scene.answer(session_id, 4, labeler="bob", answer_id="one")
        assert other.counts.total == 2
        assert len(await scene.sessions.label_events(session_id)) == 2

    play(redis_url, act)


def test_unasked_answer_labels_its_row_and_closes_the_open_query(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        receipt = await scene.answer(session_id, lease.row, Verdict.OUTLIER, labeler="replay")
        assert receipt.applied
        assert receipt.counts.outlier == 1
        assert (await scene.sessions.get(session_id)).leased_count == 0

    play(redis_url, act)


def test_second_unasked_verdict_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(initial={3: Verdict.INLIER})
        with pytest.raises(Conflict) as refused:
            await scene.answer(session_id, 3, Verdict.OUTLIER)
        assert refused.value.reason == "ALREADY_ANSWERED"
        assert "INLIER" in refused.value.message

    play(redis_url, act)


@pytest.mark.parametrize(
    ("query", "lease_id", "reason"), [(99, "x", "UNKNOWN_QUERY"), (1, "x", "LEASE_LOST")]
)
def test_answers_without_lease_or_row_are_refused(
    redis_url: str, query: int, lease_id: str, reason: str
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.lease(session_id)
        answer = Answer("a", "ann", "ann/", Verdict.INLIER, query=query, lease_id=lease_id)
        with pytest.raises(StateError) as refused:
            await scene.sessions.answer(session_id, answer)
        assert refused.value.reason == reason

    play(redis_url, act)


def test_session_completes_once_budget_is_spent(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2)
        for _ in range(2):
            (lease,) = await scene.lease(session_id)
            await scene.answer(session_id, lease)
            scene.worker.work_off()
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState.COMPLETED
        assert session.finish_reason == "BUDGET_SPENT"
        assert session.revision == 1
        assert await scene.sessions.result(session_id)
        assert await scene.sessions.model_piece(session_id, None, 0)
        assert await scene.sessions.model_piece(session_id, 1, 1) is None

    play(redis_url, act)


def test_session_whose_initial_labels_meet_the_budget_asks_nothing(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, initial={0: Verdict.INLIER, 1: Verdict.OUTLIER})
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState.COMPLETED
        assert session.query_count == 0

    play(redis_url, act)


def test_answer_after_finish_does_not_count(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.sessions.finish(session_id)
        scene.worker.work_off()
        late = await scene.answer(session_id, lease)
        assert not late.applied
        with pytest.raises(WrongState) as refused:
            await scene.answer(session_id, 5)
        assert refused.value.reason == "SESSION_NOT_ACTIVE"

    play(redis_url, act)


def test_retracted_row_is_asked_again(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease, Verdict.OUTLIER)
        receipt = await scene.sessions.retract(
            session_id, answer_id="undo", labeler="ann", row=lease.row
        )
        assert receipt.counts.total == 0
        (again,) = await scene.lease(session_id)
        assert again.query == lease.query
        await scene.answer(session_id, again, Verdict.INLIER)
        session = await scene.sessions.get(session_id)
        assert (session.counts.inlier, session.counts.outlier) == (1, 0)

    play(redis_url, act)


def test_retracting_an_unlabelled_row_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        with pytest.raises(WrongState) as refused:
            await scene.sessions.retract(session_id, answer_id="undo", labeler="ann", row=7)
        assert refused.value.reason == "NOT_LABELED"

    play(redis_url, act)


def test_unasked_answer_labels_unsure_row(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease, Verdict.UNSURE)
        receipt = await scene.answer(session_id, lease.row, Verdict.OUTLIER)
        assert (receipt.counts.unsure, receipt.counts.outlier) == (0, 1)

    play(redis_url, act)


def test_ranking_for_outdated_labels_is_dropped_and_computed_again(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.answered_session()
        claim = scene.worker.next_claim()
        assert claim is not None
        snapshot = scene.worker.workspace.snapshot(claim)
        assert snapshot is not None
        await scene.answer(session_id, 9)
        taken = scene.worker.workspace.commit_suggest(
            claim, snapshot, gamma=9.0, alignment=0.0, ranking=[RankedRow(9)]
        )
        assert not taken
        assert scene.worker.work_off() == ["SUGGEST"]
        assert (await scene.sessions.get(session_id)).gamma == 1.0

    play(redis_url, act)


def test_repeated_request_id_creates_one_session(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        await scene.upload()

        async def create(budget: int) -> str:
            return await scene.sessions.create(
                scene.dataset_id,
                SessionConfig(budget=budget),
                observation_count=12,
                request_id="5f0c2f0e-0000-4000-8000-000000000000",
            )

        assert await create(5) == await create(5)
        with pytest.raises(InvalidInput) as refused:
            await create(6)
        assert refused.value.reason == "REQUEST_ID_REUSED"

    play(redis_url, act)


def test_result_before_completion_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        with pytest.raises(NotFound) as refused:
            await scene.sessions.result(session_id)
        assert refused.value.reason == "RESULT_NOT_FOUND"

    play(redis_url, act)


def test_confidence_stays_with_the_vote_and_in_the_log(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease, confidence=0.1 + 0.7)
        await scene.answer(session_id, 17, Verdict.OUTLIER, labeler="bob")
        events = await scene.sessions.label_events(session_id)
        assert [one.confidence for one in events] == [0.1 + 0.7, None]
        claim = scene.worker.next_claim()
        assert claim is not None
        snapshot = scene.worker.workspace.snapshot(claim)
        assert snapshot is not None
        assert snapshot.confidences == {lease.row: {"ann": 0.1 + 0.7}}
        assert snapshot.votes == {lease.row: {"ann": 1}, 17: {"bob": -1}}

    play(redis_url, act)


def test_answer_id_with_other_confidence_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.answer(session_id, 3, answer_id="one", confidence=0.8)
        with pytest.raises(InvalidInput) as refused:
            await scene.answer(session_id, 3, answer_id="one", confidence=0.9)
        assert refused.value.reason == "ANSWER_ID_REUSED"

    play(redis_url, act)


def test_correction_replaces_the_confidence_too(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.answer(session_id, 3, confidence=0.8)
        await scene.answer(session_id, 3, replace=True)
        claim = scene.worker.next_claim()
        assert claim is not None
        snapshot = scene.worker.workspace.snapshot(claim)
        assert snapshot is not None
        assert snapshot.confidences == {}

    play(redis_url, act)
