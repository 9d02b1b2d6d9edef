"""``svddtune drift``: whether the rows of a file are of the kind that a model was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.failure import EXIT_DRIFT
from svddtune.client.cli.model_rows import ModelOrSession, listed, load_model, read_rows
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import figure, print_json, say, stdout
from svddtune.text import visible

if TYPE_CHECKING:
    from rich.table import Table

    from svddtune.client.drift import Drift

_SHOWN_FEATURES = 8


@on_service
def drift(
    model: ModelOrSession,
    data: files.DataFile,
    id_column: files.IdColumn = None,
    ignore: files.Ignore = None,
    header: files.Header = None,
    encoding: files.Encoding = "utf-8",
    decimal: files.Decimal = ".",
    delimiter: files.Delimiter = "",
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Say whether the rows of DATA are like those of MODEL, or whether to tune again.

    The exit code is 3 if they differ. Columns are matched as by `svddtune predict`.
    """
    from svddtune.client.drift import drift_of
    from svddtune.client.files.read_table import read_table
    from svddtune.client.json_values import jsonable

    fitted, session = load_model(model, service)
    table = read_table(data, header=header, form=files.text_format(encoding, decimal, delimiter))
    rows = read_rows(table, fitted, id_column, ignore or ())
    if rows.unused:
        say(f"Note: columns not used: {visible(listed(rows.unused))}")
    found = drift_of(fitted, rows.X)
    if as_json:
        print_json(
            {
                "model": session or model,
                "data": str(data),
                **jsonable(found),
                "advice": found.advice,
            }
        )
    else:
        _show(found)
    if found.drifted:
        raise typer.Exit(EXIT_DRIFT)


def _show(found: Drift) -> None:
    console = stdout()
    low, high = found.outside_interval
    text = f"{found.outside_share:.1%} of {found.rows} rows are outside"
    text += f" (95 % interval {low:.1%} to {high:.1%})"
    if found.expected_share is not None:
        text += f"; {found.expected_share:.1%} were expected"
    console.print(f"{text}.", markup=False)
    console.print(_features(found))
    for reason in found.reasons:
        console.print(visible(reason), markup=False)
    console.print(found.advice, markup=False, style="bold")


def _features(found: Drift) -> Table:
    from rich.table import Table

    table = Table(title="Features by shift", title_justify="left", title_style="bold", box=None)
    table.add_column("feature", overflow="fold")
    for name in ("shift", "median of the model", "median now"):
        table.add_column(name, justify="right")
    for one in found.features[:_SHOWN_FEATURES]:
        table.add_row(
            visible(one.feature),
            f"{one.shift:.2f}" + (" *" if one.shifted else ""),
            figure(one.typical),
            figure(one.new_typical),
        )
    if len(found.features) > _SHOWN_FEATURES:
        table.add_row(f"{len(found.features) - _SHOWN_FEATURES} more", "...")
    return table
