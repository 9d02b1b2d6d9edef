"""``svddtune session labels``: the labels in force, or the whole log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svddtune.client.cli.columns import Column, print_table
from svddtune.client.cli.names import SessionName
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import print_json, say

if TYPE_CHECKING:
    from svddtune.client.types import LabelEvent
    from svddtune.client.votes import LabelInForce

_LABELS = (
    Column("observation", flexible=True),
    Column("verdict"),
    Column("votes", right=True, rank=2),
    Column("labelers", flexible=True, rank=1),
)
_LOG = (
    Column("time", rank=1),
    Column("what"),
    Column("observation", flexible=True),
    Column("verdict"),
    Column("labeler", flexible=True),
    Column("seconds", right=True, rank=2),
)


@on_service
def labels(
    session: SessionName,
    log: Annotated[
        bool,
        typer.Option(
            "--log", help="Every event, oldest first: votes, corrections, withdrawals of labelers."
        ),
    ] = False,
    as_csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="Print CSV. Without --log, other commands take it as a file of labels."
        ),
    ] = False,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """List the labels of a session that are in force, or with --log how they came about."""
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.errors import UsageError
    from svddtune.client.json_values import jsonable
    from svddtune.client.votes import labels_in_force

    if as_csv and as_json:
        raise UsageError("--csv and --json both write to standard output: give one of them")
    with service.connect() as client:
        name = find_session(client, service, session).name
        events = list(client.labels(name))
    if log:
        rows = [_event(event) for event in events]
        if as_json:
            print_json({"session": name, "events": jsonable(events)})
        elif as_csv:
            _print_csv(rows)
        elif rows:
            print_table(_LOG, (_log_row(event) for event in events))
    else:
        found = labels_in_force(events)
        if as_json:
            print_json({"session": name, "labels": [_plain(label) for label in found]})
        elif as_csv:
            _print_csv([_row(label) for label in found])
        elif found:
            print_table(_LABELS, (tuple(_shown(label)) for label in found))
    if not events and not as_json:
        say(f"Nobody has labelled {name} yet.")


def _row(label: LabelInForce) -> dict[str, Any]:
    return {
        "observation_id": label.observation_id,
        "verdict": label.verdict.value,
        "row": label.row,
        "votes": len(label.votes),
        "labelers": " ".join(vote.labeler for vote in label.votes),
    }


def _plain(label: LabelInForce) -> dict[str, Any]:
    from svddtune.client.json_values import jsonable

    return {
        "observation_id": label.observation_id,
        "row": label.row,
        "verdict": label.verdict.value,
        "votes": [
            {
                "labeler": vote.labeler,
                "verdict": vote.verdict and vote.verdict.value,
                "confidence": vote.confidence,
                "time": jsonable(vote.time),
                "source_reference": vote.source_reference,
                "provenance": vote.provenance,
                "origin": vote.origin,
                "adjudicates": vote.adjudicates,
            }
            for vote in label.votes
        ],
    }


def _shown(label: LabelInForce) -> Iterable[str]:
    return (
        label.observation_id,
        label.verdict.value,
        str(len(label.votes)),
        ", ".join(vote.labeler for vote in label.votes),
    )


def _event(event: LabelEvent) -> dict[str, Any]:
    from svddtune.client.json_values import jsonable

    names = (
        *("time", "kind", "observation_id", "row", "verdict", "labeler", "confidence", "query"),
        *("answer_seconds", "source_reference", "provenance", "origin", "adjudicates"),
        *("answer_id", "event_id"),
    )
    return {name: jsonable(getattr(event, name)) for name in names}


def _log_row(event: LabelEvent) -> tuple[str, ...]:
    return (
        event.time.strftime("%Y-%m-%d %H:%M:%S") if event.time else "-",
        event.kind,
        event.observation_id or "-",
        event.verdict.value if event.verdict else "-",
        event.labeler,
        f"{event.answer_seconds:.1f}" if event.answer_seconds else "-",
    )


def _print_csv(rows: list[Mapping[str, Any]] | list[dict[str, Any]]) -> None:
    """Print rows with a header; text that a spreadsheet would take for a formula is marked."""
    import csv
    import sys

    from svddtune.text import formula_cell

    if not rows:
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        cells = ("" if value is None else value for value in row.values())
        writer.writerow(formula_cell(cell) if isinstance(cell, str) else cell for cell in cells)
