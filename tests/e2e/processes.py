"""Starting and killing real service and worker processes on one Redis."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.e2e.earlier import environment


class Process:
    """A child process that prints a line of JSON once it is ready.

    ``tree``: of an earlier version (``tests/e2e/earlier.py``), whose code it runs.
    """

    def __init__(
        self, module: str, *arguments: str, log: Path | None = None, tree: Path | None = None
    ) -> None:
        self.tree = tree
        with (log or Path(os.devnull)).open("a") as file:
            self._child = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdout=subprocess.PIPE,
                stderr=file if log else None,
                text=True,
                env=environment(tree) if tree else None,
            )
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            self._end()
            raise AssertionError(f"{module} ended before it was ready: {self._child.returncode}")
        self.ready: dict[str, Any] = json.loads(line)

    @property
    def pid(self) -> int:
        """Its id."""
        return self._child.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._child.poll() is not None

    def kill(self) -> None:
        """Send SIGKILL, so that the process cannot clean up."""
        self._child.kill()
        self._end()

    def stop(self) -> None:
        """Send SIGTERM and wait."""
        self.signal(signal.SIGTERM)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal and wait until the process ends without an error."""
        self._child.send_signal(number)
        self._end()
        assert self._child.returncode == 0

    def _end(self) -> None:
        self._child.wait(timeout=60)
        assert self._child.stdout is not None
        self._child.stdout.close()

    def __enter__(self) -> "Process":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._child.poll() is None:
            self.stop()
        elif self._child.stdout is not None:
            self._child.stdout.close()


def service(
    redis_url: str,
    listen: str = "127.0.0.1:0",
    *further: str,
    log: Path | None = None,
    tree: Path | None = None,
) -> Process:
    """Start a service that listens at ``ready["address"]``. ``log`` is a file for its log."""
    arguments = ("--redis", redis_url, "--listen", listen, *further)
    return Process("svddtune.service", *arguments, log=log, tree=tree)


def worker(redis_url: str, log: Path | None = None, tree: Path | None = None) -> Process:
    """Start a worker. ``log`` is a file for its log."""
    return Process("svddtune.worker", "--redis", redis_url, log=log, tree=tree)


class RestartableService:
    """A service that can end and start again at the same address.

    With ``http`` it takes calls over HTTP too, at ``url``.
    """

    def __init__(self, redis_url: str, *, http: bool = False) -> None:
        self._redis_url = redis_url
        self._further = ["--http-listen", "127.0.0.1:0"] if http else []
        self._process = service(redis_url, "127.0.0.1:0", *self._further)
        self.address = str(self._process.ready["address"])
        self.url = str(self._process.ready["http"]) if http else ""
        if http:
            self._further = ["--http-listen", self.url.partition("://")[2]]

    def end(self, *, hard: bool) -> None:
        """Kill the service if `hard`, else stop it, which first drains its streams."""
        if hard:
            self._process.kill()
        else:
            self._process.stop()

    def restart(self) -> None:
        """Start the service again."""
        self._process = service(self._redis_url, self.address, *self._further)


@contextmanager
def deployment(redis_url: str, workers: int = 1) -> Iterator[str]:
    """Start a service and workers; yield the service's address."""
    with service(redis_url) as front:
        crew = [worker(redis_url) for _ in range(workers)]
        try:
            yield front.ready["address"]
        finally:
            for one in crew:
                one.stop()
