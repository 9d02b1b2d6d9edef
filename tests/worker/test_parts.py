"""A real worker prepares in parts: the result equals one piece, and no key is left."""

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work

from svddtune import numerics
from svddtune.config import SessionConfig
from svddtune.state import keys
from svddtune.state.queue import Claim
from svddtune.state.session import SessionId, SessionState
from svddtune.worker.data import DataCache
from svddtune.worker.step import Steps

pytestmark = pytest.mark.integration

X, _ = blobs(500, 3, seed=0)


async def begin(shop: Workshop) -> SessionId:
    """A session on a dataset that is prepared in many parts."""
    workspace = shop.worker.workspace
    shop.worker.steps = Steps(workspace, DataCache(workspace, limit_bytes=1 << 28), part_s=1e-4)
    await shop.upload_rows(X)
    return await shop.sessions.create(
        shop.dataset_id, SessionConfig(strategy="lama"), observation_count=len(X)
    )


def next_part(shop: Workshop) -> Claim:
    """The next PREPARE; other jobs are done on the way."""
    while claim := shop.worker.next_claim():
        if claim.kind == "PREPARE":
            return claim
        shop.worker.do(claim)
    raise AssertionError("no PREPARE job")


def parts_stored(shop: Workshop) -> list[str]:
    return [key.decode() for key in shop.worker.client.scan_iter("*:part:*")]


def test_joined_parts_equal_the_preparation(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        session_id = await begin(shop)
        parts = 0
        while (await shop.sessions.get(session_id)).state is SessionState.PREPARING:
            claim = next_part(shop)
            assert claim.job.prepare.part == parts
            shop.worker.do(claim)
            parts += 1
        assert parts > 5
        stored = shop.worker.workspace.preparation(claim, 8, None, panel=False)
        expected = numerics.prepare(X, k=8).to_arrays()
        assert stored.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(stored[name], array)
        assert parts_stored(shop) == []

    work(redis_url, act)


def test_abandoned_preparation_stops_and_restarts_when_needed(
    redis_url: str,
) -> None:
    async def act(shop: Workshop) -> None:
        session_id = await begin(shop)
        for _ in range(3):
            shop.worker.do(next_part(shop))
        assert len(parts_stored(shop)) == 3
        await shop.sessions.cancel(session_id)
        while claim := shop.worker.next_claim():
            shop.worker.do(claim)
        assert parts_stored(shop) == []
        again = await shop.sessions.create(
            shop.dataset_id, SessionConfig(strategy="lama"), observation_count=len(X)
        )
        shop.worker.work_off()
        assert (await shop.sessions.get(again)).state is SessionState.LABELING

    work(redis_url, act)


def test_dataset_deleted_between_parts_leaves_no_key(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        session_id = await begin(shop)
        for _ in range(3):
            shop.worker.do(next_part(shop))
        await shop.sessions.delete(session_id)
        await shop.datasets.delete(shop.dataset_id)
        left = [key.decode() for key in shop.worker.client.scan_iter(keys.prefix(0) + "d:*")]
        assert left == []

    work(redis_url, act)
