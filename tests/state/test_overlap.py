"""Several votes on one observation: who is asked, which votes count, when a query is settled."""

import pytest
from tests.state.scene import Scene, play

from svddtune.state.session import LabelCounts, SessionState, SkipMode, Verdict

pytestmark = pytest.mark.integration

INLIER, OUTLIER, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE
NAMES = ("ann", "bob", "cem", "dan", "eve", "fay")


# Who is asked


@pytest.mark.parametrize("overlap", [2, 3])
def test_query_is_leased_to_as_many_labelers_as_votes_are_sought(
    redis_url: str, overlap: int
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1, overlap=overlap, overlap_limit=overlap + 1)
        leases = [await scene.lease(session_id, name) for name in NAMES]
        assert [len(held) for held in leases] == [1] * overlap + [0] * (6 - overlap)
        assert {lease.query for held in leases for lease in held} == {1}
        assert len({lease.lease_id for held in leases for lease in held}) == overlap

    play(redis_url, act)


def test_labeler_on_two_streams_and_unary_calls_gets_each_query_once(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1, overlap=3, overlap_limit=3)
        (held,) = await scene.lease(session_id, "ann", stream="one")
        assert await scene.lease(session_id, "ann", stream="two") == []
        assert await scene.lease(session_id, "ann") == []
        await scene.answer(session_id, held)
        for stream in ("one", "two", ""):
            assert await scene.lease(session_id, "ann", stream=stream) == []
        assert len(await scene.lease(session_id, "bob")) == 1

    play(redis_url, act)


def test_answer_on_one_stream_ends_the_labelers_lease_on_another(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1, overlap=2, overlap_limit=3)
        (held,) = await scene.lease(session_id, "ann", stream="one")
        await scene.answer(session_id, held.row, INLIER, labeler="ann")
        assert await scene.lease(session_id, "ann", stream="one") == []
        # One more labeler gets the query, and no further one.
        assert len(await scene.lease(session_id, "bob")) == 1
        assert await scene.lease(session_id, "cem") == []

    play(redis_url, act)


def test_labelers_get_other_queries_while_votes_are_awaited(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, overlap=2, overlap_limit=3)
        for row in range(3):
            assert (await scene.vote(session_id, "ann", INLIER)).row == row
            scene.worker.work_off()
        # The budget counts observations: ann has answered all, bob can answer three.
        assert await scene.lease(session_id, "ann", most=9) == []
        assert (await scene.counts(session_id)).total == 3
        assert await scene.awaiting(session_id) == 3
        assert (await scene.sessions.get(session_id)).state is SessionState.LABELING
        held = await scene.lease(session_id, "bob", most=9)
        assert sorted(lease.row for lease in held) == [0, 1, 2]
        for lease in held:
            await scene.answer(session_id, lease, labeler="bob")
        session = await scene.sessions.get(session_id)
        assert (session.state, session.awaiting_votes) == (SessionState.ESTIMATING, 0)
        assert session.finish_reason == "BUDGET_SPENT"

    play(redis_url, act)


# What counts


def test_first_vote_is_the_label_until_a_second_ties(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1, overlap=2, overlap_limit=3)
        await scene.vote(session_id, "ann", OUTLIER)
        assert await scene.counts(session_id) == LabelCounts(outlier=1)
        assert await scene.awaiting(session_id) == 1
        await scene.vote(session_id, "bob", INLIER)
        assert await scene.counts(session_id) == LabelCounts()
        # A tie is no label, so no labelled row awaits a vote, but the query stays open.
        assert await scene.awaiting(session_id) == 0
        await scene.vote(session_id, "cem", INLIER)
        assert await scene.counts(session_id) == LabelCounts(inlier=1)

    play(redis_url, act)


@pytest.mark.parametrize(
    ("overlap", "limit", "verdicts", "end"),
    [
        (2, 2, [INLIER, OUTLIER], LabelCounts(unsure=1)),
        (2, 2, [UNSURE, UNSURE], LabelCounts(unsure=1)),
        (2, 3, [INLIER, OUTLIER, UNSURE], LabelCounts(unsure=1)),
        (2, 4, [INLIER, OUTLIER, UNSURE, OUTLIER], LabelCounts(outlier=1)),
        (2, 4, [INLIER, OUTLIER, OUTLIER], LabelCounts(outlier=1)),
        (2, 3, [UNSURE, UNSURE, INLIER], LabelCounts(inlier=1)),
        # An unsure vote counts as a vote, but for neither label.
        (2, 3, [UNSURE, INLIER], LabelCounts(inlier=1)),
        (3, 3, [INLIER, OUTLIER, OUTLIER], LabelCounts(outlier=1)),
        (3, 4, [INLIER, OUTLIER, UNSURE, INLIER], LabelCounts(inlier=1)),
        (1, 2, [UNSURE, OUTLIER], LabelCounts(outlier=1)),
        (1, 1, [UNSURE], LabelCounts(unsure=1)),
    ],
)
def test_ties_and_unsure_ask_one_more_up_to_the_limit(
    redis_url: str, overlap: int, limit: int, verdicts: list[Verdict], end: LabelCounts
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, overlap=overlap, overlap_limit=limit)
        for name, verdict in zip(NAMES, verdicts, strict=False):
            assert (await scene.vote(session_id, name, verdict)).query == 1
        assert await scene.counts(session_id) == end
        assert await scene.awaiting(session_id) == 0
        # The query is settled: nobody gets it again.
        scene.worker.work_off()
        assert [one.query for one in await scene.lease(session_id, "zoe", most=9)] != [1]

    play(redis_url, act)


