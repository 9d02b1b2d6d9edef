"""Reads files of all supported kinds as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from svddtune.client.errors import InvalidInput
from svddtune.client.files.arff import read_arff
from svddtune.client.files.columns import TextColumn
from svddtune.client.files.csv_rows import CsvRows, Row, RowFault
from svddtune.client.files.lines import text_lines
from svddtune.client.files.numbers import BLANKS, parse_number
from svddtune.client.files.numpy_files import read_npy, read_npz
from svddtune.client.files.parquet import read_parquet
from svddtune.client.files.source import ARFF, JSON_LINES, NPY, NPZ, PARQUET, Source, TextFormat
from svddtune.client.files.table import Note, Table

# Names of a pandas index in Parquet and in CSV that was read and written again.
_INDEX_NAME = re.compile(r"|Unnamed: 0(\.[0-9]+)?|__index_level_[0-9]+__")


def read_table(
    path: Path | Source, *, header: bool | None = None, form: TextFormat | None = None
) -> Table:
    """Return a file as a table. Its ending gives its kind; CSV where the ending is unknown.

    Parameters
    ----------
    path : path or Source
        "-" is standard input; compressed with gzip or not.
    header : bool, optional
        Whether the first row of CSV holds the names; default: true if it holds no number.
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
        table = read_npz(source) if source.kind == NPZ else read_npy(source)
    elif source.kind in PARQUET:
        names, columns = read_parquet(source)
        table = Table(source.name, names, columns, True)
    elif source.kind in JSON_LINES:
        raise source.fault("JSON lines are not a table; give CSV, ARFF, NPZ, NPY or Parquet")
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
        text = f"{source.name}: left out {count} empty row(s) at the end"
        notes = (Note("EMPTY_ROWS", "", text),)
    columns = [
        TextColumn(list(cells), form.decimal)
        for cells in zip(*(row.cells for row in data), strict=True)
    ]
    return Table(source.name, names, columns, header, [row.line for row in data], notes=notes)


def _without_empty_end(rows: list[Row]) -> list[Row]:
    """Return rows without empty ones at the end, which spreadsheets leave."""
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
                f"{path} line {line} has {count} values; expected {width}",
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
                f"{name!r}; give each column a different name{hint}",
                reason="DUPLICATE_COLUMN",
                metadata={"column": name},
            )
        first[name] = column


def _without_index(table: Table) -> Table:
    """Return the table without a data frame's index and without empty unnamed columns.

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
                f"{table.path}: {shown} looks like the index of a data frame and is left out; to "
                f"use it as ids, give --id-column {option!r}"
            )
            notes.append(Note("INDEX_COLUMN", name, text, column))
        elif not name and not any(text.strip() for text in texts):
            text = f"{table.path}: left out {shown}, which is empty"
            notes.append(Note("EMPTY_COLUMN", name, text, column))
        elif name:
            continue
        else:
            raise InvalidInput(
                f"{table.path}: {shown} holds values such as {texts[0]!r}: give it a name, or "
                f"remove the column",
                reason="COLUMN_UNNAMED",
                metadata={"column": str(column)},
            )
        left_out.add(column)
    return replace(table, left_out=table.left_out | left_out, notes=(*table.notes, *notes))
