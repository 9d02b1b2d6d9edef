"""Checks of a matrix before it is sent. The server repeats them, with the same reasons."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.client.errors import InvalidInput
from svddtune.client.types import FloatArray

# The largest number up to which doubles represent every whole number.
LARGEST_EXACT = 1 << 53
LARGEST_MAGNITUDE = 1e100
# Types of other libraries that stand for no value.
_MISSING_TYPES = frozenset({"NAType", "NaTType", "MaskedConstant"})
_NUMBERS = numbers.Real | Decimal | np.bool_


def is_missing(value: object) -> bool:
    """Return whether `value` is None, NaN, NaT, pandas' NA or numpy's masked constant."""
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))


def check_matrix(X: Any, feature_names: Sequence[str] = ()) -> FloatArray:
    """Return X as N x M doubles.

    Numbers and booleans (as 0 and 1) are allowed; masked and missing entries are not.

    Raises
    ------
    InvalidInput
        DATASET_EMPTY, DATASET_RAGGED, DATASET_SPARSE, DATASET_NOT_NUMERIC, DATASET_NOT_EXACT (a
        whole number that a double cannot hold) or DATASET_NOT_FINITE, naming the first row and
        column at fault (both counted from 0).
    """
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InvalidInput(
            f"X is a sparse matrix ({type(X).__name__}): only dense data can be used. Give "
            f"X.toarray()",
            reason="DATASET_SPARSE",
            metadata={"value": type(X).__name__},
        )
    array = _as_array(X)
    check_shape(array.shape)
    values = to_doubles(array, feature_names)
    if not isinstance(X, np.ndarray):
        _check_rounded(X, values, feature_names)
    check_finite(values, feature_names)
    return values


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise InvalidInput unless there are rows and columns."""
    if len(shape) != 2:
        raise InvalidInput(
            f"X has {len(shape)} dimension(s), shape {shape}; it needs two: a row for each "
            f"observation, a column for each feature",
            reason="DATASET_EMPTY" if 0 in shape else "DATASET_RAGGED",
        )
    if 0 in shape:
        raise InvalidInput(
            f"X has {shape[0]} rows and {shape[1]} columns: it is empty",
            reason="DATASET_EMPTY",
        )


def check_finite(values: FloatArray, feature_names: Sequence[str] = ()) -> None:
    """Raise DATASET_NOT_FINITE for the first NaN or infinity."""
    finite = np.isfinite(values)
    if finite.all():
        return
    row, column = (int(i) for i in np.argwhere(~finite)[0])
    value = float(values[row, column])
    raise InvalidInput(
        f"X holds {'no value (nan)' if np.isnan(value) else value} at row {row}, column "
        f"{_name(column, feature_names)}; {int((~finite).sum())} value(s) that are not finite "
        "numbers in all. Drop these rows or fill them first",
        reason="DATASET_NOT_FINITE",
        metadata=_place(row, column, feature_names, value),
    )


def check_magnitude(values: FloatArray, feature_names: Sequence[str] = ()) -> None:
    """Raise DATASET_OUT_OF_RANGE for the first value above `LARGEST_MAGNITUDE`.

    Squared distances, and gamma as their inverse, must be doubles too.
    """
    if len(values) == 0 or float(np.abs(values).max()) <= LARGEST_MAGNITUDE:
        return
    row, column = (int(i) for i in np.argwhere(np.abs(values) > LARGEST_MAGNITUDE)[0])
    value = float(values[row, column])
    raise InvalidInput(
        f"X holds {value} at row {row}, column {_name(column, feature_names)}; magnitudes up to "
        f"{LARGEST_MAGNITUDE:g} are allowed. Divide the column by a power of ten",
        reason="DATASET_OUT_OF_RANGE",
        metadata=_place(row, column, feature_names, value),
    )


def to_doubles(
    array: NDArray[Any], feature_names: Sequence[str] = (), first_column: int = 0
) -> FloatArray:
    """Return an array of shape (n, k) as doubles, NaN where an entry is masked or missing.

    `first_column` is the position of the array's first column in the whole matrix.

    Raises
    ------
    InvalidInput
        DATASET_NOT_NUMERIC or DATASET_NOT_EXACT.
    """
    mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    plain = np.asarray(np.ma.getdata(array))
    if plain.dtype.kind in "fiub":
        inexact = _rounded(plain)
        if inexact is not None and mask is not None:
            inexact &= ~mask
        if inexact is not None and inexact.any():
            row, column = (int(i) for i in np.argwhere(inexact)[0])
            raise _not_exact(plain[row, column], row, first_column + column, feature_names)
        with np.errstate(over="ignore"):  # long doubles; refused as infinite further on
            values = np.ascontiguousarray(plain, dtype=np.float64)
    else:
        values = _from_objects(plain, mask, feature_names, first_column)
    if mask is not None and mask.any():
        values = np.where(mask, np.nan, values)
    return values


