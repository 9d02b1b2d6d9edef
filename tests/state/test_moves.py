"""Python and Lua allow the same transitions of sessions."""

from collections.abc import Awaitable, Callable

import pytest
from tests.state.scene import Scene, play

from svddtune.state import keys
from svddtune.state.errors import InvalidInput, WrongState
from svddtune.state.session import TRANSITIONS, SessionId, SessionState, Verdict
from svddtune.state.store import SessionStore

pytestmark = pytest.mark.integration

VERBS: dict[str, Callable[[SessionStore, SessionId], Awaitable[None]]] = {
    "pause": SessionStore.pause,
    "resume": SessionStore.resume,
    "finish": SessionStore.finish,
    "cancel": SessionStore.cancel,
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("start", SessionState)
def test_every_verb_in_every_state_makes_a_legal_transition_or_none(
    redis_url: str, start: SessionState, verb: str
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.client.hset(keys.session(session_id), "state", start.value)
        refused = None
        try:
            await VERBS[verb](scene.sessions, session_id)
        except WrongState as error:
            refused = error
        if refused:
            assert refused.reason == "ILLEGAL_TRANSITION"
            assert start.value in refused.message
        end = (await scene.sessions.get(session_id)).state
        assert end == start or end in TRANSITIONS[start]

    play(redis_url, act)


def test_finish_pause_and_cancel_may_be_repeated(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        for verb in ("pause", "pause", "finish", "finish"):
            await VERBS[verb](scene.sessions, session_id)
        assert (await scene.sessions.get(session_id)).state is SessionState.ESTIMATING
        await scene.sessions.cancel(session_id)
        await scene.sessions.cancel(session_id)

    play(redis_url, act)


def test_completed_session_resumes_with_larger_budget(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, initial={0: Verdict.INLIER, 1: Verdict.OUTLIER})
        with pytest.raises(WrongState) as refused:
            await scene.sessions.resume(session_id)
        assert refused.value.reason == "BUDGET_SPENT"
        await scene.sessions.update(session_id, budget=3)
        await scene.sessions.resume(session_id)
        scene.worker.work_off()
        (lease,) = await scene.lease(session_id)
        await scene.answer(session_id, lease)
        scene.worker.work_off()
        assert (await scene.sessions.get(session_id)).revision == 2

    play(redis_url, act)


@pytest.mark.parametrize(("budget", "reason"), [(13, "BUDGET_TOO_LARGE"), (1, "BUDGET_TOO_SMALL")])
def test_impossible_budget_is_refused(redis_url: str, budget: int, reason: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=6, initial={0: Verdict.INLIER, 1: Verdict.OUTLIER})
        with pytest.raises(InvalidInput) as refused:
            await scene.sessions.update(session_id, budget=budget)
        assert refused.value.reason == reason
        assert str(budget) in refused.value.message

    play(redis_url, act)


def test_cancel_during_estimate_stores_no_result(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.sessions.finish(session_id)
        claim = scene.worker.next_claim()
        assert claim is not None
        await scene.sessions.cancel(session_id)
        scene.worker.do(claim)
        assert scene.worker.work_off() == []
        session = await scene.sessions.get(session_id)
        assert (session.state, session.revision) == (SessionState.CANCELLED, 0)

    play(redis_url, act)


def test_deleted_session_leaves_no_key_and_its_running_jobs_commit_nothing(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.answered_session()
        claim = scene.worker.next_claim()
        assert claim is not None
        await scene.sessions.delete(session_id)
        assert scene.worker.workspace.snapshot(claim) is None
        scene.worker.workspace.commit_nothing(claim)
        await scene.datasets.delete(scene.dataset_id)
        left = [key.decode() async for key in scene.client.scan_iter()]
        assert [key for key in left if ":s:" in key or ":d:" in key] == []

    play(redis_url, act)
