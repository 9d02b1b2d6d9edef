"""``python -m svddtune.worker``: settings, logging, work until a signal."""

import contextlib
import json
import os
import socket
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from svddtune.process import traces
from svddtune.process.addresses import listen_fault
from svddtune.process.logs import set_up_logging
from svddtune.process.settings import SettingsError, read_settings
from svddtune.state import keys
from svddtune.state.connect import connect, connect_blocking
from svddtune.state.errors import StoreUnavailable
from svddtune.state.examine import examine
from svddtune.state.queue import JobQueue
from svddtune.state.row_cache import RowCache
from svddtune.state.rows import RowStore
from svddtune.state.workspace import Workspace
from svddtune.text import url_fault
from svddtune.worker.data import DataCache
from svddtune.worker.ending import Ending
from svddtune.worker.limits import Limits, limit_allocations
from svddtune.worker.loop import WorkerLoop
from svddtune.worker.settings import Settings
from svddtune.worker.step import Steps

if TYPE_CHECKING:
    from svddtune.worker.metrics import PrometheusMeters


def main() -> int:
    """Run a worker; exit code 0 after a signal, 1 where Redis is unfit, 2 for wrong settings."""
    try:
        settings = read_settings(Settings, sys.argv[1:], program="python -m svddtune.worker")
        traces.begin(settings.otlp_endpoint, "svddtune-worker")
    except (SettingsError, traces.TracesUnavailable) as error:
        print(error, file=sys.stderr)
        return 2
    set_up_logging(settings.log_format, settings.log_level)
    try:
        with connect(settings.redis, patience_s=0) as visitor:
            report = examine(visitor)
        rows = _row_cache(settings)
    except ValueError as error:
        print(f"--redis is {url_fault(settings.redis, error)}.", file=sys.stderr)
        return 2
    except StoreUnavailable as error:
        print(f"{error.reason}: {error.message}", file=sys.stderr)
        return 1
    partitions = range(settings.partitions)
    client = connect(settings.redis)
    queue = JobQueue(
        client,
        connect_blocking(settings.redis),
        partitions=partitions,
        hi_only=settings.hi_only,
    )
    # (A store that takes no writes now is waited for; taking a job makes what is missing.)
    with contextlib.suppress(StoreUnavailable):
        queue.prepare()
    workspace = Workspace(client, rows)
    limits = Limits(job_s=settings.job_s, memory_bytes=settings.memory_mib << 20)
    limit_allocations(limits)
    steps = Steps(workspace, DataCache(workspace, limit_bytes=settings.cache_mib << 20))
    try:
        meters = _meters(settings)
    except OSError as error:
        fault = listen_fault(settings.metrics_listen, error)
        print(f"ADDRESS_UNUSABLE: {fault}", file=sys.stderr)
        return 1
    loop = WorkerLoop(queue, steps, limits, meters, alive_file=settings.alive_file)
    Ending(
        stop=loop.stop,
        ended=loop.ended,
        give_back=queue.sign_out,
        grace_s=settings.grace_s,
        at_last=lambda: _leave(meters),
    )
    description: dict[str, object] = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "version": version("svddtune"),
        "layout": keys.LAYOUT_VERSION,
        "started_ms": round(time.time() * 1000),
        "hi_only": settings.hi_only,
    }
    ready = {"worker": queue.consumer, "server": f"{report.kind} {report.version}"}
    if meters is not None:
        ready["metrics"] = meters.address
    print(json.dumps(ready | {"pid": os.getpid()}), flush=True)
    # One job a process, one thread a job: more processes, not BLAS threads, use more cores.
    with threadpool_limits(limits=1):
        loop.run(description)
    # (Here or in ``Ending``: the first of them ends the process.)
    _leave(meters)
    return 0


def _leave(meters: "PrometheusMeters | None") -> None:
    traces.end()
    if meters is not None:
        meters.leave()


def _meters(settings: Settings) -> "PrometheusMeters | None":
    if not settings.metrics_listen:
        return None
    # (A worker without metrics starts without their library.)
    from svddtune.worker.metrics import PrometheusMeters

    return PrometheusMeters(settings.metrics_listen, targets=settings.metrics_targets)


def _row_cache(settings: Settings) -> RowCache | None:
    if settings.dataset_store is None:
        return None
    return RowCache(
        RowStore(settings.dataset_store),
        settings.dataset_cache,
        limit_bytes=settings.dataset_cache_mib << 20,
    )


if __name__ == "__main__":
    sys.exit(main())
