"""Compute all pieces of work on all cores. Finished pieces are stored and never repeated."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits

from svddtune.client.errors import InternalError, SvddtuneError
from svddtune.evaluation.compute import compute
from svddtune.evaluation.store import Record, Store
from svddtune.evaluation.units import Unit

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def complete(
    units: Sequence[Unit], folder: Path, *, jobs: int, on_done: Callable[[Unit, bool], None]
) -> dict[str, Record]:
    """Return key -> record of all units, computing those that the folder lacks.

    `on_done` hears of every unit, and whether it was computed now. An interrupt ends the
    processes at once; finished units stay in the folder.
    """
    store = Store(folder / "units")
    records: dict[str, Record] = {}
    todo = []
    for unit in units:
        record = store.get(unit.key)
        if record is None:
            todo.append(unit)
        else:
            records[unit.key] = record
            on_done(unit, False)

    def finished(unit: Unit, record: Record) -> None:
        store.put(unit.key, record)
        records[unit.key] = record
        on_done(unit, True)

    # Atlases first, since sessions need them; then the longest, so that all cores end together.
    todo.sort(key=lambda unit: (unit.kind != "atlas", -unit.cost))
    work = partial(compute, folder=folder / "atlases")
    if jobs == 1 or len(todo) <= 1:
        with threadpool_limits(1):
            for unit in todo:
                finished(unit, _named(unit, partial(work, unit)))
    else:
        _in_processes(todo, work, min(jobs, len(todo)), finished)
    return records


def _in_processes(
    units: Iterable[Unit],
    work: Callable[[Unit], Record],
    jobs: int,
    finished: Callable[[Unit, Record], None],
) -> None:
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    pool = ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_begin
    )
    try:
        waiting: dict[Future[Record], Unit] = {pool.submit(work, unit): unit for unit in units}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                unit = waiting.pop(future)
                finished(unit, _named(unit, future.result))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _named(unit: Unit, work: Callable[[], Record]) -> Record:
    """Do the work; an error names the unit."""
    try:
        return work()
    except (SvddtuneError, OSError):
        raise
    except BrokenProcessPool:
        raise InternalError(
            f"{unit.what}: the process ended, possibly because memory ran out"
        ) from None
    except Exception as error:
        raise InternalError(f"{unit.what}: {type(error).__name__}: {error}") from error


def _begin() -> None:
    """Leave Ctrl-C to the parent, which ends this process, and end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
