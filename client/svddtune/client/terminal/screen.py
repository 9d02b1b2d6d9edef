"""A picture that stays in place; finished queries are written above it, line by line."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from svddtune.client.terminal import messages
from svddtune.client.terminal.card import everything
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.renderer import Renderer
from svddtune.client.terminal.view import View, lingering

_DONE = ("stored", "skipped", "undone")


class ScreenRenderer(Renderer):
    """Draws on a terminal that can move its cursor."""

    def __init__(self, console: Console, view: View) -> None:
        self._console = console
        self._view = view
        self._note = ""
        self._drawn: tuple[object, ...] = ()
        self._live = Live(
            console=console, auto_refresh=False, transient=True, vertical_overflow="crop"
        )

    def __enter__(self) -> ScreenRenderer:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()

    def render(self, controller: LabelingController, now: float) -> None:
        """Draw the picture anew where it has changed."""
        for one in controller.take_notices():
            done = one.kind in _DONE
            self._note = "" if done else messages.notice_line(one)
            if done:
                self._console.print(Text(messages.notice_line(one)))
        if controller.take_features_request() and controller.card is not None:
            query = controller.card.query
            self._console.print(everything(query, controller.status.feature_names(query.session)))
        drawn = (controller.fingerprint, self._note, lingering(controller, now) is None)
        if drawn != self._drawn:
            self._drawn = drawn
            picture = self._view.draw(controller, self._note, now, self._console)
            self._live.update(picture, refresh=True)

    def redraw(self) -> None:
        """Draw on new lines: where the old picture is now nobody knows."""
        self._live.stop()
        self._live.start()
        self._drawn = ()
