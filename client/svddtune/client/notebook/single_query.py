"""Asks about one query that another dialogue holds."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable, Mapping

from svddtune.client.notebook.picture import Picture, picture_of
from svddtune.client.oracles.answers import Answer, Command
from svddtune.client.terminal.commands import Action, parse_line
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.requests import Card
from svddtune.client.types import Judgement, Query, SkipMode, Verdict

_turns = itertools.count(1)


def ask(
    query: Query,
    show: Callable[[Picture], None],
    goes_to: Callable[[Callable[[Mapping[str, object]], None]], None],
) -> Answer:
    """Show one query and return what the person presses."""
    pressed: queue.SimpleQueue[Mapping[str, object]] = queue.SimpleQueue()
    goes_to(pressed.put)
    turn = next(_turns)
    controller = LabelingController(cards=[Card(query, leased=True)])
    controller.status.connected = True
    shown = picture_of(controller, turn, None, "", "")
    show({**shown, "title": "", "undo": turn > 1})
    while True:
        press = pressed.get()
        word = str(press.get("do", ""))
        command, _ = parse_line(word)
        if word == "finish" or command is Action.QUIT:
            return Command.STOP
        if command is Action.UNDO:
            return Command.UNDO
        if isinstance(command, Verdict | Judgement | SkipMode) and press.get("turn", turn) == turn:
            return command
