"""Features of callers: arrays, nested sequences, or frames with column names.

Frames are those of narwhals: pandas, polars, pyarrow and others; none of them is required. As in
scikit-learn, names are kept with the data, and later rows are matched by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.ids import check_text
from svddtune.client.inputs.validate import (
    check_finite,
    check_magnitude,
    check_matrix,
    check_shape,
    to_doubles,
)
from svddtune.client.types import FloatArray

if TYPE_CHECKING:
    import narwhals as nw

_SHOWN = 5
_LONGEST_NAME = 256


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """N x M doubles and the M column names, empty where the data have none."""

    rows: FloatArray
    names: tuple[str, ...]


def read_features(X: Any, feature_names: Iterable[str] | None = None) -> Features:
    """Return the rows and the names of the columns.

    Parameters
    ----------
    X : array-like or frame (N, M)
        Finite numbers. A frame's columns give the names; columns that are numbered 0 to M-1, as
        pandas does by itself, have none.
    feature_names : iterable of M str, optional
        Names for an X without names; for a frame with names they must be the same.

    Raises
    ------
    InvalidInput
        As `check_matrix`; INVALID_FIELD for names that do not fit, DUPLICATE_FEATURE_NAME.
    """
    given = check_names(feature_names)
    frame = as_frame(X)
    if frame is None:
        rows = check_matrix(X, given)
        _check_count(given, rows.shape[1])
        return Features(rows, given)
    names = _names_of(frame)
    if names and given and names != given:
        raise InvalidInput(
            "feature_names are not the names of the frame's columns: "
            f"{_listed(given)} instead of {_listed(names)}. Leave feature_names out, "
            "or rename the columns of the frame",
            metadata={"field": "feature_names", "value": _listed(given)},
        )
    names = names or given
    _check_count(names, frame.shape[1])
    return Features(_frame_rows(frame, names), names)


def match_features(X: Any, names: Sequence[str], count: int) -> FloatArray:
    """Return the rows of `X` with their columns in the order of `names`.

    A frame with names is matched by name, in any order; other data by position.

    Parameters
    ----------
    X : array-like or frame (n, M)
        Rows.
    names : sequence of str
        Of the columns wanted; empty where they have none.
    count : int
        M.

    Raises
    ------
    InvalidInput
        FEATURE_NAMES_MISMATCH where a frame lacks a name or has another one,
        FEATURE_COUNT_MISMATCH, DATASET_OUT_OF_RANGE; and as `check_matrix`.
    """
    frame = as_frame(X)
    if frame is None:
        rows = check_matrix(X, names)
        _check_columns(rows.shape[1], count)
        check_magnitude(rows, names)
        return rows
    given = _names_of(frame)
    if given and names:
        _check_same_names(given, names)
        _check_columns(len(given), count)
        frame = frame.select(*names)
    elif given:
        # As in scikit-learn: an array has no names to match.
        warnings.warn(
            "X has column names, but the model was fitted without names: columns are matched by "
            "position",
            UserWarning,
            stacklevel=3,
        )
    _check_columns(frame.shape[1], count)
    rows = _frame_rows(frame, given or names)
    check_magnitude(rows, given or names)
    return rows


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return `X` as a narwhals frame, None where it is no frame.

    Raises
    ------
    InvalidInput
        For a lazy frame, and DUPLICATE_FEATURE_NAME.
    """
    # On the class: the columns of a lazy frame itself may run its query.
    kind = type(X)
    if not (hasattr(kind, "columns") or hasattr(kind, "schema")):
        return None
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        found = nw.from_native(X, pass_through=True)
        if isinstance(found, nw.LazyFrame):
            raise InvalidInput(
                f"X is a {type(X).__name__}, which is not computed yet: call collect() first",
                metadata={"value": type(X).__name__},
            )
        if isinstance(found, nw.DataFrame):
            return found
        if hasattr(X, "__arrow_c_stream__"):
            return nw.from_arrow(X, backend="pyarrow")
    except DuplicateError as error:
        raise InvalidInput(
            f"Two columns of X have the same name: {' '.join(str(error).split())}",
            reason="DUPLICATE_FEATURE_NAME",
        ) from None
    return None


