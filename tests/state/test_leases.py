"""Leases: which labeler gets which query, and how leases end."""

from dataclasses import replace

import pytest
from tests.state.scene import Scene, play

from svddtune.state.errors import NotFound, WrongState
from svddtune.state.session import SessionId, SessionState, SkipMode, Verdict

pytestmark = pytest.mark.integration


def test_two_labelers_never_get_the_same_query(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        ann = await scene.lease(session_id, "ann", most=2)
        bob = await scene.lease(session_id, "bob", most=2)
        assert [one.row for one in ann] == [0, 1]
        assert [one.row for one in bob] == [2, 3]

    play(redis_url, act)


def test_repeated_lease_call_returns_leases_already_held(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        assert await scene.lease(session_id) == await scene.lease(session_id)

    play(redis_url, act)


def test_open_queries_never_exceed_remaining_budget(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, initial={11: Verdict.OUTLIER})
        assert len(await scene.lease(session_id, most=10)) == 2

    play(redis_url, act)


def test_strict_order_waits_for_ranking_of_latest_labels(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (first,) = await scene.lease(session_id)
        await scene.answer(session_id, first)
        assert await scene.lease(session_id) == []
        assert scene.worker.work_off() == ["SUGGEST"]
        assert len(await scene.lease(session_id)) == 1

    play(redis_url, act)


def test_query_of_expired_lease_goes_first_to_the_next_labeler(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        lost = await scene.lease(session_id, "ann", most=2)
        await scene.run_out(session_id)
        taken = await scene.lease(session_id, "bob", most=2)
        assert [one.query for one in taken] == [one.query for one in lost]
        assert {one.lease_id for one in taken}.isdisjoint({one.lease_id for one in lost})

    play(redis_url, act)


def test_late_answer_counts_while_the_query_is_open(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id, "ann")
        await scene.run_out(session_id)
        await scene.lease(session_id, "bob")
        receipt = await scene.answer(session_id, lease, labeler="ann")
        assert receipt.applied
        # This ends Bob's lease on the same query.
        session = await scene.sessions.get(session_id)
        assert session.leased_count == 0

    play(redis_url, act)


def test_answer_after_that_of_another_labeler_is_recorded_as_unused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (old,) = await scene.lease(session_id, "ann")
        await scene.run_out(session_id)
        (new,) = await scene.lease(session_id, "bob")
        await scene.answer(session_id, new, Verdict.OUTLIER, labeler="bob")
        receipt = await scene.answer(session_id, old, Verdict.INLIER, labeler="ann")
        assert not receipt.applied
        assert receipt.counts.outlier == 1
        assert receipt.counts.inlier == 0
        kinds = [event.kind for event in await scene.sessions.label_events(session_id)]
        assert kinds == ["LABELED", "UNUSED"]

    play(redis_url, act)


def test_extend_moves_the_expiry_and_names_lost_leases(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=100)
        (lease,) = await scene.lease(session_id)
        receipt = await scene.sessions.extend(
            session_id, holder="ann/", labeler="ann", lease_ids=[lease.lease_id, "unknown"]
        )
        assert receipt.extended[lease.lease_id] >= lease.expires_ms
        assert receipt.lost == ("unknown",)
        (again,) = await scene.lease(session_id)
        assert receipt.extended == {lease.lease_id: again.expires_ms}

    play(redis_url, act)


def test_released_query_goes_to_the_next_labeler(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id, "ann")
        assert (await scene.sessions.release(session_id, holder="ann/")).lost == ()
        (taken,) = await scene.lease(session_id, "bob")
        assert taken.query == lease.query

    play(redis_url, act)


def test_query_skipped_to_others_never_returns_to_that_labeler(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1)
        (lease,) = await scene.lease(session_id, "ann")
        await scene.skip(session_id, lease, SkipMode.OTHERS)
        assert await scene.lease(session_id, "ann") == []
        (taken,) = await scene.lease(session_id, "bob")
        assert taken.query == lease.query

    play(redis_url, act)


def test_query_skipped_for_later_comes_after_new_queries(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2)
        (first,) = await scene.lease(session_id)
        await scene.skip(session_id, first, SkipMode.LATER)
        (second,) = await scene.lease(session_id)
        assert second.query != first.query
        await scene.answer(session_id, second)
        (third,) = await scene.lease(session_id)
        assert third.query == first.query

    play(redis_url, act)


def test_dropped_observation_is_not_asked_again(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        await scene.skip(session_id, lease, SkipMode.DROP)
        scene.worker.work_off()
        rows = {one.row for one in await scene.lease(session_id, most=20)}
        assert lease.row not in rows

    play(redis_url, act)


def test_skip_without_the_lease_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        with pytest.raises(WrongState) as refused:
            await scene.skip(session_id, replace(lease, lease_id="x"), SkipMode.LATER)
        assert refused.value.reason == "LEASE_LOST"

    play(redis_url, act)


def test_paused_session_leases_no_query_and_accepts_answers(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id, "ann")
        await scene.sessions.pause(session_id)
        assert await scene.lease(session_id, "bob") == []
        assert (await scene.answer(session_id, lease)).applied
        await scene.sessions.resume(session_id)
        scene.worker.work_off()
        assert len(await scene.lease(session_id, "bob")) == 1

    play(redis_url, act)


def test_session_ends_once_no_observation_is_left(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12)
        for _ in range(12):
            (lease,) = await scene.lease(session_id)
            await scene.answer(session_id, lease, Verdict.UNSURE)
            scene.worker.work_off()
        session = await scene.sessions.get(session_id)
        assert session.finish_reason == "POOL_EXHAUSTED"
        assert session.state is SessionState.COMPLETED
        assert session.counts.unsure == 12

    play(redis_url, act)


def test_lease_of_unknown_session_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(NotFound) as refused:
            await scene.lease(SessionId("p00-0123456789abcdef0123"))
        assert refused.value.reason == "SESSION_NOT_FOUND"

    play(redis_url, act)


def test_new_ranking_leases_next_query_to_labeler_that_answered(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (first,) = await scene.lease(session_id)
        await scene.answer(session_id, first, want=2)
        assert (await scene.sessions.get(session_id)).leased_count == 0
        scene.worker.work_off()
        before = await scene.sessions.get(session_id)
        assert before.leased_count == 2
        held = await scene.lease(session_id, most=2)
        assert [one.row for one in held] == [1, 2]
        # The call wrote nothing, so it waited for no sync.
        assert (await scene.sessions.get(session_id)).version == before.version

    play(redis_url, act)


def test_labeler_that_left_gets_no_query_of_new_ranking(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (first,) = await scene.lease(session_id)
        await scene.answer(session_id, first, want=1)
        await scene.sessions.release(session_id, holder="ann/")
        scene.worker.work_off()
        assert (await scene.sessions.get(session_id)).leased_count == 0

    play(redis_url, act)
