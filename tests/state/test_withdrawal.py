"""Withdrawing and reinstating a labeler: the effect on labels, queries, leases and notices."""

import pytest
from tests.state.scene import Scene, lease_request, play

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state.errors import NotFound, WrongState
from svddtune.state.session import LabelCounts, SessionState, SkipMode, Verdict

pytestmark = pytest.mark.integration

INLIER, OUTLIER = Verdict.INLIER, Verdict.OUTLIER
PREVIEW_ID = "5f0c2f0e00004000800000000000000a"


def test_withdrawal_revokes_leases_and_their_queries_go_to_waiters(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3)
        vote = await scene.vote(session_id, "bob", OUTLIER)
        scene.worker.work_off()
        (one,) = await scene.lease(session_id, "bob", stream="one")
        (call,) = await scene.lease(session_id, "bob")
        for name in ("ann", "bob"):
            assert await scene.lease(session_id, name, most=9, stream="s", waits=True) == []
        seen = len(await scene.notices(session_id))

        await scene.sessions.withdraw(session_id, "bob", by="owner")
        # A notice names all of bob's holders, even one without leases; ann gets his query at once.
        told = set.union(*(await scene.notices(session_id))[seen:])
        assert told == {"bob/one", "bob/", "bob/s", "ann/s"}
        queries = {vote.query, one.query, call.query}
        assert set(await scene.held(session_id, "ann/s")) == queries
        assert (await scene.sessions.get(session_id)).leased_count == 3

        # Bob's leases are lost, and he gets no new ones.
        receipt = await scene.sessions.extend(
            session_id, holder="bob/", labeler="bob", lease_ids=[call.lease_id]
        )
        assert receipt.lost == (call.lease_id,)
        with pytest.raises(WrongState) as refused:
            await scene.skip(session_id, call, SkipMode.LATER, labeler="bob")
        assert refused.value.reason == "LEASE_LOST"
        outcome = await scene.sessions.lease(
            session_id, lease_request("bob", stream="one"), waits=True
        )
        assert (outcome.withdrawn, outcome.leases) == (True, ())
        assert not (await scene.sessions.lease(session_id, lease_request("ann"))).withdrawn

    play(redis_url, act)


def test_withdrawn_labeler_is_refused_whatever_it_answers(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=6)
        first, second = await scene.lease(session_id, "bob", most=2)
        stored = await scene.answer(session_id, first, labeler="bob", answer_id="before")
        await scene.sessions.withdraw(session_id, "bob", by="owner")
        log = await scene.sessions.label_events(session_id)
        for answered in (second, first.row, 11):
            for correction in (False, True):
                with pytest.raises(WrongState) as refused:
                    await scene.answer(session_id, answered, labeler="bob", replace=correction)
                assert refused.value.reason == "LABELER_WITHDRAWN"
        # Repeating an earlier answer still gets its receipt.
        again = await scene.answer(session_id, first, labeler="bob", answer_id="before")
        assert again == stored
        assert await scene.sessions.label_events(session_id) == log
        assert (log[-1].kind, log[-1].labeler, log[-1].source_reference) == (
            "WITHDRAWN", "bob", "by owner",
        )  # fmt: skip

    play(redis_url, act)


def test_waiting_withdrawn_labeler_is_asked_once_reinstated(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=4)
        vote = await scene.vote(session_id, "bob")
        await scene.sessions.withdraw(session_id, "bob", by="owner")
        assert await scene.lease(session_id, "bob", most=2, stream="s", waits=True) == []
        scene.worker.work_off()
        assert (await scene.sessions.get(session_id)).leased_count == 0
        await scene.sessions.reinstate(session_id, "bob", by="owner")
        scene.worker.work_off()
        assert len(await scene.held(session_id, "bob/s")) == 2
        assert "bob/s" in (await scene.notices(session_id))[-1]
        # Its vote counts again, so it does not get the row that it has answered.
        rows = {lease.row for lease in await scene.lease(session_id, "bob", most=2, stream="s")}
        assert vote.row not in rows

    play(redis_url, act)