def test_late_vote_counts_if_overlap_still_needs_it(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, overlap=2, overlap_limit=2)
        (late,) = await scene.lease(session_id, "ann")
        await scene.run_out(session_id)
        (bob,), (cem,) = await scene.lease(session_id, "bob"), await scene.lease(session_id, "cem")
        assert bob.query == cem.query == late.query
        await scene.answer(session_id, bob, labeler="bob")
        assert (await scene.answer(session_id, late, labeler="ann")).applied
        # Two votes settled the query, so the third labeler has lost its lease and is too late.
        assert await scene.awaiting(session_id) == 0
        assert (await scene.sessions.get(session_id)).leased_count == 0
        assert not (await scene.answer(session_id, cem, OUTLIER, labeler="cem")).applied
        assert await scene.counts(session_id) == LabelCounts(inlier=1)

    play(redis_url, act)


# The adaptive rule


@pytest.mark.parametrize(
    ("predicted", "first", "asks_again"),
    [
        (1, INLIER, False),
        (1, OUTLIER, True),
        (-1, OUTLIER, False),
        (-1, INLIER, True),
        (1, UNSURE, True),
        (0, UNSURE, True),
        (0, INLIER, False),
        (0, OUTLIER, False),
    ],
)
def test_adaptive_overlap_seeks_second_vote_if_first_contradicts_prediction(
    redis_url: str, predicted: int, first: Verdict, asks_again: bool
) -> None:
    async def act(scene: Scene) -> None:
        scene.worker.predicts = predicted
        session_id = await scene.session(
            budget=1, overlap=2, overlap_rule="adaptive", overlap_limit=3
        )
        (held,) = await scene.lease(session_id, "ann")
        # Before the first vote only one labeler is asked.
        assert await scene.lease(session_id, "bob") == []
        await scene.answer(session_id, held, first)
        session = await scene.sessions.get(session_id)
        assert session.state is (SessionState.LABELING if asks_again else SessionState.ESTIMATING)
        assert len(await scene.lease(session_id, "bob")) == int(asks_again)

    play(redis_url, act)


def test_corrected_first_vote_that_agrees_needs_no_second(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        scene.worker.predicts = 1
        session_id = await scene.session(
            budget=1, overlap=2, overlap_rule="adaptive", overlap_limit=3
        )
        lease = await scene.vote(session_id, "ann", OUTLIER)
        await scene.lease(session_id, "bob")
        await scene.answer(session_id, lease.row, INLIER, replace=True)
        session = await scene.sessions.get(session_id)
        assert (session.state, session.leased_count) == (SessionState.ESTIMATING, 0)

    play(redis_url, act)


# Skips


def test_skip_to_others_keeps_leases_of_other_labelers(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1, overlap=2, overlap_limit=2)
        (ann,), (bob,) = await scene.lease(session_id, "ann"), await scene.lease(session_id, "bob")
        await scene.skip(session_id, ann, SkipMode.OTHERS)
        assert await scene.lease(session_id, "bob") == [bob]
        assert await scene.lease(session_id, "ann") == []
        assert [one.query for one in await scene.lease(session_id, "cem")] == [ann.query]

    play(redis_url, act)


def test_missing_vote_of_query_skipped_for_later_comes_after_new_queries(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, overlap=2, overlap_limit=2)
        (ann,), (bob,) = await scene.lease(session_id, "ann"), await scene.lease(session_id, "bob")
        await scene.skip(session_id, ann, SkipMode.LATER)
        assert await scene.lease(session_id, "bob") == [bob]
        (new,) = await scene.lease(session_id, "ann")
        assert new.query != ann.query
        # The budget allows no new query, so the old one is asked again.
        held = await scene.lease(session_id, "ann", most=2)
        assert [one.query for one in held] == [ann.query, new.query]

    play(redis_url, act)


def test_dropped_query_closes_for_all_and_keeps_its_vote(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, overlap=3, overlap_limit=3)
        lease = await scene.vote(session_id, "ann", OUTLIER)
        (bob,), (cem,) = await scene.lease(session_id, "bob"), await scene.lease(session_id, "cem")
        await scene.skip(session_id, bob, SkipMode.DROP, labeler="bob")
        session = await scene.sessions.get(session_id)
        assert (session.leased_count, session.awaiting_votes) == (0, 0)
        assert session.counts == LabelCounts(outlier=1)
        # Later votes do not open the query again.
        await scene.sessions.retract(session_id, answer_id="r", labeler="ann", row=lease.row)
        scene.worker.work_off()
        rows = {one.row for one in await scene.lease(session_id, "dan", most=9)}
        assert lease.row not in rows
        assert (await scene.answer(session_id, cem, INLIER, labeler="cem")).applied
        assert await scene.counts(session_id) == LabelCounts(inlier=1)
        assert await scene.awaiting(session_id) == 0

    play(redis_url, act)


def test_dropped_tie_is_unsure(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, overlap=2, overlap_limit=3)
        await scene.vote(session_id, "ann", INLIER)
        await scene.vote(session_id, "bob", OUTLIER)
        (third,) = await scene.lease(session_id, "cem")
        await scene.skip(session_id, third, SkipMode.DROP, labeler="cem")
        assert await scene.counts(session_id) == LabelCounts(unsure=1)

    play(redis_url, act)
