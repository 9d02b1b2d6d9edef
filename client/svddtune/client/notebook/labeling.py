"""One labeler's work in a notebook, from the first question to the last answer."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping, Sequence

from svddtune.client.client import TuningClient
from svddtune.client.notebook.picture import Picture, picture_of
from svddtune.client.terminal.commands import parse_line
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.requests import Card, Leave, Notice, Request
from svddtune.client.terminal.sender import RequestSender

# Seconds between looks at the connection and the leases.
_TICK_S = 0.2
# An answer waits for the connection for as long as the dialogue itself does.
_ACK_TIMEOUT_S = 86_400.0


class Labeling:
    """Labels one session, or any (None), under a name.

    The browser keeps off presses that were meant for the question before, so nothing is asked back
    but whether to drop an observation. Any thread may press, tick and stop.

    Parameters
    ----------
    show : callable
        Called with each picture, in the thread of `run`.
    """

    def __init__(
        self,
        client: TuningClient,
        session: str | None,
        labeler: str,
        show: Callable[[Picture], None],
        *,
        credit: int = 1,
        resume_token: str = "",
        tags: Sequence[str] = (),
    ) -> None:
        self.controller = LabelingController(credit=credit, guard_s=0.0)
        self._client = client
        self._session = session
        self._labeler = labeler
        self._show = show
        self._resume_token = resume_token
        self._tags = tags
        # A press; None to look for events, of which the sender tells.
        self._inbox: queue.SimpleQueue[Mapping[str, object] | None] = queue.SimpleQueue()
        # Whether the labeler wants the result from the labels so far.
        self.wants_result = False
        self._turn = 0
        self._shown: Card | None = None
        self._notice: Notice | None = None

    def press(self, pressed: Mapping[str, object]) -> None:
        """Take in what the labeler pressed, {"do": word, "turn": number}.

        Words are those of a terminal, and "finish" for the result from the labels so far. Without
        a turn it is about the question of now.
        """
        self._inbox.put(pressed)

    def stop(self) -> None:
        """Give the question back and end, once all answers are stored."""
        self.press({"do": "quit"})

    def run(self) -> LabelingController:
        """Label until the labeler or the session ends it; return the final state.

        Raises
        ------
        SvddtuneError
            The dialogue cannot go on.
        """
        tuning = self._client.tuning(
            self._session,
            labeler=self._labeler,
            kind="human",
            credit=self.controller.credit,
            ack_timeout_s=_ACK_TIMEOUT_S,
            resume_token=self._resume_token,
            tags=self._tags,
        )
        self._labeler = tuning.labeler
        sender = RequestSender(self._client, tuning, lambda: self._inbox.put(None))
        try:
            self._loop(sender)
        finally:
            sender.close()
        return self.controller

    def _loop(self, sender: RequestSender) -> None:
        requests = self.controller.start()
        while not _send(requests, sender):
            now = time.monotonic()
            requests = sender.poll(self.controller, now)
            for event in sender.events():
                requests += event(self.controller, now)
            self._draw()
            if not requests:
                requests = self._pressed()

    def _pressed(self) -> list[Request]:
        """Wait for a press, an event or the next look; carry the press out."""
        try:
            pressed = self._inbox.get(timeout=_TICK_S)
        except queue.Empty:
            return []
        if pressed is None:
            return []
        word = str(pressed.get("do", ""))
        if word == "finish":
            self.wants_result = True
            return self.controller.quit()
        command, _ = parse_line(word)
        # (Undo and quit are about no question.)
        turn = pressed.get("turn", self._turn)
        if command is None or turn != self._turn or not self.controller.takes(command):
            return []
        return self.controller.command(time.monotonic(), command)

    def _draw(self) -> None:
        if self.controller.card is not self._shown:
            self._shown = self.controller.card
            self._turn += 1
        for notice in self.controller.take_notices():
            self._notice = notice
        self._show(
            picture_of(
                self.controller, self._turn, self._notice, self._client.address, self._labeler
            )
        )


def _send(requests: list[Request], sender: RequestSender) -> bool:
    """Send the requests; return True where one of them is to leave."""
    for request in requests:
        if isinstance(request, Leave):
            return True
        sender.send(request)
    return False
