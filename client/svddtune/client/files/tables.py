"""Files as tables of named columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from svddtune.client.errors import InvalidInput
from svddtune.client.files.arff import read_arff
from svddtune.client.files.columns import CellFault, Column, TextColumn
from svddtune.client.files.csv_rows import CsvRows, Row, RowFault
from svddtune.client.files.lines import text_lines
from svddtune.client.files.numbers import BLANKS, parse_number
from svddtune.client.files.source import ARFF, JSON_LINES, NPY, NPZ, PARQUET, Source, TextFormat
from svddtune.client.types import FloatArray
from svddtune.text import visible

_POSITION = re.compile(r"-?[0-9]+", re.ASCII)
# How pandas names the index that a file was written with, in CSV read again and in Parquet.
_INDEX_NAME = re.compile(r"|Unnamed: 0(\.[0-9]+)?|__index_level_[0-9]+__")


@dataclass(frozen=True, slots=True)
class Note:
    """Something about the data to know before anybody is asked.

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
        The file, as people know it.
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
        What reading found.
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
        """Return where a row is, as people find it."""
        line = f" line {self.lines[row]}" if len(self.lines) else ""
        return f"{self.path}{line} (row {row})"

    def text(self, column: int) -> list[str]:
        """Return a column as text, exactly as the file has it; what is missing is empty.

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

    def _fault(self, fault: CellFault, column: int) -> InvalidInput:
        name = self.names[column]
        hint = ""
        if fault.reason in ("DATASET_NOT_NUMERIC", "DATASET_NOT_EXACT"):
            hint = (
                ". Name the column with --id-column, --label-column or --show, "
                "or leave it out with --ignore"
            )
            if fault.row == 0 and not self.has_names and len(self.lines):
                hint += "; if the first line has names, give --header"
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


def read_table(
    path: Path | Source, *, header: bool | None = None, form: TextFormat | None = None
) -> Table:
    """Return a file as a table; its kind is told by its ending, CSV where that is unknown.

    Parameters
    ----------
    path : path or Source
        "-" is standard input; compressed with gzip or not.
    header : bool, optional
        Whether the first row of CSV has the names; default: whether it holds no number.
    form : TextFormat, optional
        How text is written.

    Raises
    ------
    InvalidInput
        INVALID_FIELD, DATASET_EMPTY, DATASET_RAGGED or DUPLICATE_COLUMN, with the line.
    """
    source = path if isinstance(path, Source) else Source.of(path)
    form = form or TextFormat()
    if source.kind in (NPZ, NPY):
        from svddtune.client.files.numpy_files import read_npy, read_npz

        table = read_npz(source) if source.kind == NPZ else read_npy(source)
    elif source.kind in PARQUET:
        from svddtune.client.files.parquet import read_parquet

        names, columns = read_parquet(source)
        table = Table(source.name, names, columns, True)
    elif source.kind in JSON_LINES:
        raise source.fault("a table is wanted: CSV, ARFF, NPZ, NPY or Parquet, not JSON lines")
    elif source.kind == ARFF:
        table = _arff_table(source, form)
    else:
        table = _csv_table(source, form, header)
    if table.row_count == 0:
        raise InvalidInput(f"{source.name} has no rows", reason="DATASET_EMPTY")
    if table.has_names:
        _check_names(table)
        table = _without_index(table)
    return table


def _csv_table(source: Source, form: TextFormat, header: bool | None) -> Table:
    delimiter = form.delimiter or ("\t" if source.kind == ".tsv" else "")
    reader = CsvRows(delimiter)
    try:
        rows = [*reader.feed(text_lines(source.text(form.encoding))), *reader.finish()]
    except RowFault as fault:
        raise source.fault(fault.text, line=fault.line) from None
    if not rows:
        raise InvalidInput(f"{source.name} is empty", reason="DATASET_EMPTY")
    width = len(rows[0].cells)
    kept = _without_empty_end(rows)
    _check_width(((row.line, len(row.cells)) for row in kept), width, source.name)
    first = rows[0].cells
    if header is None:
        header = all(parse_number(cell, form.decimal) is None for cell in first)
    names = [cell.strip(BLANKS) for cell in first] if header else [str(j) for j in range(width)]
    data = kept[1:] if header else kept
    if not data:
        raise InvalidInput(f"{source.name} has a header and no rows", reason="DATASET_EMPTY")
    notes: tuple[Note, ...] = ()
    if len(kept) < len(rows):
        count = len(rows) - len(kept)
        text = f"{source.name}: {count} empty row(s) at the end are left out"
        notes = (Note("EMPTY_ROWS", "", text),)
    columns = [
        TextColumn(list(cells), form.decimal)
        for cells in zip(*(row.cells for row in data), strict=True)
    ]
    return Table(source.name, names, columns, header, [row.line for row in data], notes=notes)


def _without_empty_end(rows: list[Row]) -> list[Row]:
    """Return rows without those at the end that have delimiters alone, as spreadsheets leave."""
    end = len(rows)
    while end > 1 and len(rows[end - 1].cells) > 1 and not any(rows[end - 1].cells):
        end -= 1
    return rows[:end]


def _arff_table(source: Source, form: TextFormat) -> Table:
    data = read_arff(source, text_lines(source.text(form.encoding)))
    if not data.rows:
        raise InvalidInput(f"{source.name} has no rows", reason="DATASET_EMPTY")
    lower = [name.lower() for name in data.names]
    notes: tuple[Note, ...] = ()
    if data.weighted:
        text = f"{source.name}: the weights of its instances are not used"
        notes = (Note("WEIGHTS_NOT_USED", "", text),)
    return Table(
        source.name,
        data.names,
        [TextColumn(list(cells)) for cells in zip(*data.rows, strict=True)],
        True,
        data.lines,
        label_hint=data.names[lower.index("outlier")] if "outlier" in lower else "",
        id_hint=data.names[lower.index("id")] if "id" in lower else "",
        notes=notes,
        marks_missing=True,
    )


def _check_width(rows: Iterable[tuple[int, int]], width: int, path: str) -> None:
    for row, (line, count) in enumerate(rows):
        if count != width:
            raise InvalidInput(
                f"{path} line {line} has {count} values where {width} are expected",
                reason="DATASET_RAGGED",
                metadata={
                    "row": str(row),
                    "line": str(line),
                    "columns": str(count),
                    "expected": str(width),
                },
            )


def _check_names(table: Table) -> None:
    first: dict[str, int] = {}
    for column, name in enumerate(table.names):
        if name and name in first:
            hint = "; if the first line is data, give --no-header" if len(table.lines) else ""
            raise InvalidInput(
                f"{table.path}: columns {first[name] + 1} and {column + 1} are both named "
                f"{name!r}; give each a name of its own{hint}",
                reason="DUPLICATE_COLUMN",
                metadata={"column": name},
            )
        first[name] = column


def _without_index(table: Table) -> Table:
    """Return the table with the index of a data frame left out, and empty nameless columns.

    Raises
    ------
    InvalidInput
        COLUMN_UNNAMED for any other column without a name.
    """
    left_out: set[int] = set()
    notes: list[Note] = []
    for column, name in enumerate(table.names):
        if not _INDEX_NAME.fullmatch(name):
            continue
        texts = table.text(column)
        shown = f"column {column + 1}" + (f" ({name!r})" if name else ", which has no name,")
        option = name or str(column)
        if (column == 0 or name) and len(set(texts)) == len(texts):
            text = (
                f"{table.path}: {shown} is taken for the index of a data frame and is no feature; "
                f"as ids it is --id-column {option!r}"
            )
            notes.append(Note("INDEX_COLUMN", name, text, column))
        elif not name and not any(text.strip() for text in texts):
            text = f"{table.path}: {shown} is empty: left out"
            notes.append(Note("EMPTY_COLUMN", name, text, column))
        elif name:
            continue
        else:
            raise InvalidInput(
                f"{table.path}: {shown} holds values such as {texts[0]!r}: give it a name, or "
                "take its header cell away with its values",
                reason="COLUMN_UNNAMED",
                metadata={"column": str(column)},
            )
        left_out.add(column)
    return replace(table, left_out=table.left_out | left_out, notes=(*table.notes, *notes))
