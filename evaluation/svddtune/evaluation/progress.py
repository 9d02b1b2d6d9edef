"""Progress of the evaluation on stderr: a bar on a terminal, a few lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from svddtune.client.terminal.output import say, stderr
from svddtune.evaluation.units import Unit

_LINES = 10


class Bar:
    """Counts finished units. As a context manager it shows and removes the bar."""

    def __init__(self, units: Sequence[Unit]) -> None:
        console = stderr()
        self._live = console.is_terminal
        self._total = sum(unit.cost for unit in units)
        self._count = len(units)
        self._done = self._computed = 0.0
        self._finished = self._lines = 0
        self._started = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.fields[count]}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}"),
            console=console,
            disable=not self._live,
            transient=True,
        )
        self._task = self._bar.add_task("", total=max(self._total, 1e-9), count="", left="")

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def __call__(self, unit: Unit, computed: bool) -> None:
        """Count a finished unit."""
        self._finished += 1
        self._done += unit.cost
        if computed:
            self._computed += unit.cost
        count = f"{self._finished}/{self._count}"
        left = self._left()
        if self._live:
            self._bar.update(
                self._task, completed=self._done, description=unit.what, count=count, left=left
            )
        elif computed and self._finished * _LINES // self._count > self._lines:
            say(f"{count} pieces of work done, {left}")
        self._lines = max(self._lines, self._finished * _LINES // self._count)

    def _left(self) -> str:
        elapsed = time.monotonic() - self._started
        if self._computed < 0.02 * self._total or elapsed < 1.0:
            return "remaining time not known yet" if self._finished < self._count else "done"
        seconds = round((self._total - self._done) * elapsed / self._computed)
        return f"{seconds // 60}:{seconds % 60:02d} left"
