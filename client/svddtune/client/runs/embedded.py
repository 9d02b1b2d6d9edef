"""The whole service as a child process, for one program on one machine."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from svddtune.client.errors import Unavailable
from svddtune.client.extras import check_complete

_START_S = 120.0
_STOP_S = 10.0
_TAIL_LINES = 8
_LOOK_S = 0.2


class EmbeddedStack:
    """A Redis-compatible server, the service and workers, started and stopped together.

    The child reads its standard input, whose other end this process holds. When this process ends
    in any way, the child stops too.

    Parameters
    ----------
    workers : int
        Worker processes; default 2.
    data_dir : path, optional
        Folder of the sessions and the log; default a temporary one, removed at the end.
    listen : str
        Address of the service; port 0 takes a free one.
    http_listen : str
        Address of the same calls as JSON over HTTP; default none. Then ``info["http"]`` is its URL.
    redis : str, optional
        URL of a server to use instead of starting one.
    command : sequence of str
        What to start; default this interpreter with ``-m svddtune.stack``.
    start_timeout_s : float
        Seconds until the child must serve; default 120.
    patience_s : float
        Seconds to wait for a data folder that is still in use by the child of a process that was
        killed: that child ends too. Default 0.
    """

    def __init__(
        self,
        workers: int = 2,
        data_dir: str | os.PathLike[str] | None = None,
        *,
        listen: str = "127.0.0.1:0",
        http_listen: str = "",
        redis: str | None = None,
        command: Sequence[str] = (sys.executable, "-m", "svddtune.stack"),
        start_timeout_s: float = _START_S,
        patience_s: float = 0.0,
    ) -> None:
        self.workers = workers
        self.data_dir = Path(data_dir) if data_dir is not None else None
        self.info: Mapping[str, Any] = {}
        self._arguments = [*command, "--listen", listen, "--workers", str(workers)]
        self._arguments += ["--http-listen", http_listen] if http_listen else []
        self._redis = redis
        self._start_timeout_s = start_timeout_s
        self._patience_s = patience_s
        self._process: subprocess.Popen[str] | None = None
        # Where the log of the present start begins.
        self._log_start = 0
        self._reader: threading.Thread | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._log_path = Path()

    @property
    def address(self) -> str:
        """HOST:PORT of the service."""
        return str(self.info["address"])

    @property
    def log_path(self) -> Path:
        """File with the child's standard error."""
        return self._log_path

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the running programs."""
        versions = {str(k): str(v) for k, v in dict(self.info.get("versions") or {}).items()}
        if self.info.get("server"):
            versions["server"] = str(self.info["server"])
        return versions

    def __enter__(self) -> EmbeddedStack:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the child; return once it serves.

        Raises
        ------
        NotInstalled
            NOT_INSTALLED: a package is missing that service or workers need.
        Unavailable
            The child does not come up: its own reason, DATA_DIR_IN_USE say, else
            EMBEDDED_START_FAILED. The message holds the end of its log.
        """
        check_complete()
        if self.data_dir is None:
            self._temporary = tempfile.TemporaryDirectory(
                prefix="svddtune-", ignore_cleanup_errors=True
            )
            folder = Path(self._temporary.name)
        else:
            folder = self.data_dir
            folder.mkdir(parents=True, exist_ok=True)
        self._log_path = folder / "stack.log"
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                self._spawn(folder)
                self.info = self._wait_ready()
            except Unavailable as error:
                self._end()
                if error.reason == "DATA_DIR_IN_USE" and time.monotonic() < deadline:
                    time.sleep(_LOOK_S)
                    continue
                self.stop()
                raise
            except BaseException:
                self.stop()
                raise
            return

    def wait(self) -> int:
        """Return the child's exit code once it ends."""
        assert self._process is not None, "not started"
        return self._process.wait()

    def stop(self) -> None:
        """Stop the child: end of its input, then SIGKILL after ten seconds."""
        self._end()
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                _pipe(process.stdin).close()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                _kill_group(process)
                process.wait()
            if self._reader is not None:
                self._reader.join()
            _pipe(process.stdout).close()

    def _spawn(self, folder: Path) -> None:
        arguments = [*self._arguments, "--data-dir", str(folder), "--stop-on-eof"]
        # Not an argument: all users of the machine can list those, and the URL may hold a password.
        environment = {k: v for k, v in os.environ.items() if k != "SVDDTUNE_REDIS"}
        if self._redis:
            environment["SVDDTUNE_REDIS"] = self._redis
        with self._log_path.open("ab") as log:
            self._log_start = log.seek(0, os.SEEK_END)
            # A process group of its own: Ctrl-C reaches this process alone, which stops the child.
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                env=environment,
            )

    def _wait_ready(self) -> Mapping[str, Any]:
        assert self._process is not None
        first: queue.SimpleQueue[str] = queue.SimpleQueue()
        output = _pipe(self._process.stdout)
        self._reader = threading.Thread(
            target=_drain, args=(output, first.put), name="svddtune-stack-output", daemon=True
        )
        self._reader.start()
        try:
            line = first.get(timeout=self._start_timeout_s)
        except queue.Empty:
            raise self._failure(f"was not ready within {self._start_timeout_s:g} s") from None
        if not line.strip():
            code = self._process.wait()
            raise self._failure(f"ended with exit code {code} before it was ready")
        try:
            info = json.loads(line)
        except ValueError:
            info = None
        if not isinstance(info, dict):
            raise self._failure(f"wrote {line.strip()[:200]!r} instead of its address")
        if "error" in info:
            raise self._failure(f"failed: {info['error']}", str(info.get("reason") or ""))
        if "address" not in info:
            raise self._failure("did not report its address")
        return info

    def _failure(self, what: str, reason: str = "") -> Unavailable:
        # (The log of a folder in use is that of the service which runs there.)
        lines = [] if reason == "DATA_DIR_IN_USE" else self._log_lines()
        tail = "".join(f"\n  | {line}" for line in lines[-_TAIL_LINES:])
        end = "" if what.endswith((".", "?", "!")) else "."
        return Unavailable(
            f"The embedded service {what}{end}{' Its log ends:' if tail else ''}{tail}",
            reason=reason or "EMBEDDED_START_FAILED",
        )

    def _log_lines(self) -> list[str]:
        """What this start has logged; the folder may have been used before."""
        try:
            with self._log_path.open("rb") as log:
                log.seek(self._log_start)
                return log.read().decode(errors="replace").splitlines()
        except OSError:
            return []


def _drain(output: IO[str], first: Callable[[str], None]) -> None:
    """Pass the first line on, empty at the end of output, and read the rest away."""
    first(output.readline())
    for _ in output:
        pass


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _kill_group(process: subprocess.Popen[str]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # pragma: no cover
        process.kill()
