"""Images built and run without a container engine, by Debian's buildah and mmdebstrap."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.prose import ROOT

PROGRAMS = ("buildah", "mmdebstrap")
BASE = "docker.io/library/python:3.12-slim"
_PACKAGES = "python3,python3-venv,ca-certificates"
# How this machine's pip reaches an index, and whom it trusts.
_OF_THIS_MACHINE = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pip.conf")
_MIB = 1 << 20


def missing() -> list[str]:
    """The programs that this machine lacks."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    return lacking if os.geteuid() == 0 else [*lacking, "root's rights"]


class Images:
    """A store of images in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        places = ("--root", str(folder / "root"), "--runroot", str(folder / "run"))
        self._store = (*places, "--storage-driver", "vfs")

    def command(self, *arguments: str | Path) -> list[str]:
        """A command of buildah on this store."""
        return ["buildah", *self._store, *map(str, arguments)]

    def do(self, *arguments: str | Path) -> str:
        """Run a command of buildah; return its output."""
        done = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, cwd=ROOT
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout.strip()

    def make_base(self) -> None:
        """Make a small Debian with its Python, under the name of the Dockerfile's base."""
        archive = self._folder / "base.tar"
        release = dict(
            line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if line
        )["VERSION_CODENAME"]
        command: list[str | Path] = [
            "mmdebstrap",
            "--variant=minbase",
            f"--include={_PACKAGES}",
            release,
            archive,
        ]
        subprocess.run(command, check=True, capture_output=True)
        container = self.do("from", "scratch")
        self.do("add", "--quiet", container, archive, "/")
        for path in _OF_THIS_MACHINE:
            if Path(path).exists():
                self.do("copy", "--quiet", container, path, path)
        link = ("ln", "-s", "/usr/bin/python3", "/usr/local/bin/python")
        self.do("run", "--isolation", "chroot", container, "--", *link)
        path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        self.do("config", "--env", path, container)
        self.do("commit", "--quiet", "--rm", container, BASE)

    def make_valkey(self, binary: str, name: str) -> None:
        """Make an image of a server's program, as Valkey's own image has it."""
        container = self.do("from", "--pull-never", BASE)
        self.do("copy", "--quiet", "--chmod", "755", container, binary, "/usr/local/bin/")
        self.do("config", "--user", "999", container)
        self.do("commit", "--quiet", "--rm", container, name)

    def build(self, target: str, name: str) -> None:
        """Build a target of the Dockerfile."""
        options = ("--isolation", "chroot", "--format", "docker", "--pull-never")
        self.do("build", *options, "--target", target, "-t", name, ".")

    def size_mib(self, name: str) -> float:
        """Size of an image."""
        container = self.do("from", "--pull-never", name)
        folder = Path(self.do("mount", container))
        total = sum(
            path.lstat().st_size
            for path in folder.rglob("*")
            if path.is_file() and not path.is_symlink()
        )
        self.do("rm", container)
        return total / _MIB

    @contextmanager
    def container(self, name: str) -> Iterator["Container"]:
        """A container of an image."""
        one = Container(self, self.do("from", "--pull-never", name))
        try:
            yield one
        finally:
            self.do("rm", one.name)


class Container:
    """A container whose processes share this machine's network."""

    def __init__(self, images: Images, name: str) -> None:
        self._images = images
        self.name = name
        self.config: dict[str, Any] = json.loads(images.do("inspect", name))["Docker"]["config"]
        self.root = Path(images.do("mount", name))

    def _run(
        self, words: Sequence[str], environment: Mapping[str, str], volumes: Mapping[Path, str]
    ) -> list[str]:
        options = [f"--env={name}={value}" for name, value in environment.items()]
        options += [f"--volume={source}:{target}" for source, target in volumes.items()]
        return self._images.command(
            "run", "--isolation", "chroot", *options, self.name, "--", *words
        )

    def start(
        self,
        *words: str,
        environment: Mapping[str, str],
        volumes: Mapping[Path, str],
        log: Path,
    ) -> "Running":
        """Start a command; without one, what the image starts."""
        command = words or tuple(self.config["Entrypoint"])
        return Running(self._run(command, environment, volumes), log)

    def is_healthy(self, environment: Mapping[str, str], volumes: Mapping[Path, str]) -> bool:
        """Whether the image's health check passes."""
        kind, *words = self.config["Healthcheck"]["Test"]
        command = ["/bin/sh", "-c", *words] if kind == "CMD-SHELL" else words
        done = subprocess.run(self._run(command, environment, volumes), capture_output=True)
        return done.returncode == 0


class Running:
    """A process in a container that prints a line once it is ready."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        with log.open("a") as file:
            self._child = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=file, text=True, start_new_session=True
            )
        self._log = log

    def line(self) -> str:
        """The next line of its output."""
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        assert line, self._log.read_text()[-3000:]
        return line

    def stop(self, pid: int) -> None:
        """Send SIGTERM to the process and wait until it ends without an error."""
        os.kill(pid, signal.SIGTERM)
        assert self._child.wait(timeout=60) == 0, self._log.read_text()[-3000:]

    def __enter__(self) -> "Running":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait(timeout=60)
        assert self._child.stdout is not None
        self._child.stdout.close()
