"""``svddtune watch``: follows a session until it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from svddtune.client.cli.failure import EXIT_FAILED
from svddtune.client.cli.names import SessionName
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import (
    compared,
    evidence,
    figure,
    gamma_of,
    print_json,
    say,
    stderr,
    tell,
)
from svddtune.text import visible

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient
    from svddtune.client.types import Session

# Seconds without a change after which the command looks up what the session lacks.
_STILL_S = 5.0


@on_service
def watch(session: SessionName, *, service: Service, as_json: Json = False) -> None:
    """Follow a session until it ends; exit with 1 if it ends without a result."""
    from rich.text import Text

    from svddtune.client.cli.lookup import find_session

    last: Session | None = None
    console = stderr()
    with (
        service.connect() as client,
        console.status("", spinner="dots") as status,
    ):
        before = ""
        for last, lacks in _followed(client, service, find_session(client, service, session).name):
            line = _line(last) + (f"  {lacks}" if lacks else "")
            if console.is_terminal:
                status.update(Text(line))
            elif line != before:
                say(line)
            before = line
    if last is None:
        raise typer.Exit(EXIT_FAILED)
    if as_json:
        print_json(last.to_dict())
    else:
        tell(_line(last))
    if last.state.value != "completed":
        if last.failure_message:
            say(f"svddtune: {visible(last.failure_message)} [{last.failure_reason}]")
        raise typer.Exit(EXIT_FAILED)


def _followed(client: TuningClient, service: Service, name: str) -> Iterator[tuple[Session, str]]:
    """Yield the session after each change until it ends, and what it lacks when nothing changes."""
    from svddtune.client.errors import Unavailable
    from svddtune.client.runs.waiting import reason

    while True:
        try:
            for update in client.watch(name, timeout_s=_STILL_S):
                found = update.session
                yield found, reason(found, "", service.command) if found.stall else ""
            return
        except Unavailable as error:
            if error.reason != "WAIT_TIMEOUT":
                raise
        session = client.get_session(name)
        yield session, reason(session, "", service.command)


def _line(session: Session) -> str:
    from svddtune.client.types import SessionState

    counts = session.counts
    text = (
        f"{session.name}  {session.state.value}  {counts.total}/{session.config.budget} labels "
        f"({counts.inlier} inlier, {counts.outlier} outlier)"
    )
    if session.due_time:
        text += (
            f"  {'overdue since' if session.overdue else 'due'} {session.due_time:%Y-%m-%d %H:%M}"
        )
    if session.awaiting_votes:
        text += f"  {session.awaiting_votes} waiting for votes"
    if session.awaiting_adjudication:
        text += f"  {session.awaiting_adjudication} waiting for an adjudicator"
    if session.live:
        text += f"  {evidence(session.live)}  {visible(session.live.advice)}"
        if session.detectors:
            text += f"  {compared(session.detectors)}"
    elif session.state is SessionState.PREPARING:
        text += f"  atlas {session.atlas_progress:.0%}"
    elif session.gamma:
        text += f"  gamma {gamma_of(session.gamma, session.scaling)}"
        text += f"  alignment {figure(session.alignment, 3)}"
    return text
