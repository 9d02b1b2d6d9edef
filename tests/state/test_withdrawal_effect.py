"""Property: a preview equals the effect of the withdrawal, and reinstatement undoes it."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.profiles import sized
from tests.state.scene import Scene, play

from svddtune.state import keys
from svddtune.state.errors import Conflict
from svddtune.state.session import LabelCounts, SessionId, SkipMode, Verdict, WithdrawalEffect

pytestmark = pytest.mark.integration

INLIER, OUTLIER, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE
NAMES = ("ann", "bob", "cem", "dan")
PREVIEW_ID = "5f0c2f0e00004000800000000000000a"


async def everything(scene: Scene, session_id: SessionId) -> dict[bytes, bytes]:
    """Everything that is stored of a session."""
    found = await scene.client.keys(keys.session(session_id) + "*")
    return {key: await scene.client.dump(key) for key in found}


async def standing(
    scene: Scene, session_id: SessionId
) -> tuple[dict[int, int], set[int], set[int]]:
    """Labels by row, rows with open queries, and labelled rows that await a vote."""
    labels = await scene.client.hgetall(keys.session(session_id, "labels"))
    asked = await scene.client.hkeys(keys.session(session_id, "asked"))
    awaiting = await scene.client.smembers(keys.session(session_id, "awaiting"))
    verdicts = {int(row): int(text.split()[0]) for row, text in labels.items()}
    return verdicts, set(map(int, asked)), set(map(int, awaiting))


def effect_between(
    votes: int,
    before: tuple[dict[int, int], set[int], Any],
    after: tuple[dict[int, int], set[int], Any],
) -> WithdrawalEffect:
    """The effect of a change, by the definition of its fields."""

    def counts(labels: dict[int, int]) -> LabelCounts:
        values = list(labels.values())
        return LabelCounts(values.count(1), values.count(-1), values.count(0))

    old, new = before[0], after[0]
    return WithdrawalEffect(
        votes=votes,
        labels_lost=len(old.keys() - new.keys()),
        labels_changed=sum(old[row] != new[row] for row in old.keys() & new.keys()),
        labels_gained=len(new.keys() - old.keys()),
        queries_reopened=len(after[1] - before[1]),
        before=counts(old),
        after=counts(new),
    )


verdicts = st.sampled_from([INLIER, OUTLIER, UNSURE])
# (labeler, row, verdict): an answer to a query if the labeler holds one on the row.
ballots = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 6), verdicts), min_size=4, max_size=24
)


configs: list[dict[str, Any]] = [
    {"overlap": 1, "overlap_limit": 1},
    {"overlap": 2, "overlap_limit": 3},
    {"overlap": 3, "overlap_limit": 3},
    {"overlap": 2, "overlap_limit": 4, "overlap_rule": "adaptive"},
]


@settings(
    max_examples=sized(12, 5),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    config=st.sampled_from(configs),
    ballots=ballots,
    dropped=st.booleans(),
    order=st.permutations(NAMES),
)
def test_preview_equals_effect_of_withdrawal_and_reinstatement_undoes_it(
    redis_url: str,
    config: dict[str, Any],
    ballots: list[tuple[str, int, Verdict]],
    dropped: bool,
    order: list[str],
) -> None:
    async def act(scene: Scene) -> None:
        scene.worker.predicts = 1
        # The budget is all rows, so the session does not end.
        session_id = await scene.session(budget=12, **config)
        for name, row, verdict in ballots:
            scene.worker.work_off()
            held = {one.row: one for one in await scene.lease(session_id, name, most=3)}
            # An unasked answer may concern a row with a label.
            with suppress(Conflict):
                await scene.answer(session_id, held.get(row, row), verdict, labeler=name)
        held_by_ann = await scene.lease(session_id, "ann", most=3)
        if dropped and held_by_ann:
            await scene.skip(session_id, held_by_ann[0], SkipMode.DROP)
        for name in NAMES:
            await scene.sessions.release(session_id, holder=f"{name}/")
        cast = await scene.client.hgetall(keys.session(session_id, "votes"))
        voters = [name for text in cast.values() for name, *_ in json.loads(text)]

        done = []
        for name in filter(voters.__contains__, order):
            before = await standing(scene, session_id)
            dump = await everything(scene, session_id)
            preview = await scene.sessions.preview_withdrawal(session_id, name, PREVIEW_ID)
            assert await everything(scene, session_id) == dump
            effect = await scene.sessions.withdraw(session_id, name, by="owner")
            after = await standing(scene, session_id)
            assert effect == effect_between(voters.count(name), before, after)
            assert effect == preview
            assert await scene.counts(session_id) == effect.after
            done.append((name, before, after))
        # No votes are in force.
        assert (await standing(scene, session_id))[0] == {}
        for name, before, after in reversed(done):
            effect = await scene.sessions.reinstate(session_id, name, by="owner")
            assert effect == effect_between(voters.count(name), after, before)
            assert await standing(scene, session_id) == before
        assert await scene.client.hgetall(keys.session(session_id, "votes")) == cast

    play(redis_url, act)
