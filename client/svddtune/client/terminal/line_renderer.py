"""Questions line by line: for terminals that cannot move their cursor, and for pipes."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from svddtune.client.terminal import messages
from svddtune.client.terminal.card import everything
from svddtune.client.terminal.commands import WORDS_HELP
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.renderer import Renderer
from svddtune.client.terminal.requests import Card
from svddtune.client.terminal.view import KEY_ROWS, View, keys_help
from svddtune.text import on_one_line

# A wait is mentioned once it is longer than this.
_PATIENCE_S = 1.0


class LineRenderer(Renderer):
    """Prints each question once, and what happens in between."""

    def __init__(self, console: Console, view: View, *, keys: bool) -> None:
        self._console = console
        self._view = view
        self._keys = keys
        self._card: Card | None = None
        self._state = ""
        self._state_since = 0.0
        self._said = ""
        self._was: tuple[bool, bool] = (False, False)

    def render(self, controller: LabelingController, now: float) -> None:
        """Print what is new."""
        for one in controller.take_notices():
            self._print(messages.notice_line(one))
        self._tell_state(controller, now)
        if controller.card is not self._card:
            self._card = controller.card
            self._ask(controller)
        confirming, helping = self._was
        self._was = (controller.confirming, controller.helping)
        if controller.confirming and not confirming and controller.card is not None:
            self._print(messages.confirmation(controller.card))
        if controller.helping and not helping:
            self._console.print(keys_help())
        if controller.take_features_request() and controller.card is not None:
            query = controller.card.query
            self._console.print(everything(query, controller.status.feature_names(query.session)))

    def _tell_state(self, controller: LabelingController, now: float) -> None:
        lost = messages.connection(controller)
        state = lost or ("" if controller.card else self._view.waiting(controller))
        if state != self._state:
            self._state, self._state_since = state, now
        if state != self._said and (lost or now - self._state_since >= _PATIENCE_S):
            self._said = state
            if state:
                self._print(state)

    def _ask(self, controller: LabelingController) -> None:
        card = controller.card
        if card is None:
            return
        self._console.print()
        self._console.print(self._view.question(controller, card, self._console))
        self._print(messages.labels(controller))
        live = controller.status.session.live if controller.status.session else None
        if live is not None:
            self._print(on_one_line(live.advice))
        for line in KEY_ROWS if self._keys else (f"Type {WORDS_HELP}:",):
            self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(Text(line))
