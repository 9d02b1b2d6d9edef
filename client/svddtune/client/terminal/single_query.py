"""One question at the terminal, for a program that wants the answer now."""

from __future__ import annotations

import io
import select
import sys
import time

from svddtune.client.oracles.answers import Answer, Command
from svddtune.client.terminal.commands import Key, words
from svddtune.client.terminal.controller import GUARD_S, Desk
from svddtune.client.terminal.keyboard import Keyboard, Typed, has_keys
from svddtune.client.terminal.line_renderer import Plain
from svddtune.client.terminal.output import stderr
from svddtune.client.terminal.renderer import Shown
from svddtune.client.terminal.requests import Leave, Order, Skip, Submit
from svddtune.client.terminal.screen import Screen
from svddtune.client.terminal.view import View
from svddtune.client.types import Query


def ask(query: Query, names: tuple[str, ...]) -> Answer:
    """Show `query`, whose features have these names, until it is answered, skipped or left.

    A wish to undo is the caller's to fulfil.
    """
    keyboard = _keyboard()
    desk = Desk(guard_s=GUARD_S if keyboard else 0.0)
    desk.start()
    desk.came(time.monotonic(), query, names)
    if keyboard is None:
        return _settle(desk, None, _shown(keys=False))
    with keyboard.raw(), _shown(keys=True) as shown:
        return _settle(desk, keyboard, shown)


def _settle(desk: Desk, keyboard: Keyboard | None, shown: Shown) -> Answer:
    while True:
        shown.show(desk, time.monotonic())
        for typed in _typed(keyboard):
            if typed.command is Key.UNDO and not (desk.helping or desk.confirming):
                return Command.UNDO
            if typed.command is None:
                desk.mistyped(typed.text)
                continue
            orders = desk.command(time.monotonic(), typed.command, typed.number)
            answer = _answer(orders)
            if answer is not None:
                return answer


def _answer(orders: list[Order]) -> Answer | None:
    for order in orders:
        match order:
            case Submit(verdict=verdict):
                return verdict
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
            return [Typed(Key.QUIT, "")]
        command, number = words(line)
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


def _shown(*, keys: bool) -> Shown:
    console = stderr()
    view = View("", "you")
    if keys and console.is_terminal and not console.is_dumb_terminal:
        return Screen(console, view)
    return Plain(console, view, keys=keys)
