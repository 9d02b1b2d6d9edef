"""``svddtune label``: a person answers the questions of sessions in a terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from svddtune.client.cli.options import DEFAULT_SERVER, Server, TlsCa

_BY_SIGNAL = 128


def label(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION", help="Id, beginning of the id, or name of the session; or: any."
        ),
    ] = None,
    server: Server = DEFAULT_SERVER,
    tls_ca: TlsCa = None,
    labeler: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of the labeler. Default: the user name on this machine."
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
    as_lines: Annotated[
        bool,
        typer.Option("--json-lines", help="Print one JSON object per line: questions and events."),
    ] = False,
) -> None:
    """Label in this terminal: i inlier, o outlier, k and l the same as probable, u unsure,
    z undo, ? help.

    If the input is not a terminal, each line is one answer: a word or a letter.
    "inlier 12" answers query 12 only.
    """
    from svddtune.client.cli.session_lookup import (
        ANY,
        checked_labeler,
        default_labeler,
        find_session,
    )
    from svddtune.client.client import TuningClient
    from svddtune.client.errors import UsageError
    from svddtune.client.terminal.labeling import TerminalLabeling

    if (session is None) == (not any_session):
        raise UsageError("Name one session to label (svddtune label SESSION), or give --any")
    name = checked_labeler(labeler) if labeler is not None else default_labeler()
    with TuningClient(server, tls_ca=tls_ca) as client:
        stopped = TerminalLabeling(
            None if any_session or session in (None, ANY) else find_session(client, session),
            name,
            credit,
            unary,
            as_lines,
        ).run(client)
    if stopped:
        raise SystemExit(_BY_SIGNAL + stopped)
