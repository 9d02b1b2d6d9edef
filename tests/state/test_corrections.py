"""Corrected, retracted and unasked votes, and the label that follows from them."""

import pytest
from tests.state.scene import Scene, play

from svddtune.state.errors import Conflict, QuotaExceeded, TooLarge, WrongState
from svddtune.state.session import Answer, LabelCounts, SkipMode, Verdict
from svddtune.state.store import SessionStore
from svddtune.v1.oracle_pb2 import Explanation

pytestmark = pytest.mark.integration

INLIER, OUTLIER, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE
NAMES = ("ann", "bob", "cem", "dan", "eve", "fay")


# Corrections


def test_correction_of_settled_query_may_create_a_tie(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, overlap=2, overlap_limit=3)
        lease = await scene.vote(session_id, "ann", INLIER)
        await scene.vote(session_id, "bob", INLIER)
        with pytest.raises(Conflict) as refused:
            await scene.answer(session_id, lease.row, OUTLIER, labeler="bob")
        assert refused.value.reason == "ALREADY_ANSWERED"
        await scene.answer(session_id, lease.row, OUTLIER, labeler="bob", replace=True)
        assert await scene.counts(session_id) == LabelCounts()
        assert (await scene.vote(session_id, "cem", OUTLIER)).query == lease.query
        assert await scene.counts(session_id) == LabelCounts(outlier=1)
        # Another correction settles the row with the other label.
        await scene.answer(session_id, lease.row, INLIER, labeler="cem", replace=True)
        assert await scene.counts(session_id) == LabelCounts(inlier=1)

    play(redis_url, act)


def test_correction_changes_only_the_labelers_own_vote(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3)
        lease = await scene.vote(session_id, "ann", INLIER)
        with pytest.raises(Conflict):
            await scene.answer(session_id, lease.row, OUTLIER, labeler="bob", replace=True)
        events = await scene.sessions.label_events(session_id)
        assert [(one.kind, one.labeler) for one in events] == [("LABELED", "ann")]

    play(redis_url, act)


def test_reopened_row_is_asked_again_in_front(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=4, overlap=2, overlap_limit=3)
        lease = await scene.vote(session_id, "ann", INLIER)
        await scene.vote(session_id, "bob", INLIER)
        await scene.answer(session_id, 7, OUTLIER)
        done = await scene.sessions.reopen(session_id, lease.row, by="owner")
        assert (done.query, done.retracted_votes) == (lease.query, 2)
        assert await scene.counts(session_id) == LabelCounts(outlier=1)
        # Who voted is asked again, and the votes from before do not count.
        assert [one.query for one in await scene.lease(session_id, "ann")] == [lease.query]
        await scene.vote(session_id, "bob", OUTLIER)
        events = await scene.sessions.label_events(session_id)
        retracted = [one for one in events if one.kind == "RETRACTED"]
        assert [(one.labeler, one.source_reference) for one in retracted] == [
            ("ann", "reopened by owner"),
            ("bob", "reopened by owner"),
        ]

    play(redis_url, act)


def test_row_that_nobody_was_asked_about_gets_a_query_once_it_is_reopened(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=4)
        await scene.answer(session_id, 7, OUTLIER)
        scene.worker.work_off()
        done = await scene.sessions.reopen(session_id, 7, by="owner")
        (lease,) = await scene.lease(session_id, "bob")
        assert (lease.row, lease.query) == (7, done.query)
        (shown,) = await scene.sessions.explanations(session_id, [done.query])
        assert "again" in Explanation.FromString(shown).why
        # What was left out is asked about, too.
        await scene.sessions.skip(
            session_id,
            labeler="bob",
            query=lease.query,
            lease_id=lease.lease_id,
            mode=SkipMode.DROP,
            holder="bob/",
        )
        assert (await scene.sessions.reopen(session_id, 7, by="owner")).retracted_votes == 0
        await scene.vote(session_id, "cem", INLIER)
        assert await scene.counts(session_id) == LabelCounts(inlier=1)

    play(redis_url, act)


def test_row_without_votes_is_not_reopened_and_nobody_reopens_for_ever(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=4)
        with pytest.raises(WrongState) as refused:
            await scene.sessions.reopen(session_id, 7, by="owner")
        assert refused.value.reason == "NOTHING_TO_REOPEN"
        for _ in range(100):
            await scene.answer(session_id, 7, OUTLIER)
            await scene.sessions.reopen(session_id, 7, by="owner")
        await scene.answer(session_id, 7, OUTLIER)
        with pytest.raises(TooLarge) as too_many:
            await scene.sessions.reopen(session_id, 7, by="owner")
        assert too_many.value.reason == "TOO_MANY_CORRECTIONS"

    play(redis_url, act)


def test_query_of_retracted_vote_is_asked_again(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1, overlap=2, overlap_limit=2)
        lease = await scene.vote(session_id, "ann", INLIER)
        (held,) = await scene.lease(session_id, "bob")
        await scene.sessions.retract(session_id, answer_id="r", labeler="ann", row=lease.row)
        assert await scene.counts(session_id) == LabelCounts()
        # Bob still holds the query, and one more vote is sought from anybody, even from ann.
        assert await scene.lease(session_id, "bob") == [held]
        assert [one.query for one in await scene.lease(session_id, "ann")] == [lease.query]
        assert await scene.lease(session_id, "cem") == []

    play(redis_url, act)


