"""Uploads go on after a break, and give the dataset that they would have given without it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.profiles import sized
from tests.service.harness import Harness, M, N, chunk, grid, header, refusal
from tests.service.support import reason_of
from tests.state.scene import Scene, play
from tests.waiting import wait_until

from svddtune.service.upload import Draft, Limits, receive
from svddtune.state import keys
from svddtune.state.connect import connect
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import Conflict, InvalidInput, NotFound
from svddtune.state.rows import RowStore
from svddtune.state.session import DatasetId
from svddtune.state.uploads import UploadStore
from svddtune.v1 import dataset_pb2

pytestmark = pytest.mark.integration

LIMITS = Limits(rows=100_000, features=10_000, size=1 << 30)
# 0.8 MB a chunk: a part in Redis has one of them, a part in the dataset store five.
ROWS, COLUMNS, STEP = 1600, 1000, 100
X: NDArray[np.float64] = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
X[7] = X[3]
IDS = [f"id-{row}" for row in range(ROWS)]


class Place:
    """Stores that keep an upload's rows in Redis, or in a folder."""

    def __init__(self, scene: Scene, folder: Path | None, retention_s: float = 3600) -> None:
        self.client = scene.client
        self.folder = folder
        rows = RowStore(folder.as_uri()) if folder else None
        self.datasets = DatasetStore(scene.client, rows=rows, most_in_redis=0)
        self.uploads = UploadStore(scene.client, rows=rows, retention_s=retention_s)

    async def receive(
        self, requests: AsyncIterator[dataset_pb2.UploadDatasetRequest]
    ) -> dataset_pb2.Dataset:
        dataset, _ = await receive(requests, self.datasets, self.uploads, LIMITS)
        return dataset

    async def send(self, *requests: dataset_pb2.UploadDatasetRequest) -> dataset_pb2.Dataset:
        return await self.receive(each(requests))

    async def broken(
        self, upload_id: str, chunks: Sequence[dataset_pb2.UploadDatasetRequest]
    ) -> int:
        """Break an upload off behind these chunks; return how many rows are kept."""
        with pytest.raises(ConnectionError):
            await self.receive(each([head(upload_id), *chunks], then=ConnectionError()))
        kept, _ = await self.uploads.find(upload_id)
        return kept

    def objects(self) -> list[Path]:
        """The objects of uploads in the dataset store."""
        return [
            path
            for path in (self.folder.rglob("*") if self.folder else ())
            if path.is_file() and "-uploads/" in str(path)
        ]


async def each(
    requests: Sequence[dataset_pb2.UploadDatasetRequest], then: Exception | None = None
) -> AsyncIterator[dataset_pb2.UploadDatasetRequest]:
    for request in requests:
        yield request
    if then:
        raise then


def head(upload_id: str, **changes: Any) -> dataset_pb2.UploadDatasetRequest:
    values: dict[str, Any] = {"observation_count": ROWS, "feature_count": COLUMNS}
    return header(**values | {"upload_id": upload_id} | changes)


def pieces(start: int, end: int = ROWS) -> list[dataset_pb2.UploadDatasetRequest]:
    """Chunks of rows; displays come late, so that earlier rows get empty ones."""
    return [
        chunk(
            X[row : min(row + STEP, end)],
            observation_ids=IDS[row : min(row + STEP, end)],
            displays=[
                dataset_pb2.Display(fields=[{"key": "k", "value": str(one)}])
                for one in range(row, min(row + STEP, end))
            ]
            if row >= ROWS // 2
            else (),
            first_row=row,
        )
        for row in range(start, end, STEP)
    ]


def first(upload_id: str, rows: int) -> list[dataset_pb2.UploadDatasetRequest]:
    return [head(upload_id), *pieces(0, rows)]


