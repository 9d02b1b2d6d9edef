"""One labeler at work, from the first question to the last word."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass

from svddtune.client.client import TuningClient
from svddtune.client.result import Result
from svddtune.client.terminal import messages as words
from svddtune.client.terminal.controller import GUARD_S, Desk
from svddtune.client.terminal.json_lines import JsonLines, emit
from svddtune.client.terminal.keyboard import Keyboard, has_keys
from svddtune.client.terminal.line_renderer import Plain
from svddtune.client.terminal.loop import run
from svddtune.client.terminal.output import say, stderr, tell
from svddtune.client.terminal.renderer import Shown
from svddtune.client.terminal.screen import Screen
from svddtune.client.terminal.sender import Talk
from svddtune.client.terminal.signals import Signals
from svddtune.client.terminal.view import View
from svddtune.client.types import Session

# An answer waits for the connection for as long as the dialogue itself does.
_ACK_TIMEOUT_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Sitting:
    """How somebody wants to label: which session (None: any), as whom, and by what means."""

    session: str | None
    labeler: str
    credit: int = 1
    unary: bool = False
    as_json: bool = False
    resume_token: str = ""

    def hold(self, client: TuningClient) -> int:
        """Label until the labeler or the session ends it, and tell how it ended.

        Returns the signal that ended it, or 0.

        Raises
        ------
        SvddtuneError
            The dialogue cannot go on, or the session ended without a result.
        KeyboardInterrupt
            The labeler did not want to wait for what is not stored yet.
        """
        desk, signal = self.label(client)
        self._tell_end(client, desk, signal)
        return signal

    def label(self, client: TuningClient) -> tuple[Desk, int]:
        """Label as `hold` does; return the desk as it was left and the signal, or 0."""
        fd = sys.stdin.fileno()
        keyboard = Keyboard(fd, keys=has_keys(fd) and not self.as_json)
        desk = Desk(
            credit=self.credit,
            confirm_drop=not self.as_json,
            guard_s=GUARD_S if keyboard.keys else 0.0,
        )
        signals = Signals()
        with ExitStack() as stack:
            stack.enter_context(signals.caught())
            tuning = client.tuning(
                self.session,
                labeler=self.labeler,
                kind="human",
                credit=self.credit,
                stream=not self.unary,
                ack_timeout_s=_ACK_TIMEOUT_S,
                resume_token=self.resume_token,
            )
            talk = Talk(client, tuning, signals.wake)
            stack.enter_context(keyboard.raw())
            shown = stack.enter_context(self._shown(client.address, keyboard))
            try:
                run(desk, talk, keyboard, shown, signals)
                talk.close()
            finally:
                for sent in desk.sent.values():
                    say(f"Not stored: {words.unstored(sent)}")
        return desk, signals.stop

    def _shown(self, address: str, keyboard: Keyboard) -> Shown:
        if self.as_json:
            return JsonLines()
        console = stderr()
        view = View(address, self.labeler)
        if keyboard.keys and console.is_terminal and not console.is_dumb_terminal:
            return Screen(console, view)
        return Plain(console, view, keys=keyboard.keys)

    def _tell_end(self, client: TuningClient, desk: Desk, stop: int) -> None:
        answers = Counter(done.verdict.value for done in desk.history)
        reason = desk.finished or ("INTERRUPTED" if stop else "QUIT")
        result = None
        if desk.finished and desk.known.session_name:
            say(f"Finished: {words.REASONS.get(reason, reason)}.")
            result = self._result(client, desk.known.session_name)
        if self.as_json:
            emit(
                "end",
                reason=reason,
                session=desk.known.session_name,
                answers=answers,
                labels=desk.known.counts,
                result=result and _figures(result),
            )
            return
        given = ", ".join(f"{number} {verdict}" for verdict, number in sorted(answers.items()))
        total = words.many(sum(answers.values()), "answer")
        tell(f"{self.labeler}: {total}" + (f" ({given})" if given else ""))
        if result is not None:
            observations = desk.known.session.observation_count if desk.known.session else 0
            for line in words.headline(result, observations):
                tell(line)
            tell(f"The model: svddtune export {desk.known.session_name.removeprefix('sessions/')}")

    def _result(self, client: TuningClient, session: str) -> Result:
        console = stderr()
        with console.status("Computing the result; Ctrl-C leaves it to the service ..."):
            client.wait_until_completed(session)
        return client.result(session)


def wants_result(client: TuningClient, session: Session) -> bool:
    """Ask whoever left before the end whether the result is wanted now, from the labels there are.

    The default is no: what is stored stays, and labelling goes on another time.
    """
    total = client.get_session(session).counts.total
    if not total or not sys.stdin.isatty():
        return False
    print(
        f"Compute the result from {words.many(total, 'label')} now? "
        "y: yes, anything else: keep them and go on later ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _figures(result: Result) -> dict[str, object]:
    return {
        "name": result.name,
        "gamma": result.gamma,
        "C": result.C,
        "nu": result.nu,
        "quality": result.quality,
        "audit": result.audit,
        "outside_count": result.outside_count,
    }
