"""Signals of the operating system, kept until the loop reads them."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any

_STOPS = ("SIGINT", "SIGTERM", "SIGHUP")
_REDRAWS = ("SIGWINCH", "SIGCONT")


class Signals:
    """Catches signals: the first one to stop is noted, the second raises KeyboardInterrupt.

    ``fd`` is readable after each of them, and after `wake`.
    """

    def __init__(self) -> None:
        self.stop = 0
        self._redraw = False
        self.fd, self._write = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write, False)

    def wake(self) -> None:
        """Make ``fd`` readable; from any thread."""
        with contextlib.suppress(OSError):  # full: it is readable; closed: nobody looks any more
            os.write(self._write, b"\0")

    def drain(self) -> None:
        """Make ``fd`` unreadable until there is something new."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.fd, 512):
                pass

    def take_redraw(self) -> bool:
        """Return, once, whether the terminal may look different now."""
        redraw, self._redraw = self._redraw, False
        return redraw

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        """Catch them for the time of a block; main thread only."""
        before: dict[signal.Signals, Any] = {}
        wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        try:
            for names, handler in ((_STOPS, self._on_stop), (_REDRAWS, self._on_redraw)):
                for name in names:
                    if (number := getattr(signal, name, None)) is not None:
                        before[number] = signal.signal(number, handler)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)
            os.close(self.fd)
            write, self._write = self._write, -1
            os.close(write)

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = number

    def _on_redraw(self, number: int, frame: FrameType | None) -> None:
        self._redraw = True
