"""A table of named columns, with the place of each cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from svddtune.client.errors import InvalidInput
from svddtune.client.files.columns import CellFault, Column, usable_numbers
from svddtune.client.types import FloatArray
from svddtune.text import visible

_POSITION = re.compile(r"-?[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Note:
    """A warning about the data, to be read before labelling.

    Attributes
    ----------
    reason : str
        Stable, UPPER_SNAKE_CASE.
    column : str
        The column it is about; empty where it is about the file.
    message : str
    position : int, optional
        The column's position, for columns without a name too.
    """

    reason: str
    column: str
    message: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of equal length.

    Attributes
    ----------
    path : str
        Name of the file for messages.
    names : list of str
        Each once; positions where the file has no names.
    has_names : bool
    lines : sequence of int
        The file's line of each row; empty where it has no lines.
    label_hint, id_hint : str
        Columns that the kind of file itself marks as labels and ids.
    left_out : frozenset of int
        Columns that are no features unless they are named: an index, or nothing at all.
    notes : tuple of Note
        Warnings from reading the file.
    marks_missing : bool
        Whether the kind of file tells what is missing from every text.
    """

    path: str
    names: list[str]
    columns: Sequence[Column]
    has_names: bool
    lines: Sequence[int] = ()
    label_hint: str = ""
    id_hint: str = ""
    left_out: frozenset[int] = frozenset()
    notes: tuple[Note, ...] = ()
    marks_missing: bool = False

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def index(self, name: str, option: str) -> int:
        """Return the position of a column given by name, or by number from 0.

        Raises
        ------
        InvalidInput
            COLUMN_UNKNOWN where there is none.
        """
        if name and name in self.names:
            return self.names.index(name)
        if _POSITION.fullmatch(name) and -len(self.names) <= int(name) < len(self.names):
            return int(name) % len(self.names)
        shown = ", ".join(map(visible, self.names[:12])) + (", ..." if len(self.names) > 12 else "")
        raise InvalidInput(
            f"{self.path} has no column {name!r} ({option}); it has: {shown}",
            reason="COLUMN_UNKNOWN",
            metadata={"column": name, "option": option},
        )

    def place(self, row: int) -> str:
        """Return the place of a row for messages."""
        line = f" line {self.lines[row]}" if len(self.lines) else ""
        return f"{self.path}{line} (row {row})"

    def text(self, column: int) -> list[str]:
        """Return a column as text, exactly as in the file; missing values are empty.

        Raises
        ------
        InvalidInput
            DATASET_NOT_TEXT with row and column of bytes that are no text.
        """
        try:
            return self.columns[column].texts()
        except CellFault as fault:
            raise self._fault(fault, column) from None

    def numbers(self, column: int) -> FloatArray:
        """Return a column as finite numbers.

        Raises
        ------
        InvalidInput
            DATASET_NOT_NUMERIC, DATASET_NOT_FINITE, or DATASET_NOT_EXACT for a whole number that
            no double equals; with row and column.
        """
        try:
            return self.columns[column].numbers()
        except CellFault as fault:
            raise self._fault(fault, column) from None

    def usable_numbers(self, column: int) -> tuple[FloatArray, dict[int, str]]:
        """Return a column as numbers, NaN for cells that are none, and what is wrong by row.

        Raises
        ------
        InvalidInput
            DATASET_NOT_TEXT with row and column of bytes that are no text.
        """
        try:
            array, faults = usable_numbers(self.columns[column])
        except CellFault as fault:
            raise self._fault(fault, column) from None
        name = self.names[column]
        return array, {row: f"column {name!r}: {fault.text}" for row, fault in faults.items()}

    def _fault(self, fault: CellFault, column: int) -> InvalidInput:
        name = self.names[column]
        hint = ""
        if fault.reason in ("DATASET_NOT_NUMERIC", "DATASET_NOT_EXACT"):
            hint = (
                ". Name the column with --id-column, --label-column or --show, "
                "or leave it out with --ignore"
            )
            if fault.row == 0 and not self.has_names and len(self.lines):
                hint += "; if the first line holds names, give --header"
        return InvalidInput(
            f"{self.place(fault.row)}, column {name!r}: {fault.text}{hint}",
            reason=fault.reason,
            metadata={
                "row": str(fault.row),
                "column": str(column),
                "feature": name,
                "value": fault.value,
            },
        )
