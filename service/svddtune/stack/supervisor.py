"""Keeps a Redis-compatible server, the service and the workers running on this machine."""

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from svddtune.stack.embedded import EmbeddedServer, StackError
from svddtune.stack.guard import guarded
from svddtune.state import keys
from svddtune.state.connect import connect
from svddtune.state.errors import StoreUnavailable
from svddtune.state.examine import examine
from svddtune.state.queue import Ending, let_go
from svddtune.text import redacted, url_fault

log = logging.getLogger(__name__)

READY_S = 60.0
SERVICE_STOP_S = 5.0
# After the first of these times a worker gives its job back; after the second it is killed.
WORKER_GRACE_S = 1.0
WORKER_STOP_S = 4.0
_PIECE_BYTES = 1 << 16
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 10.0
# A process that ran this long is restarted without a growing pause.
_STEADY_S = 30.0
# Signals by which a job itself ends its worker. SIGKILL is not among them: it comes from outside,
# or from the kernel when memory is short, which another process may have used up.
_CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT})
# With fewer workers, each takes any job.
_WORKERS_FOR_ONE_HI_ONLY = 2
# One worker per core: the linear algebra of a worker must not use the cores of others.
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# The last words of a process that tells why it could not start.
_TOLD = re.compile(r"(?P<reason>[A-Z][A-Z_]+): (?P<words>.+)")


@dataclass(frozen=True, slots=True)
class StackSettings:
    """What to run. If ``redis`` is None, the stack starts a server with data in ``data_dir``."""

    listen: str
    workers: int
    redis: str | None
    data_dir: Path
    # Address of HTTP; empty for none.
    http_listen: str = ""
    service_options: tuple[str, ...] = ()


