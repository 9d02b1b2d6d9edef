"""Compute all pieces of work on all cores. Finished pieces are stored and never repeated."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
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
        in_processes(todo, work, min(jobs, len(todo)), finished)
    return records


def in_processes(
    units: Iterable[Unit],
    work: Callable[[Unit], Record],
    jobs: int,
    finished: Callable[[Unit, Record], None],
) -> None:
    """Share units among processes; each has a pipe of its own.

    A pool of `concurrent.futures` reads all results from one pipe in a thread, which never ends
    when a process is killed in the middle of a result; the interpreter then waits for the thread.
    """
    left = iter(units)
    crew: dict[Connection, BaseProcess] = {}
    busy: dict[Connection, Unit] = {}
    try:
        with _one_thread_each():
            for _ in range(jobs):
                pipe, process = _start(work)
                crew[pipe] = process
        idle = list(crew)
        while True:
            for pipe, unit in zip(idle, left, strict=False):
                with suppress(BrokenPipeError):  # an end of the process shows when it is read
                    pipe.send(unit)
                busy[pipe] = unit
            if not busy:
                return
            idle = [pipe for pipe in wait(list(busy)) if isinstance(pipe, Connection)]
            for pipe in idle:
                unit = busy.pop(pipe)
                finished(unit, _received(unit, pipe))
    finally:
        for process in crew.values():
            process.kill()
        for pipe, process in crew.items():
            process.join()
            pipe.close()


def _start(work: Callable[[Unit], Record]) -> tuple[Connection, BaseProcess]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, work), daemon=True)
    process.start()
    there.close()
    return here, process


def _received(unit: Unit, pipe: Connection) -> Record:
    try:
        outcome: Record | Exception = pipe.recv()
    except (EOFError, OSError):
        raise InternalError(
            f"{unit.what}: the process ended, possibly because memory ran out"
        ) from None
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _serve(pipe: Connection, work: Callable[[Unit], Record]) -> None:
    """Compute units until the parent ends this process, which it also does on Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        unit = pipe.recv()
        outcome: Record | Exception
        try:
            outcome = _named(unit, partial(work, unit))
        except Exception as error:
            outcome = error
        pipe.send(outcome)


def _named(unit: Unit, work: Callable[[], Record]) -> Record:
    """Do the work; an error names the unit."""
    try:
        return work()
    except (SvddtuneError, OSError):
        raise
    except Exception as error:
        raise InternalError(f"{unit.what}: {type(error).__name__}: {error}") from error


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start here compute with one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