def _as_array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ndarray):
        return X
    if not hasattr(X, "__array__"):
        _check_ragged(X)
    try:
        if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
            return np.ma.array(X)
        array = np.asarray(X)
        # numpy makes text of all numbers beside one text, so the values themselves are examined.
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"X is not a matrix: {error}", reason="DATASET_RAGGED") from None


def _check_ragged(X: Any) -> None:
    try:
        lengths = [len(row) for row in X]
    except TypeError:
        return
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            raise InvalidInput(
                f"Row {row} has {length} values, row 0 has {lengths[0]}: all rows need the same "
                f"number",
                reason="DATASET_RAGGED",
                metadata={"row": str(row), "columns": str(length), "expected": str(lengths[0])},
            )


def _rounded(array: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return where whole numbers lose digits as doubles; None where none can."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or array.size == 0:
        return None
    if array.min() >= -LARGEST_EXACT and array.max() <= LARGEST_EXACT:
        return None
    rounded = np.zeros(array.shape, dtype=bool)
    large = (array > LARGEST_EXACT) | (array < -LARGEST_EXACT)
    rounded[large] = [int(float(value)) != value for value in array[large].tolist()]
    return rounded


def _check_rounded(X: Any, values: FloatArray, feature_names: Sequence[str]) -> None:
    """Refuse whole numbers that numpy rounded when it made an array of nested sequences."""
    if hasattr(X, "__array__"):
        return
    for row, column in np.argwhere(np.abs(values) >= LARGEST_EXACT).tolist():
        given = X[row][column]
        if isinstance(given, numbers.Integral) and int(values[row, column]) != int(given):
            raise _not_exact(given, row, column, feature_names)


def _from_objects(
    array: NDArray[Any],
    mask: NDArray[np.bool_] | None,
    feature_names: Sequence[str],
    first_column: int,
) -> FloatArray:
    if array.dtype.kind != "O":
        raise _not_numeric(array[0, 0], 0, first_column, feature_names)
    values = np.full(array.shape, np.nan)
    for row, cells in enumerate(array.tolist()):
        for column, value in enumerate(cells):
            if type(value) is float:
                values[row, column] = value
            elif not is_missing(value) and (mask is None or not mask[row, column]):
                values[row, column] = _number(value, row, first_column + column, feature_names)
    return values


def _number(value: Any, row: int, column: int, names: Sequence[str]) -> float:
    if isinstance(value, np.timedelta64) or not isinstance(value, _NUMBERS):
        raise _not_numeric(value, row, column, names)
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if isinstance(value, numbers.Integral) and (
        not np.isfinite(number) or int(number) != int(value)
    ):
        raise _not_exact(value, row, column, names)
    return number


def _not_exact(value: Any, row: int, column: int, names: Sequence[str]) -> InvalidInput:
    return InvalidInput(
        f"X holds the whole number {value} at row {row}, column {_name(column, names)}: features "
        f"are doubles, which lose digits beyond 2^53. If it is an id, leave out the column and "
        f"give it as ids=; otherwise convert the column to float",
        reason="DATASET_NOT_EXACT",
        metadata=_place(row, column, names, value),
    )


def _not_numeric(value: Any, row: int, column: int, names: Sequence[str]) -> InvalidInput:
    return InvalidInput(
        f"X holds {value!r} at row {row}, column {_name(column, names)}, which is not a number "
        f"({type(value).__name__}). Encode the column as numbers, or leave it out",
        reason="DATASET_NOT_NUMERIC",
        metadata=_place(row, column, names, value),
    )


def _name(column: int, feature_names: Sequence[str]) -> str:
    return f"{column} ({feature_names[column]!r})" if column < len(feature_names) else str(column)


def _place(row: int, column: int, names: Sequence[str], value: object) -> dict[str, str]:
    place = {"row": str(row), "column": str(column), "value": str(value)}
    if column < len(names):
        place["feature"] = names[column]
    return place
