"""Fixtures for all tests: a real Redis-compatible server, empty for each test."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

# One thread per process, as in workers: test processes share the cores, and BLAS threads wait
# busily for each other. The libraries read these variables when they are loaded.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import pytest
import redis
from tests import profiles
from tests.clusters import RunningCluster, cluster
from tests.e2e.processes import RestartableService, worker

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.stack import EmbeddedServer
from svddtune.state import keys

profiles.load()

# Tests that a script starts in the background, or nohup, inherit ignored signals. The programs that
# they start and interrupt would ignore these signals too.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.fixture(scope="session", autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep the runs of tests, and of the programs they start, apart from the user's runs."""
    home = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(home))
        yield home


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    # Tests of durability start their own servers; all others need not wait for the disk.
    binary = os.environ.get("SVDDTUNE_TEST_SERVER")
    with EmbeddedServer(tmp_path_factory.mktemp("redis"), binary=binary, fsync="no") as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    """A Cluster of three masters."""
    binary = os.environ.get("SVDDTUNE_TEST_SERVER")
    with cluster(tmp_path_factory.mktemp("cluster"), binary=binary) as running:
        yield running


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of an empty server. After the test, ``keys`` must know every key on it.

    With ``SVDDTUNE_TEST_CLUSTER`` it is a Cluster.
    """
    if os.environ.get("SVDDTUNE_TEST_CLUSTER"):
        running: RunningCluster = request.getfixturevalue("redis_cluster")
        running.empty()
        yield running.url
        assert [key for key in running.found_keys() if keys.group_of(key.decode()) is None] == []
        return
    redis_server: EmbeddedServer = request.getfixturevalue("redis_server")
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
        yield redis_server.url
        found = [key.decode() for key in client.scan_iter(count=1000)]
    assert [key for key in found if keys.group_of(key) is None] == []


@pytest.fixture(scope="session")
def stack() -> Iterator[EmbeddedStack]:
    """A stack on this machine, shared by the tests that need a real service."""
    with EmbeddedStack(workers=1) as running:
        yield running


@pytest.fixture
def client(stack: EmbeddedStack) -> Iterator[TuningClient]:
    """A client of that stack."""
    with TuningClient(stack.address) as connected:
        yield connected


@pytest.fixture
def restartable(redis_url: str) -> Iterator[RestartableService]:
    """A service with a worker, which tests may end and restart; it runs at the end of the test."""
    running = RestartableService(redis_url)
    with worker(redis_url):
        yield running
    running.end(hard=False)
