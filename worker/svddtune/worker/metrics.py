"""The metrics of a worker; imported only where they are asked for."""

from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram

from svddtune.process.metrics import Exposition, StoreMetrics
from svddtune.state.observed import observe

_JOB_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)


class PrometheusMeters:
    """Counts jobs for Prometheus, which reads the figures at an address."""

    def __init__(self, listen: str, *, targets: Path | None = None) -> None:
        """Listen. Raises OSError."""
        registry = CollectorRegistry()
        self._jobs = Counter(
            "svddtune_jobs",
            "Jobs that a worker has worked on, by kind and outcome.",
            ["kind", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "svddtune_job_seconds",
            "Time of a job, with that of urgent jobs that went first between its pieces.",
            ["kind"],
            buckets=_JOB_BUCKETS,
            registry=registry,
        )
        observe(StoreMetrics(registry))
        self._exposition = Exposition(registry, listen, "worker", targets=targets)
        self.address = self._exposition.address

    def job_ended(self, kind: str, outcome: str, seconds: float) -> None:
        """Count a job."""
        self._jobs.labels(kind, outcome).inc()
        self._seconds.labels(kind).observe(seconds)

    def leave(self) -> None:
        """Tell Prometheus that the worker ends; idempotent."""
        self._exposition.leave()
