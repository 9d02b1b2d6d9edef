"""One service process for all tests of a run; each test finds Redis empty."""

from collections.abc import Iterator

import httpx
import pytest
from tests.e2e.processes import Process, service
from tests.service.harness import CALL_S, Harness, harness_at

from svddtune.stack import EmbeddedServer


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server apart from that of other tests: the service writes to it also between its tests."""
    with EmbeddedServer(tmp_path_factory.mktemp("service-redis"), fsync="no") as server:
        yield server


@pytest.fixture(scope="session")
def service_process(redis_server: EmbeddedServer) -> Iterator[Process]:
    with service(redis_server.url, "127.0.0.1:0", "--http-listen", "127.0.0.1:0") as process:
        yield process


@pytest.fixture
def harness(redis_url: str, service_process: Process) -> Iterator[Harness]:
    """Calls to the service, and a scripted worker beside it."""
    with harness_at(service_process.ready["address"], redis_url) as harness:
        yield harness


@pytest.fixture
def web(harness: Harness, service_process: Process) -> Iterator[httpx.Client]:
    """Calls to the same service over HTTP."""
    with httpx.Client(base_url=service_process.ready["http"], timeout=CALL_S) as client:
        yield client
