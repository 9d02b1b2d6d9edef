"""The rows of a file for a model, for the commands that apply one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from svddtune.client.cli.service import Service
    from svddtune.client.files.table import Table
    from svddtune.client.model import SvddModel
    from svddtune.client.types import FloatArray

_SHOWN_NAMES = 8

ModelOrSession = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Model file (.npz) that a run wrote, or a session of --server: its id, the start of "
        "it, or its name.",
    ),
]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a file for a model.

    Attributes
    ----------
    X : array (n, M)
        Features in the model's order; NaN in rows with an error.
    ids : list of n str
        Observation ids.
    unused : tuple of str
        Columns that are no features.
    errors : dict of int to str
        By row, what is wrong with its values.
    """

    X: FloatArray
    ids: list[str]
    unused: tuple[str, ...]
    errors: dict[int, str]


def load_model(wanted: str, service: Service) -> tuple[SvddModel, str]:
    """Return the model of a file or else of a session, and the session's name or "".

    Raises
    ------
    BadParameter
        For a file that does not exist.
    """
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.model import SvddModel

    path = Path(wanted)
    if path.is_file():
        return SvddModel.load(path), ""
    if path.is_dir() or path.suffix or (len(path.parts) > 1 and path.parts[0] != "sessions"):
        what = "is a directory" if path.is_dir() else "does not exist"
        raise typer.BadParameter(f"file {wanted!r} {what}.")
    with service.connect() as client:
        name = find_session(client, service, wanted).name
        return client.model(name), name


def read_rows(
    table: Table,
    model: SvddModel,
    id_column: str | None,
    ignore: Sequence[str],
    *,
    skip_bad: bool = False,
) -> Rows:
    """Return the rows of a table for `model`.

    With `skip_bad` values that are no finite numbers are errors of their rows.

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
    errors = dict[int, str]()
    if skip_bad:
        found = [table.usable_numbers(j) for j in columns]
        X = np.column_stack([numbers for numbers, _ in found])
        for _, faults in found:
            errors = faults | errors  # the first column's fault stands for the row
    else:
        X = np.column_stack([table.numbers(j) for j in columns])
    return Rows(X, read_ids(table, identity), unused, errors)


def _by_name(table: Table, model: SvddModel, free: Sequence[int]) -> list[int]:
    from svddtune.client.errors import InvalidInput

    position = {table.names[j]: j for j in free}
    missing = [name for name in model.feature_names if name not in position]
    if missing:
        there = [name for name in position if name not in set(model.feature_names)]
        raise InvalidInput(
            f"{table.path} lacks columns that the model was fitted on: {listed(missing)}. "
            + (f"Its other columns are: {listed(there)}" if there else "It has no other columns"),
            reason="FEATURE_NAMES_MISMATCH",
            metadata={"missing": listed(missing), "unexpected": listed(there)},
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


def listed(names: Sequence[str]) -> str:
    """Return names in quotes; of many the first ones and how many there are."""
    shown: Any = ", ".join(repr(name) for name in names[:_SHOWN_NAMES])
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else str(shown)
