"""Why a session asks nothing at the moment, and what to do."""

from __future__ import annotations

import shlex
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from svddtune.client.client import TuningClient
from svddtune.client.errors import Unavailable
from svddtune.client.tuning import Tuning
from svddtune.client.types import Session, SessionState

# Seconds between looks at a session that asks nothing.
LOOK_S = 0.5
# Seconds after which a wait is reported.
PATIENCE_S = 2.0
_WORKERS_S = 3.0
_COMPUTING = (SessionState.PREPARING, SessionState.LABELING, SessionState.ESTIMATING)

Command = Callable[..., str]
"""Returns the command line with these words that reaches the service when it is pasted."""

_SUGGESTED: ContextVar[Command | None] = ContextVar("_SUGGESTED", default=None)


@contextmanager
def suggesting(command: Command) -> Iterator[None]:
    """Let what runs in this context suggest command lines that `command` makes.

    A run knows only the address of its service. Who began it may know the options that it takes to
    reach it, for example a file of certificates.
    """
    token = _SUGGESTED.set(command)
    try:
        yield
    finally:
        _SUGGESTED.reset(token)


def commands(client: TuningClient) -> Command:
    """Return what makes command lines that reach the service of a client."""

    def at(*words: str) -> str:
        return shlex.join(["svddtune", *words, "--server", client.address])

    return _SUGGESTED.get() or at


@dataclass(frozen=True, slots=True)
class Wait:
    """A session that asks nothing, why, and whether the wait has been long enough."""

    session: Session
    sentence: str
    over: bool = False


class Waits:
    """One wait for a query, examined repeatedly.

    Parameters
    ----------
    limit_s : float, optional
        Seconds to wait for votes of others; default without end.
    """

    def __init__(self, client: TuningClient, tuning: Tuning, limit_s: float | None) -> None:
        self._client = client
        self._tuning = tuning
        self._limit_s = limit_s
        self._since = time.monotonic()
        self._votes_since: float | None = None
        self._warned = False

    def look(self) -> Wait | None:
        """Return why nothing is asked; None during a short wait."""
        now = time.monotonic()
        if now - self._since < PATIENCE_S or not self._tuning.connected:
            return None
        session = self._client.get_session(self._tuning.name)
        for_votes = waits_for_votes(session)
        self._votes_since = (self._votes_since or now) if for_votes else None
        sentence = reason(session, self._tuning.labeler, commands(self._client))
        if not sentence:
            return None
        if for_votes and self._limit_s is None and not self._warned:
            self._warned = True
            warnings.warn(sentence, UserWarning, stacklevel=2)
        over = (
            self._votes_since is not None
            and self._limit_s is not None
            and now - self._votes_since >= self._limit_s
        )
        return Wait(session, sentence, over)


def follow(
    client: TuningClient,
    session: Session,
    state: SessionState,
    report: Callable[[Session, str], None],
) -> None:
    """Follow a session while it is in `state`; report its progress, and what it lacks."""
    if session.state is not state:
        return
    while True:
        try:
            for update in client.watch(session, timeout_s=_WORKERS_S):
                report(update.session, "")
                if update.session.state is not state:
                    return
        except Unavailable as error:
            if error.reason != "WAIT_TIMEOUT":
                raise
            now = client.get_session(session)
            report(now, reason(now, "", commands(client)))


def label_command(session: Session, command: Command, *words: str) -> str:
    """Return the command that answers the queries of a session, with the tags that it asks for."""
    return command(
        "label",
        session.name.removeprefix("sessions/"),
        *words,
        *tag_options(session.config.required_tags),
    )


def tag_options(tags: Iterable[str]) -> list[str]:
    """Return the words of a command line by which a labeler announces tags."""
    return [word for tag in tags for word in ("--tag", tag)]


def waits_for_votes(session: Session) -> bool:
    """Return whether all that is left are votes of further labelers.

    That is true where a labeler waits, and has for a while, nobody holds a query, and the overlap
    is above 1. Observations whose votes are all UNSURE do not await votes.
    """
    return (
        session.state is SessionState.LABELING
        and session.config.overlap > 1
        and session.waiting_count > 0
        and session.leased_count == 0
        and session.query_count > 0
    )


def reason(session: Session, labeler: str, command: Command) -> str:
    """Return a sentence on why `session` asks nothing and what to do; empty where it asks."""
    name = session.name.removeprefix("sessions/")
    if (session.without_workers or session.stall == "no_workers") and session.state in _COMPUTING:
        return (
            f"Session {name} waits because no worker is running. Start one next to the service "
            f"with: svddtune worker --redis URL"
        )
    if session.state is SessionState.PAUSED:
        return f"Session {name} is paused. Resume it with: {command('session', 'resume', name)}"
    if session.stall == "job_given_up":
        return (
            f"Session {name} failed because a job was given up. Once its cause is gone, let "
            f"whoever runs the service try it again with: svddtune jobs retry --all --redis URL"
        )
    if session.stall == "awaiting_adjudication":
        rows = session.awaiting_adjudication
        return (
            f"{rows} observation{' waits' if rows == 1 else 's wait'} for an adjudicator, because "
            f"the votes came to no verdict. Let one of them "
            f"({', '.join(session.config.adjudicators)}) decide with: "
            f"{label_command(session, command, '--labeler', 'NAME')}. Or compute the result from "
            f"the labels so far with: {command('session', 'finish', name)}"
        )
    if not waits_for_votes(session):
        return ""
    rows = session.awaiting_votes + max(0, session.config.budget - session.counts.total)
    than = f" than {labeler}" if labeler else ""
    return (
        f"{rows} observation{' waits' if rows == 1 else 's wait'} for more votes: the session "
        f"asks for {session.config.overlap} votes on each. Let another labeler{than} vote with: "
        f"{label_command(session, command, '--labeler', 'NAME')}. Or compute the result from "
        f"the labels so far with: {command('session', 'finish', name)}"
    )
