"""Columns of a table. Text and whole numbers are kept exactly until doubles are requested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from svddtune.client.files.numbers import (
    BLANKS,
    has_decimal_comma,
    loses_digits,
    parse_number,
    parse_numbers,
)
from svddtune.client.types import FloatArray

# The largest number up to which doubles represent every whole number.
_EXACT = 2**53


class CellFault(ValueError):
    """A cell that cannot be converted; the table adds the place."""

    def __init__(self, row: int, reason: str, value: str, text: str) -> None:
        super().__init__(text)
        self.row = row
        self.reason = reason
        self.value = value
        self.text = text


class Column(Protocol):
    """Cells of one column."""

    def __len__(self) -> int: ...

    def texts(self) -> list[str]:
        """Return the cells as text; what is missing is empty. Raises CellFault."""
        ...

    def numbers(self) -> FloatArray:
        """Return the cells as finite doubles. Raises CellFault."""
        ...


@dataclass(frozen=True, slots=True)
class TextColumn:
    """Cells stored as text."""

    values: list[str]
    decimal: str = "."

    def __len__(self) -> int:
        return len(self.values)

    def texts(self) -> list[str]:
        """Return the cells as they are written."""
        return self.values

    def numbers(self) -> FloatArray:
        """Return the cells as doubles; CellFault for a whole number that no double equals."""
        array = parse_numbers(self.values, self.decimal)
        if array is None:
            array = np.fromiter(
                (self._number(row, text) for row, text in enumerate(self.values)),
                dtype=np.float64,
                count=len(self.values),
            )
        _check_finite(array, self.values)
        for row in np.flatnonzero(np.abs(array) >= _EXACT).tolist():
            if loses_digits(self.values[row], array[row]):
                raise _not_exact(row, self.values[row].strip(BLANKS))
        return array

    def _number(self, row: int, text: str) -> float:
        value = parse_number(text, self.decimal)
        if value is not None:
            return value
        if not text.strip(BLANKS):
            raise _not_finite(row, "nothing")
        hint = ""
        if self.decimal == "." and has_decimal_comma(text):
            hint = "; if the decimal separator is a comma, give --decimal ,"
        elif self.decimal == "," and parse_number(text) is not None:
            hint = "; it has a decimal point, but --decimal , expects a comma"
        raise CellFault(row, "DATASET_NOT_NUMERIC", text, f"{text!r} is not a number{hint}")


def usable_numbers(column: Column) -> tuple[FloatArray, dict[int, CellFault]]:
    """Return a column as doubles, NaN where a cell cannot be converted, and the faults by row.

    Raises
    ------
    CellFault
        Cells that are no text.
    """
    try:
        return column.numbers(), {}
    except CellFault:
        pass
    decimal = column.decimal if isinstance(column, TextColumn) else "."
    array, faults = np.full(len(column), np.nan), dict[int, CellFault]()
    for row, text in enumerate(column.texts()):
        try:
            array[row] = TextColumn([text], decimal).numbers()[0]
        except CellFault as fault:
            faults[row] = CellFault(row, fault.reason, fault.value, fault.text)
    return array, faults


@dataclass(frozen=True, slots=True)
class ArrayColumn:
    """Cells stored as numbers or booleans; only NaN is missing."""

    values: np.ndarray[tuple[int], np.dtype[Any]]

    def __len__(self) -> int:
        return len(self.values)

    def texts(self) -> list[str]:
        """Return the cells as text: exact, and whole numbers without a point."""
        if self.values.dtype.kind == "b":
            return ["true" if value else "false" for value in self.values.tolist()]
        if self.values.dtype.kind in "iu":
            return [str(value) for value in self.values.tolist()]
        return [_text(value) for value in self.values]

    def numbers(self) -> FloatArray:
        """Return the cells as doubles; CellFault for a whole number that no double equals."""
        array = self.values.astype(np.float64)
        if self.values.dtype.kind in "iu":
            for row in np.flatnonzero(np.abs(array) >= _EXACT).tolist():
                if int(array[row]) != int(self.values[row]):
                    raise _not_exact(row, str(self.values[row]))
        _check_finite(array, None)
        return array


def _text(value: np.floating[Any]) -> str:
    """Return a floating-point number in the fewest digits that identify it."""
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    if abs(value) < _EXACT and value == int(value):
        return str(int(value))
    return repr(float(value)) if value.dtype == np.float64 else str(value)


def _check_finite(array: FloatArray, texts: list[str] | None) -> None:
    finite = np.isfinite(array)
    if not finite.all():
        row = int(np.argmin(finite))
        raise _not_finite(row, texts[row].strip(BLANKS) if texts else str(array[row]))


def _not_finite(row: int, value: str) -> CellFault:
    text = f"{value} is not a finite number. Fill in a value, or leave out the row"
    return CellFault(row, "DATASET_NOT_FINITE", value, text)


def _not_exact(row: int, value: str) -> CellFault:
    text = (
        f"{value} has more digits than a double can hold, so different values would become "
        f"equal. If it is an id or a code, do not use it as a feature"
    )
    return CellFault(row, "DATASET_NOT_EXACT", value, text)
