"""Background tasks of a process: a failure is logged and the task is restarted."""

import asyncio
import json
import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.processes import service
from tests.service.harness import harness_at
from tests.state.scene import Scene, play
from tests.waiting import wait_until

from svddtune.service.background import lasting
from svddtune.service.reaper import Reaper
from svddtune.service.status import unbroken
from svddtune.state import keys
from svddtune.state.connect import connect, connect_async, connect_async_blocking
from svddtune.state.errors import NotFound, StoreUnavailable
from svddtune.state.notices import Notice, Notices
from svddtune.state.session import SessionId
from svddtune.state.store import SessionStore
from svddtune.v1 import config_pb2

pytestmark = pytest.mark.integration


def test_background_task_is_restarted_after_it_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    runs = 0

    async def run() -> None:
        nonlocal runs
        runs += 1
        if runs < 3:
            raise KeyError("unexpected")

    asyncio.run(lasting("The task", run, again_s=0.0))
    assert runs == 3
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    assert "The task failed" in caplog.text


def test_failing_listener_keeps_no_notice_from_others(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(notice: Notice | None) -> None:
        raise KeyError("unexpected")

    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        client = connect_async_blocking(redis_url)
        notices = Notices(client)
        running = asyncio.create_task(notices.run())
        with (
            notices.listening_to_all(fail),
            notices.listening(session_id, fail),
            notices.watching(session_id) as changed,
        ):
            await asyncio.wait_for(changed.wait(), 10)
            changed.clear()
            await scene.sessions.pause(session_id)
            await asyncio.wait_for(changed.wait(), 10)
        notices.stop()
        await running
        await client.aclose()

    play(redis_url, act)
    assert "a listener failed" in caplog.text


def test_service_goes_on_after_an_unreadable_notice(redis_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        service(redis_url, log=log) as process,
        harness_at(process.ready["address"], redis_url) as harness,
        connect(redis_url) as client,
    ):
        name = harness.create(config=config_pb2.SessionConfig(budget=2, lease_seconds=1)).name
        labeler = harness.labeler(name)
        labeler.expect("welcome")
        client.xadd(f"{keys.prefix(0)}notices", {"unknown": "1"})
        wait_until(lambda: "failed and will start again" in log.read_text())
        # What was changed meanwhile is seen, and leases end when they run out.
        harness.worker.work_off()
        assign = labeler.expect("assign")
        assert labeler.expect("revoke").lease_id == assign.lease_id
    (fault,) = [
        line for line in map(json.loads, log.read_text().splitlines()) if line["level"] == "error"
    ]
    assert "Reading of notices" in fault["event"]


class _Shaky(SessionStore):
    """A store that does not answer now and then, while its notices come."""

    faults: list[Exception]

    async def expire(self, session_id: SessionId) -> float | None:
        if self.faults:
            raise self.faults.pop()
        return await super().expire(session_id)


def _unavailable() -> StoreUnavailable:
    return StoreUnavailable("STORE_UNAVAILABLE", "away")


@pytest.mark.parametrize(
    "fault", [_unavailable(), KeyError("unexpected")], ids=["store away", "unexpected"]
)
def test_leases_expire_even_if_the_store_failed_at_that_moment(
    redis_url: str, fault: Exception
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(lease_seconds=1)
        client, blocking = connect_async(redis_url), connect_async_blocking(redis_url)
        store, notices = _Shaky(client), Notices(blocking)
        store.faults = []
        reaper = Reaper(store, notices)
        reading = asyncio.create_task(notices.run())
        ending = asyncio.create_task(lasting("Expiry of leases", reaper.run, again_s=0.0))
        await notices.connected.wait()
        await scene.lease(session_id)
        store.faults = [fault]
        with notices.watching(session_id) as changed:
            async with asyncio.timeout(15):
                while (await scene.sessions.get(session_id)).leased_count:
                    await changed.wait()
                    changed.clear()
        assert store.faults == []
        ending.cancel()
        notices.stop()
        await asyncio.gather(reading, ending, return_exceptions=True)
        await client.aclose()
        await blocking.aclose()

    play(redis_url, act)


@pytest.mark.parametrize(
    ("fault", "is_logged"),
    [(KeyError("unexpected"), True), (NotFound("SESSION_NOT_FOUND", "gone"), False)],
    ids=["fault", "refusal"],
)
def test_failure_of_work_is_logged_after_its_caller_has_gone(
    caplog: pytest.LogCaptureFixture, fault: Exception, is_logged: bool
) -> None:
    async def act() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            begun.set()
            await go_on.wait()
            raise fault

        async def call(work: Coroutine[Any, Any, None]) -> None:
            await unbroken(work)

        caller = asyncio.create_task(call(work()))
        await begun.wait()
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)
        go_on.set()
        for _ in range(5):
            await asyncio.sleep(0)

    with caplog.at_level(logging.ERROR):
        asyncio.run(act())
    assert ("a call failed after its caller had left" in caplog.text) == is_logged