def check_names(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return names as a tuple; they must be texts, not empty, and unique."""
    if names is None:
        return ()
    if isinstance(names, str | bytes):
        raise InvalidInput(
            f"feature_names = {names!r} is a single text: give a list with one name for each "
            f"column",
            metadata={"field": "feature_names", "value": str(names)},
        )
    seen: dict[str, int] = {}
    for column, name in enumerate(names):
        if not isinstance(name, str):
            raise InvalidInput(
                f"The name of column {column} is {name!r} ({type(name).__name__}): "
                "feature names must be texts",
                metadata={"field": "feature_names", "column": str(column), "value": repr(name)},
            )
        text = check_text(name, "feature_names", "The name of column", column, _LONGEST_NAME)
        if text in seen:
            raise InvalidInput(
                f"Columns {seen[text]} and {column} both have the name {text!r}",
                reason="DUPLICATE_FEATURE_NAME",
                metadata={"value": text, "column": str(column)},
            )
        seen[text] = column
    return tuple(seen)


def _names_of(frame: nw.DataFrame[Any]) -> tuple[str, ...]:
    """Return the names, none where the columns are only numbered in their order."""
    # Despite the type: column labels of pandas may be any object.
    labels: list[Any] = list(frame.columns)
    if all(isinstance(label, str) for label in labels):
        return check_names(labels)
    if all(
        isinstance(label, int | np.integer) and label == column
        for column, label in enumerate(labels)
    ):
        return ()
    column = next(j for j, label in enumerate(labels) if not isinstance(label, str))
    raise InvalidInput(
        f"Column {column} of X has the label {labels[column]!r} ({type(labels[column]).__name__}), "
        "which is not a text, but columns are matched by name. Rename them, e.g. with X.columns "
        "= X.columns.map(str), or give X.to_numpy()",
        metadata={"field": "X", "column": str(column), "value": repr(labels[column])},
    )


def _frame_rows(frame: nw.DataFrame[Any], names: Sequence[str]) -> FloatArray:
    import narwhals as nw

    check_shape(frame.shape)
    if all(isinstance(kind, nw.Float64) for kind in frame.schema.values()):
        rows = to_doubles(frame.to_numpy(), names)
    else:
        rows = np.empty(frame.shape)
        for j, column in enumerate(frame.iter_columns()):
            _check_kind(column, j, names)
            rows[:, j] = to_doubles(column.to_numpy().reshape(-1, 1), names, j)[:, 0]
    check_finite(rows, names)
    return rows


def _check_kind(column: nw.Series[Any], j: int, names: Sequence[str]) -> None:
    """Raise DATASET_NOT_NUMERIC for a column whose type holds no numbers, with what to do."""
    import narwhals as nw

    kind = column.dtype
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum):
        advice = "Encode it as numbers (e.g. a column for each category), or leave it out"
    elif kind.is_temporal():
        advice = "Turn it into a number (e.g. seconds since a start), or leave it out"
    elif kind.is_nested() or isinstance(kind, nw.Binary):
        advice = "Give one number for each row, or leave it out"
    else:
        return
    what = repr(names[j]) if names else str(j)
    raise InvalidInput(
        f"Column {what} of X has the type {kind}, which is not a number. {advice}",
        reason="DATASET_NOT_NUMERIC",
        metadata={
            "column": str(j),
            "value": str(kind),
            **({"feature": names[j]} if names else {}),
        },
    )


def _check_same_names(given: Sequence[str], names: Sequence[str]) -> None:
    unexpected = [name for name in given if name not in set(names)]
    missing = [name for name in names if name not in set(given)]
    if not unexpected and not missing:
        return
    faults = [f"lacks {_listed(missing)}"] if missing else []
    faults += [f"has {_listed(unexpected)}, which the model does not know"] if unexpected else []
    raise InvalidInput(
        f"The columns of X are not those of the model: X {' and '.join(faults)}. "
        "Give the columns that the model was fitted on, in any order: "
        "X[list(model.feature_names)]",
        reason="FEATURE_NAMES_MISMATCH",
        metadata={"missing": _listed(missing), "unexpected": _listed(unexpected)},
    )


def _check_columns(columns: int, count: int) -> None:
    if columns != count:
        raise InvalidInput(
            f"X has {columns} columns, but the model was fitted on {count}",
            reason="FEATURE_COUNT_MISMATCH",
            metadata={"columns": str(columns), "expected": str(count)},
        )


def _check_count(names: Sequence[str], columns: int) -> None:
    if names and len(names) != columns:
        raise InvalidInput(
            f"feature_names has {len(names)} entries, but X has {columns} columns",
            metadata={
                "field": "feature_names",
                "value": str(len(names)),
                "expected": str(columns),
            },
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
