"""The desk line by line: for terminals that cannot move their cursor, and for pipes."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from svddtune.client.terminal import messages as words
from svddtune.client.terminal.card import everything
from svddtune.client.terminal.commands import WORDS_HELP
from svddtune.client.terminal.controller import Desk
from svddtune.client.terminal.renderer import Shown
from svddtune.client.terminal.requests import Card
from svddtune.client.terminal.view import KEY_ROWS, View, keys_help
from svddtune.text import on_one_line

# A wait is mentioned once it is longer than this.
_PATIENCE_S = 1.0


class Plain(Shown):
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

    def show(self, desk: Desk, now: float) -> None:
        """Print what is new."""
        for one in desk.heard():
            self._print(words.remark(one))
        self._tell_state(desk, now)
        if desk.card is not self._card:
            self._card = desk.card
            self._ask(desk)
        confirming, helping = self._was
        self._was = (desk.confirming, desk.helping)
        if desk.confirming and not confirming and desk.card is not None:
            self._print(words.confirmation(desk.card))
        if desk.helping and not helping:
            self._console.print(keys_help())
        if desk.take_wish_for_all_features() and desk.card is not None:
            query = desk.card.query
            self._console.print(everything(query, desk.known.feature_names(query.session)))

    def _tell_state(self, desk: Desk, now: float) -> None:
        lost = words.connection(desk)
        state = lost or ("" if desk.card else self._view.waiting(desk))
        if state != self._state:
            self._state, self._state_since = state, now
        if state != self._said and (lost or now - self._state_since >= _PATIENCE_S):
            self._said = state
            if state:
                self._print(state)

    def _ask(self, desk: Desk) -> None:
        card = desk.card
        if card is None:
            return
        self._console.print()
        self._console.print(self._view.question(desk, card, self._console))
        self._print(words.labels(desk))
        live = desk.known.session.live if desk.known.session else None
        if live is not None:
            self._print(on_one_line(live.advice))
        for line in KEY_ROWS if self._keys else (f"Say {WORDS_HELP}:",):
            self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(Text(line))
