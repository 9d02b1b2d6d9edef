"""Waiting holders: the order in which they are served, and who is only notified or gets nothing."""

import pytest
from tests.state.scene import Scene, lease_request, play

from svddtune.state import keys
from svddtune.state.session import SessionId, SkipMode, Verdict

pytestmark = pytest.mark.integration


async def wait(
    scene: Scene, session_id: SessionId, labeler: str, most: int = 1, **kind: bool
) -> None:
    """Let a labeler wait on a stream, one second after the previous one."""
    waiting = keys.session(session_id, "waiting")
    for holder in await scene.client.zrange(waiting, 0, -1):
        await scene.client.zincrby(waiting, -1000, holder)
    assert await scene.lease(session_id, labeler, most, stream="s", waits=True, **kind) == []


async def holders(scene: Scene, session_id: SessionId, *labelers: str) -> list[int]:
    """Number of queries that each labeler holds on its stream."""
    return [len(await scene.held(session_id, f"{one}/s")) for one in labelers]


async def more(scene: Scene, session_id: SessionId, queries: int) -> None:
    """Raise the budget by a number of queries, which serves the waiters."""
    budget = (await scene.sessions.get(session_id)).config.budget
    await scene.sessions.update(session_id, budget=budget + queries)
    scene.worker.work_off()


async def spent(scene: Scene) -> SessionId:
    """Create a session whose only query is leased to zoe."""
    session_id = await scene.session(budget=1)
    assert len(await scene.lease(session_id, "zoe")) == 1
    return session_id


# The order


def test_waiters_are_served_in_order_of_arrival(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await spent(scene)
        # The names are not in alphabetical order.
        for name in ("cem", "ann", "bob"):
            await wait(scene, session_id, name)
        # Asking again keeps the place in the list.
        await wait(scene, session_id, "cem")
        served = []
        for _ in range(3):
            await more(scene, session_id, 1)
            served.append(await holders(scene, session_id, "cem", "ann", "bob"))
        assert served == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]

    play(redis_url, act)


def test_automated_labelers_are_served_before_people_who_came_first(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await spent(scene)
        await wait(scene, session_id, "ann")
        await wait(scene, session_id, "robot", automated=True)
        await wait(scene, session_id, "auto", automated=True)
        served = []
        for _ in range(3):
            await more(scene, session_id, 1)
            served.append(await holders(scene, session_id, "robot", "auto", "ann"))
        assert served == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]

    play(redis_url, act)


def test_waiter_gets_as_many_leases_as_it_asked_for(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await spent(scene)
        await wait(scene, session_id, "ann", 2)
        await wait(scene, session_id, "bob", 3)
        served = []
        for queries in (1, 2, 5):
            await more(scene, session_id, queries)
            served.append(await holders(scene, session_id, "ann", "bob"))
        # Ann comes first until she has her query.
        assert served == [[1, 0], [2, 1], [2, 3]]
        assert await scene.client.exists(keys.session(session_id, "waiting")) == 0

    play(redis_url, act)


@pytest.mark.parametrize("most", [1, 2])
def test_waiter_that_lowers_its_request_gets_less(redis_url: str, most: int) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1)
        for wish in (5, most):
            await scene.lease(session_id, "ann", wish, stream="s", waits=True)
        await more(scene, session_id, 5)
        assert await holders(scene, session_id, "ann") == [most]

    play(redis_url, act)


def test_query_skipped_by_automated_labeler_goes_to_waiting_person(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1)
        robot = lease_request("robot", automated=True)
        (lease,) = (await scene.sessions.lease(session_id, robot)).leases
        await wait(scene, session_id, "ann")
        seen = len(await scene.notices(session_id))
        # It waits for another query, before ann, and does not get this one again.
        receipt = await scene.sessions.skip(
            session_id,
            labeler="robot",
            holder="robot/",
            query=lease.query,
            lease_id=lease.lease_id,
            mode=SkipMode.OTHERS,
            then=robot,
        )
        assert receipt.applied
        assert await scene.held(session_id, "ann/s") == [lease.query]
        assert await scene.held(session_id, "robot/") == []
        assert (await scene.notices(session_id))[seen:] == [{"ann/s"}]

    play(redis_url, act)


# Who is told


