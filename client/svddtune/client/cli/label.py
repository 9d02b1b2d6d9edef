"""``svddtune label``: a person answers the questions of sessions in a terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from svddtune.client.cli.completion import complete_session
from svddtune.client.cli.service import Service, on_service

_BY_SIGNAL = 128
_ANY = "any"


@on_service
def label(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION",
            help="Id, start of the id, or name of the session; or: any.",
            autocompletion=complete_session,
        ),
    ] = None,
    labeler: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name of the labeler. Default: the credentials', or the user's on this machine.",
        ),
    ] = None,
    credit: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of queries to hold at once.")
    ] = 1,
    unary: Annotated[
        bool,
        typer.Option("--unary", help="Use single calls, for a network that does not pass streams."),
    ] = False,
    any_session: Annotated[
        bool, typer.Option("--any", help="Serve all sessions, including those created later.")
    ] = False,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG",
            help="What you say of yourself, for sessions that ask for it, e.g. a language. "
            "Repeatable.",
        ),
    ] = None,
    as_lines: Annotated[
        bool,
        typer.Option("--json-lines", help="Print one JSON object per line: questions and events."),
    ] = False,
    *,
    service: Service,
) -> None:
    """Label in this terminal: i inlier, o outlier, k and l the same as probable, u unsure,
    z undo, ? help.

    If the input is not a terminal, each line is one answer: a word or a letter.
    "inlier 12" answers query 12 only.
    """
    from svddtune.client.cli.labeler_name import checked_labeler
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.errors import UsageError
    from svddtune.client.inputs.labeler_name import default_labeler
    from svddtune.client.terminal.labeling import TerminalLabeling
    from svddtune.client.wire.access import Access

    if (session is None) == (not any_session):
        raise UsageError("Name one session to label (svddtune label SESSION), or give --any")
    if labeler is not None:
        name = checked_labeler(labeler)
    else:
        # (The service knows whose token or certificate it is.)
        name = "" if Access().names_caller else default_labeler()
    with service.connect() as client:
        all_of_them = any_session or session in (None, _ANY)
        stopped = TerminalLabeling(
            None if all_of_them else find_session(client, service, str(session)).name,
            name,
            credit,
            unary,
            as_lines,
            tags=tuple(tag or ()),
            command=service.command,
        ).run(client)
    if stopped:
        raise SystemExit(_BY_SIGNAL + stopped)
