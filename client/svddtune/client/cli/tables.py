"""Files as tables: CSV, NPZ, ARFF, Parquet. Text stays text until somebody needs numbers."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.client.cli.arff import read_arff
from svddtune.client.cli.usage import UsageError
from svddtune.client.errors import InvalidInput
from svddtune.client.extras import needs_extra
from svddtune.client.types import FloatArray
from svddtune.client.validate import check_matrix

Column = list[str] | FloatArray


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of equal length. `lines` holds the file's line number of each row."""

    path: str
    names: list[str]
    columns: list[Column]
    has_names: bool
    lines: Sequence[int] = ()
    label_hint: str = ""
    id_hint: str = ""

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def index(self, name: str, option: str) -> int:
        """Return the position of a column given by name, or by number where it has none."""
        if name in self.names:
            return self.names.index(name)
        if re.fullmatch(r"-?\d+", name) and -len(self.names) <= int(name) < len(self.names):
            return int(name) % len(self.names)
        shown = ", ".join(self.names[:12]) + (", ..." if len(self.names) > 12 else "")
        raise UsageError(f"{self.path} has no column {name!r} ({option}); it has: {shown}")

    def place(self, row: int) -> str:
        """Return where a row is, as people find it."""
        line = f" line {self.lines[row]}" if len(self.lines) else ""
        return f"{self.path}{line} (row {row})"

    def text(self, column: int) -> list[str]:
        """Return a column as text; whole numbers without a point."""
        values = self.columns[column]
        if isinstance(values, list):
            return values
        return [
            "" if np.isnan(value) else str(int(value)) if value == int(value) else repr(value)
            for value in values.tolist()
        ]

    def numbers(self, column: int) -> FloatArray:
        """Return a column as finite numbers, or say which row and column is none."""
        values = self.columns[column]
        if isinstance(values, list):
            try:
                array = np.asarray(values, dtype=np.str_).astype(np.float64)
            except ValueError:
                array = np.array([self._number(row, column, v) for row, v in enumerate(values)])
        else:
            array = values
        finite = np.isfinite(array)
        if not finite.all():
            row = int(np.argmin(finite))
            self._not_finite(row, column, str(array[row]))
        return array

    def _number(self, row: int, column: int, value: str) -> float:
        if not value.strip():
            self._not_finite(row, column, "nothing")
        try:
            return float(value)
        except ValueError:
            name = self.names[column]
            raise InvalidInput(
                f"{self.place(row)}, column {name!r}: {value!r} is not a number. Name the column "
                "with --id-column, --label-column or --show, or leave it out with --ignore",
                reason="DATASET_NOT_NUMERIC",
                metadata={"row": str(row), "column": str(column), "feature": name, "value": value},
            ) from None

    def _not_finite(self, row: int, column: int, value: str) -> None:
        name = self.names[column]
        raise InvalidInput(
            f"{self.place(row)}, column {name!r}: {value} is not a finite number. "
            "Fill it, or leave the row out",
            reason="DATASET_NOT_FINITE",
            metadata={"row": str(row), "column": str(column), "feature": name, "value": value},
        )


def read_table(path: Path, *, header: bool | None = None) -> Table:
    """Return the file as a table; its kind is told by its ending, .csv where unknown."""
    kind = path.suffix.lower()
    if kind == ".npz":
        return _read_npz(path)
    if kind in (".parquet", ".pq"):
        return _read_parquet(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}"
        ) from None
    if kind == ".arff":
        names, rows, lines = read_arff(text.splitlines(), str(path))
        _check_width(rows, lines, len(names), str(path))
        lower = [name.lower() for name in names]
        return Table(
            str(path),
            names,
            _columns(rows, len(names)),
            True,
            lines,
            label_hint=names[lower.index("outlier")] if "outlier" in lower else "",
            id_hint=names[lower.index("id")] if "id" in lower else "",
        )
    return _read_csv(text, str(path), header)


def _read_csv(text: str, path: str, header: bool | None) -> Table:
    delimiter = _delimiter(text)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if delimiter == " ":
                    cells = [cell for cell in cells if cell]
                rows.append(cells)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InvalidInput(f"{path} line {reader.line_num} is not CSV: {error}") from None
    if not rows:
        raise InvalidInput(f"{path} is empty", reason="DATASET_EMPTY")
    width = len(rows[0])
    _check_width(rows, lines, width, path)
    if header is None:
        header = not any(_is_number(cell) for cell in rows[0])
    names = [cell.strip() for cell in rows[0]] if header else [str(j) for j in range(width)]
    if header:
        rows, lines = rows[1:], lines[1:]
    if not rows:
        raise InvalidInput(f"{path} has a header and no rows", reason="DATASET_EMPTY")
    return Table(path, names, _columns(rows, width), header, lines)


def _read_npz(path: Path) -> Table:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, EOFError, TypeError) as error:
        raise InvalidInput(f"{path} is not a readable NPZ file of plain arrays: {error}") from None
    if "X" not in arrays:
        raise InvalidInput(f"{path} has no array X; it has: {', '.join(arrays) or 'nothing'}")
    raw = arrays["X"]
    count = raw.shape[1] if raw.ndim == 2 else 0
    given = arrays.get("feature_names")
    names = [str(j) for j in range(count)] if given is None else [str(name) for name in given]
    X = check_matrix(raw, names if given is not None else ())
    columns: list[Column] = list(X.T)
    hints = {"y": "", "ids": ""}
    for name in hints:
        if name in arrays:
            if arrays[name].shape != X.shape[:1]:
                raise InvalidInput(
                    f"{path}: {name} has shape {arrays[name].shape}, X has {len(X)} rows"
                )
            hints[name] = name
            names.append(name)
            columns.append(_npz_column(arrays[name]))
    return Table(
        str(path),
        names,
        columns,
        given is not None,
        label_hint=hints["y"],
        id_hint=hints["ids"],
    )


def _npz_column(values: np.ndarray[Any, Any]) -> Column:
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    return [str(value) for value in values]


def _read_parquet(path: Path) -> Table:
    with needs_extra("parquet", "Reading Parquet"):
        import pyarrow
        from pyarrow import parquet

    try:
        data = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidInput(f"{path} is not a readable Parquet file: {error}") from None
    if data.num_rows == 0 or data.num_columns == 0:
        raise InvalidInput(f"{path} has no rows", reason="DATASET_EMPTY")
    columns: list[Column] = []
    for column in data.columns:
        numeric = pyarrow.types.is_floating(column.type) or pyarrow.types.is_integer(column.type)
        if numeric:
            columns.append(column.cast("float64", safe=False).to_numpy().astype(np.float64))
        else:
            columns.append(["" if v is None else str(v) for v in column.to_pylist()])
    return Table(str(path), [str(name) for name in data.column_names], columns, True)


def _columns(rows: list[list[str]], width: int) -> list[Column]:
    return [[row[j] for row in rows] for j in range(width)]


def _check_width(rows: Iterable[list[str]], lines: list[int], width: int, path: str) -> None:
    if not lines:
        raise InvalidInput(f"{path} has no rows", reason="DATASET_EMPTY")
    for row, (cells, line) in enumerate(zip(rows, lines, strict=True)):
        if len(cells) != width:
            raise InvalidInput(
                f"{path} line {line} has {len(cells)} values where {width} are expected",
                reason="DATASET_RAGGED",
                metadata={"row": str(row), "columns": str(len(cells)), "expected": str(width)},
            )


def _delimiter(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    best = max((",", ";", "\t"), key=first.count)
    if first.count(best):
        return best
    return " " if len(first.split()) > 1 else ","


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
