"""Readiness is told apart from liveness, over gRPC and HTTP, with what is missing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import redis
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.e2e.processes import Process, service
from tests.state.scene import ScriptedWorker
from tests.waiting import wait_until

from svddtune.stack import EmbeddedServer
from svddtune.state import keys

pytestmark = pytest.mark.integration

HTTP = ("127.0.0.1:0", "--http-listen", "127.0.0.1:0")
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Probes:
    """What probes see of a service."""

    def __init__(self, process: Process) -> None:
        self._web = httpx.Client(base_url=process.ready["http"], timeout=30)
        self._channel = grpc.insecure_channel(process.ready["address"])
        self._health = health_pb2_grpc.HealthStub(self._channel)

    def health(self, name: str) -> int:
        """The status of a name of the health service."""
        return int(self._health.Check(health_pb2.HealthCheckRequest(service=name)).status)

    def reasons(self) -> list[str]:
        """What /readyz says is missing."""
        answer = self._web.get("/readyz")
        body: dict[str, Any] = answer.json()
        assert answer.status_code == (503 if body["status"] == "NOT_SERVING" else 200)
        assert all(one["message"] for one in body.get("reasons", []))
        return [one["reason"] for one in body.get("reasons", [])]

    def live(self) -> bool:
        """Whether the process is alive, by both probes."""
        return self._web.get("/livez").status_code == 200 and self.health("liveness") == SERVING

    def close(self) -> None:
        """Give connections back."""
        self._web.close()
        self._channel.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path_factory.mktemp("readiness"), fsync="no") as server:
        yield server


def test_service_is_ready_while_it_has_what_it_needs(store: EmbeddedServer) -> None:
    with service(store.url, *HTTP) as process, redis.Redis.from_url(store.url) as client:
        probes = Probes(process)
        wait_until(lambda: probes.reasons() == ["NO_WORKERS"])
        assert probes.health("readiness") == NOT_SERVING
        # Labels are taken meanwhile: the service itself serves.
        assert probes.health("") == SERVING

        worker = ScriptedWorker(store.url)
        worker.queue.sign_in({})
        wait_until(lambda: probes.reasons() == [])
        wait_until(lambda: probes.health("readiness") == SERVING)

        layout = keys.prefix(0) + "layout"
        client.set(layout, 99)
        wait_until(lambda: probes.reasons() == ["LAYOUT_UNKNOWN"])
        client.set(layout, keys.LAYOUT_VERSION)
        wait_until(lambda: probes.reasons() == [])

        client.config_set("maxmemory", 1)
        wait_until(lambda: probes.reasons() in (["STORE_FULL"], ["STORE_UNAVAILABLE"]))
        client.config_set("maxmemory", 0)
        worker.queue.sign_in({})
        wait_until(lambda: probes.reasons() == [])

        client.delete(keys.prefix(0) + "q:attended")
        wait_until(lambda: probes.reasons() == ["NO_WORKERS"])
        assert probes.live()
        probes.close()
        worker.close()


def test_service_that_is_told_so_is_ready_without_workers(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, fsync="no") as store:
        process = service(store.url, *HTTP, "--ready-without-workers")
        probes = Probes(process)
        wait_until(lambda: probes.reasons() == [])
    wait_until(lambda: probes.reasons() == ["STORE_UNAVAILABLE"])
    wait_until(lambda: probes.health("readiness") == NOT_SERVING)
    assert probes.live()
    probes.close()
    process.kill()
