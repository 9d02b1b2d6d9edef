"""``svddtune session agreement``: how each two labelers, or sources of votes, agree."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from svddtune.client.cli.columns import Column, print_table
from svddtune.client.cli.names import SessionName
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import figure, print_json, say

if TYPE_CHECKING:
    from svddtune.client.labelers import AgreementPair

_COLUMNS = (
    Column("first", flexible=True),
    Column("second", flexible=True),
    Column("compared", right=True),
    Column("agree", right=True),
    Column("kappa", right=True),
    Column("both inlier", right=True, rank=2),
    Column("both outlier", right=True, rank=2),
    Column("in/out", right=True, rank=1),
    Column("out/in", right=True, rank=1),
)
_FIELDS = (
    *("first", "second", "both_inlier", "both_outlier", "inlier_outlier", "outlier_inlier"),
    *("compared", "observed", "cohen_kappa"),
)
_OWN_JUDGEMENT = "(own judgement)"


class By(Enum):
    """What is compared."""

    LABELER = "labeler"
    PROVENANCE = "provenance"


@on_service
def agreement(
    session: SessionName,
    by: Annotated[
        By,
        typer.Option(help="Compare labelers, or the rules that programs name as the provenance."),
    ] = By.LABELER,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file to write the matrix to.")
    ] = None,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Show how each two labelers of a session agree on the observations that both voted on."""
    from svddtune.client.cli.csv_file import write_csv
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.json_values import jsonable

    with service.connect() as client:
        name = find_session(client, service, session).name
        pairs = client.agreement(name, by=by.value)
    if out is not None:
        write_csv(out, _FIELDS, (_cells(pair) for pair in pairs))
        say(f"Wrote {len(pairs)} pairs to {out}")
    if as_json:
        documents = [{field: jsonable(getattr(pair, field)) for field in _FIELDS} for pair in pairs]
        print_json({"session": name, "by": by.value, "pairs": documents})
    elif pairs:
        print_table(_COLUMNS, map(_row, pairs))
    else:
        id_ = name.removeprefix("sessions/")
        say(f"No observation of {id_} has votes of two {by.value}s.")


def _cells(pair: AgreementPair) -> tuple[str, ...]:
    values = (getattr(pair, field) for field in _FIELDS)
    return tuple("" if value != value else str(value) for value in values)


def _row(pair: AgreementPair) -> tuple[str, ...]:
    return (
        pair.first or _OWN_JUDGEMENT,
        pair.second or _OWN_JUDGEMENT,
        str(pair.compared),
        f"{pair.observed:.0%}",
        figure(pair.cohen_kappa, 2) if pair.cohen_kappa == pair.cohen_kappa else "-",
        str(pair.both_inlier),
        str(pair.both_outlier),
        str(pair.inlier_outlier),
        str(pair.outlier_inlier),
    )
