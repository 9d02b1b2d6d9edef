"""Large datasets go to the dataset store and come back from it, through all processes."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import redis
from sklearn.datasets import load_breast_cancer
from tests.e2e.processes import deployment, service

from svddtune.client import TuningClient

pytestmark = [pytest.mark.integration, pytest.mark.e2e]


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the store and the workers' copies, which the processes are told of."""
    monkeypatch.setenv("SVDDTUNE_DATASET_STORE", (tmp_path / "data sets").as_uri())
    monkeypatch.setenv("SVDDTUNE_DATASET_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_session_on_rows_in_the_store_asks_and_completes(
    redis_url: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVDDTUNE_REDIS_ROWS_MIB", "0")
    X, benign = load_breast_cancer(return_X_y=True)
    with deployment(redis_url) as address, TuningClient(address) as client:
        dataset = client.upload_dataset(X)
        session = client.create_session(dataset, budget=4)
        with client.tuning(session, labeler="ann") as tuning:
            for query in tuning.queries():
                assert np.array_equal(query.features, X[query.row])
                tuning.answer(query, 1 if benign[query.row] else -1)
        client.wait_until_completed(session)
        with redis.Redis.from_url(redis_url) as store:
            assert not list(store.scan_iter("*:x:*"))
        assert len(list((folders / "data sets").rglob("*.npy"))) == 1
        assert len(list((folders / "cache").glob("*.npy"))) == 1
        client.delete_session(session)
        client.delete_dataset(dataset)
        assert not list((folders / "data sets").rglob("*.npy"))


def resident_mib(pid: int) -> float:
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return int(fields["VmRSS"].split()[0]) / 1024


def most_while(measure: Callable[[], float], act: Callable[[], object]) -> float:
    """The largest of many measurements while something is done."""
    done, found = threading.Event(), [measure()]

    def watch() -> None:
        while not done.wait(0.02):
            found.append(measure())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        act()
    finally:
        done.set()
        watcher.join()
    return max(found)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_service_grows_by_less_than_100_mib_while_it_takes_400_mb(
    redis_url: str, folders: Path
) -> None:
    X = np.random.default_rng(1).normal(size=(1_000_000, 50))
    with service(redis_url) as process, TuningClient(process.ready["address"]) as client:
        client.upload_dataset(X[:1000])
        before = resident_mib(process.ready["pid"])
        began = time.monotonic()
        most = most_while(
            lambda: resident_mib(process.ready["pid"]), lambda: client.upload_dataset(X)
        )
        print(f"growth {most - before:.0f} MiB, upload {time.monotonic() - began:.1f} s")
        stored = sum(path.stat().st_size for path in (folders / "data sets").rglob("*.npy"))
        assert stored > X.nbytes
        assert most - before < 100
