"""The metrics of the service; imported only where they are asked for."""

import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from svddtune.process.metrics import Exposition, StoreMetrics
from svddtune.service.call_log import method_name
from svddtune.service.meters import Meters
from svddtune.service.status import Context
from svddtune.state.connect import connect
from svddtune.state.errors import StateError
from svddtune.state.figures import Figures, read_figures
from svddtune.state.observed import observe

_CODES = {code.value[0]: code.name for code in grpc.StatusCode}
_RPC_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_WAIT_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)


class PrometheusMeters(Meters):
    """Counts for Prometheus, which reads the figures at an address."""

    def __init__(
        self,
        listen: str,
        redis_url: str,
        partitions: int,
        *,
        targets: Path | None = None,
        tls: tuple[Path, Path] | None = None,
    ) -> None:
        """Listen. Raises OSError."""
        registry = CollectorRegistry()
        self._rpcs = Counter(
            "svddtune_rpcs",
            "Calls that have ended, over gRPC and HTTP, by method and code.",
            ["method", "code"],
            registry=registry,
        )
        self._rpc_seconds = Histogram(
            "svddtune_rpc_seconds",
            "Time of calls that are no streams.",
            ["method"],
            buckets=_RPC_BUCKETS,
            registry=registry,
        )
        self._open = Gauge(
            "svddtune_open_streams",
            "Streams that are open, by method.",
            ["method"],
            registry=registry,
        )
        self._answers = Counter(
            "svddtune_answers",
            "Answers that were stored, by verdict; applied is false where one came too late to "
            "count.",
            ["verdict", "applied"],
            registry=registry,
        )
        self._waits = Histogram(
            "svddtune_labeler_wait_seconds",
            "Time from a labeler's asking for a query until it got one.",
            buckets=_WAIT_BUCKETS,
            registry=registry,
        )
        # (Looking a child up costs more than counting.)
        self._answered: dict[tuple[str, bool], Counter] = {}
        for verdict in ("inlier", "outlier", "unsure"):
            self.answered(verdict, applied=True, count=0)
        registry.register(_StoreCollector(redis_url, partitions))
        observe(StoreMetrics(registry))
        self._exposition = Exposition(registry, listen, "service", targets=targets, tls=tls)
        self.address = self._exposition.address

    def measured(self, servicer: object, service: ServiceDescriptor) -> object:
        """A servicer whose calls are counted."""
        return _Measured(servicer, service, self._rpcs, self._rpc_seconds, self._open)

    def answered(self, verdict: str, *, applied: bool, count: int = 1) -> None:
        """Count answers."""
        child = self._answered.get((verdict, applied))
        if child is None:
            child = self._answers.labels(verdict, "true" if applied else "false")
            self._answered[verdict, applied] = child
        child.inc(count)

    def waited(self, seconds: float) -> None:
        """Note a wait."""
        self._waits.observe(seconds)

    def close(self) -> None:
        """Stop listening."""
        self._exposition.close()


class _Measured:
    def __init__(
        self,
        servicer: object,
        service: ServiceDescriptor,
        rpcs: Counter,
        seconds: Histogram,
        open_streams: Gauge,
    ) -> None:
        self._servicer = servicer
        self._service = service
        self._families = rpcs, seconds, open_streams

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = _Method(self._service.methods_by_name[name], *self._families)
        # (gRPC asks whether it is a coroutine function: of a partial one it sees that.)
        return partial(method.serve, getattr(self._servicer, name))


class _Method:
    """Counts the calls of one method; its series begin with its first call."""

    def __init__(
        self, method: MethodDescriptor, rpcs: Counter, seconds: Histogram, open_streams: Gauge
    ) -> None:
        self._name = method_name(method)
        self._streams = method.client_streaming or method.server_streaming
        self._rpcs, self._seconds, self._open = rpcs, seconds, open_streams
        # Children by code, and that of the method.
        self._ended: dict[str, Counter] = {}
        self._own: Any = None

    async def serve(
        self, serve: Callable[[Any, Context], Awaitable[Any]], request: Any, context: Context
    ) -> Any:
        """Serve a call, and count it."""
        began, code = time.perf_counter(), "OK"
        own = self._own
        if own is None:
            own = self._own = (self._open if self._streams else self._seconds).labels(self._name)
        if self._streams:
            own.inc()
        try:
            return await serve(request, context)
        except BaseException as error:
            code = _code(error, context)
            raise
        finally:
            ended = self._ended.get(code)
            if ended is None:
                ended = self._ended[code] = self._rpcs.labels(self._name, code)
            ended.inc()
            if self._streams:
                own.dec()
            else:
                own.observe(time.perf_counter() - began)


def _code(error: BaseException, context: Any) -> str:
    """Name of the code that a call has ended with."""
    if not isinstance(error, grpc.aio.AbortError):
        # (The servicers turn all other errors into codes: the client has left.)
        return "CANCELLED"
    status = getattr(error, "status", None)
    code = context.code() if status is None else status.code
    return _CODES.get(getattr(code, "value", (code,))[0], "UNKNOWN")


class _StoreCollector(Collector):
    """Reads the figures of Redis whenever Prometheus reads the metrics."""

    def __init__(self, redis_url: str, partitions: int) -> None:
        self._client = connect(redis_url, patience_s=0)
        self._partitions = partitions

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: the registry needs not ask Redis for names."""
        return iter(())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The figures now; ``svddtune_redis_up`` alone where Redis is away."""
        try:
            figures = read_figures(self._client, self._partitions)
        except StateError:
            figures = None
        yield GaugeMetricFamily(
            "svddtune_redis_up", "1 while Redis answers.", value=0 if figures is None else 1
        )
        if figures is not None:
            yield from _families(figures)


def _families(figures: Figures) -> Iterator[GaugeMetricFamily]:
    lanes = (
        ("svddtune_jobs_queued", "Jobs that wait for a worker, by lane.", "queued"),
        ("svddtune_jobs_running", "Jobs that a worker has, by lane.", "running"),
        (
            "svddtune_oldest_job_age_seconds",
            "For how long the oldest job that waits has waited, by lane.",
            "oldest_s",
        ),
    )
    for name, words, field in lanes:
        family = GaugeMetricFamily(name, words, labels=["lane"])
        for lane, found in figures.lanes.items():
            family.add_metric([lane], getattr(found, field))
        yield family
    workers = GaugeMetricFamily(
        "svddtune_workers",
        "Workers that are there; takes is urgent for those kept free for labelers.",
        labels=["takes"],
    )
    workers.add_metric(["all"], figures.workers - figures.urgent_workers)
    workers.add_metric(["urgent"], figures.urgent_workers)
    yield workers
    for name, words, value in (
        ("svddtune_jobs_paused", "Failed jobs that are tried again.", figures.paused),
        ("svddtune_dead_letters", "Jobs that were given up.", figures.dead),
        ("svddtune_sessions_asking", "Sessions that ask labelers now.", figures.asking),
        ("svddtune_redis_used_bytes", "Memory that Redis uses.", figures.used_bytes),
        (
            "svddtune_redis_max_bytes",
            "Memory that Redis may use; 0 for any.",
            figures.most_bytes,
        ),
    ):
        yield GaugeMetricFamily(name, words, value=value)
