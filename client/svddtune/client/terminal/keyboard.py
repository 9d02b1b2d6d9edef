"""What is typed: keys of a terminal without Enter, or lines."""

from __future__ import annotations

import os
import re
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from svddtune.client.terminal.commands import KEYS, Action, TerminalCommand, parse_line

# What arrow keys and the like send.
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?<>=]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
_MOST = 4096


@dataclass(frozen=True, slots=True)
class Typed:
    """One key or line: its command, None for an unknown one, and the query it names."""

    command: TerminalCommand | None
    text: str
    number: int | None = None


class Keyboard:
    """Reads `fd`; each key is a command where `keys`, else each line is."""

    def __init__(self, fd: int, *, keys: bool) -> None:
        self.fd = fd
        self.keys = keys
        self.ended = False
        self.waiting: deque[Typed] = deque()
        self._partial = b""

    def read(self) -> None:
        """Read the input into `waiting`; the end of input is the command to quit."""
        data = os.read(self.fd, _MOST)
        if not data:
            self.ended = True
            if self._partial:
                self._line(self._partial)
            self.waiting.append(Typed(Action.QUIT, ""))
        elif self.keys:
            for key in _ESCAPES.sub("", data.decode(errors="ignore")):
                self.waiting.append(Typed(KEYS.get(key.lower()), key))
        else:
            *lines, self._partial = (self._partial + data).split(b"\n")
            for line in lines:
                self._line(line)

    def _line(self, line: bytes) -> None:
        text = line.decode(errors="replace").strip()
        if text:
            self.waiting.append(Typed(*_parsed(text)))

    @contextmanager
    def raw(self) -> Iterator[None]:
        """Have a terminal send each key at once, without showing it; Ctrl-C stays a signal."""
        if not self.keys:
            yield
            return
        import termios

        before = termios.tcgetattr(self.fd)
        self.resume()
        try:
            yield
        finally:
            # Keys pressed after the last question are not for the shell.
            termios.tcsetattr(self.fd, termios.TCSAFLUSH, before)

    def resume(self) -> None:
        """Set the terminal up; again after the process was stopped and a shell had it."""
        if self.keys:
            import tty

            tty.setcbreak(self.fd)


def _parsed(text: str) -> tuple[TerminalCommand | None, str, int | None]:
    command, number = parse_line(text)
    return command, text, number


def has_keys(fd: int) -> bool:
    """Return whether `fd` is a terminal whose keys can be read one by one."""
    return os.isatty(fd) and sys.platform != "win32"
