"""A dataset becomes visible completely or not at all."""

import numpy as np
import pytest
from tests.state.scene import M, Scene, play

from svddtune.state import keys
from svddtune.state.errors import InvalidInput, NotFound, WrongState
from svddtune.state.session import DatasetId
from svddtune.v1 import dataset_pb2

pytestmark = pytest.mark.integration


def test_uploaded_rows_ids_and_values_are_read_back(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        names = [f"host-{row}" for row in range(12)]
        dataset_id = await scene.upload(ids=names)
        assert await scene.datasets.rows_of(dataset_id, ["host-3", "nope"]) == [3, None]
        assert await scene.datasets.ids_of(dataset_id, [11]) == ["host-11"]
        (one,) = await scene.datasets.observations(dataset_id, [5], feature_count=M)
        assert one.observation_id == "host-5"
        assert np.frombuffer(one.values, "<f8").tolist() == [10.0, 11.0]

    play(redis_url, act)


@pytest.mark.parametrize("name", ["12", "-1", "01", "1.0", "", "one", "²"])
def test_default_ids_are_the_row_numbers(redis_url: str, name: str) -> None:
    async def act(scene: Scene) -> None:
        dataset_id = await scene.upload()
        assert await scene.datasets.rows_of(dataset_id, ["0", "11", name]) == [0, 11, None]

    play(redis_url, act)


def test_upload_with_missing_parts_is_not_committed(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        dataset_id = DatasetId("0" * 32)
        await scene.datasets.put_rows(dataset_id, 0, b"12345678")
        with pytest.raises(InvalidInput) as refused:
            await scene.datasets.commit(
                dataset_id, dataset_pb2.Dataset(), chunks=2, has_ids=False, has_display=False
            )
        assert refused.value.reason == "DATASET_INCOMPLETE"
        assert not await scene.datasets.exists(dataset_id)
        assert await scene.client.ttl(keys.dataset(0, dataset_id, "x:0")) > 0
        await scene.client.delete(keys.dataset(0, dataset_id, "x:0"))

    play(redis_url, act)


def test_dataset_in_use_cannot_be_deleted(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        with pytest.raises(WrongState) as refused:
            await scene.datasets.delete(scene.dataset_id)
        assert refused.value.reason == "DATASET_IN_USE"
        await scene.sessions.delete(session_id)
        await scene.datasets.delete(scene.dataset_id)
        with pytest.raises(NotFound):
            await scene.datasets.get(scene.dataset_id)

    play(redis_url, act)


def test_pages_list_every_dataset_newest_first(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        made = [await scene.session() for _ in range(5)]
        first, _ = await scene.sessions.list_sessions(limit=3)
        last = first[-1]
        rest, end = await scene.sessions.list_sessions(limit=3, before=(last.created_ms, last.id))
        assert end is None
        listed = [one.id for one in first + rest]
        assert sorted(listed) == sorted(made)
        assert [one.created_ms for one in first + rest] == sorted(
            (one.created_ms for one in first + rest), reverse=True
        )

    play(redis_url, act)
