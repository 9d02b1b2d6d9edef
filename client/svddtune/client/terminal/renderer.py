"""What every way to show the desk can do."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from svddtune.client.terminal.controller import Desk


class Shown(Protocol):
    """Shows a desk; as a context manager it owns the output."""

    def __enter__(self) -> Shown:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    def show(self, desk: Desk, now: float) -> None:
        """Show what is new; called often, does nothing where nothing is."""
        ...

    def again(self) -> None:
        """Show all anew: the terminal has another size, or showed something else meanwhile."""
        return
