"""The loop of labelling: input, events and signals in; requests and pictures out."""

from __future__ import annotations

import select
import time

from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.keyboard import Keyboard
from svddtune.client.terminal.renderer import Renderer
from svddtune.client.terminal.requests import Leave, Request
from svddtune.client.terminal.sender import RequestSender
from svddtune.client.terminal.signals import Signals

# Seconds between looks at the connection and the leases.
_TICK_S = 0.2


def run_loop(
    controller: LabelingController,
    sender: RequestSender,
    keyboard: Keyboard,
    renderer: Renderer,
    signals: Signals,
) -> None:
    """Label until the controller leaves.

    Raises
    ------
    SvddtuneError
        The dialogue cannot go on.
    KeyboardInterrupt
        The second signal to stop.
    """
    requests = controller.start()
    while not _send(requests, sender):
        now = time.monotonic()
        requests = sender.poll(controller, now)
        for event in sender.events():
            requests += event(controller, now)
        if signals.stop and not controller.quitting:
            requests += controller.quit()
        requests += _typed(controller, keyboard, now)
        if signals.take_redraw():
            keyboard.resume()
            renderer.redraw()
        renderer.render(controller, now)
        if not requests:
            _wait(keyboard, signals)


def _send(requests: list[Request], sender: RequestSender) -> bool:
    """Send the requests; return True where one of them is to leave."""
    for request in requests:
        if isinstance(request, Leave):
            return True
        sender.send(request)
    return False


def _typed(controller: LabelingController, keyboard: Keyboard, now: float) -> list[Request]:
    """Carry out what was typed. A line waits for its question; a key without one is dropped."""
    requests: list[Request] = []
    while keyboard.waiting:
        typed = keyboard.waiting[0]
        if typed.command is None:
            controller.mistyped(typed.text)
        elif controller.takes(typed.command):
            requests += controller.command(now, typed.command, typed.number)
        elif not keyboard.keys:
            return requests
        keyboard.waiting.popleft()
    return requests


def _wait(keyboard: Keyboard, signals: Signals) -> None:
    """Wait for input, an event, a signal, or the next poll."""
    inputs = [signals.fd] if keyboard.ended else [signals.fd, keyboard.fd]
    ready, _, _ = select.select(inputs, [], [], _TICK_S)
    if signals.fd in ready:
        signals.drain()
    if keyboard.fd in ready:
        keyboard.read()