def test_notified_holder_gets_no_lease_until_it_asks(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await spent(scene)
        for name in ("ann", "bob"):
            await wait(scene, session_id, name, notify_only=True)
        seen = len(await scene.notices(session_id))
        await more(scene, session_id, 1)
        told = (await scene.notices(session_id))[seen:]
        assert set.union(*told) == {"ann/s", "bob/s"}
        assert await holders(scene, session_id, "ann", "bob") == [0, 0]
        # The first to ask gets it; the other keeps waiting and is notified of the next.
        assert (
            len(await scene.lease(session_id, "bob", stream="s", notify_only=True, waits=True)) == 1
        )
        await wait(scene, session_id, "ann", notify_only=True)
        seen = len(await scene.notices(session_id))
        await scene.sessions.release(session_id, holder="bob/s")
        assert (await scene.notices(session_id))[seen:] == [{"ann/s"}]

    play(redis_url, act)


@pytest.mark.parametrize("passes", [True, False])
def test_holder_with_enough_leases_does_not_wait(redis_url: str, passes: bool) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        first, _ = await scene.lease(session_id, "ann", most=2)
        if passes:
            await scene.skip(session_id, first, SkipMode.OTHERS, want=1)
        else:
            await scene.answer(session_id, first, want=1)
        assert await scene.client.zcard(keys.session(session_id, "waiting")) == 0

    play(redis_url, act)


@pytest.mark.parametrize("notify_only", [True, False])
def test_waiting_holder_is_notified_once(redis_url: str, notify_only: bool) -> None:
    async def act(scene: Scene) -> None:
        session_id = await spent(scene)
        await wait(scene, session_id, "ann", notify_only=notify_only)
        seen = len(await scene.notices(session_id))
        await more(scene, session_id, 1)
        # Changes by others do not notify a holder again.
        for row in (11, 10):
            await scene.answer(session_id, row, Verdict.UNSURE, labeler="replay")
        scene.worker.work_off()
        await scene.sessions.pause(session_id)
        await scene.sessions.resume(session_id)
        named = [names for names in (await scene.notices(session_id))[seen:] if "ann/s" in names]
        assert named == [{"ann/s"}]

    play(redis_url, act)


def test_lease_call_without_a_query_notifies_nobody(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, overlap=2, overlap_limit=2, repeat_every=1)
        # Ann has voted on all rows and answered her repeats; cem has skipped the rest.
        for _ in range(2):
            await scene.vote(session_id, "ann")
            scene.worker.work_off()
            (again,) = await scene.lease(session_id, "ann")
            await scene.answer(session_id, again)
        for lease in await scene.lease(session_id, "cem", most=2):
            await scene.skip(session_id, lease, SkipMode.OTHERS, labeler="cem")
        for name in ("ann", "cem"):
            await wait(scene, session_id, name, notify_only=True)
        scene.worker.work_off()
        version = (await scene.sessions.get(session_id)).version
        seen = len(await scene.notices(session_id))
        for _ in range(3):
            for name in ("ann", "cem"):
                await wait(scene, session_id, name, notify_only=True)
                assert await scene.lease(session_id, name) == []
        # No notice, which would make them ask again, no write and no job.
        assert len(await scene.notices(session_id)) == seen
        assert (await scene.sessions.get(session_id)).version == version
        assert scene.worker.work_off() == []

    play(redis_url, act)


def test_repeated_notifications_come_to_an_end(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await spent(scene)
        names = ("ann", "bob", "cem", "dan")
        for name in names:
            await wait(scene, session_id, name, 2, notify_only=True)
        read = len(await scene.notices(session_id))
        await more(scene, session_id, 3)
        rounds = 0
        # Every holder that a notice names asks, as a service does for its streams.
        while news := (await scene.notices(session_id))[read:]:
            read += len(news)
            rounds += 1
            assert rounds < 10
            for holder in sorted(set.union(*news) - {"zoe/"}):
                labeler = holder.split("/")[0]
                await scene.lease(session_id, labeler, 2, stream="s", notify_only=True, waits=True)
        assert await holders(scene, session_id, *names) == [2, 1, 0, 0]
        # One round for the new queries, and one for the leases of two holders.
        assert rounds <= 2

    play(redis_url, act)


# Who gets nothing


@pytest.mark.parametrize("how", ["parked", "released"])
def test_holder_that_left_gets_nothing(redis_url: str, how: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1)
        assert len(await scene.lease(session_id, "ann", 2, stream="s", waits=True)) == 1
        if how == "parked":
            await scene.sessions.park(session_id, "ann/s")
        else:
            await scene.sessions.release(session_id, holder="ann/s")
        kept = await scene.held(session_id, "ann/s")
        assert len(kept) == (how == "parked")
        await more(scene, session_id, 3)
        assert await scene.held(session_id, "ann/s") == kept
        # Once it asks, it is served and waits again.
        assert len(await scene.lease(session_id, "ann", 5, stream="s", waits=True)) == 4
        await more(scene, session_id, 1)
        assert await holders(scene, session_id, "ann") == [5]

    play(redis_url, act)


def test_holder_that_releases_named_leases_keeps_waiting(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2)
        first, _ = await scene.lease(session_id, "ann", 3, stream="s", waits=True)
        await scene.sessions.release(session_id, holder="ann/s", lease_ids=[first.lease_id])
        await more(scene, session_id, 1)
        assert await holders(scene, session_id, "ann") == [3]

    play(redis_url, act)


def test_holder_of_expired_lease_gets_nothing_until_it_asks(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=1)
        (lease,) = await scene.lease(session_id, "ann", 2, stream="s", waits=True)
        seen = len(await scene.notices(session_id))
        await scene.run_out(session_id)
        await scene.sessions.expire(session_id)
        # It is notified of the loss, and gets neither that query nor a new one.
        assert (await scene.notices(session_id))[seen:] == [{"ann/s"}]
        await more(scene, session_id, 1)
        assert await holders(scene, session_id, "ann") == [0]
        held = await scene.lease(session_id, "ann", 2, stream="s")
        assert [one.query for one in held] == [lease.query, lease.query + 1]

    play(redis_url, act)
