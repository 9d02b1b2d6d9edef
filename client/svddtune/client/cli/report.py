"""``svddtune report``: one HTML file about a session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from svddtune.client.cli.names import SessionName
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import print_json, say


@on_service
def report(
    session: SessionName,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="HTML file to write. Default: SESSION.html."
        ),
    ] = None,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Write a report on a session: what was tuned, how sure it is, who labelled, how to use it.

    The file needs nothing else: it can be sent, opened without a network, and printed. It works for
    a session in any state, also for one that still runs.
    """
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.report import gather, page
    from svddtune.client.whole_file import whole_file

    with service.connect() as client:
        contents = gather(client, find_session(client, service, session))
    found = contents.session
    text = page(contents, server=service.server, command=service.command)
    path = out or Path(f"{found.name.removeprefix('sessions/')}.html")
    with whole_file(path) as file:
        file.write(text.encode())
    if as_json:
        print_json(
            {
                "file": str(path),
                "session": found.name,
                "state": found.state.value,
                "result": found.latest_result or None,
            }
        )
        return
    say(f"Wrote {path}")
    if not found.state.ended:
        say("The session still runs; write the report again when it has ended.")
