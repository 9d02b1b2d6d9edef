"""Only a lease's labeler can use it, and a repeated call has one effect."""

import pytest
from tests.state.scene import Scene, play

from svddtune.state.errors import TooLarge, WrongState
from svddtune.state.session import LabelCounts, SkipMode, Verdict

pytestmark = pytest.mark.integration

INLIER, OUTLIER = Verdict.INLIER, Verdict.OUTLIER
MOST_CORRECTIONS = 100


@pytest.mark.parametrize("run_out", [False, True], ids=["held", "run out"])
def test_answer_under_the_lease_of_another_labeler_is_refused(
    redis_url: str, run_out: bool
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id, "ann")
        if run_out:
            await scene.run_out(session_id)
            await scene.sessions.expire(session_id)
        with pytest.raises(WrongState) as refused:
            await scene.answer(session_id, lease, OUTLIER, labeler="bob")
        assert refused.value.reason == "LEASE_LOST"
        assert await scene.counts(session_id) == LabelCounts()
        assert await scene.sessions.label_events(session_id) == []
        assert (await scene.answer(session_id, lease, INLIER, labeler="ann")).applied

    play(redis_url, act)


@pytest.mark.parametrize("mode", list(SkipMode))
def test_skip_under_the_lease_of_another_labeler_is_refused(redis_url: str, mode: SkipMode) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id, "ann")
        with pytest.raises(WrongState) as refused:
            await scene.skip(session_id, lease, mode, "bob")
        assert refused.value.reason == "LEASE_LOST"
        assert await scene.lease(session_id, "ann") == [lease]

    play(redis_url, act)


def test_extend_and_release_of_lease_of_another_labeler_report_it_lost(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id, "ann")
        ids = [lease.lease_id]
        extended = await scene.sessions.extend(
            session_id, holder="bob/", labeler="bob", lease_ids=ids
        )
        released = await scene.sessions.release(session_id, holder="bob/", lease_ids=ids)
        assert extended.lost == released.lost == (lease.lease_id,)
        assert await scene.lease(session_id, "ann") == [lease]

    play(redis_url, act)


@pytest.mark.parametrize("mode", list(SkipMode))
def test_repeated_skip_has_one_effect(redis_url: str, mode: SkipMode) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        first = await scene.skip(session_id, lease, mode)
        # The labeler's current lease stays, even if it is on the same query.
        held = await scene.lease(session_id)
        assert await scene.skip(session_id, lease, mode) == first
        assert await scene.lease(session_id) == held
        other = SkipMode.LATER if mode is not SkipMode.LATER else SkipMode.OTHERS
        with pytest.raises(WrongState) as refused:
            await scene.skip(session_id, lease, other)
        assert refused.value.reason == "LEASE_LOST"

    play(redis_url, act)


def test_repeated_release_reports_no_lost_lease(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        ids = [lease.lease_id]
        released = await scene.sessions.release(session_id, holder="ann/", lease_ids=ids)
        assert released.lost == ()
        held = await scene.lease(session_id, "ann")
        assert await scene.sessions.release(session_id, holder="ann/", lease_ids=ids) == released
        assert await scene.lease(session_id, "ann") == held
        # An expired lease was not released.
        await scene.run_out(session_id)
        ids = [held[0].lease_id]
        lost = (await scene.sessions.release(session_id, holder="ann/", lease_ids=ids)).lost
        assert lost == (held[0].lease_id,)

    play(redis_url, act)


def test_query_leased_and_released_repeatedly_stays_small(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1, overlap=2, overlap_limit=2)
        (kept,) = await scene.lease(session_id, "ann")
        seen = set()
        for _ in range(120):
            (lease,) = await scene.lease(session_id, "bob")
            seen.add(lease.lease_id)
            await scene.sessions.release(session_id, holder="bob/")
        assert len(seen) == 120
        # The lease that is still held stays known.
        assert (await scene.answer(session_id, kept, labeler="ann")).applied
        key = f"svddtune:{{p00}}:s:{session_id}:queries"
        assert len(await scene.client.hget(key, str(kept.query))) < 6000

    play(redis_url, act)


def test_corrections_of_one_row_by_one_labeler_are_bounded(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.answer(session_id, 7, INLIER)
        for turn in range(MOST_CORRECTIONS - 1):
            verdict = (OUTLIER, INLIER)[turn % 2]
            await scene.answer(session_id, 7, verdict, replace=True)
        await scene.sessions.retract(session_id, answer_id="r1", labeler="ann", row=7)
        await scene.answer(session_id, 7, OUTLIER, answer_id="last")
        before = await scene.sessions.get(session_id)
        # The first votes before and after the retraction do not count towards the limit.
        assert len(await scene.sessions.label_events(session_id)) == MOST_CORRECTIONS + 2
        with pytest.raises(TooLarge) as refused:
            await scene.answer(session_id, 7, INLIER, replace=True)
        assert refused.value.reason == "TOO_MANY_CORRECTIONS"
        assert refused.value.metadata["most"] == str(MOST_CORRECTIONS)
        assert refused.value.metadata["row"] == "7"
        with pytest.raises(TooLarge):
            await scene.sessions.retract(session_id, answer_id="r2", labeler="ann", row=7)
        after = await scene.sessions.get(session_id)
        assert (after.version, after.counts) == (before.version, before.counts)
        # A repeated answer still gets its receipt. Other rows and labelers are not limited.
        assert (await scene.answer(session_id, 7, OUTLIER, answer_id="last")).applied
        await scene.answer(session_id, 8, INLIER)
        await scene.answer(session_id, 8, OUTLIER, replace=True)
        await scene.sessions.retract(session_id, answer_id="r3", labeler="bob", row=7, of="ann")

    play(redis_url, act)


def test_late_answers_of_one_labeler_on_one_row_are_bounded(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id, "ann")
        await scene.answer(session_id, lease.row, labeler="bob")
        for _ in range(MOST_CORRECTIONS):
            assert not (await scene.answer(session_id, lease, labeler="ann")).applied
        with pytest.raises(TooLarge) as refused:
            await scene.answer(session_id, lease, labeler="ann")
        assert refused.value.reason == "TOO_MANY_CORRECTIONS"
        assert len(await scene.sessions.label_events(session_id)) == MOST_CORRECTIONS + 1

    play(redis_url, act)


def test_deleted_session_leaves_no_count_of_corrections(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.answer(session_id, 7, INLIER)
        await scene.answer(session_id, 7, OUTLIER, replace=True)
        await scene.sessions.delete(session_id)
        assert await scene.client.keys("*corrections*") == []

    play(redis_url, act)
