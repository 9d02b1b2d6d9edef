"""Splits a table into the data of a run, by the options about its columns.

The column names of observation files have meanings: `id`, `key` and `time`, where all three
exist, identify the observation and join it with tickets; `display:NAME` is shown to labelers as
NAME.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svddtune.client.errors import InvalidInput, UsageError
from svddtune.client.files.labels import column_verdicts, value_notes
from svddtune.client.files.suspicious import suspicious_columns
from svddtune.client.files.table import Note, Table
from svddtune.client.types import FloatArray, LabelArray, Verdict
from svddtune.text import without_formula_mark

DISPLAY = "display:"
OBSERVATION = ("id", "key", "time")


@dataclass(frozen=True, slots=True)
class Data:
    """Features, ids, and the verdicts that the file holds, by row.

    `notes` are warnings about the columns, to be read before labelling.
    """

    X: FloatArray
    ids: list[str]
    has_ids: bool
    feature_names: list[str]
    display: list[dict[str, str]] | None
    known: dict[int, Verdict]
    notes: tuple[Note, ...] = ()


def read_data(
    table: Table,
    *,
    label_column: str | None = None,
    id_column: str | None = None,
    show: Sequence[str] = (),
    ignore: Sequence[str] = (),
    outlier_value: str | None = None,
    scaling: str = "auto",
    verdicts: bool = True,
) -> Data:
    """Split a table into features, ids, labels and display fields.

    Parameters
    ----------
    table : Table
        What was read from a file.
    label_column, id_column : str, optional
        Names or numbers of the columns with labels and ids; default none.
    show, ignore : sequence of str
        Columns to show to labelers, and columns to leave out; default none.
    outlier_value : str, optional
        The label that marks an outlier.
    scaling : str
        Scaling of the features; "none" adds a note on columns of very different spread.
    verdicts : bool
        Whether the column with labels is read; if not, it is left out only. Default True.

    Raises
    ------
    UsageError
        COLUMN_UNKNOWN for a column that does not exist.
    InvalidInput
        For invalid values, with row and column.
    """
    label = _column(table, label_column or table.label_hint, "--label-column")
    identity = identity_column(table, id_column)
    ignored = {column_index(table, name, "--ignore") for name in ignore}
    left_out = ignored | table.left_out | observation_columns(table)
    asked = {table.names[j]: j for j in (column_index(table, name, "--show") for name in show)}
    marked = {
        name.removeprefix(DISPLAY): j
        for j, name in enumerate(table.names)
        if name.startswith(DISPLAY) and j not in left_out
    }
    special = {label, identity, *asked.values(), *marked.values()} | left_out
    features = [j for j in range(len(table.names)) if j not in special]
    if not features:
        raise InvalidInput(f"{table.path} has no feature column left", reason="DATASET_EMPTY")
    X = np.column_stack([table.numbers(j) for j in features])
    display = None
    if asked or marked:
        texts = {name: _unmarked(table, table.text(j)) for name, j in (asked | marked).items()}
        # A display column may be empty for some observations.
        display = [
            {name: text[row] for name, text in texts.items() if text[row] or name in asked}
            for row in range(table.row_count)
        ]
    # Columns that the options name need no note. (A note without a position is about the file.)
    named = (ignored | {identity, label, *asked.values()}) - {None}
    notes = [note for note in table.notes if note.position not in named]
    if label is not None and outlier_value is not None:
        notes += value_notes(table, label, outlier_value)
    notes += suspicious_columns(table, features, X, scaled=scaling != "none")
    return Data(
        X=X,
        ids=read_ids(table, identity),
        has_ids=identity is not None,
        feature_names=[table.names[j] for j in features] if table.has_names else [],
        display=display,
        known=(
            column_verdicts(table, label, outlier_value) if label is not None and verdicts else {}
        ),
        notes=tuple(notes),
    )


def observation_columns(table: Table) -> set[int]:
    """Return the columns id, key and time of observation files, where all three exist."""
    if not set(OBSERVATION) <= set(table.names):
        return set()
    return {table.names.index(name) for name in OBSERVATION}


def identity_column(table: Table, id_column: str | None) -> int | None:
    """Return the column of the ids: the one named, or the one that the file marks.

    Raises
    ------
    UsageError
        COLUMN_UNKNOWN.
    """
    own = OBSERVATION[0] if observation_columns(table) else ""
    return _column(table, id_column or table.id_hint or own, "--id-column")


def read_ids(table: Table, identity: int | None) -> list[str]:
    """Return the ids in a column; row numbers without a column.

    Raises
    ------
    InvalidInput
        DUPLICATE_OBSERVATION_ID with row and column, also for an empty id.
    """
    if identity is None:
        return [str(row) for row in range(table.row_count)]
    ids = table.text(identity)
    if len(table.lines):  # blanks around a cell of a text file are ignored
        ids = [text.strip() for text in ids]
    ids = _unmarked(table, ids)
    _check_ids(table, ids, table.names[identity])
    return ids


def full_truth(known: dict[int, Verdict], n: int) -> LabelArray | None:
    """Return +1 or -1 for all rows, None where some are not known."""
    signs = np.zeros(n, dtype=np.int8)
    for row, verdict in known.items():
        signs[row] = verdict.sign
    return signs if np.all(signs != 0) else None


def _unmarked(table: Table, texts: list[str]) -> list[str]:
    """Return text without the formula marks of a CSV file of observations."""
    if not (observation_columns(table) and len(table.lines)):
        return texts
    return [without_formula_mark(text) for text in texts]


def _column(table: Table, name: str, option: str) -> int | None:
    return column_index(table, name, option) if name else None


def column_index(table: Table, name: str, option: str) -> int:
    """Return the position of a column that an option names; UsageError where there is none."""
    try:
        return table.index(name, option)
    except InvalidInput as error:
        raise UsageError(error.message, reason=error.reason, metadata=error.metadata) from None


def _check_ids(table: Table, ids: list[str], column: str) -> None:
    seen: dict[str, int] = {}
    for row, observation_id in enumerate(ids):
        if not observation_id or observation_id in seen:
            fault = (
                f"{observation_id!r} is also the id of row {seen[observation_id]}"
                if observation_id
                else "the id is empty"
            )
            raise InvalidInput(
                f"{table.place(row)}, column {column!r}: {fault}; ids must be unique",
                reason="DUPLICATE_OBSERVATION_ID",
                metadata={"row": str(row), "column": column, "value": observation_id},
            )
        seen[observation_id] = row
