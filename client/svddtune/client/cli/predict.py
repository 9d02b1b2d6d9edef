"""``svddtune predict``: which rows of a file a saved model calls outliers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.options import Json
from svddtune.client.terminal.output import print_json, say, stdout
from svddtune.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from svddtune.client.files.table import Table
    from svddtune.client.model import SvddModel
    from svddtune.client.types import FloatArray

_SHOWN_NAMES = 8


def predict(
    model: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, metavar="MODEL", help="Model file (.npz) that a run wrote."
        ),
    ],
    data: files.DataFile,
    id_column: files.IdColumn = None,
    ignore: files.Ignore = None,
    header: files.Header = None,
    encoding: files.Encoding = "utf-8",
    decimal: files.Decimal = ".",
    delimiter: files.Delimiter = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", dir_okay=False, help="CSV file to write, with the score of every row."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which rows of DATA are outside MODEL, and how far.

    Columns are matched by name if both have names, otherwise by position.
    """
    from svddtune.client.cli.outside import outside_table, write_scores
    from svddtune.client.files.read_table import read_table
    from svddtune.client.json_values import jsonable
    from svddtune.client.model import SvddModel
    from svddtune.client.outside import outside_of

    _check_out(out, {"MODEL": model, "DATA": data})
    fitted = SvddModel.load(model)
    form = files.text_format(encoding, decimal, delimiter)
    table = read_table(data, header=header, form=form)
    rows = read_rows(table, fitted, id_column, ignore or ())
    if rows.unused:
        say(f"Note: columns not used: {visible(_listed(rows.unused))}")
    decision = fitted.decision(rows.X)
    outside = outside_of(decision, rows.ids)
    if out is not None:
        write_scores(out, decision, rows.ids)
    if as_json:
        print_json(
            {
                "model": {
                    "file": str(model),
                    "scaling": fitted.scaling,
                    "gamma": fitted.gamma,
                    "C": fitted.C,
                    "nu": fitted.nu,
                    "feature_names": list(fitted.feature_names),
                },
                "data": str(data),
                "n": len(rows.X),
                "outside_count": len(outside),
                "outside": [
                    {"row": one.row, "observation_id": one.observation_id, "score": one.score}
                    for one in outside
                ],
                "unused_columns": list(rows.unused),
                "files": jsonable({"scores": str(out)} if out is not None else {}),
            }
        )
        return
    console = stdout()
    share = f"{len(outside) / len(rows.X):.1%}"
    console.print(f"{len(outside)} of {len(rows.X)} rows are outside ({share}).", markup=False)
    if outside:
        console.print(outside_table(outside, labels=False))
    if out is not None:
        say(f"Wrote {out}")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a file for a model: features in the model's order, ids, unused columns."""

    X: FloatArray
    ids: list[str]
    unused: tuple[str, ...]


def read_rows(table: Table, model: SvddModel, id_column: str | None, ignore: Sequence[str]) -> Rows:
    """Return the rows of a table for `model`.

    Raises
    ------
    InvalidInput
        FEATURE_NAMES_MISMATCH or FEATURE_COUNT_MISMATCH where the model's columns are not there;
        as `Table.numbers` and `read_ids` for what is wrong with the values.
    """
    import numpy as np

    from svddtune.client.files.data import (
        DISPLAY,
        column_index,
        identity_column,
        observation_columns,
        read_ids,
    )

    identity = identity_column(table, id_column)
    left_out = {column_index(table, name, "--ignore") for name in ignore} | {identity}
    free = [j for j in range(len(table.names)) if j not in left_out]
    if model.feature_names and table.has_names:
        columns = _by_name(table, model, free)
    else:
        # Columns that the file marks as no features.
        marked = table.left_out | observation_columns(table)
        marked |= {j for j, name in enumerate(table.names) if name.startswith(DISPLAY)}
        marked |= {table.index(table.label_hint, "")} if table.label_hint else set()
        columns = [j for j in free if j not in marked]
        _check_count(table, model, columns)
    unused = tuple(table.names[j] for j in free if j not in set(columns))
    X = np.column_stack([table.numbers(j) for j in columns])
    return Rows(X, read_ids(table, identity), unused)


def _by_name(table: Table, model: SvddModel, free: Sequence[int]) -> list[int]:
    from svddtune.client.errors import InvalidInput

    position = {table.names[j]: j for j in free}
    missing = [name for name in model.feature_names if name not in position]
    if missing:
        there = [name for name in position if name not in set(model.feature_names)]
        raise InvalidInput(
            f"{table.path} lacks columns that the model was fitted on: {_listed(missing)}. "
            + (f"Its other columns are: {_listed(there)}" if there else "It has no other columns"),
            reason="FEATURE_NAMES_MISMATCH",
            metadata={"missing": _listed(missing), "unexpected": _listed(there)},
        )
    return [position[name] for name in model.feature_names]


def _check_count(table: Table, model: SvddModel, columns: Sequence[int]) -> None:
    from svddtune.client.errors import InvalidInput

    if len(columns) != model.feature_count:
        raise InvalidInput(
            f"{table.path} has {len(columns)} feature columns, but the model was fitted on "
            f"{model.feature_count}: name columns that are not features with --id-column or "
            f"--ignore",
            reason="FEATURE_COUNT_MISMATCH",
            metadata={"columns": str(len(columns)), "expected": str(model.feature_count)},
        )


def _check_out(out: Path | None, inputs: dict[str, Path]) -> None:
    from svddtune.client.errors import UsageError

    if out is None:
        return
    for name, path in inputs.items():
        if out.exists() and path.exists() and out.samefile(path):
            raise UsageError(f"--out {out} is the file {name}: give another one")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"--out {out}: folder {out.absolute().parent} does not exist")


def _listed(names: Sequence[str]) -> str:
    shown: Any = ", ".join(repr(name) for name in names[:_SHOWN_NAMES])
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else str(shown)
