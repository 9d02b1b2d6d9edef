"""An oracle that asks a person at the terminal, on the screen of ``svddtune label``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from svddtune.client.oracles.answers import Answer, Command
from svddtune.client.runs.interrupted import Stopped
from svddtune.client.types import Query, Session

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient


class TerminalPrompt:
    """Asks a person at this terminal: i inlier, o outlier, k and l the same as probable, u unsure.

    z undoes, ? shows help, q quits.

    As the oracle of `tune` it holds the dialogue with the session itself. Called with a query, as
    one of several `Tiers` say, it asks about that one alone. Where the input is no terminal, in a
    notebook say, each answer is a line.

    Parameters
    ----------
    feature_names : sequence of M strings, optional
        For queries it is called with; a session knows the names of its features.

    Attributes
    ----------
    labeler : str
        "terminal": who labels where nobody says who.
    """

    labeler = "terminal"

    def __init__(self, feature_names: Iterable[str] = ()) -> None:
        self._names = tuple(feature_names)

    def __call__(self, query: Query) -> Answer:
        """Show one query and return what the person says."""
        from svddtune.client.terminal.single_query import ask

        return ask(query, self._names)

    def label_session(
        self, client: TuningClient, session: Session, *, labeler: str, resume_token: str
    ) -> Command | None:
        """Label a session until it asks no more; return Command.STOP where the person wants that.

        Parameters
        ----------
        client : TuningClient
            Connected to the session's service.
        session : Session
            What is labelled.
        labeler : str
            Who labels; empty for "terminal".
        resume_token : str
            Of an earlier dialogue of this labeler; empty for none.

        Raises
        ------
        KeyboardInterrupt
            The person left, or SIGINT, SIGTERM or SIGHUP came.
        """
        from svddtune.client.terminal.labeling import TerminalLabeling, wants_result

        labeling = TerminalLabeling(
            session.name,
            labeler or self.labeler,
            resume_token=resume_token,
            tags=tuple(session.config.required_tags),
        )
        controller, signal = labeling.label(client)
        if signal:
            raise Stopped(signal)
        if controller.finished:
            return None
        if wants_result(client, session):
            return Command.STOP
        raise KeyboardInterrupt
