"""Uploads that run at the same time, break off or are slow."""

import queue

import pytest
from tests.service.harness import Harness, chunk, grid, header
from tests.state.scene import Scene, play
from tests.waiting import wait_until

from svddtune.state import keys
from svddtune.state.connect import connect
from svddtune.v1 import dataset_pb2

pytestmark = pytest.mark.integration


def test_concurrent_upload_of_the_same_data_loses_no_part(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        names = [f"id-{row}" for row in range(12)]
        dataset_id = await scene.upload(ids=names)
        # The other upload had begun before the first was committed.
        await scene.datasets.put_rows(dataset_id, 0, b"late")
        await scene.datasets.put_ids(dataset_id, 0, ["late"])
        for part in ("x:0", "ids", "rows"):
            assert await scene.client.ttl(keys.dataset(0, dataset_id, part)) == -1
        assert await scene.datasets.ids_of(dataset_id, [0]) == ["id-0"]

    play(redis_url, act)


def test_interrupted_upload_leaves_nothing(harness: Harness) -> None:
    parts: queue.SimpleQueue[dataset_pb2.UploadDatasetRequest | None] = queue.SimpleQueue()
    call = harness.datasets.UploadDataset.future(iter(parts.get, None))
    parts.put(header())
    parts.put(chunk(grid()[:6]))
    call.cancel()  # type: ignore[no-untyped-call]
    parts.put(None)
    wait_until(call.done)
    assert not harness.datasets.ListDatasets(dataset_pb2.ListDatasetsRequest()).datasets
    with connect(harness.redis_url) as client:
        assert client.keys("*:d:*") == []


def test_many_ids_and_displays_are_stored_in_batches(harness: Harness) -> None:
    n = 2500
    ids = [f"id-{row}" for row in range(n)]
    display = dataset_pb2.Display(fields=[{"key": "k", "value": "v" * 1000}])
    dataset = harness.upload(
        header(observation_count=n),
        *(
            chunk(
                grid(n)[start : start + 500],
                observation_ids=ids[start : start + 500],
                displays=[display] * 500,
            )
            for start in range(0, n, 500)
        ),
    )
    name = harness.session(dataset=dataset.name).name
    harness.label(name, "id-2499")
    harness.worker.work_off()
    assign = harness.labeler(name).expect("assign")
    assert assign.observation_id == ids[assign.row]
    assert assign.display[0].value == "v" * 1000
