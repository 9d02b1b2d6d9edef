"""One labeler's work at a terminal, from the connection to the summary."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from svddtune.client.client import TuningClient
from svddtune.client.errors import PermissionDenied
from svddtune.client.phrases import many
from svddtune.client.result import Result
from svddtune.client.terminal import messages
from svddtune.client.terminal.controller import GUARD_S, LabelingController
from svddtune.client.terminal.json_lines import JsonLinesRenderer, emit
from svddtune.client.terminal.keyboard import Keyboard, has_keys
from svddtune.client.terminal.line_renderer import LineRenderer
from svddtune.client.terminal.loop import run_loop
from svddtune.client.terminal.output import say, stderr, tell
from svddtune.client.terminal.renderer import Renderer
from svddtune.client.terminal.requests import said
from svddtune.client.terminal.screen import ScreenRenderer
from svddtune.client.terminal.sender import RequestSender
from svddtune.client.terminal.signals import Signals
from svddtune.client.terminal.view import View
from svddtune.client.types import Session

# An answer waits for the connection for as long as the dialogue itself does.
_ACK_TIMEOUT_S = 86_400.0


def _command(*words: str) -> str:
    return shlex.join(("svddtune", *words))


@dataclass(frozen=True, slots=True)
class TerminalLabeling:
    """Labels one session, or any (None), under a name; `run` also prints how it ended."""

    session: str | None
    labeler: str
    credit: int = 1
    unary: bool = False
    as_json: bool = False
    resume_token: str = ""
    # What the labeler says of itself.
    tags: tuple[str, ...] = ()
    # A command line that reaches the same service when it is pasted.
    command: Callable[..., str] = _command

    def run(self, client: TuningClient) -> int:
        """Label until the labeler or the session ends it, and print how it ended.

        Returns the signal that ended it, or 0.

        Raises
        ------
        SvddtuneError
            The dialogue cannot go on, or the session ended without a result.
        KeyboardInterrupt
            A second signal to stop came while answers were not stored yet.
        """
        controller, signal = self.label(client)
        self._report_end(client, controller, signal)
        return signal

    def label(self, client: TuningClient) -> tuple[LabelingController, int]:
        """Label as `run` does; return the final state and the signal that ended it, or 0."""
        fd = sys.stdin.fileno()
        keyboard = Keyboard(fd, keys=has_keys(fd) and not self.as_json)
        controller = LabelingController(
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
                tags=self.tags,
            )
            sender = RequestSender(client, tuning, signals.wake, self.command)
            stack.enter_context(keyboard.raw())
            renderer = stack.enter_context(self._renderer(client.address, keyboard))
            try:
                run_loop(controller, sender, keyboard, renderer, signals)
                sender.close()
            finally:
                for sent in controller.sent.values():
                    say(f"Not stored: {messages.unstored(sent)}")
        return controller, signals.stop

    def _renderer(self, address: str, keyboard: Keyboard) -> Renderer:
        if self.as_json:
            return JsonLinesRenderer()
        console = stderr()
        view = View(address, self.labeler)
        if keyboard.keys and console.is_terminal and not console.is_dumb_terminal:
            return ScreenRenderer(console, view)
        return LineRenderer(console, view, keys=keyboard.keys)

    def _report_end(self, client: TuningClient, controller: LabelingController, stop: int) -> None:
        answers = Counter(said(done.judgement) for done in controller.history)
        reason = controller.finished or ("INTERRUPTED" if stop else "QUIT")
        result = None
        if controller.finished and controller.status.session_name:
            say(f"Finished: {messages.REASONS.get(reason, reason)}.")
            if reason not in messages.FOR_YOU_ALONE:
                # (Who may label need not see what becomes of it.)
                with suppress(PermissionDenied):
                    result = self._result(client, controller.status.session_name)
        if self.as_json:
            emit(
                "end",
                reason=reason,
                session=controller.status.session_name,
                answers=answers,
                labels=controller.status.counts,
                result=result and _figures(result),
            )
            return
        if reason in messages.FOR_YOU_ALONE and not answers:
            return  # Nothing could be asked, and why has been said.
        given = ", ".join(f"{number} {verdict}" for verdict, number in sorted(answers.items()))
        total = many(sum(answers.values()), "answer")
        tell(f"{self.labeler}: {total}" + (f" ({given})" if given else ""))
        if result is not None:
            observations = (
                controller.status.session.observation_count if controller.status.session else 0
            )
            for line in messages.headline(result, observations):
                tell(line)
            session_id = controller.status.session_name.removeprefix("sessions/")
            tell(f"Export the model with: {self.command('export', session_id)}")

    def _result(self, client: TuningClient, session: str) -> Result:
        console = stderr()
        with console.status(
            "Computing the result; after Ctrl-C the service goes on without you ..."
        ):
            client.wait_until_completed(session)
        return client.result(session)


def wants_result(client: TuningClient, session: Session) -> bool:
    """Ask a labeler who left early whether to compute the result from the labels so far.

    The default is no: the labels stay stored, and labelling can go on later.
    """
    total = client.get_session(session).counts.total
    if not total or not sys.stdin.isatty():
        return False
    print(
        f"Compute the result from {many(total, 'label')} now? "
        "y: yes, anything else: no, keep the labels and continue later ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _figures(result: Result) -> dict[str, object]:
    return {
        "name": result.name,
        "scaling": result.scaling,
        "gamma": result.gamma,
        "C": result.C,
        "nu": result.nu,
        "quality": result.quality,
        "audit": result.audit,
        "outside_count": result.outside_count,
    }
