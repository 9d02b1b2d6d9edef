"""Shows the progress of a run on stderr: a bar on a terminal, a few lines elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from svddtune.client.terminal.output import evidence, gamma_of, say, stderr

if TYPE_CHECKING:
    from svddtune.client.runs.asking import Progress

_STAGES = {
    "starting": "Starting the service",
    "uploading": "Sending the data",
    "preparing": "Preparing: neighbours and kernel means",
    "labeling": "Asking for labels",
    "waiting": "Waiting",
    "estimating": "Choosing gamma and C, fitting the model",
    "done": "Done",
}
_ATLAS = "Preparing: fitting the atlas of models"
_EVERY = 10
_EVERY_SHARE = 0.25


class ProgressBar:
    """Takes the `Progress` of a run; as a context manager it owns the bar.

    Parameters
    ----------
    human : bool
        Whether a person labels on this terminal: the bar is hidden during questions.
    """

    def __init__(self, *, human: bool = False) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._console = stderr()
        self._human = human
        self._live = self._console.is_terminal
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._live,
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, detail="")
        self._title = ""
        self._said = -1.0
        self._sentence = ""

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
        if progress.waiting and progress.waiting != self._sentence:
            self._tell(progress.waiting)
        self._sentence = progress.waiting
        title = _STAGES[progress.stage]
        total, done, detail = None, None, ""
        if progress.stage == "preparing" and progress.share > 0:
            title, total, done = _ATLAS, 1.0, progress.share
            detail = f"{progress.share:.0%}"
        elif progress.stage in ("labeling", "waiting"):
            total, done = float(progress.budget), float(progress.counts.total)
            detail = _labels(progress)
        if self._human and progress.stage in ("labeling", "waiting"):
            self._bar.stop()
        elif self._live:
            self._update(title, total, done, detail)
        else:
            self._line(title, progress, detail)
        self._title = title

    def _update(self, title: str, total: float | None, done: float | None, detail: str) -> None:
        if title != self._title:
            # Each part has its own rate, so the estimate starts anew.
            self._bar.reset(self._task, total=total, completed=0)
            self._bar.start()
        self._bar.update(self._task, description=title, total=total, completed=done, detail=detail)

    def _line(self, title: str, progress: Progress, detail: str) -> None:
        if title != self._title:
            self._said = -1.0
        step = 0.0
        if title == _ATLAS:
            step = progress.share // _EVERY_SHARE
        elif progress.stage == "labeling":
            step = float(progress.counts.total // _EVERY)
        if step != self._said and title != _STAGES["waiting"]:
            say(f"{title}: {detail}" if detail else title)
        self._said = step

    def _tell(self, sentence: str) -> None:
        if self._live:
            self._console.print(sentence, markup=False, style="yellow", soft_wrap=True)
        else:
            say(sentence)


def _labels(progress: Progress) -> str:
    counts = progress.counts
    text = (
        f"{counts.total}/{progress.budget} labels "
        f"({counts.inlier} inlier, {counts.outlier} outlier)"
    )
    if progress.awaiting_votes:
        text += f", {progress.awaiting_votes} waiting for votes"
    if progress.live:
        text += f", {evidence(progress.live)}"
    elif progress.gamma:
        text += f", gamma {gamma_of(progress.gamma, progress.scaling, 3)}"
    return text