def test_tie_breaking_vote_of_another_labeler_can_be_retracted(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, overlap=2, overlap_limit=3)
        for name, verdict in zip(NAMES, (INLIER, OUTLIER, OUTLIER), strict=False):
            lease = await scene.vote(session_id, name, verdict)
        await scene.sessions.retract(
            session_id, answer_id="r", labeler="ann", row=lease.row, of="cem"
        )
        assert await scene.counts(session_id) == LabelCounts()
        event = (await scene.sessions.label_events(session_id))[-1]
        assert (event.kind, event.labeler, event.source_reference) == (
            "RETRACTED", "cem", "by ann",
        )  # fmt: skip
        assert [one.query for one in await scene.lease(session_id, "dan")] == [lease.query]

    play(redis_url, act)


# Unasked votes


def test_unasked_vote_counts_towards_open_query(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, overlap=2, overlap_limit=3)
        (ann,), (bob,) = await scene.lease(session_id, "ann"), await scene.lease(session_id, "bob")
        # Two hold the query; a third labeler votes unasked.
        assert (await scene.answer(session_id, ann.row, INLIER, labeler="replay")).applied
        assert (await scene.answer(session_id, ann, INLIER, labeler="ann")).applied
        assert (await scene.sessions.get(session_id)).leased_count == 0
        assert not (await scene.answer(session_id, bob, labeler="bob")).applied
        # The log distinguishes asked and unasked votes.
        events = await scene.sessions.label_events(session_id)
        assert [one.query for one in events] == [0, 1, 1]

    play(redis_url, act)


def test_unasked_vote_without_query_needs_no_second_vote(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, overlap=2, overlap_limit=3)
        await scene.answer(session_id, 11, OUTLIER, labeler="replay")
        assert await scene.awaiting(session_id) == 0
        with pytest.raises(Conflict):
            await scene.answer(session_id, 11, INLIER, labeler="ann")
        # An unsure vote leaves the row open to others.
        await scene.answer(session_id, 10, UNSURE, labeler="replay")
        assert (await scene.answer(session_id, 10, INLIER, labeler="ann")).applied
        assert await scene.counts(session_id) == LabelCounts(inlier=1, outlier=1)

    play(redis_url, act)


def test_unasked_vote_on_settled_unsure_row_is_accepted(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, overlap=2, overlap_limit=2)
        lease = await scene.vote(session_id, "ann", INLIER)
        await scene.vote(session_id, "bob", OUTLIER)
        assert await scene.counts(session_id) == LabelCounts(unsure=1)
        assert (await scene.answer(session_id, lease.row, OUTLIER, labeler="replay")).applied
        assert await scene.counts(session_id) == LabelCounts(outlier=1)

    play(redis_url, act)


# After the session has ended


def test_votes_after_finish_count_for_the_query_once_resumed(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, overlap=2, overlap_limit=3)
        (first,) = await scene.lease(session_id, "ann")
        await scene.answer(session_id, first, UNSURE)
        await scene.sessions.finish(session_id)
        scene.worker.work_off()
        await scene.sessions.resume(session_id)
        scene.worker.work_off()
        # The row has no label, so a new query asks others than ann about it.
        assert [one.row for one in await scene.lease(session_id, "ann")] == [1]
        of_bob = await scene.lease(session_id, "bob", most=2)
        (second,) = (one for one in of_bob if one.row == first.row)
        assert second.query > first.query
        # Retracting the old vote makes the new query seek one more.
        await scene.sessions.retract(session_id, answer_id="r", labeler="ann", row=first.row)
        await scene.answer(session_id, second, labeler="bob")
        held = await scene.lease(session_id, "cem", most=9)
        assert [one.query for one in held if one.row == first.row] == [second.query]
        assert await scene.awaiting(session_id) == 1
        # An answer to the old query counts for the row.
        late = Answer("late", "ann", "ann/", INLIER, query=first.query, lease_id=first.lease_id)
        assert (await scene.sessions.answer(session_id, late)).applied
        assert await scene.awaiting(session_id) == 0

    play(redis_url, act)


def test_corrections_of_all_labelers_together_are_limited_by_row(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        scene.sessions = SessionStore(scene.client, most_corrections=3)
        session_id = await scene.session(budget=4, overlap=2)
        lease = await scene.vote(session_id, "ann", INLIER)
        await scene.vote(session_id, "bob", INLIER)
        for name, verdict in (("ann", OUTLIER), ("bob", OUTLIER), ("ann", INLIER)):
            await scene.answer(session_id, lease.row, verdict, labeler=name, replace=True)
        before = await scene.sessions.label_events(session_id)
        with pytest.raises(QuotaExceeded) as refused:
            await scene.answer(session_id, lease.row, INLIER, labeler="bob", replace=True)
        assert refused.value.reason == "TOO_MANY_EVENTS"
        assert (refused.value.metadata["limit"], refused.value.metadata["used"]) == ("3", "3")
        with pytest.raises(QuotaExceeded):
            await scene.sessions.retract(session_id, answer_id="r", labeler="ann", row=lease.row)
        assert await scene.sessions.label_events(session_id) == before
        # Other rows have limits of their own.
        await scene.answer(session_id, 7, INLIER, labeler="ann")
        await scene.answer(session_id, 7, OUTLIER, labeler="ann", replace=True)

    play(redis_url, act)
