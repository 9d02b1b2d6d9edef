"""The interface of everything that shows the state to the labeler."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from svddtune.client.terminal.controller import LabelingController


class Renderer(Protocol):
    """Shows a controller's state; as a context manager it owns the output."""

    def __enter__(self) -> Renderer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    def render(self, controller: LabelingController, now: float) -> None:
        """Show what is new; called often, does nothing where nothing is new."""
        ...

    def redraw(self) -> None:
        """Show everything again: the terminal was resized or showed something else."""
        return
