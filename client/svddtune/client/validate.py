"""Checks of a matrix before it is sent; the server makes the same ones, with the same reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.types import FloatArray


def check_matrix(X: Any, feature_names: Sequence[str] = ()) -> FloatArray:
    """Return X as N x M doubles.

    Raises
    ------
    InvalidInput
        DATASET_EMPTY, DATASET_RAGGED, DATASET_NOT_NUMERIC or DATASET_NOT_FINITE, naming the first
        row and column at fault (both counted from 0).
    """
    if not isinstance(X, np.ndarray) and not hasattr(X, "__array__"):
        _check_ragged(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InvalidInput(f"X is not a matrix: {error}", reason="DATASET_RAGGED") from None
    if array.ndim != 2:
        raise InvalidInput(
            f"X has {array.ndim} dimension(s), shape {array.shape}; "
            "it needs two: rows are observations, columns are features",
            reason="DATASET_EMPTY" if array.size == 0 else "DATASET_RAGGED",
        )
    if 0 in array.shape:
        raise InvalidInput(
            f"X has {array.shape[0]} rows and {array.shape[1]} columns: it is empty",
            reason="DATASET_EMPTY",
        )
    values = _as_float(array, feature_names)
    finite = np.isfinite(values)
    if not finite.all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        raise InvalidInput(
            f"X holds {values[row, column]} at row {row}, column {_name(column, feature_names)}; "
            f"{int((~finite).sum())} such value(s) in all. Drop these rows or fill them first",
            reason="DATASET_NOT_FINITE",
            metadata=_place(row, column, feature_names, values[row, column]),
        )
    return values


def _check_ragged(X: Any) -> None:
    try:
        lengths = [len(row) for row in X]
    except TypeError:
        return
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            raise InvalidInput(
                f"Row {row} has {length} values, row 0 has {lengths[0]}: all need as many",
                reason="DATASET_RAGGED",
                metadata={"row": str(row), "columns": str(length), "expected": str(lengths[0])},
            )


def _as_float(array: np.ndarray[Any, Any], feature_names: Sequence[str]) -> FloatArray:
    if array.dtype.kind in "fiub":
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind == "O":
        try:
            return np.ascontiguousarray(array, dtype=np.float64)
        except (TypeError, ValueError):
            pass
    for row, column in np.ndindex(*array.shape):
        value = array[row, column]
        if not isinstance(value, int | float | np.number) or isinstance(value, complex):
            raise InvalidInput(
                f"X holds {value!r} at row {row}, column {_name(column, feature_names)}, "
                f"which is not a number (dtype {array.dtype})",
                reason="DATASET_NOT_NUMERIC",
                metadata=_place(row, column, feature_names, value),
            )
    raise InvalidInput(f"X has dtype {array.dtype}, not numbers", reason="DATASET_NOT_NUMERIC")


def _name(column: int, feature_names: Sequence[str]) -> str:
    return f"{column} ({feature_names[column]!r})" if column < len(feature_names) else str(column)


def _place(row: int, column: int, names: Sequence[str], value: object) -> dict[str, str]:
    place = {"row": str(row), "column": str(column), "value": str(value)}
    if column < len(names):
        place["feature"] = names[column]
    return place
