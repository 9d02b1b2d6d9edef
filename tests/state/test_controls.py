"""Control items: who gets them, how many, and that they are no votes."""

from typing import Any

import pytest
from tests.state.scene import Scene, explanation_of, play
from tests.state.test_repeats import without_repeats

from svddtune.state import backup, keys
from svddtune.state.errors import WrongState
from svddtune.state.session import LabelCounts, Lease, SessionId, SessionState, SkipMode, Verdict

pytestmark = pytest.mark.integration

INLIER, OUTLIER, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE
KNOWN = {0: OUTLIER, 1: INLIER, 5: OUTLIER, 11: INLIER}


async def turns(scene: Scene, session_id: SessionId, labeler: str, count: int) -> list[int]:
    """Let a labeler answer so many queries, one after the other; return their rows."""
    rows = []
    for _ in range(count):
        (lease,) = await scene.lease(session_id, labeler)
        rows.append(lease.row)
        assert (await scene.answer(session_id, lease, labeler=labeler)).applied
        scene.worker.work_off()
    return rows


async def control(scene: Scene, session_id: SessionId, labeler: str = "ann") -> Lease:
    """Answer queries until the labeler holds a control item; return it."""
    known = await scene.sessions.controls(session_id)
    while True:
        (lease,) = await scene.lease(session_id, labeler)
        if lease.row in known:
            return lease
        await scene.answer(session_id, lease, labeler=labeler)
        scene.worker.work_off()


async def session(scene: Scene, **further: Any) -> SessionId:
    """Create a session with control items, of which half of the queries are."""
    settings: dict[str, Any] = {"controls": KNOWN, "budget": 12, "control_share": 0.5}
    return await scene.session(**settings | further)


def test_each_labeler_gets_each_control_item_once_at_the_given_share(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene, overlap=2, overlap_limit=2)
        of_ann = await turns(scene, session_id, "ann", 12)
        of_bob = await turns(scene, session_id, "bob", 6)
        # Half of them, at a place that is drawn within each pair; all are known once.
        for number in range(4):
            pair = of_ann[2 * number : 2 * number + 2]
            assert len(KNOWN.keys() & set(pair)) == 1
        assert [row for row in of_ann if row in KNOWN] != sorted(KNOWN)
        assert not KNOWN.keys() & set(of_ann[8:])
        first = [row for row in of_ann if row in KNOWN]
        assert [row for row in of_bob if row in KNOWN] == first[:3]
        assert (await scene.counts(session_id)).total == 8

    play(redis_url, act)


def test_seed_decides_what_is_asked(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        courses = [
            await turns(scene, await session(scene, seed=seed), "ann", 8) for seed in (3, 3, 4, 5)
        ]
        assert courses[0] == courses[1]
        assert len({tuple(one) for one in courses}) > 1

    play(redis_url, act)


def test_share_of_zero_asks_none_and_without_one_it_is_a_tenth(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        none = await session(scene, control_share=0.0)
        assert not KNOWN.keys() & set(await turns(scene, none, "ann", 8))
        some = await scene.session(controls={11: INLIER}, budget=12)
        assert (await turns(scene, some, "ann", 10)).count(11) == 1

    play(redis_url, act)


@pytest.mark.parametrize("verdict", [INLIER, OUTLIER, UNSURE])
def test_answer_to_control_item_changes_nothing_but_the_log(
    redis_url: str, verdict: Verdict
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene)
        lease = await control(scene, session_id)
        assert not lease.repeats
        before = await without_repeats(scene, session_id)
        assert (await scene.answer(session_id, lease, verdict)).applied
        assert await without_repeats(scene, session_id) == before
        event = (await scene.sessions.label_events(session_id))[-1]
        assert (event.kind, event.row, event.verdict) == ("CHECKED", lease.row, verdict)
        assert event.query == lease.query

    play(redis_url, act)


def test_control_item_is_shown_like_any_other_query(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene)
        lease = await control(scene, session_id)
        (shown,) = await scene.sessions.explanations(session_id, [lease.query])
        assert shown == explanation_of(lease.row).SerializeToString()

    play(redis_url, act)


@pytest.mark.parametrize("mode", SkipMode)
def test_skipped_control_item_goes_to_nobody_else(redis_url: str, mode: SkipMode) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene, controls={11: INLIER})
        lease = await control(scene, session_id)
        before = await without_repeats(scene, session_id)
        assert (await scene.skip(session_id, lease, mode)).applied
        assert await without_repeats(scene, session_id) == before
        assert 11 not in await turns(scene, session_id, "ann", 3)
        # Others still get it, as their own.
        assert (await control(scene, session_id, "bob")).row == 11

    play(redis_url, act)


def test_corrections_retractions_and_unasked_answers_are_no_votes_either(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene)
        lease = await control(scene, session_id)
        await scene.answer(session_id, lease, OUTLIER)
        before = await without_repeats(scene, session_id)
        assert (await scene.answer(session_id, lease.row, INLIER, replace=True)).applied
        receipts = [
            await scene.sessions.retract(session_id, answer_id="back", labeler="ann", row=lease.row)
            for _ in range(2)
        ]
        assert receipts[0] == receipts[1]
        assert (await scene.answer_batch(session_id, {lease.row: 1}, labeler="bob")).applied == 1
        assert await without_repeats(scene, session_id) == before
        log = await scene.sessions.label_events(session_id)
        assert [(one.kind, one.labeler, one.verdict) for one in log if one.row == lease.row] == [
            ("CHECKED", "ann", OUTLIER),
            ("CHECKED", "ann", INLIER),
            ("CHECKED", "ann", UNSURE),
            ("CHECKED", "bob", INLIER),
        ]

    play(redis_url, act)


def test_control_item_cannot_be_reopened(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene)
        with pytest.raises(WrongState) as refused:
            await scene.sessions.reopen(session_id, 11, by="owner")
        assert refused.value.reason == "NOTHING_TO_REOPEN"

    play(redis_url, act)


def test_leased_control_items_do_not_delay_the_end(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene, budget=3)
        lease = await control(scene, session_id)
        for row in (7, 8, 9):
            if await scene.state(session_id) is SessionState.LABELING:
                await scene.answer(session_id, row, labeler="bob")
        found = await scene.sessions.get(session_id)
        assert (found.state, found.leased_count) == (SessionState.ESTIMATING, 0)
        # A late answer is recorded.
        assert not (await scene.answer(session_id, lease)).applied
        assert (await scene.counts(session_id)) == LabelCounts(inlier=3)

    play(redis_url, act)


def test_all_observations_but_control_items_are_asked_about(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene)
        await turns(scene, session_id, "ann", 12)
        scene.worker.work_off()
        found = await scene.sessions.get(session_id)
        assert (found.state, found.finish_reason) == (SessionState.COMPLETED, "POOL_EXHAUSTED")
        assert found.counts == LabelCounts(inlier=8)

    play(redis_url, act)


def test_control_items_are_backed_up_and_deleted_with_the_session(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await session(scene)
        stored = backup.session(scene.worker.client, session_id)
        assert stored is not None
        kind, rows = stored.parts["controls"]
        assert (kind, sorted(map(int, rows))) == ("list", sorted(KNOWN))
        assert await scene.sessions.controls(session_id) == KNOWN
        await scene.sessions.delete(session_id)
        assert not await scene.client.exists(keys.session(session_id, "controls"))

    play(redis_url, act)
