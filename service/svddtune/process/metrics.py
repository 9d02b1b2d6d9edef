"""Metrics of a process: what service and worker both count, and where Prometheus reads them."""

import json
import os
import re
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.process_collector import ProcessCollector

# When a counter began is of no use to anybody here.
disable_created_metrics()  # type: ignore[no-untyped-call]

_SCRIPT_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)


class StoreMetrics:
    """Counts the calls of a process to Redis."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._scripts = Histogram(
            "svddtune_script_seconds",
            "Time of a script of Redis with the way there and back.",
            ["script"],
            buckets=_SCRIPT_BUCKETS,
            registry=registry,
        )
        self._failed = Counter(
            "svddtune_redis_reconnections",
            "Attempts at a call to Redis that failed, each followed by a new connection.",
            registry=registry,
        )
        self._expired = Counter(
            "svddtune_leases_expired",
            "Leases on queries that ran out unanswered.",
            registry=registry,
        )
        # (Looking a child up costs more than counting.)
        self._by_script: dict[str, Any] = {}

    def script_ran(self, script: str, seconds: float) -> None:
        """A script has replied."""
        child = self._by_script.get(script)
        if child is None:
            child = self._by_script[script] = self._scripts.labels(script)
        child.observe(seconds)

    def attempt_failed(self) -> None:
        """A connection failed."""
        self._failed.inc()

    def leases_expired(self, count: int) -> None:
        """So many leases have run out."""
        if count:
            self._expired.inc(count)


class Exposition:
    """A process's metrics at an address, until it is closed."""

    def __init__(
        self,
        registry: CollectorRegistry,
        listen: str,
        process: str,
        *,
        targets: Path | None = None,
        tls: tuple[Path, Path] | None = None,
    ) -> None:
        """``process`` is service or worker. Raises OSError where it cannot listen."""
        ProcessCollector(registry=registry)
        Gauge(
            "svddtune_info", "The release that runs; always 1.", ["version"], registry=registry
        ).labels(version("svddtune")).set(1)
        host, _, port = listen.rpartition(":")
        cert, key = tls or (None, None)
        self._server, self._thread = start_http_server(
            int(port),
            host.strip("[]"),
            registry,
            certfile=str(cert) if cert else None,
            keyfile=str(key) if key else None,
        )
        self.address = f"{host}:{self._server.server_port}"
        self._target: Path | None = None
        if targets is not None:
            self._target = _leave_target(targets, self.address, process)

    def leave(self) -> None:
        """Tell Prometheus that the process ends; idempotent."""
        if self._target is not None:
            self._target.unlink(missing_ok=True)

    def close(self) -> None:
        """End it."""
        self.leave()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _leave_target(folder: Path, address: str, process: str) -> Path:
    """Write the file that Prometheus finds the address by; remove those of processes that died."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        named = re.fullmatch(r"(service|worker)-(\d+)\.json", old.name)
        if named and not _runs(int(named[2])):
            old.unlink(missing_ok=True)
    path = folder / f"{process}-{os.getpid()}.json"
    found = [{"targets": [address], "labels": {"job": f"svddtune-{process}"}}]
    # (Prometheus must never read half a file.)
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(found))
    whole.rename(path)
    return path


def _runs(pid: int) -> bool:
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
