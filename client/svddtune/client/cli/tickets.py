"""``svddtune oracle check`` and ``mappings``: dry runs, and the shipped mappings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svddtune.client.cli import ticket_options
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.cli.ticket_options import ID_FIELD
from svddtune.client.terminal.output import print_json, stdout

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient
    from svddtune.client.tickets.oracle import TicketOracle
    from svddtune.client.tickets.preview import Preview
    from svddtune.client.tickets.report import Report


@on_service
@ticket_options.takes_ticket_options
def check(
    tickets: ticket_options.Tickets,
    mapping: ticket_options.Mapping,
    session: ticket_options.SessionOption = "",
    *,
    options: ticket_options.TicketOptions,
    examples: ticket_options.Examples = 20,
    labeler: Annotated[str, typer.Option(help="Name of the labeler who replays the tickets.")] = "",
    service: Service,
    as_json: Json = False,
) -> None:
    """Report what a replay of TICKETS would give, without sending anything."""
    from svddtune.client.cli.lookup import find_session

    with contextlib.ExitStack() as stack:
        client, name = None, ""
        if session:
            client = stack.enter_context(service.connect())
            name = find_session(client, service, session).name
        oracle = ticket_options.make_oracle(
            tickets,
            mapping,
            options,
            (lambda: listed(client, name)) if client else None,
        )
        who = ticket_options.labeler_name(labeler, oracle.mapping.name)
        preview = session_preview(oracle, client, name, who) if client else None
    report = oracle.report(examples=examples)
    if as_json:
        print_json(document(report, preview))
    else:
        from svddtune.client.cli.ticket_report import show_report

        show_report(stdout(), report, preview)


def mappings(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Mapping whose file is printed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the mappings, or print one, to begin your own with."""
    from svddtune.client.tickets.mapping_file import load_mapping, mapping_text, shipped_mappings

    if name is not None and not as_json:
        print(mapping_text(name), end="")
        return
    found = [load_mapping(item) for item in ([name] if name else shipped_mappings())]
    described = [
        {
            "name": item.name,
            "product": item.product,
            "version": item.version,
            "source": list(item.sources),
            **item.meanings(),
        }
        for item in found
    ]
    if as_json:
        print_json({"mappings": described})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    for column in ("product", "inlier", "outlier"):
        table.add_column(column, overflow="fold")
    for item in found:
        words = item.meanings()
        cells = [", ".join(words[word]) or "for you to map" for word in ("inlier", "outlier")]
        table.add_row(item.name, item.product, *cells)
    stdout().print(table)


def listed(client: TuningClient, session: str) -> Iterator[dict[str, str]]:
    """Yield the session's observations: their display fields, and their ids as ``ID_FIELD``."""
    for one in client.list_observations(client.get_session(session).dataset):
        yield {**one.display, ID_FIELD: one.observation_id}


def session_preview(
    oracle: TicketOracle, client: TuningClient, session: str, labeler: str
) -> Preview:
    """Return the preview of the oracle's effect on a session."""
    from svddtune.client.tickets.preview import preview

    return preview(oracle, client.get_session(session), client.labels(session), labeler)


def document(report: Report, preview: Preview | None) -> dict[str, Any]:
    """Return a dry run as --json prints it."""
    return {"report": report.to_dict(), "session": preview.to_dict() if preview else None}