@pytest.fixture(params=["redis", "folder"])
def run(
    request: pytest.FixtureRequest, redis_url: str, tmp_path: Path
) -> Callable[[Callable[[Place], Awaitable[None]]], None]:
    """Run a test's coroutine with stores of each kind."""
    folder = tmp_path if request.param == "folder" else None

    def run(act: Callable[[Place], Awaitable[None]]) -> None:
        async def on(scene: Scene) -> None:
            await act(Place(scene, folder))

        play(redis_url, on)

    return run


Run = Callable[[Callable[[Place], Awaitable[None]]], None]


@pytest.mark.parametrize("overlap", [0, 30, 250])
def test_resumed_upload_gives_the_dataset_of_an_unbroken_one(run: Run, overlap: int) -> None:
    async def act(place: Place) -> None:
        upload_id = str(uuid4())
        kept = await place.broken(upload_id, pieces(0, 1000))
        assert 0 < kept < 1000
        again = await place.broken(upload_id, pieces(kept, 1600))
        assert kept < again < 1600
        resumed = await place.send(head(upload_id), *pieces(again - overlap))
        dataset_id = DatasetId(resumed.content_hash[:32])
        found = await place.datasets.observations(
            dataset_id, range(0, ROWS, 99), feature_count=COLUMNS
        )
        for one in found:
            assert np.array_equal(np.frombuffer(one.values), X[one.row])
            assert one.observation_id == IDS[one.row]
            assert [field.value for field in one.display.fields] == (
                [str(one.row)] if one.row >= ROWS // 2 else []
            )
        await place.datasets.delete(dataset_id)
        unbroken = await place.send(head(str(uuid4())), *pieces(0))
        for dataset in (resumed, unbroken):
            dataset.ClearField("create_time")
        assert resumed == unbroken
        assert resumed.duplicate_row_count == 1

    run(act)


def test_complete_upload_leaves_nothing_but_a_short_note(run: Run) -> None:
    async def act(place: Place) -> None:
        upload_id = str(uuid4())
        await place.broken(upload_id, pieces(0, 1000))
        if place.folder:
            assert place.objects()
        dataset = await place.send(head(upload_id), *pieces(0))
        assert await place.client.keys("*:u:*") == [keys.upload(0, upload_id).encode()]
        assert 3500 < await place.client.ttl(keys.upload(0, upload_id)) <= 3600
        assert place.objects() == []
        _, dataset_id = await place.uploads.find(upload_id)
        assert dataset_id == dataset.content_hash[:32]

    run(act)


def test_upload_whose_reply_was_lost_can_be_sent_again(run: Run) -> None:
    async def act(place: Place) -> None:
        upload_id = str(uuid4())
        once = await place.send(head(upload_id), *pieces(0))
        assert await place.send(head(upload_id), *pieces(0)) == once

    run(act)


def test_upload_that_is_not_resumed_expires_and_leaves_no_key_or_object(
    redis_url: str, tmp_path: Path
) -> None:
    async def act(scene: Scene) -> None:
        for folder in (tmp_path, None):
            place = Place(scene, folder, retention_s=1)
            upload_id = str(uuid4())
            await place.broken(upload_id, pieces(0, 1000))
            assert bool(place.objects()) == bool(folder)
            while await place.client.keys("*:u:*"):
                await asyncio.sleep(0.05)
            with pytest.raises(NotFound, match="Begin again"):
                await place.uploads.find(upload_id)
            assert await place.uploads.remove_expired() == bool(folder)
            assert place.objects() == []

    play(redis_url, act)


def test_objects_of_an_upload_that_may_be_resumed_are_not_removed(
    redis_url: str, tmp_path: Path
) -> None:
    async def act(scene: Scene) -> None:
        place = Place(scene, tmp_path)
        await place.broken(str(uuid4()), pieces(0, 1000))
        assert await place.uploads.remove_expired() == 0
        assert await place.datasets.remove_orphans(age_s=-1) == 0
        assert place.objects()

    play(redis_url, act)


