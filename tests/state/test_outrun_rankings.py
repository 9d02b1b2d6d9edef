"""Outdated rankings: computed again for one labeler, every second one used for several."""

from collections.abc import Sequence

import pytest
from tests.state.scene import N, Scene, play

from svddtune.state.session import RankedRow, SessionId, SessionState

pytestmark = pytest.mark.integration


async def outrun(
    scene: Scene, session_id: SessionId, *answered: int, ranks: Sequence[int] = range(N)
) -> bool:
    """Commit a ranking after answers to some rows came in; return whether it is used."""
    claim = scene.worker.next_claim()
    assert claim is not None
    assert claim.kind == "SUGGEST"
    snapshot = scene.worker.workspace.snapshot(claim)
    assert snapshot is not None
    for row in answered:
        await scene.answer(session_id, row, labeler="replay")
    ranking = [RankedRow(row) for row in ranks if row not in snapshot.labels]
    return scene.worker.workspace.commit_suggest(
        claim, snapshot, gamma=1.0, alignment=0.5, ranking=ranking
    )


async def waiting(scene: Scene, *labelers: str) -> SessionId:
    """Create a session in which these labelers wait for a ranking; the last one has voted."""
    session_id = await scene.session(budget=N)
    await scene.answer(session_id, N - 1, labeler=labelers[-1])
    for name in labelers:
        assert await scene.lease(session_id, name, stream="s", waits=True) == []
    return session_id


def test_single_labeler_waits_for_ranking_of_its_latest_labels(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await waiting(scene, "ann")
        for row in (10, 9, 8):
            assert not await outrun(scene, session_id, row)
            assert await scene.held(session_id, "ann/s") == []
        assert scene.worker.work_off() == ["SUGGEST"]
        assert len(await scene.held(session_id, "ann/s")) == 1

    play(redis_url, act)


def test_several_labelers_accept_second_outdated_ranking_in_a_row(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await waiting(scene, "ann", "bob")
        assert not await outrun(scene, session_id, 0)
        assert await outrun(scene, session_id, 1, 3)
        # Rows that were answered meanwhile are not asked.
        leases = [await scene.lease(session_id, name, stream="s") for name in ("ann", "bob")]
        assert sorted(lease.row for held in leases for lease in held) == [2, 4]
        # The next ranking must be for the latest labels, or it is computed again.
        await scene.answer(session_id, 10, labeler="replay")
        assert not await outrun(scene, session_id, 9)
        assert await outrun(scene, session_id)

    play(redis_url, act)


def test_empty_outdated_ranking_does_not_end_session(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await waiting(scene, "ann", "bob")
        assert not await outrun(scene, session_id, 0)
        # An empty outdated ranking does not mean that no row is left now.
        assert await outrun(scene, session_id, 1, ranks=())
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState.LABELING
        assert scene.worker.work_off() == ["SUGGEST"]
        leases = [await scene.lease(session_id, name, stream="s") for name in ("ann", "bob")]
        assert [len(held) for held in leases] == [1, 1]

    play(redis_url, act)


def test_withdrawn_labeler_does_not_count_as_active(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await waiting(scene, "ann", "bob")
        await scene.sessions.withdraw(session_id, "bob", by="owner")
        for row in (10, 9, 8):
            assert not await outrun(scene, session_id, row)

    play(redis_url, act)