def test_withdrawal_may_end_session(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        scene.worker.predicts = 1
        session_id = await scene.session(
            budget=1, overlap=2, overlap_limit=3, overlap_rule="adaptive"
        )
        await scene.vote(session_id, "ann", OUTLIER)
        await scene.vote(session_id, "bob", INLIER)
        assert await scene.state(session_id) is SessionState.LABELING
        # Without ann's vote bob's is the first, and it equals the prediction.
        effect = await scene.sessions.withdraw(session_id, "ann", by="owner")
        assert (effect.labels_gained, effect.queries_reopened) == (1, 0)
        assert await scene.state(session_id) is SessionState.ESTIMATING
        assert (await scene.sessions.get(session_id)).finish_reason == "BUDGET_SPENT"

    play(redis_url, act)


def test_labels_withdrawn_after_completion_are_asked_again_once_resumed(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2)
        for name in ("ann", "bob"):
            vote = await scene.vote(session_id, name, OUTLIER)
            scene.worker.work_off()
        assert await scene.state(session_id) is SessionState.COMPLETED
        effect = await scene.sessions.withdraw(session_id, "bob", by="owner")
        assert (effect.labels_lost, effect.queries_reopened) == (1, 1)
        # State and result stay until the session is resumed.
        assert scene.worker.work_off() == []
        session = await scene.sessions.get(session_id)
        assert (session.state, session.revision) == (SessionState.COMPLETED, 1)
        assert session.counts == LabelCounts(outlier=1)
        assert await scene.lease(session_id, "ann") == []

        await scene.sessions.resume(session_id)
        assert (await scene.vote(session_id, "ann", INLIER)).query == vote.query
        scene.worker.work_off()
        session = await scene.sessions.get(session_id)
        assert (session.state, session.revision) == (SessionState.COMPLETED, 2)
        assert session.counts == LabelCounts(inlier=1, outlier=1)

    play(redis_url, act)


def test_reinstated_votes_join_votes_given_meanwhile(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3)
        vote = await scene.vote(session_id, "bob", OUTLIER)
        await scene.sessions.withdraw(session_id, "bob", by="owner")
        assert (await scene.vote(session_id, "ann", INLIER)).query == vote.query
        effect = await scene.sessions.reinstate(session_id, "bob", by="owner")
        # One vote was sought, and two contradict each other.
        assert effect.labels_changed == 1
        assert await scene.counts(session_id) == LabelCounts(unsure=1)

    play(redis_url, act)


def test_withdrawing_labeler_without_answers_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, initial={11: OUTLIER})
        await scene.lease(session_id, "ann")
        acts = (scene.sessions.withdraw, scene.sessions.reinstate)
        for name in ("nobody", "ann"):
            for change in acts:
                with pytest.raises(NotFound) as refused:
                    await change(session_id, name, by="owner")
                assert refused.value.reason == "UNKNOWN_LABELER"
        # A labeler without votes in force can be withdrawn if it has voted before.
        await scene.answer(session_id, 10, labeler="bob")
        await scene.sessions.retract(session_id, answer_id="r", labeler="bob", row=10)
        assert (await scene.sessions.withdraw(session_id, "bob", by="owner")).votes == 0
        assert await scene.sessions.withdrawn(session_id) == {"bob"}
        # Initial labels are votes too.
        effect = await scene.sessions.withdraw(session_id, "initial", by="owner")
        assert (effect.votes, effect.labels_lost, effect.queries_reopened) == (1, 1, 0)

    play(redis_url, act)


@pytest.mark.parametrize("verb", ["finish", "cancel"])
def test_estimating_or_failed_session_refuses_withdrawal(redis_url: str, verb: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.vote(session_id, "ann")
        await getattr(scene.sessions, verb)(session_id)
        for change in (scene.sessions.withdraw, scene.sessions.reinstate):
            with pytest.raises(WrongState) as refused:
                await change(session_id, "ann", by="owner")
            assert refused.value.reason == "SESSION_NOT_ACTIVE"

    play(redis_url, act)


def test_computed_preview_is_kept_for_its_request_and_leaves_session_unchanged(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.vote(session_id, "ann")
        scene.worker.work_off()
        before = await scene.sessions.get(session_id)
        before = await scene.sessions.get(session_id)
        await scene.sessions.preview_withdrawal(session_id, "ann", PREVIEW_ID)
        assert await scene.sessions.preview(session_id, PREVIEW_ID) is None
        claim = scene.worker.next_claim()
        assert claim is not None
        assert (claim.kind, claim.job.preview.labeler) == ("PREVIEW", "ann")
        computed = jobs_pb2.Preview()
        scene.worker.workspace.commit_preview(claim, computed)
        assert await scene.sessions.preview(session_id, PREVIEW_ID) == computed
        # The preview leaves the session unchanged, even its version.
        assert await scene.sessions.get(session_id) == before
        # The session is unchanged.
        assert await scene.sessions.get(session_id) == before

    play(redis_url, act)
