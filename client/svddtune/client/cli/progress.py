"""How far a run is, on stderr: a bar on a terminal, a few lines elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from svddtune.client.cli.output import evidence, figure, say, stderr

if TYPE_CHECKING:
    from svddtune.client.asking import Progress

_STAGES = {
    "starting": "Starting the service",
    "uploading": "Sending the data",
    "preparing": "Preparing: neighbours, kernel means and the atlas of fitted models",
    "labeling": "Asking for labels",
    "estimating": "Choosing gamma and C, fitting the model",
    "done": "Done",
}


class ProgressBar:
    """Takes the `Progress` of a run; as a context manager it owns the bar.

    Parameters
    ----------
    live : bool
        False keeps to one line per label, for runs in which a person types in between.
    """

    def __init__(self, *, live: bool = True) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        console = stderr()
        self._live = live and console.is_terminal
        self._every = 10 if live else 1
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not self._live,
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, detail="")
        self._stage = ""
        self._said = -1

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Show how far the run is."""
        counts = progress.counts
        detail = (
            f"{counts.total}/{progress.budget} labels "
            f"({counts.inlier} inlier, {counts.outlier} outlier)"
        )
        if progress.live:
            detail += f", {evidence(progress.live)}"
        elif progress.gamma:
            detail += f", gamma {figure(progress.gamma, 3)}"
        if self._live:
            self._update(progress, detail)
        elif progress.stage == "labeling":
            self._line(counts.total, detail)
        elif progress.stage != self._stage:
            say(_STAGES[progress.stage])
        self._stage = progress.stage

    def _update(self, progress: Progress, detail: str) -> None:
        labeling = progress.stage == "labeling"
        if labeling and self._stage != "labeling":
            # The time left is that of labelling alone; what came before tells nothing about it.
            self._bar.reset(self._task, total=progress.budget, completed=progress.counts.total)
        self._bar.update(
            self._task,
            description=_STAGES[progress.stage],
            total=progress.budget if labeling else None,
            completed=progress.counts.total if labeling else None,
            detail=detail if labeling else "",
        )

    def _line(self, total: int, detail: str) -> None:
        if total // self._every != self._said // self._every or self._stage != "labeling":
            say(f"{_STAGES['labeling']}: {detail}" if self._every > 1 else f"{detail}")
        self._said = total
