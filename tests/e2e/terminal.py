"""Simulated people who run ``svddtune label`` in a pseudo terminal."""

import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from svddtune.client.terminal.controller import GUARD_S

# Colours, cursor movements, titles.
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()].|.)")
_QUESTION = re.compile(r"Query (\d+)\s+observation (\S+)\s")
# Seconds before a key is pressed. The program ignores keys that come sooner, as slips.
_LOOK_S = GUARD_S + 0.1
_ENV = {"TERM": "xterm", "COLUMNS": "100", "LINES": "40", "NO_COLOR": "1"}


class Person:
    """Answers each query on the screen with the key that ``key_for`` gives for its observation.

    The program ends once the session asks no further queries.
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
        """The latest output as text."""
        return self._screen[-2000:]

    def wait(self, timeout_s: float) -> int:
        """Wait for the program's exit code."""
        try:
            return self._process.wait(timeout=timeout_s)
        finally:
            if self._process.poll() is None:
                self._process.kill()
            self._reader.join()
            os.close(self._master)

    def leave(self) -> None:
        """End the program if it still runs."""
        self._process.kill()

    def _look(self) -> None:
        seen = ""
        asked: tuple[str, str] | None = None
        press_at: float | None = None
        while True:
            wait_s = None if press_at is None else max(0.0, press_at - time.monotonic())
            if not select.select([self._master], [], [], wait_s)[0]:
                # The query stayed on the screen all the time.
                assert asked is not None
                press_at = None
                self.answered.append(asked[1])
                os.write(self._master, self._key_for(asked[1]).encode())
                continue
            try:
                data = os.read(self._master, 65536)
            except OSError:
                # The program has ended and closed the terminal.
                return
            text = _CONTROL.sub("", data.decode(errors="replace"))
            self._screen = (self._screen + text)[-20000:]
            seen = (seen + text)[-4000:]
            questions = _QUESTION.findall(seen)
            if questions and questions[-1] != asked:
                asked, press_at = questions[-1], time.monotonic() + _LOOK_S
