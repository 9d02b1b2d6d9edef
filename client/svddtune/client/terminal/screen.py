"""The desk as a picture that stays in place; what is done is written above it, line by line."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from svddtune.client.terminal import messages as words
from svddtune.client.terminal.card import everything
from svddtune.client.terminal.controller import Desk
from svddtune.client.terminal.renderer import Shown
from svddtune.client.terminal.view import View, lingering

_DONE = ("stored", "skipped", "undone")


class Screen(Shown):
    """Draws on a terminal that can move its cursor."""

    def __init__(self, console: Console, view: View) -> None:
        self._console = console
        self._view = view
        self._note = ""
        self._drawn: tuple[object, ...] = ()
        self._live = Live(
            console=console, auto_refresh=False, transient=True, vertical_overflow="crop"
        )

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()

    def show(self, desk: Desk, now: float) -> None:
        """Draw the picture anew where it has changed."""
        for one in desk.heard():
            done = one.kind in _DONE
            self._note = "" if done else words.remark(one)
            if done:
                self._console.print(Text(words.remark(one)))
        if desk.take_wish_for_all_features() and desk.card is not None:
            query = desk.card.query
            self._console.print(everything(query, desk.known.feature_names(query.session)))
        drawn = (desk.mark, self._note, lingering(desk, now) is None)
        if drawn != self._drawn:
            self._drawn = drawn
            picture = self._view.draw(desk, self._note, now, self._console)
            self._live.update(picture, refresh=True)

    def again(self) -> None:
        """Draw on new lines: where the old picture is now nobody knows."""
        self._live.stop()
        self._live.start()
        self._drawn = ()
