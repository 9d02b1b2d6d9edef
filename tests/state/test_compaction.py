"""What only a running session needs goes when it ends, and is there again once it goes on."""

from collections.abc import Awaitable, Callable

import pytest
from tests.state.lost_replies import claim_of, of_before_retention
from tests.state.scene import Scene, lease_request, play

from svddtune.state import keys
from svddtune.state.calls import Scripts
from svddtune.state.session import SessionId, SessionState, Verdict

pytestmark = pytest.mark.integration

# Parts that may be there for good: what was asked and answered, and the result.
LASTING = {
    "",
    *("events", "votes", "labels", "labelers", "answers", "queries", "history", "corrections"),
    *("moments", "cells", "places", "margins"),
    *("result:1", "model:1"),
}


async def complete(scene: Scene, session_id: SessionId) -> None:
    await scene.sessions.finish(session_id)
    scene.worker.work_off()


async def cancel(scene: Scene, session_id: SessionId) -> None:
    await scene.sessions.cancel(session_id)


async def fail(scene: Scene, session_id: SessionId) -> None:
    await scene.vote(session_id, "ann")
    claim = claim_of(scene, "SUGGEST")
    scene.worker.queue.fail(claim, "JOB_FAILED", "It broke.", final=True)


ENDS = {"COMPLETED": complete, "CANCELLED": cancel, "FAILED": fail}


async def parts_of(scene: Scene, session_id: SessionId) -> set[str]:
    start = keys.session(session_id)
    found = await scene.client.keys(start.replace("{", "\\{") + "*")
    return {key.decode().removeprefix(start).removeprefix(":") for key in found}


async def scored(scene: Scene, index: str) -> dict[str, float]:
    found = await scene.client.zrange(keys.prefix(0) + index, 0, -1, withscores=True)
    return {member.decode(): score for member, score in found}


async def asking(scene: Scene) -> SessionId:
    """A session with leases, holders that wait, a query that is open and rows that are ranked."""
    session_id = await scene.session(overlap=2)
    await scene.vote(session_id, "bob")
    await scene.lease(session_id, most=2)
    await scene.lease(session_id, "cid", most=100, waits=True)
    return session_id


@pytest.mark.parametrize(("state", "end"), ENDS.items(), ids=ENDS)
def test_ended_session_keeps_what_may_be_read_and_no_more(
    redis_url: str, state: str, end: Callable[[Scene, SessionId], Awaitable[None]]
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await asking(scene)
        running = await parts_of(scene, session_id)
        assert {"explanations", "waiting", "waiters", "leases", "held", "asked"} <= running
        await end(scene, session_id)
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState(state)
        assert await parts_of(scene, session_id) <= LASTING
        assert session.waiting_count == 0
        assert (await scored(scene, "ended")).keys() == {session_id}

    play(redis_url, act)


def test_holder_that_asks_an_ended_session_does_not_wait(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await asking(scene)
        await scene.sessions.cancel(session_id)
        outcome = await scene.sessions.lease(session_id, lease_request("dan", 1), waits=True)
        assert (outcome.state, outcome.leases) == (SessionState.CANCELLED, ())
        assert await parts_of(scene, session_id) <= LASTING

    play(redis_url, act)


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED"])
def test_resumed_session_asks_again_and_ends_anew(redis_url: str, state: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await ENDS[state](scene, session_id)
        first = (await scored(scene, "ended"))[session_id]
        await scene.sessions.resume(session_id)
        assert await scored(scene, "ended") == {}
        scene.worker.work_off()
        (lease,) = await scene.lease(session_id)
        assert (await scene.sessions.explanations(session_id, [lease.query]))[0]
        await scene.answer(session_id, lease)
        await complete(scene, session_id)
        assert (await scene.sessions.get(session_id)).state is SessionState.COMPLETED
        assert (await scored(scene, "ended"))[session_id] >= first

    play(redis_url, act)


def test_answers_after_the_end_have_the_receipts_that_they_had_before(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (kept, late) = await scene.lease(session_id, most=2)
        receipt = await scene.answer(session_id, kept, answer_id="one")
        await complete(scene, session_id)
        assert await scene.answer(session_id, kept, answer_id="one") == receipt
        unused = await scene.answer(session_id, late, answer_id="two")
        assert not unused.applied
        assert await scene.answer(session_id, late, answer_id="two") == unused
        kinds = [one.kind for one in await scene.sessions.label_events(session_id)]
        assert kinds == ["LABELED", "UNUSED"]
        effect = await scene.sessions.withdraw(session_id, "ann", by="owner")
        assert effect.labels_lost == 1
        assert effect.queries_reopened == 1

    play(redis_url, act)


def test_query_that_a_withdrawal_reopened_is_asked_once_the_session_goes_on(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        answered = await scene.vote(session_id, "ann")
        await complete(scene, session_id)
        await scene.sessions.withdraw(session_id, "ann", by="owner")
        await scene.sessions.resume(session_id)
        scene.worker.work_off()
        (again,) = await scene.lease(session_id, "bob")
        assert (again.query, again.row) == (answered.query, answered.row)

    play(redis_url, act)


def test_session_that_ended_before_is_compacted_once_and_ended_with_its_last_change(
    redis_url: str,
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(initial={3: Verdict.INLIER})
        running = await scene.session()
        await complete(scene, session_id)
        of_before_retention(scene, session_id)
        call, prefix = Scripts(scene.worker.client), keys.prefix(0)
        call("compact_session", prefix, session=session_id)
        session = await scene.sessions.get(session_id)
        assert await scored(scene, "ended") == {session_id: session.updated_ms}
        assert "explanations" not in await parts_of(scene, session_id)
        await scene.client.zadd(keys.prefix(0) + "ended", {session_id: 1})
        for one in (session_id, running, SessionId("p00-" + 20 * "0")):
            call("compact_session", prefix, session=one)
        assert await scored(scene, "ended") == {session_id: 1}
        assert "ranked" in await parts_of(scene, running)

    play(redis_url, act)


def test_dataset_is_listed_as_unused_while_no_session_uses_it(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        call, prefix = Scripts(scene.worker.client), keys.prefix(0)
        dataset_id = await scene.upload()
        assert (await scored(scene, "unused")).keys() == {dataset_id}
        session_id = await scene.session()
        assert await scored(scene, "unused") == {}
        call("index_dataset", prefix, dataset=dataset_id)
        assert await scored(scene, "unused") == {}
        await scene.sessions.delete(session_id)
        since = await scored(scene, "unused")
        assert since.keys() == {dataset_id}
        of_before_retention(scene, session_id)
        call("index_dataset", prefix, dataset=dataset_id)
        assert (await scored(scene, "unused"))[dataset_id] >= since[dataset_id]
        await scene.datasets.delete(dataset_id)
        assert await scored(scene, "unused") == {}

    play(redis_url, act)
