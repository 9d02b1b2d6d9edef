"""``svddtune label``: a person answers the questions of sessions in a terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from svddtune.client.cli.options import DEFAULT_SERVER, Server, TlsCa

_BY_SIGNAL = 128


def label(
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="Its id, the start of that, or its name; or: any."),
    ] = None,
    server: Server = DEFAULT_SERVER,
    tls_ca: TlsCa = None,
    labeler: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who labels; default the user of this machine."),
    ] = None,
    credit: Annotated[int, typer.Option(min=1, max=1000, help="Queries to hold at once.")] = 1,
    unary: Annotated[
        bool, typer.Option("--unary", help="Single calls, where the network takes no streams.")
    ] = False,
    any_session: Annotated[
        bool, typer.Option("--any", help="Serve any session, those created later included.")
    ] = False,
    as_lines: Annotated[
        bool,
        typer.Option("--json-lines", help="One JSON object a line: questions, and what else is."),
    ] = False,
) -> None:
    """Label in this terminal: i inlier, o outlier, u unsure, z undo, ? help.

    Where the input is no terminal each line is an answer, in a word or a letter.
    "inlier 12" answers query 12 and no other.
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
        raise UsageError("Say which session to label, or --any: svddtune label SESSION")
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
