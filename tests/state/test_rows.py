"""Rows of large datasets are in the dataset store, checked whenever they are read."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.state.scene import Scene, play

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import keys
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import Damaged, StoreUnavailable
from svddtune.state.row_cache import RowCache
from svddtune.state.rows import RowStore, rows_per_object
from svddtune.state.session import DatasetId
from svddtune.v1 import dataset_pb2

pytestmark = pytest.mark.integration

# Two rows fill an object, and the last object has one.
N, M = 5, 200_000
DATASET, OTHER = DatasetId("a" * 32), DatasetId("b" * 32)


def matrix(seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(N, M))


def pieces(X: NDArray[np.float64]) -> list[bytes]:
    step = rows_per_object(M)
    assert step == 2
    return [X[start : start + step].tobytes() for start in range(0, len(X), step)]


def outside(scene: Scene, folder: Path, most_in_redis: int = 0) -> DatasetStore:
    rows = RowStore(folder.as_uri())
    return DatasetStore(scene.client, rows=rows, most_in_redis=most_in_redis)


async def store(
    datasets: DatasetStore, X: NDArray[np.float64], dataset_id: DatasetId = DATASET
) -> jobs_pb2.StoredRows:
    stored = await datasets.put_outside(dataset_id, pieces(X), M)
    await datasets.commit(
        dataset_id,
        dataset_pb2.Dataset(observation_count=N, feature_count=M),
        chunks=0,
        has_ids=False,
        has_display=False,
        stored=stored,
    )
    return stored


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.npy"))


def run(redis_url: str, act: Callable[[Scene], Coroutine[Any, Any, None]]) -> None:
    play(redis_url, act)


def test_stored_rows_are_not_in_redis_and_single_ones_are_read_back(
    redis_url: str, tmp_path: Path
) -> None:
    async def act(scene: Scene) -> None:
        X = matrix()
        datasets = outside(scene, tmp_path)
        assert datasets.outside(X.nbytes)
        await store(datasets, X)
        assert not await scene.client.exists(keys.dataset(0, DATASET, "x:0"))
        found = await datasets.observations(DATASET, [4, 1, 4], feature_count=M)
        assert [one.row for one in found] == [4, 1, 4]
        for one in found:
            assert np.array_equal(np.frombuffer(one.values, "<f8"), X[one.row])

    run(redis_url, act)


def test_objects_are_npy_files_named_by_their_sha256(redis_url: str, tmp_path: Path) -> None:
    async def act(scene: Scene) -> None:
        X = matrix()
        stored = await store(outside(scene, tmp_path), X)
        loaded = []
        for digest in stored.sha256:
            path = tmp_path / stored.folder / f"{digest.hex()}.npy"
            assert hashlib.sha256(path.read_bytes()).digest() == digest
            loaded.append(np.load(path))
        assert np.array_equal(np.concatenate(loaded), X)

    run(redis_url, act)


def test_datasets_up_to_the_limit_stay_in_redis(redis_url: str, tmp_path: Path) -> None:
    async def act(scene: Scene) -> None:
        datasets = outside(scene, tmp_path, most_in_redis=1000)
        assert not datasets.outside(1000)
        assert datasets.outside(1001)
        assert not DatasetStore(scene.client).outside(1 << 40)

    run(redis_url, act)


@pytest.mark.parametrize("harm", ["changed", "cut", "missing"])
def test_damaged_object_is_named(redis_url: str, tmp_path: Path, harm: str) -> None:
    async def act(scene: Scene) -> None:
        datasets = outside(scene, tmp_path / "store")
        stored = await store(datasets, matrix())
        path = tmp_path / "store" / stored.folder / f"{stored.sha256[1].hex()}.npy"
        content = bytearray(path.read_bytes())
        if harm == "missing":
            path.unlink()
        elif harm == "cut":
            path.write_bytes(content[:-8])
        else:
            content[-1] ^= 1
            path.write_bytes(content)
        # Row 0 is in another object.
        assert await datasets.observations(DATASET, [0], feature_count=M)
        cache = RowCache(RowStore((tmp_path / "store").as_uri()), tmp_path / "cache", limit_bytes=1)
        for read in (
            lambda: datasets.observations(DATASET, [2], feature_count=M),
            lambda: asyncio.to_thread(cache.matrix, DATASET, stored, (N, M)),
        ):
            with pytest.raises(Damaged) as refused:
                await read()
            assert refused.value.reason == "DATASET_DAMAGED"
            assert refused.value.metadata["dataset"] == DATASET
            assert refused.value.metadata["object"].endswith(path.name)
        assert files(tmp_path / "cache") == []

    run(redis_url, act)


def test_deletion_removes_the_objects_of_the_dataset_alone(redis_url: str, tmp_path: Path) -> None:
    async def act(scene: Scene) -> None:
        datasets = outside(scene, tmp_path)
        await store(datasets, matrix())
        await store(datasets, matrix(1), OTHER)
        await datasets.delete(DATASET)
        assert {path.parent.parent.name for path in files(tmp_path)} == {OTHER}

    run(redis_url, act)


def test_second_upload_of_the_same_rows_leaves_one_copy(redis_url: str, tmp_path: Path) -> None:
    async def act(scene: Scene) -> None:
        datasets = outside(scene, tmp_path)
        first = await store(datasets, matrix())
        await store(datasets, matrix())
        assert {str(path.parent.relative_to(tmp_path)) for path in files(tmp_path)} == {
            first.folder
        }
        assert await datasets.observations(DATASET, [3], feature_count=M)

    run(redis_url, act)


def test_upload_that_breaks_off_leaves_no_object(redis_url: str, tmp_path: Path) -> None:
    async def act(scene: Scene) -> None:
        def broken() -> Any:
            yield pieces(matrix())[0]
            raise RuntimeError("the disk broke")

        with pytest.raises(RuntimeError):
            await outside(scene, tmp_path).put_outside(DATASET, broken(), M)
        assert files(tmp_path) == []

    run(redis_url, act)


def test_orphans_go_when_they_are_old_and_datasets_stay(redis_url: str, tmp_path: Path) -> None:
    async def act(scene: Scene) -> None:
        datasets = outside(scene, tmp_path)
        kept = await store(datasets, matrix())
        orphan = await datasets.put_outside(OTHER, pieces(matrix(1)), M)
        foreign = await RowStore(tmp_path.as_uri()).put(OTHER, "another", pieces(matrix(1)), M)
        for path in files(tmp_path):
            os.utime(path, (0, 0))
        young = await datasets.put_outside(OTHER, pieces(matrix(1)), M)
        assert await datasets.remove_orphans() == 1
        left = {str(path.parent.relative_to(tmp_path)) for path in files(tmp_path)}
        assert left == {kept.folder, young.folder, foreign.folder}
        assert orphan.folder not in left

    run(redis_url, act)


def test_store_that_cannot_be_used_is_unavailable(redis_url: str, tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    with pytest.raises(StoreUnavailable) as refused:
        RowStore(occupied.as_uri())
    assert refused.value.reason == "DATASET_STORE_UNAVAILABLE"

    async def act(scene: Scene) -> None:
        await store(outside(scene, tmp_path / "store"), matrix())
        for read in (
            lambda: scene.datasets.observations(DATASET, [2], feature_count=M),
            lambda: scene.datasets.delete(DATASET),
        ):
            with pytest.raises(StoreUnavailable) as unset:
                await read()
            assert unset.value.reason == "DATASET_STORE_NOT_SET"
            assert unset.value.metadata["dataset"] == DATASET

    run(redis_url, act)


class TestCache:
    """A worker's copies."""

    def stored(self, folder: Path, *seeds: int) -> tuple[RowStore, list[jobs_pb2.StoredRows]]:
        rows = RowStore(folder.as_uri())

        async def put() -> list[jobs_pb2.StoredRows]:
            return [
                await rows.put(DatasetId(f"{seed:032x}"), "data", pieces(matrix(seed)), M)
                for seed in seeds
            ]

        return rows, asyncio.run(put())

    def test_copy_has_the_rows_and_is_read_only(self, tmp_path: Path) -> None:
        rows, (stored,) = self.stored(tmp_path / "store", 7)
        found = RowCache(rows, tmp_path / "cache", limit_bytes=1 << 30).matrix(
            DATASET, stored, (N, M)
        )
        assert np.array_equal(found, matrix(7))
        assert not found.flags.writeable
        assert np.array_equal(np.load(tmp_path / "cache" / f"{DATASET}.npy"), matrix(7))

    def test_kept_copy_needs_no_store(self, tmp_path: Path) -> None:
        rows, (stored,) = self.stored(tmp_path / "store", 7)
        cache = RowCache(rows, tmp_path / "cache", limit_bytes=1 << 30)
        cache.matrix(DATASET, stored, (N, M))
        for path in files(tmp_path / "store"):
            path.unlink()
        assert np.array_equal(cache.matrix(DATASET, stored, (N, M)), matrix(7))

    def test_damaged_copy_is_fetched_again(self, tmp_path: Path) -> None:
        rows, (stored,) = self.stored(tmp_path / "store", 7)
        cache = RowCache(rows, tmp_path / "cache", limit_bytes=1 << 30)
        cache.matrix(DATASET, stored, (N, M))
        copy = tmp_path / "cache" / f"{DATASET}.npy"
        for content in (copy.read_bytes()[:-1] + b"?", b"", b"no array at all"):
            copy.write_bytes(content)
            assert np.array_equal(cache.matrix(DATASET, stored, (N, M)), matrix(7))

    def test_least_recently_used_copy_goes_above_the_limit(self, tmp_path: Path) -> None:
        rows, stored = self.stored(tmp_path / "store", 1, 2, 3)
        one, two, three = (DatasetId(f"{seed:032x}") for seed in (1, 2, 3))
        cache = RowCache(rows, tmp_path / "cache", limit_bytes=int(2.5 * 8 * N * M))
        first = cache.matrix(one, stored[0], (N, M))
        cache.matrix(two, stored[1], (N, M))
        for name, age in ((one, 10), (two, 20)):
            os.utime(tmp_path / "cache" / f"{name}.npy", (age, age))
        cache.matrix(three, stored[2], (N, M))
        assert [path.stem for path in files(tmp_path / "cache")] == [two, three]
        # Who maps it still reads it.
        assert np.array_equal(first, matrix(1))

    def test_workers_that_need_a_dataset_at_once_share_one_copy(self, tmp_path: Path) -> None:
        rows, (stored,) = self.stored(tmp_path / "store", 7)
        caches = [RowCache(rows, tmp_path / "cache", limit_bytes=1 << 30) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda cache: cache.matrix(DATASET, stored, (N, M)), caches))
        assert all(np.array_equal(one, matrix(7)) for one in found)
        assert [path.name for path in (tmp_path / "cache").iterdir()] == [f"{DATASET}.npy"]

    def test_folder_that_takes_no_copy_is_named(self, tmp_path: Path) -> None:
        rows, (stored,) = self.stored(tmp_path / "store", 7)
        occupied = tmp_path / "file"
        occupied.write_text("")
        with pytest.raises(StoreUnavailable) as refused:
            RowCache(rows, occupied, limit_bytes=1 << 30).matrix(DATASET, stored, (N, M))
        assert refused.value.reason == "DATASET_CACHE_UNUSABLE"
        assert str(occupied) in refused.value.message
