"""People who label: at ``svddtune label`` in a pseudo terminal, or by the Python client."""

import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from svddtune.client import TuningClient
from svddtune.client.cli.app import app

# Colours, cursor movements, titles.
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()].|.)")
_QUESTION = re.compile(r"Query (\d+)\s+observation (\S+)")
_ENV = {"TERM": "xterm", "COLUMNS": "100", "LINES": "40", "NO_COLOR": "1"}


# Whether there is a terminal to sit at.
HAS_TERMINAL = "label" in {
    one.name or getattr(one.callback, "__name__", "") for one in app.registered_commands
}


class ClientPerson:
    """Answers by the Python client; takes the same arguments as ``Person``."""

    screen = ""

    def __init__(
        self, session: str, address: str, name: str, key_for: Callable[[str], str]
    ) -> None:
        self.answered: list[str] = []
        self._key_for = key_for
        self._code = 1
        self._thread = threading.Thread(
            target=self._label, args=(session, address, name), daemon=True
        )
        self._thread.start()

    def wait(self, timeout_s: float) -> int:
        """0 once the session asks nothing more, 1 where something went wrong."""
        self._thread.join(timeout=timeout_s)
        return self._code

    def leave(self) -> None:
        """Nothing is left to do where the process ends."""

    def _label(self, session: str, address: str, name: str) -> None:
        with TuningClient(address) as client, client.tuning(session, labeler=name) as tuning:
            for query in tuning.queries():
                # Somebody who looks at it for a moment: so that others get their share.
                time.sleep(0.05)
                self.answered.append(query.observation_id)
                verdict = "inlier" if self._key_for(query.observation_id) == "i" else "outlier"
                tuning.answer(query, verdict)
        self._code = 0


class Person:
    """Answers each question that appears with the key that ``key_for`` gives for its observation.

    The program ends by itself once the session asks nothing more.
    """

    def __init__(
        self, session: str, address: str, name: str, key_for: Callable[[str], str]
    ) -> None:
        self.name = name
        self.answered: list[str] = []
        self._key_for = key_for
        self._screen = ""
        self._master, slave = pty.openpty()
        command = [sys.executable, "-m", "svddtune.client", "label", session]
        self._process = subprocess.Popen(
            [*command, "--server", address, "--labeler", name],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | _ENV,
            start_new_session=True,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._look)
        self._reader.start()

    @property
    def screen(self) -> str:
        """The last of what was shown, as text."""
        return self._screen[-2000:]

    def wait(self, timeout_s: float) -> int:
        """The program's exit code, once it has ended."""
        try:
            return self._process.wait(timeout=timeout_s)
        finally:
            if self._process.poll() is None:
                self._process.kill()
            self._reader.join()
            os.close(self._master)

    def leave(self) -> None:
        """End the program, where it has not ended."""
        self._process.kill()

    def _look(self) -> None:
        seen, last = "", None
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                # The other end is closed: the program has ended.
                return
            self._screen = (self._screen + _CONTROL.sub("", data.decode(errors="replace")))[-20000:]
            seen = (seen + _CONTROL.sub("", data.decode(errors="replace")))[-4000:]
            for question in _QUESTION.finditer(seen):
                if question.groups() != last:
                    last = question.groups()
                    self.answered.append(question.group(2))
                    os.write(self._master, self._key_for(question.group(2)).encode())
