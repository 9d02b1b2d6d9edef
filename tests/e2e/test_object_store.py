"""Large datasets go to an S3-compatible server and come back from it, through all processes."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import redis
from sklearn.datasets import load_breast_cancer
from tests.e2e.object_server import object_server
from tests.e2e.processes import deployment, service

from svddtune.client import TuningClient, Unavailable, WrongState

pytestmark = [
    pytest.mark.integration,
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.timeout(300),
]


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder behind a bucket, which the processes use for every dataset."""
    with object_server(tmp_path, "rows") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("SVDDTUNE_DATASET_STORE", "s3://rows/some/prefix")
        monkeypatch.setenv("SVDDTUNE_REDIS_ROWS_MIB", "0")
        monkeypatch.setenv("SVDDTUNE_DATASET_CACHE", str(tmp_path / "cache"))
        yield tmp_path / "buckets" / "rows"


def objects(bucket: Path) -> list[Path]:
    return sorted((bucket / "some" / "prefix").rglob("*.npy"))


def test_session_on_rows_in_a_bucket_completes_and_deletion_removes_the_objects(
    redis_url: str, bucket: Path
) -> None:
    X, benign = load_breast_cancer(return_X_y=True)
    with deployment(redis_url) as address, TuningClient(address) as client:
        dataset = client.upload_dataset(X)
        assert len(objects(bucket)) == 1
        session = client.create_session(dataset, budget=4)
        with client.tuning(session, labeler="ann") as tuning:
            for query in tuning.queries():
                assert np.array_equal(query.features, X[query.row])
                tuning.answer(query, 1 if benign[query.row] else -1)
        client.wait_until_completed(session, timeout_s=60)
        with redis.Redis.from_url(redis_url) as store:
            assert not list(store.scan_iter("*:x:*"))
        client.delete_session(session)
        client.delete_dataset(dataset)
        assert not objects(bucket)


def test_damaged_object_in_a_bucket_is_named(redis_url: str, bucket: Path) -> None:
    X = load_breast_cancer().data
    with deployment(redis_url) as address, TuningClient(address) as client:
        dataset = client.upload_dataset(X)
        (harmed,) = objects(bucket)
        content = bytearray(harmed.read_bytes())
        content[-1] ^= 1
        harmed.write_bytes(content)
        session = client.create_session(dataset, budget=4)
        with pytest.raises(WrongState) as failed:
            client.wait_until_completed(session, timeout_s=60)
        assert failed.value.reason == "DATASET_DAMAGED"
        assert harmed.name in str(failed.value)


def test_upload_to_a_bucket_that_refuses_the_key_is_unavailable(
    redis_url: str, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with service(redis_url) as front, TuningClient(front.ready["address"]) as client:
        with pytest.raises(Unavailable) as refused:
            client.upload_dataset(load_breast_cancer().data)
        assert refused.value.reason == "DATASET_STORE_UNAVAILABLE"
    assert not objects(bucket)