def test_resumed_upload_with_another_header_is_refused(run: Run) -> None:
    async def act(place: Place) -> None:
        upload_id = str(uuid4())
        kept = await place.broken(upload_id, pieces(0, 1000))
        for change in (
            {"observation_count": ROWS + 1},
            {"feature_names": [f"f{i}" for i in range(COLUMNS)]},
            {"scaling": dataset_pb2.SCALING_KIND_NONE},
            {"display_name": "other"},
        ):
            with pytest.raises(InvalidInput) as refused:
                await place.send(head(upload_id, **change), *pieces(kept))
            assert refused.value.reason == "UPLOAD_ID_REUSED"
        await place.send(head(upload_id.upper()), *pieces(kept))

    run(act)


def test_older_of_two_writers_is_refused_and_the_newer_one_completes(run: Run) -> None:
    async def act(place: Place) -> None:
        upload_id = str(uuid4())
        taken_over, begun = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[dataset_pb2.UploadDatasetRequest]:
            for request in first(upload_id, 1000):
                yield request
            begun.set()
            await taken_over.wait()
            for request in pieces(1000):
                yield request

        async def older() -> dataset_pb2.Dataset:
            return await place.receive(slow())

        task = asyncio.create_task(older())
        await begun.wait()
        kept, _ = await place.uploads.find(upload_id)

        async def newer() -> AsyncIterator[dataset_pb2.UploadDatasetRequest]:
            yield head(upload_id)
            # The header has been taken when the next message is asked for.
            taken_over.set()
            with pytest.raises(Conflict) as refused:
                await task
            assert refused.value.reason == "UPLOAD_TAKEN_OVER"
            for request in pieces(kept):
                yield request

        dataset = await place.receive(newer())
        assert dataset.observation_count == ROWS
        assert place.objects() == []

    run(act)


def test_gap_is_refused_and_what_was_kept_stays(run: Run) -> None:
    async def act(place: Place) -> None:
        upload_id = str(uuid4())
        kept = await place.broken(upload_id, pieces(0, 1000))
        with pytest.raises(InvalidInput) as refused:
            await place.send(head(upload_id), *pieces(kept + STEP))
        assert refused.value.reason == "UPLOAD_GAP"
        assert refused.value.metadata["next_row"] == str(kept)
        await place.send(head(upload_id), *pieces(kept))

    run(act)


def test_rows_that_can_never_be_stored_remove_what_was_kept(run: Run) -> None:
    async def act(place: Place) -> None:
        upload_id = str(uuid4())
        kept = await place.broken(upload_id, pieces(0, 1000))
        bad = np.full((1, COLUMNS), np.nan)
        with pytest.raises(InvalidInput) as refused:
            await place.send(head(upload_id), chunk(bad, observation_ids=["bad"], first_row=kept))
        assert refused.value.metadata["row"] == str(kept)
        assert await place.client.keys("*:u:*") == []
        assert place.objects() == []

    run(act)


def test_upload_whose_parts_are_lost_begins_again(run: Run) -> None:
    async def act(place: Place) -> None:
        upload_id = str(uuid4())
        await place.broken(upload_id, pieces(0, 1000))
        if place.folder:
            place.objects()[0].write_bytes(b"damaged")
        else:
            await place.client.delete(keys.upload(0, upload_id, "parts"))
        with pytest.raises(NotFound) as refused:
            await place.send(*first(upload_id, ROWS))
        assert refused.value.reason == "UPLOAD_NOT_FOUND"
        assert place.objects() == []
        assert (await place.send(*first(upload_id, ROWS))).observation_count == ROWS

    run(act)


