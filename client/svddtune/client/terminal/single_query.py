"""One question at the terminal, for a program that waits for the answer."""

from __future__ import annotations

import io
import select
import sys
import time

from svddtune.client.oracles.answers import Answer, Command, reply
from svddtune.client.terminal.commands import Action, parse_line
from svddtune.client.terminal.controller import GUARD_S, LabelingController
from svddtune.client.terminal.keyboard import Keyboard, Typed, has_keys
from svddtune.client.terminal.line_renderer import LineRenderer
from svddtune.client.terminal.output import stderr
from svddtune.client.terminal.renderer import Renderer
from svddtune.client.terminal.requests import Leave, Request, Skip, Submit
from svddtune.client.terminal.screen import ScreenRenderer
from svddtune.client.terminal.view import View
from svddtune.client.types import Query


def ask(query: Query, names: tuple[str, ...]) -> Answer:
    """Show `query`, whose features have these names, until it is answered, skipped or left.

    The caller carries out an undo.
    """
    keyboard = _keyboard()
    controller = LabelingController(guard_s=GUARD_S if keyboard else 0.0)
    controller.start()
    controller.came(time.monotonic(), query, names)
    if keyboard is None:
        return _settle(controller, None, _renderer(keys=False))
    with keyboard.raw(), _renderer(keys=True) as renderer:
        return _settle(controller, keyboard, renderer)


def _settle(
    controller: LabelingController, keyboard: Keyboard | None, renderer: Renderer
) -> Answer:
    while True:
        renderer.render(controller, time.monotonic())
        for typed in _typed(keyboard):
            if typed.command is Action.UNDO and not (controller.helping or controller.confirming):
                return Command.UNDO
            if typed.command is None:
                controller.mistyped(typed.text)
                continue
            requests = controller.command(time.monotonic(), typed.command, typed.number)
            answer = _answer(requests)
            if answer is not None:
                return answer


def _answer(requests: list[Request]) -> Answer | None:
    for request in requests:
        match request:
            case Submit(judgement=judgement):
                return reply(judgement)
            case Skip(mode=mode):
                return mode
            case Leave():
                return Command.STOP
    return None


def _typed(keyboard: Keyboard | None) -> list[Typed]:
    """Wait for a key or a line."""
    if keyboard is None:
        try:
            line = input("> ")
        except EOFError:
            return [Typed(Action.QUIT, "")]
        command, number = parse_line(line)
        return [Typed(command, line, number)] if line.strip() else []
    select.select([keyboard.fd], [], [])
    keyboard.read()
    typed = list(keyboard.waiting)
    keyboard.waiting.clear()
    return typed


def _keyboard() -> Keyboard | None:
    """Return what reads single keys; None where answers are lines: pipes, notebooks."""
    try:
        fd = sys.stdin.fileno()
    except (AttributeError, io.UnsupportedOperation):
        return None
    return Keyboard(fd, keys=True) if has_keys(fd) else None


def _renderer(*, keys: bool) -> Renderer:
    console = stderr()
    view = View("", "you")
    if keys and console.is_terminal and not console.is_dumb_terminal:
        return ScreenRenderer(console, view)
    return LineRenderer(console, view, keys=keys)
