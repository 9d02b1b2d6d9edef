"""``svddtune jobs`` shows jobs wherever they are, and lets dead letters be tried again."""

import json
from typing import Any

import pytest
from tests.state.lost_replies import claim_of, new
from tests.state.scene import Scene, play
from tests.state.worker_loss import silence_all

from svddtune.client.cli.app import run
from svddtune.state.session import SessionId, SessionState

pytestmark = pytest.mark.integration


@pytest.fixture
def jobs(redis_url: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run ``svddtune jobs`` with arguments; its JSON document."""

    def call(*arguments: str) -> Any:
        assert run(["jobs", *arguments, "--redis", redis_url, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def die(scene: Scene, kind: str) -> None:
    """Give up the next job of a kind, as a worker does for which it can never succeed."""
    claim = claim_of(scene, kind)
    assert scene.worker.queue.fail(claim, "JOB_FAILED", f"{kind} broke.", final=True)


async def state_of(scene: Scene, session_id: SessionId) -> SessionState:
    return (await scene.sessions.get(session_id)).state


def test_jobs_are_shown_in_every_state(redis_url: str, jobs: Any) -> None:
    async def act(scene: Scene) -> None:
        assert jobs("list") == {"jobs": []}
        session_id = await scene.answered_session()
        (queued,) = jobs("list")["jobs"]
        assert (queued["state"], queued["kind"], queued["lane"]) == ("queued", "SUGGEST", "hi")
        claim = scene.worker.next_claim()
        assert claim is not None
        (running,) = jobs("list")["jobs"]
        assert (running["state"], running["session_id"]) == ("running", session_id)
        assert running["worker"] == scene.worker.queue.consumer
        scene.worker.queue.fail(claim, "JOB_FAILED", "Once.")
        (paused,) = jobs("list")["jobs"]
        assert (paused["state"], paused["lane"], paused["errors"]) == ("paused", "hi", 1)
        await new(scene)
        die(scene, "SUGGEST")
        (dead,) = jobs("list", "--state", "dead")["jobs"]
        assert (dead["kind"], dead["reason"]) == ("SUGGEST", "JOB_FAILED")
        assert dead["message"] == "SUGGEST broke."

    play(redis_url, act)


def test_table_fits_80_columns(redis_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    async def act(scene: Scene) -> None:
        await new(scene)
        die(scene, "PREPARE")
        await scene.answered_session()
        assert scene.worker.next_claim() is not None
        silence_all(scene.worker)
        scene.worker.queue.recover()
        assert run(["jobs", "list", "--redis", redis_url]) == 0
        text = capsys.readouterr().out
        assert "PREPARE broke." in " ".join(text.split())
        assert "lost 1" in " ".join(text.split())
        assert all(len(line) <= 80 for line in text.splitlines())

    play(redis_url, act)


@pytest.mark.parametrize("kind", ["PREPARE", "SUGGEST", "PLAN", "FIT", "ESTIMATE"])
def test_session_whose_job_is_retried_ends_as_if_it_had_not_failed(
    redis_url: str, jobs: Any, kind: str
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await new(scene)
        if kind != "PREPARE":
            scene.worker.work_off()
            (lease,) = await scene.lease(session_id)
            await scene.answer(session_id, lease)
        if kind in ("PLAN", "FIT", "ESTIMATE"):
            scene.worker.work_off()
            await scene.sessions.finish(session_id)
        die(scene, kind)
        assert await state_of(scene, session_id) is SessionState.FAILED
        before = await scene.sessions.get(session_id)
        (done,) = jobs("retry", "--all")["retried"]
        assert done["sessions"] == [session_id]
        assert jobs("list", "--state", "dead") == {"jobs": []}
        scene.worker.work_off()
        after = await scene.sessions.get(session_id)
        assert after.failure is None
        assert after.counts == before.counts
        if kind in ("PLAN", "FIT", "ESTIMATE"):
            assert after.state is SessionState.COMPLETED
            return
        assert after.state is SessionState.LABELING
        while leases := await scene.lease(session_id):
            await scene.answer(session_id, leases[0])
            scene.worker.work_off()
        assert await state_of(scene, session_id) is SessionState.COMPLETED

    play(redis_url, act)


def test_retry_leaves_a_session_alone_that_was_resumed_or_failed_otherwise(
    redis_url: str, jobs: Any
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.answered_session()
        die(scene, "SUGGEST")
        await scene.sessions.resume(session_id)
        version = (await scene.sessions.get(session_id)).version
        (done,) = jobs("retry", "--all")["retried"]
        assert done["sessions"] == []
        assert (await scene.sessions.get(session_id)).version == version

    play(redis_url, act)


def test_dropped_letter_is_gone_and_its_session_stays_failed(redis_url: str, jobs: Any) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.answered_session()
        die(scene, "SUGGEST")
        (dead,) = jobs("list")["jobs"]
        assert jobs("drop", dead["id"]) == {"dropped": [dead["id"]]}
        assert jobs("list") == {"jobs": []}
        assert await state_of(scene, session_id) is SessionState.FAILED

    play(redis_url, act)


@pytest.mark.parametrize("verb", ["retry", "drop"])
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "Give the ids of dead letters, or --all"),
        (("p00-1-1", "--all"), 2, "Give the ids of dead letters, or --all"),
        (("7",), 2, "not the id of a dead letter: '7'"),
        (("p00-1-1",), 1, "There is no dead letter p00-1-1"),
    ],
)
def test_mistake_is_one_line(
    redis_url: str,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    arguments: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    assert run(["jobs", verb, *arguments, "--redis", redis_url]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