def test_slow_upload_outlives_what_was_kept_of_it(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        place = Place(scene, None)
        upload_id = str(uuid4())

        async def slow() -> AsyncIterator[dataset_pb2.UploadDatasetRequest]:
            for request in first(upload_id, 1000):
                yield request
            await place.client.delete(keys.upload(0, upload_id), keys.upload(0, upload_id, "parts"))
            for request in pieces(1000):
                yield request

        assert (await place.receive(slow())).observation_count == ROWS
        assert await place.client.keys("*:u:*") == []

    play(redis_url, act)


@settings(max_examples=sized(50))
@given(
    st.lists(
        st.tuples(st.integers(0, N), st.integers(1, N)).map(sorted).filter(lambda p: p[0] < p[1]),
        max_size=8,
    )
)
def test_chunks_that_overlap_count_each_row_once(ranges: list[list[int]]) -> None:
    rows = grid()
    draft, unbroken = (Draft(header().header, LIMITS) for _ in range(2))
    unbroken.add(chunk(rows, observation_ids=IDS[:N]).chunk)
    try:
        for start, end in [*ranges, [0, N]]:
            request = chunk(rows[start:end], observation_ids=IDS[start:end], first_row=start)
            if start > draft.row_count:
                with pytest.raises(InvalidInput, match=f"row {draft.row_count} is the next"):
                    draft.unseen(request.chunk)
                continue
            rest = draft.unseen(request.chunk)
            assert (rest is None) == (end <= draft.row_count)
            if rest is not None:
                draft.add(rest)
                assert draft.row_count == end
        assert draft.finish() == unbroken.finish()
    finally:
        draft.close()
        unbroken.close()


def test_get_upload_tells_the_rows_then_the_dataset(harness: Harness) -> None:
    upload_id = str(uuid4())
    ask = dataset_pb2.GetUploadRequest(upload_id=upload_id)
    wide: dict[str, Any] = {"observation_count": ROWS, "feature_count": COLUMNS}
    # The stream ends before all rows have come.
    error = refusal(lambda: harness.upload(header(**wide, upload_id=upload_id), *pieces(0, 1000)))
    assert reason_of(error) == "DATASET_INCOMPLETE"
    kept = harness.datasets.GetUpload(ask).row_count
    assert 0 < kept < 1000
    dataset = harness.upload(header(**wide, upload_id=upload_id), *pieces(kept))
    told = harness.datasets.GetUpload(ask)
    assert told.row_count == ROWS
    assert told.dataset == dataset
    harness.datasets.DeleteDataset(dataset_pb2.DeleteDatasetRequest(name=dataset.name))
    told = harness.datasets.GetUpload(ask)
    assert told.row_count == 0
    assert not told.HasField("dataset")


@pytest.mark.parametrize(
    ("upload_id", "code", "reason"),
    [
        ("5f0c3a6e-1d2b-4c8f-9e7a-0b6d4f2a8c10", grpc.StatusCode.NOT_FOUND, "UPLOAD_NOT_FOUND"),
        ("mine", grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"),
        ("", grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"),
    ],
)
def test_get_upload_of_none_is_refused(
    harness: Harness, upload_id: str, code: grpc.StatusCode, reason: str
) -> None:
    error = refusal(
        lambda: harness.datasets.GetUpload(dataset_pb2.GetUploadRequest(upload_id=upload_id))
    )
    assert error.code() is code
    assert reason_of(error) == reason


def test_header_whose_upload_id_is_no_uuid_is_refused(harness: Harness) -> None:
    error = refusal(lambda: harness.upload(header(upload_id="mine"), chunk(grid(N, M))))
    assert reason_of(error) == "INVALID_FIELD"
    assert "header.upload_id" in str(error.details())


def test_cancelled_upload_keeps_its_rows_for_a_while(harness: Harness) -> None:
    upload_id = str(uuid4())
    wide: dict[str, Any] = {"observation_count": ROWS, "feature_count": COLUMNS}

    def messages() -> Any:
        yield header(**wide, upload_id=upload_id)
        yield from pieces(0, 1000)
        with connect(harness.redis_url) as client:
            wait_until(lambda: int(client.hget(keys.upload(0, upload_id), "rows") or 0) > 0)
        call.cancel()

    call: Any = harness.datasets.UploadDataset.future(messages())
    wait_until(call.done)
    kept = harness.datasets.GetUpload(dataset_pb2.GetUploadRequest(upload_id=upload_id)).row_count
    assert kept > 0
    harness.upload(header(**wide, upload_id=upload_id), *pieces(kept))
