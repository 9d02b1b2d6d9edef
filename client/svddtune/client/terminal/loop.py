"""Keys, news and signals to the desk, its orders to the service, its look to the terminal."""

from __future__ import annotations

import select
import time

from svddtune.client.terminal.controller import Desk
from svddtune.client.terminal.keyboard import Keyboard
from svddtune.client.terminal.renderer import Shown
from svddtune.client.terminal.requests import Leave, Order
from svddtune.client.terminal.sender import Talk
from svddtune.client.terminal.signals import Signals

# How often connection and leases are looked at.
_TICK_S = 0.2


def run(desk: Desk, talk: Talk, keyboard: Keyboard, shown: Shown, signals: Signals) -> None:
    """Label until the desk wants to leave.

    Raises
    ------
    SvddtuneError
        The dialogue cannot go on.
    KeyboardInterrupt
        The second wish to stop.
    """
    orders = desk.start()
    while not _carry_out(orders, talk):
        now = time.monotonic()
        orders = talk.look(desk, now)
        for news in talk.news():
            orders += news(desk, now)
        if signals.stop and not desk.quitting:
            orders += desk.quit()
        orders += _typed(desk, keyboard, now)
        if signals.take_redraw():
            keyboard.resume()
            shown.again()
        shown.show(desk, now)
        if not orders:
            _wait(keyboard, signals)


def _carry_out(orders: list[Order], talk: Talk) -> bool:
    """Hand on the orders; True where the last of them is to leave."""
    for order in orders:
        if isinstance(order, Leave):
            return True
        talk.carry_out(order)
    return False


def _typed(desk: Desk, keyboard: Keyboard, now: float) -> list[Order]:
    """Do what was typed. A line waits for its question; a key was not meant for one to come."""
    orders: list[Order] = []
    while keyboard.waiting:
        typed = keyboard.waiting[0]
        if typed.command is None:
            desk.mistyped(typed.text)
        elif desk.takes(typed.command):
            orders += desk.command(now, typed.command, typed.number)
        elif not keyboard.keys:
            return orders
        keyboard.waiting.popleft()
    return orders


def _wait(keyboard: Keyboard, signals: Signals) -> None:
    """Wait for a key, news, a signal, or the next look around."""
    inputs = [signals.fd] if keyboard.ended else [signals.fd, keyboard.fd]
    ready, _, _ = select.select(inputs, [], [], _TICK_S)
    if signals.fd in ready:
        signals.drain()
    if keyboard.fd in ready:
        keyboard.read()
