"""What a worker keeps between jobs."""

import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work

from svddtune.worker.data import DataCache
from svddtune.worker.step import Steps

pytestmark = pytest.mark.integration


def test_worker_drops_a_deleted_dataset_and_keeps_others_when_it_loads_the_next(
    redis_url: str,
) -> None:
    async def act(shop: Workshop) -> None:
        cache = DataCache(shop.worker.workspace, limit_bytes=1 << 28)
        shop.worker.steps = Steps(shop.worker.workspace, cache)
        ids = []
        for seed in range(2):
            ids.append(await shop.upload_rows(blobs(30, 2, seed=seed)[0]))
            session_id = await shop.tuning(budget=1)
            await shop.result(session_id)
        await shop.sessions.delete(session_id)
        await shop.datasets.delete(ids[1])
        assert all(dataset_id in cache for dataset_id in ids)
        ids.append(await shop.upload_rows(blobs(30, 2, seed=2)[0]))
        await shop.tuning(budget=1)
        assert [dataset_id in cache for dataset_id in ids] == [True, False, True]

    work(redis_url, act)


def test_small_datasets_count_with_their_objects_in_the_limit(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        cache = DataCache(shop.worker.workspace, limit_bytes=1 << 20)
        shop.worker.steps = Steps(shop.worker.workspace, cache)
        first = await shop.upload_rows(blobs(30, 2, seed=0)[0])
        await shop.tuning(budget=1)
        for seed in (1, 2, 3):
            await shop.upload_rows(blobs(30, 2, seed=seed)[0])
            await shop.tuning(budget=1)
        assert first not in cache

    work(redis_url, act)
