"""Clients go on with an upload when the service is killed or the connection is cut."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.client.flavours import connecting
from tests.e2e.processes import service
from tests.proxy import Proxy, proxy_to
from tests.waiting import wait_until

from svddtune.state.connect import connect

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

# 24 MB, of which 16 MB have been sent when the break comes.
X = np.random.default_rng(0).normal(size=(3000, 1000))
SENT = 16_000_000


@pytest.fixture
def listen() -> Iterator[str]:
    """The address of the service behind the proxy."""
    # (The path of a socket must be short.)
    with tempfile.TemporaryDirectory() as folder:
        yield f"unix:{folder}/service"


@pytest.fixture
def proxy(listen: str) -> Iterator[Proxy]:
    with proxy_to(f"unix://{listen.removeprefix('unix:')}") as proxy:
        yield proxy


@pytest.mark.parametrize(
    ("flavour", "place", "event"),
    [
        pytest.param("blocking", "redis", "kill", marks=pytest.mark.slow),
        pytest.param("asyncio", "folder", "kill", marks=pytest.mark.slow),
        ("blocking", "folder", "cut"),
        ("asyncio", "redis", "cut"),
    ],
)
def test_upload_goes_on_after_a_break(
    redis_url: str,
    listen: str,
    proxy: Proxy,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flavour: str,
    place: str,
    event: str,
) -> None:
    if place == "folder":
        monkeypatch.setenv("SVDDTUNE_DATASET_STORE", tmp_path.as_uri())
        monkeypatch.setenv("SVDDTUNE_REDIS_ROWS_MIB", "1")

    def kept() -> int:
        with connect(redis_url) as store:
            return max((int(store.hget(key, "rows")) for key in records()), default=0)

    def records() -> list[bytes]:
        with connect(redis_url) as store:
            return [key for key in store.keys("*:u:*") if not key.endswith(b":parts")]

    process = service(redis_url, listen)
    try:
        with (
            connecting(flavour) as connected,
            connected(proxy.address) as client,
            ThreadPoolExecutor(1) as elsewhere,
        ):
            proxy.hold_at(SENT)
            upload = elsewhere.submit(client.upload_dataset, X)
            assert proxy.held.wait(30)
            wait_until(lambda: kept() > 1000)
            if event == "kill":
                process.kill()
            proxy.cut()
            if event == "kill":
                process = service(redis_url, listen)
            dataset = upload.result(60)
            # Not all of it was sent again.
            assert proxy.received < X.nbytes + SENT / 2
            assert dataset.observation_count == len(X)
            assert client.upload_dataset(X) == dataset
        with connect(redis_url) as store:
            assert not store.keys("*:u:*:parts")
        # The notes of both uploads, which expire.
        assert len(records()) == 2
        assert not [path for path in tmp_path.glob("*-uploads/**/*") if path.is_file()]
    finally:
        process.stop()
