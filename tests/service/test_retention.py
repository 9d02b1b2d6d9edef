"""A service that is told for how long removes ended sessions and unused datasets by itself."""

import os
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import redis
from tests.e2e.processes import service
from tests.waiting import wait_until

from svddtune.client import TuningClient
from svddtune.client.errors import NotFound
from svddtune.stack import EmbeddedServer
from svddtune.state import keys

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.mark.parametrize(
    "outside",
    [
        pytest.param(True, id="in the dataset store"),
        pytest.param(False, id="in Redis", marks=pytest.mark.thorough),
    ],
)
def test_ended_session_and_its_dataset_vanish_and_the_log_names_the_settings(
    redis_url: str, tmp_path: Path, outside: bool
) -> None:
    with redis.Redis.from_url(redis_url) as store:
        # No process is of an earlier version, which would not know what is unused.
        store.set(keys.prefix(0) + "layout", keys.LAYOUT_VERSION)
    log, rows = tmp_path / "service.log", tmp_path / "rows"
    options = ["--session-retention-s", "2", "--dataset-retention-s", "2"]
    if outside:
        options += ["--dataset-store", rows.as_uri(), "--redis-rows-mib", "0"]
    with (
        service(redis_url, "127.0.0.1:0", *options, log=log) as process,
        TuningClient(str(process.ready["address"])) as client,
    ):
        dataset = client.upload_dataset(np.arange(24.0).reshape(12, 2))
        assert client.get_dataset(dataset).expire_time is not None
        session = client.create_session(dataset)
        assert session.expire_time is None
        assert client.get_dataset(dataset).expire_time is None
        assert bool(_files(rows)) == outside
        ended = client.cancel_session(session)
        assert ended.update_time is not None
        assert ended.expire_time == ended.update_time + timedelta(seconds=2)
        wait_until(lambda: not list(client.list_sessions()))
        with pytest.raises(NotFound):
            client.get_session(session)
        wait_until(lambda: not list(client.list_datasets()))
        wait_until(lambda: "session_retention_s" in log.read_text())
        wait_until(lambda: "dataset_retention_s" in log.read_text())
        wait_until(lambda: not _files(rows))


def _files(folder: Path) -> list[str]:
    """Files in a folder and below it. (`Path.rglob` fails if a folder vanishes while it looks.)"""
    return [name for _, _, names in os.walk(folder) for name in names]


def test_service_without_a_setting_removes_a_session_that_asks_for_it(tmp_path: Path) -> None:
    log = tmp_path / "service.log"
    with (
        # Any other service at the same server might remove it.
        EmbeddedServer(tmp_path / "redis", fsync="no") as server,
        service(server.url, "127.0.0.1:0", log=log) as process,
        TuningClient(str(process.ready["address"])) as client,
    ):
        dataset = client.upload_dataset(np.arange(24.0).reshape(12, 2))
        session = client.create_session(dataset, retention_s=3600)
        assert (session.retention_s, session.expire_time) == (3600, None)
        ended = client.cancel_session(session)
        assert ended.update_time is not None
        assert ended.expire_time == ended.update_time + timedelta(hours=1)
        changed = client.update_session(session, retention_s=1)
        assert changed.expire_time == ended.update_time + timedelta(seconds=1)
        wait_until(lambda: not list(client.list_sessions()))
        wait_until(lambda: "retention_seconds" in log.read_text())
        assert [one.name for one in client.list_datasets()] == [dataset.name]
