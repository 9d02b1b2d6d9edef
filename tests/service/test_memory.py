"""The memory that a call needs is bounded by its response, not by what is stored."""

import asyncio
import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.e2e.processes import Process, service
from tests.service.drivers import driver
from tests.service.harness import Harness, harness_at

from svddtune.state.connect import connect_async
from svddtune.state.datasets import DatasetStore
from svddtune.state.session import DatasetId
from svddtune.v1 import common_pb2, config_pb2, dataset_pb2, oracle_pb2

pytestmark = pytest.mark.integration

ROWS, M = 200, 2
# What labelers are shown of one row: 200 KB, half of what is allowed.
SHOWN = dataset_pb2.Display(
    fields=[common_pb2.DisplayField(key=f"part {i}", value="x" * 4000) for i in range(50)]
)
CALLERS = 4
# For each caller a response of 3 MiB in its forms: as stored, as messages, as bytes to send.
MOST_MB = 20 * CALLERS


@pytest.fixture
def process(redis_url: str) -> Iterator[Process]:
    """A service whose memory nobody else has used."""
    with service(redis_url) as process:
        yield process


@pytest.fixture
def harness(redis_url: str, process: Process) -> Iterator[Harness]:
    with harness_at(process.ready["address"], redis_url) as harness:
        yield harness


def memory_mb(process: Process, what: str) -> float:
    """ "VmRSS", what the process has now, or "VmHWM", what it had at most."""
    status = Path(f"/proc/{process.ready['pid']}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith(what)]
    return int(line.split()[1]) / 1000


def store_rows(redis_url: str) -> str:
    """A dataset with much to show, put where the service's uploads put it; its name."""
    dataset_id = DatasetId(hashlib.sha256(b"shown").hexdigest()[:32])

    async def put() -> None:
        client = connect_async(redis_url)
        store, shown = DatasetStore(client), SHOWN.SerializeToString()
        await store.put_rows(dataset_id, 0, bytes(8 * M * ROWS))
        for first in range(0, ROWS, 5):
            await store.put_displays(dataset_id, first, [shown] * 5)
        record = dataset_pb2.Dataset(
            name=f"datasets/{dataset_id}", observation_count=ROWS, feature_count=M
        )
        await store.commit(dataset_id, record, chunks=1, has_ids=False, has_display=True)
        await client.aclose()

    asyncio.run(put())
    return f"datasets/{dataset_id}"


def test_page_of_observations_needs_the_memory_of_its_content(
    redis_url: str, process: Process, harness: Harness
) -> None:
    dataset = store_rows(redis_url)

    def pages() -> list[int]:
        rows: list[int] = []
        request = dataset_pb2.ListObservationsRequest(parent=dataset, page_size=10_000)
        while True:
            response = harness.datasets.ListObservations(request)
            assert response.ByteSize() < 4 << 20
            assert all(len(one.display) == len(SHOWN.fields) for one in response.observations)
            rows += [one.row for one in response.observations]
            request.page_token = response.next_page_token
            if not response.next_page_token:
                return rows

    before = memory_mb(process, "VmRSS")
    with ThreadPoolExecutor(CALLERS) as callers:
        for rows in callers.map(lambda _: pages(), range(CALLERS)):
            assert rows == list(range(ROWS))
    assert memory_mb(process, "VmHWM") - before < MOST_MB


@pytest.mark.parametrize("transport", ["stream", "unary"])
def test_many_leases_need_the_memory_of_one_response(
    redis_url: str, process: Process, harness: Harness, transport: str
) -> None:
    session = harness.create(
        store_rows(redis_url),
        config=config_pb2.SessionConfig(budget=ROWS, strategy="QUERY_STRATEGY_LAMA"),
    ).name
    harness.worker.work_off()
    ann = driver(harness, transport, session)
    before = memory_mb(process, "VmRSS")
    if transport == "stream":
        assert len(ann.wait(ROWS)) == ROWS
    else:
        assert 1 < len(ann.take(ROWS)) < ROWS
        request = oracle_pb2.LeaseRequest(labeler="ann", max_queries=ROWS)
        assert 1 < len(harness.oracle.Lease(request).assignments) < ROWS
        assert harness.get(session).leased_count == ROWS
    # (The messages of a stream wait for their client one by one.)
    assert memory_mb(process, "VmHWM") - before < MOST_MB


def test_page_of_datasets_needs_the_memory_of_one_response(
    redis_url: str, process: Process, harness: Harness
) -> None:
    names = [f"{i:05d} {'x' * 240}" for i in range(10_000)]
    ids = [DatasetId(hashlib.sha256(bytes([i])).hexdigest()[:32]) for i in range(25)]

    async def put() -> None:
        client = connect_async(redis_url)
        store = DatasetStore(client)
        for one in ids:
            record = dataset_pb2.Dataset(
                name=f"datasets/{one}",
                observation_count=2,
                feature_count=len(names),
                feature_names=names,
            )
            await store.commit(one, record, chunks=0, has_ids=False, has_display=False)
        await client.aclose()

    asyncio.run(put())
    before = memory_mb(process, "VmRSS")
    found: list[str] = []
    request = dataset_pb2.ListDatasetsRequest(page_size=1000)
    while True:
        response = harness.datasets.ListDatasets(request)
        assert response.ByteSize() < 4 << 20
        found += [one.name for one in response.datasets]
        request.page_token = response.next_page_token
        if not response.next_page_token:
            break
    assert sorted(found) == sorted(f"datasets/{one}" for one in ids)
    assert memory_mb(process, "VmHWM") - before < MOST_MB / 2