class Child:
    """A process that is restarted when it ends. It prints one line of JSON when it is ready."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: dict[str, str],
        *,
        on_end: Callable[[dict[str, Any], int], Awaitable[None]] | None = None,
    ) -> None:
        """``on_end`` is awaited with the process's line of JSON and its exit code."""
        self.name = name
        self._command = list(command)
        self._environment = environment
        self._on_end = on_end
        self._ready: dict[str, Any] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._last_words = ""
        self._pumps: set[asyncio.Task[None]] = set()

    async def start(self) -> dict[str, Any]:
        """Start the process and return its line.

        Raises StackError with the reason that the process gives, else ``PROCESS_START_FAILED``.
        """
        process = self._process = await asyncio.create_subprocess_exec(
            *guarded(self._command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | self._environment,
            # Ctrl-C must not reach the children: the supervisor stops them in order.
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        pump = asyncio.create_task(self._pass_on(process.stderr))
        self._pumps.add(pump)
        pump.add_done_callback(self._pumps.discard)
        line = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READY_S):
                line = await process.stdout.readline()
        try:
            ready: dict[str, Any] = json.loads(line)
        except ValueError as error:
            await self.stop(0)
            words = self._last_words or "it printed nothing"
            told = _TOLD.fullmatch(words)
            reason, words = told.groups() if told else ("PROCESS_START_FAILED", words)
            raise StackError(reason, f"The {self.name} did not start: {words}") from error
        self._ready = ready
        return ready

    async def keep(self) -> None:
        """Restart the process whenever it ends, after a pause that grows with each failure."""
        loop = asyncio.get_running_loop()
        pause_s = _FIRST_PAUSE_S
        while True:
            started = loop.time()
            code = await self._process.wait() if self._process else None
            if loop.time() - started >= _STEADY_S:
                pause_s = _FIRST_PAUSE_S
            log.warning("%s ended (%s); restart in %.1f s", self.name, _exit_words(code), pause_s)
            if code is not None and self._on_end:
                await self._on_end(self._ready, code)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            try:
                await self.start()
            except StackError as error:
                log.warning("%s", error.message)

    def pin(self, option: str, value: str) -> None:
        """Set the value of an option for all later starts."""
        self._command[self._command.index(option) + 1] = value

    async def stop(self, patience_s: float) -> None:
        """Ask the process to end, and kill it if it takes longer than ``patience_s`` seconds."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if patience_s:
                process.terminate()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(patience_s):
                        await process.wait()
            if process.returncode is None:
                process.kill()
        await process.wait()
        await asyncio.gather(*self._pumps)

    async def _pass_on(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(_PIECE_BYTES):
            sys.stderr.buffer.write(piece)
            sys.stderr.buffer.flush()
            lines = piece.decode(errors="replace").strip().splitlines()
            self._last_words = lines[-1] if lines else self._last_words


class Supervisor:
    """Runs the stack. Call ``start`` once and ``stop`` once."""

    def __init__(self, settings: StackSettings) -> None:
        self._settings = settings
        self._redis: EmbeddedServer | None = None
        self._service: Child | None = None
        self._workers: list[Child] = []
        self._keepers: list[asyncio.Task[None]] = []

    async def start(self) -> dict[str, Any]:
        """Start everything and return its description as JSON values. Raises StackError.

        Call it on the main thread: Linux kills a child when the thread that started it ends.
        """
        settings = self._settings
        url = settings.redis or self._start_redis().url
        server = _examined(url)
        # Not an argument: everybody on a machine can list those, and the URL may hold a password.
        store = {"SVDDTUNE_REDIS": url} | ({} if settings.redis else self._beside_redis())
        self._service = Child(
            "service",
            [
                *_python("svddtune.service"),
                *("--listen", settings.listen),
                *("--http-listen", settings.http_listen),
                *settings.service_options,
            ],
            store,
        )
        # A fit may occupy a worker for half a second, so one of several is kept for urgent jobs.
        urgent_only = int(settings.workers >= _WORKERS_FOR_ONE_HI_ONLY)
        self._workers = [
            Child(
                f"worker {index}",
                [*_python("svddtune.worker")],
                _ONE_THREAD
                | store
                | {"SVDDTUNE_GRACE_S": str(WORKER_GRACE_S)}
                | ({"SVDDTUNE_HI_ONLY": "1"} if index < urgent_only else {}),
                on_end=partial(_release_jobs, url),
            )
            for index in range(settings.workers)
        ]
        ready, *_ = await _all_started([self._service, *self._workers])
        address = str(ready["address"])
        self._service.pin("--listen", address)
        http = {"http": str(ready["http"])} if settings.http_listen else {}
        if http:
            self._service.pin("--http-listen", http["http"].partition("://")[2])
        self._keepers = [
            asyncio.create_task(child.keep()) for child in (self._service, *self._workers)
        ]
        if self._redis:
            self._keepers.append(asyncio.create_task(self._keep_redis()))
        return {
            "address": address,
            **http,
            "redis": redacted(url),
            "server": server,
            "workers": settings.workers,
            "pid": os.getpid(),
        }

    async def stop(self) -> None:
        """Stop everything: the service first, so that it drains, then workers, then Redis."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        if self._service:
            await self._service.stop(SERVICE_STOP_S)
        await asyncio.gather(*(worker.stop(WORKER_STOP_S) for worker in self._workers))
        if self._redis:
            self._redis.stop()

    def _beside_redis(self) -> dict[str, str]:
        """Folders for large datasets beside the server's data, unless others are set."""
        folder = self._settings.data_dir.expanduser().resolve()
        folders = {
            "SVDDTUNE_DATASET_STORE": (folder / "datasets").as_uri(),
            "SVDDTUNE_DATASET_CACHE": str(folder / "cache"),
        }
        return {name: os.environ.get(name, default) for name, default in folders.items()}

    def _start_redis(self) -> EmbeddedServer:
        self._redis = EmbeddedServer(self._settings.data_dir)
        return self._redis

    async def _keep_redis(self) -> None:
        while self._redis:
            process = self._redis.process
            code = await asyncio.to_thread(process.wait)
            log.warning("redis ended (exit code %s); restarting", code)
            await asyncio.sleep(_FIRST_PAUSE_S)
            try:
                self._start_redis()
            except StackError as error:
                log.warning("%s", error.message)
                await asyncio.sleep(_LONGEST_PAUSE_S)


async def _release_jobs(url: str, ready: dict[str, Any], code: int) -> None:
    """Give the jobs of a worker that has ended back at once, before their claims expire."""

    def release() -> int:
        with connect(url) as client:
            how: Ending = "crashed" if -code in _CRASHES else "killed"
            return let_go(client, keys.prefix(0), ready["worker"], how, _exit_words(code))

    try:
        if released := await asyncio.to_thread(release):
            log.warning("jobs given back for other workers: %d", released)
    except StoreUnavailable as error:
        log.warning("jobs of the worker wait until their claims expire: %s", error.message)


def _exit_words(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _python(module: str) -> tuple[str, ...]:
    return sys.executable, "-m", module


async def _all_started(children: Sequence[Child]) -> list[dict[str, Any]]:
    try:
        async with asyncio.TaskGroup() as group:
            started = [group.create_task(child.start()) for child in children]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [one.result() for one in started]


def _examined(url: str) -> str:
    try:
        with connect(url, patience_s=0) as client:
            report = examine(client)
    except StoreUnavailable as error:
        raise StackError(error.reason, error.message) from error
    except ValueError as error:
        raise StackError("INVALID_REDIS_URL", f"--redis is {url_fault(url, error)}") from error
    for warning in report.durability.warnings:
        log.warning("redis: %s", warning)
    return f"{report.kind} {report.version}"
