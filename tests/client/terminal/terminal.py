"""A pseudo terminal with a program in it, and what a person would see there."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType, TracebackType

PROGRAM = (sys.executable, "-c", "from svddtune.client.cli import main; main()")
_SEQUENCE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")


class Screen:
    """A grid of characters that understands what rich writes: text, cursor up, erase."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.lines: list[list[str]] = [[]]
        self._row = self._column = 0
        self._rest = ""

    def feed(self, text: str) -> None:
        """Take in output."""
        text = self._rest + text
        self._rest = ""
        position = 0
        while position < len(text):
            character = text[position]
            if character == "\x1b":
                match = _SEQUENCE.match(text, position)
                if match is None:
                    self._rest = text[position:]  # the end of it is still to come
                    return
                self._control(match[1], match[2])
                position = match.end()
                continue
            position += 1
            if character == "\n":
                self._row += 1
                self._grow()
            elif character == "\r":
                self._column = 0
            elif character >= " ":
                self._put(character)

    def _put(self, character: str) -> None:
        if self._column >= self.columns:
            self._row, self._column = self._row + 1, 0
            self._grow()
        line = self.lines[self._row]
        line.extend(" " * (self._column + 1 - len(line)))
        line[self._column] = character
        self._column += 1

    def _grow(self) -> None:
        while self._row >= len(self.lines):
            self.lines.append([])

    def _control(self, numbers: str, letter: str) -> None:
        first = int(numbers.split(";")[0] or 0) if not numbers.startswith("?") else 0
        if letter == "A":
            # Nothing above the window can be reached.
            top = max(0, len(self.lines) - self.rows)
            self._row = max(top, self._row - max(1, first))
        elif letter == "K":
            line = self.lines[self._row]
            del line[0 if first == 2 else self._column :]
        else:
            assert letter in "mhl", f"the screen does not know {letter}"

    @property
    def text(self) -> str:
        """All lines, those that have scrolled away included."""
        return "\n".join("".join(line).rstrip() for line in self.lines)

    @property
    def window(self) -> str:
        """The lines that fit on the terminal."""
        return "\n".join("".join(line).rstrip() for line in self.lines[-self.rows :])


class Terminal:
    """``svddtune`` with arguments on a terminal of its own."""

    def __init__(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.screen = Screen(columns, rows)
        self.raw = ""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        self.child = subprocess.Popen(
            [*PROGRAM, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**inherited, "TERM": "xterm-256color", "LANG": "C.UTF-8"} | dict(environment),
            preexec_fn=_take_terminal,
        )
        self._slave = slave

    def expect(self, what: str | Callable[[str], bool], timeout_s: float = 20.0) -> str:
        """Wait until the window shows a text (or what a predicate wants); return the window."""
        shows = (lambda window: what in window) if isinstance(what, str) else what
        deadline = time.monotonic() + timeout_s
        while not shows(self.screen.window):
            left_s = deadline - time.monotonic()
            assert left_s > 0, f"{what!r} did not show; the window:\n{self.screen.window}"
            assert self._read(left_s), f"ended without {what!r}:\n{self.screen.text}"
        return self.screen.window

    def rest(self, seconds: float) -> None:
        """Look at the screen for a while, as people do before they press a key."""
        until = time.monotonic() + seconds
        while (left_s := until - time.monotonic()) > 0:
            self._read(left_s)

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.child.send_signal(number)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.columns, self.screen.rows = columns, rows
        self.child.send_signal(signal.SIGWINCH)

    def stop_and_continue(self) -> None:
        """Stop the program as a shell does, and let it go on; the screen is empty then."""
        self.child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.child.pid, os.WSTOPPED)
        while select.select([self._master], [], [], 0)[0]:
            self._read(0.0)
        self.screen = Screen(self.screen.columns, self.screen.rows)
        self.child.send_signal(signal.SIGCONT)

    def wait(self, timeout_s: float = 20.0) -> int:
        """Wait for the end; the exit code. The terminal must be as it was before."""
        deadline = time.monotonic() + timeout_s
        while self.child.poll() is None:
            assert time.monotonic() < deadline, f"still runs:\n{self.screen.text}"
            self._read(0.05)
        while self._read(0.0):
            pass
        assert termios.tcgetattr(self._slave) == self.before
        return self.child.returncode

    def _read(self, timeout_s: float) -> bool:
        """Take in some output; False where none came in time or will come."""
        ready, _, _ = select.select([self._master], [], [], min(timeout_s, 0.5))
        if not ready:
            return self.child.poll() is None and timeout_s > 0
        text = os.read(self._master, 65536).decode(errors="replace")
        self.raw += text
        self.screen.feed(text)
        return True

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        os.close(self._slave)
        os.close(self._master)


def _take_terminal() -> None:
    """Make the terminal the child's own, so that Ctrl-C reaches it as a signal."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
