"""Repeats: who gets them, when, and that they are no votes."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.profiles import sized
from tests.state.scene import Scene, play

from svddtune.state import keys
from svddtune.state.errors import WrongState
from svddtune.state.session import LabelCounts, Lease, SessionId, SessionState, SkipMode, Verdict

pytestmark = pytest.mark.integration

INLIER, OUTLIER, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE


async def repeat(scene: Scene, session_id: SessionId, labeler: str = "ann") -> Lease:
    """Let the labeler answer once; return the repeat that it then holds."""
    await scene.vote(session_id, labeler, OUTLIER)
    scene.worker.work_off()
    (lease,) = await scene.lease(session_id, labeler)
    assert lease.repeats
    return lease


async def without_repeats(scene: Scene, session_id: SessionId) -> dict[str, Any]:
    """The state that a repeat must not change: votes, labels, open queries and the ranking."""

    def name(part: str = "") -> str:
        return keys.session(session_id, part)

    client = scene.client
    fields = await client.hgetall(name())
    return {
        "votes": await client.hgetall(name("votes")),
        "labels": await client.hgetall(name("labels")),
        "asked": await client.hgetall(name("asked")),
        "open": await client.lrange(name("open"), 0, -1),
        "ranked": await client.lrange(name("ranked"), 0, -1),
        "counts": await scene.counts(session_id),
        "rev": fields[b"rev"],
    }


@settings(
    max_examples=sized(12),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    every=st.integers(1, 3),
    turns=st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), st.sampled_from([INLIER, OUTLIER, UNSURE])),
        min_size=8,
        max_size=20,
    ),
)
def test_labeler_sees_own_observation_again_after_repeat_every_answers(
    redis_url: str, every: int, turns: list[tuple[str, Verdict]]
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=12, overlap=2, overlap_limit=2, repeat_every=every)
        rows: dict[str, list[int]] = {"ann": [], "bob": []}
        since = {"ann": 0, "bob": 0}
        repeated = []
        for name, verdict in turns:
            scene.worker.work_off()
            held = await scene.lease(session_id, name)
            # After every repeat_every answers comes one repeat, the oldest row first.
            assert (since[name] == every) is (bool(held) and held[0].repeats)
            if not held:
                continue
            (lease,) = held
            before = await without_repeats(scene, session_id)
            receipt = await scene.answer(session_id, lease, verdict, labeler=name)
            assert receipt.applied
            event = (await scene.sessions.label_events(session_id))[-1]
            assert (event.labeler, event.row, event.verdict) == (name, lease.row, verdict)
            if lease.repeats:
                assert lease.row == rows[name].pop(0)
                assert event.kind == "REPEATED"
                assert await without_repeats(scene, session_id) == before
                since[name] = 0
                repeated.append(event.event_id)
            else:
                assert event.kind == "LABELED"
                rows[name].append(lease.row)
                since[name] += 1
        events = await scene.sessions.label_events(session_id)
        assert [one.event_id for one in events if one.kind == "REPEATED"] == repeated

    play(redis_url, act)


@pytest.mark.parametrize("end", ["given back", "run out"])
def test_released_repeat_goes_to_nobody_else(redis_url: str, end: str) -> None:
    async def act(scene: Scene) -> None:
        # The observation awaits another labeler's vote, by its query and not by the repeat.
        session_id = await scene.session(budget=3, overlap=2, overlap_limit=2, repeat_every=1)
        again = await repeat(scene, session_id)
        (other,) = await scene.lease(session_id, "ann", stream="other")
        assert not other.repeats
        for name in ("bob", "cem"):
            await scene.lease(session_id, name, 9, stream="s", waits=True)
        # Once the repeat has ended, nobody holds it, and it is not open.
        if end == "run out":
            await scene.run_out(session_id, again.lease_id)
            await scene.sessions.expire(session_id)
        else:
            receipt = await scene.sessions.release(
                session_id, holder="ann/", lease_ids=[again.lease_id]
            )
            assert receipt.lost == ()
        waiting = await scene.client.lrange(keys.session(session_id, "open"), 0, -1)
        assert again.query not in map(int, waiting)
        for name in ("ann", "bob", "cem"):
            leases = await scene.lease(session_id, name, 9, stream="s")
            assert again.query not in [lease.query for lease in leases]
            assert not any(lease.repeats for lease in leases)

    play(redis_url, act)


@pytest.mark.parametrize("mode", list(SkipMode))
def test_skipped_repeat_ends_and_drops_no_observation(redis_url: str, mode: SkipMode) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, repeat_every=1)
        again = await repeat(scene, session_id)
        before = await without_repeats(scene, session_id)
        assert (await scene.skip(session_id, again, mode)).applied
        assert await without_repeats(scene, session_id) == before
        assert await scene.counts(session_id) == LabelCounts(outlier=1)
        # The vote can still be retracted, and then its row is asked again: it was not dropped.
        await scene.sessions.retract(session_id, answer_id="r", labeler="ann", row=again.row)
        assert [lease.row for lease in await scene.lease(session_id, "bob")] == [again.row]

    play(redis_url, act)


def test_expired_repeat_ends_without_an_event(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, repeat_every=1)
        again = await repeat(scene, session_id)
        assert await scene.lease(session_id, "bob", most=9, stream="s", waits=True) != []
        before = await without_repeats(scene, session_id)
        log, seen = await scene.sessions.label_events(session_id), await scene.notices(session_id)
        await scene.run_out(session_id, again.lease_id)
        assert await scene.sessions.expire(session_id) is not None
        # Its holder is notified of the loss; bob, who waits, does not get it.
        assert (await scene.notices(session_id))[len(seen) :] == [{"ann/"}]
        assert await scene.sessions.label_events(session_id) == log
        assert await without_repeats(scene, session_id) == before
        # A late answer is recorded, as neither a vote nor an answered repeat.
        assert not (await scene.answer(session_id, again, INLIER)).applied
        event = (await scene.sessions.label_events(session_id))[-1]
        assert (event.kind, event.row) == ("UNUSED", again.row)
        assert await scene.counts(session_id) == LabelCounts(outlier=1)

    play(redis_url, act)


def test_retracted_vote_is_not_repeated(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=4, repeat_every=2)
        first = await scene.vote(session_id, "ann")
        scene.worker.work_off()
        second = await scene.vote(session_id, "ann")
        await scene.sessions.retract(session_id, answer_id="r", labeler="ann", row=first.row)
        (again,) = await scene.lease(session_id, "ann")
        assert (again.repeats, again.row) == (True, second.row)

    play(redis_url, act)


def test_dropped_observation_is_not_repeated(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, overlap=2, overlap_limit=2, repeat_every=1)
        await scene.vote(session_id, "ann")
        (lease,) = await scene.lease(session_id, "bob")
        await scene.skip(session_id, lease, SkipMode.DROP, labeler="bob")
        scene.worker.work_off()
        (other,) = await scene.lease(session_id, "ann")
        assert (other.repeats, other.row == lease.row) == (False, False)

    play(redis_url, act)


def test_leased_repeat_ends_once_its_vote_is_retracted(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=4, repeat_every=1)
        again = await repeat(scene, session_id)
        await scene.sessions.retract(session_id, answer_id="r", labeler="ann", row=again.row)
        assert await scene.held(session_id, "ann/") == []
        assert {"ann/"} in await scene.notices(session_id)
        # It comes once, as a query.
        (lease,) = await scene.lease(session_id, "ann")
        assert (lease.row, lease.repeats) == (again.row, False)
        assert not (await scene.answer(session_id, again)).applied

    play(redis_url, act)


def test_leased_repeat_ends_once_its_observation_is_dropped(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=4, overlap=2, overlap_limit=2, repeat_every=1)
        again = await repeat(scene, session_id)
        (lease,) = await scene.lease(session_id, "bob")
        assert lease.row == again.row
        await scene.skip(session_id, lease, SkipMode.DROP, labeler="bob")
        assert await scene.held(session_id, "ann/") == []

    play(redis_url, act)


def test_answer_of_another_labeler_to_repeat_is_refused(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=4, repeat_every=1)
        again = await repeat(scene, session_id)
        with pytest.raises(WrongState) as refused:
            await scene.answer(session_id, again, labeler="bob")
        assert refused.value.reason == "LEASE_LOST"
        assert (await scene.answer(session_id, again)).applied

    play(redis_url, act)


def test_only_queried_observations_are_repeated(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=6, repeat_every=1, initial={11: OUTLIER})
        for row in (10, 9):
            await scene.answer(session_id, row)
        scene.worker.work_off()
        # Initial and unasked labels do not lead to repeats, because no query showed their rows.
        assert [lease.repeats for lease in await scene.lease(session_id, "ann")] == [False]

    play(redis_url, act)


def test_withdrawn_labeler_loses_its_leased_repeat(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=3, repeat_every=1)
        again = await repeat(scene, session_id)
        await scene.sessions.withdraw(session_id, "ann", by="owner")
        assert (await scene.sessions.get(session_id)).leased_count == 0
        with pytest.raises(WrongState) as refused:
            await scene.answer(session_id, again)
        assert refused.value.reason == "LABELER_WITHDRAWN"
        # Bob gets the observation as a query, not the repeat.
        (lease,) = await scene.lease(session_id, "bob")
        assert lease.row == again.row
        assert lease.query != again.query

    play(redis_url, act)


def test_leased_repeats_do_not_delay_session_end(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=2, repeat_every=1)
        again = await repeat(scene, session_id)
        await scene.vote(session_id, "bob")
        session = await scene.sessions.get(session_id)
        assert (session.state, session.leased_count) == (SessionState.ESTIMATING, 0)
        query = json.loads(
            await scene.client.hget(keys.session(session_id, "queries"), again.query)
        )
        assert query["state"] == "closed"
        # A late answer is recorded.
        assert not (await scene.answer(session_id, again)).applied

    play(redis_url, act)
