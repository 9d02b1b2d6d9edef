"""Reads Parquet as columns for tables and as rows for records, exactly, with or without pandas.

pandas, where it is installed, changes what pyarrow returns for times in nanoseconds; they are cut
to microseconds, Python's own, before anything is converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.extras import needs_extra
from svddtune.client.files.columns import ArrayColumn, CellFault, Column, TextColumn
from svddtune.client.files.source import Source
from svddtune.client.types import FloatArray

if TYPE_CHECKING:
    import pyarrow

_BATCH = 8192


def read_parquet(source: Source) -> tuple[list[str], list[Column]]:
    """Return names and columns; a column is converted on access.

    Raises
    ------
    InvalidInput
        The source's reason.
    """
    file = _opened(source)
    import pyarrow

    try:
        data = file.read()
        names = [str(name) for name in data.column_names]
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _unreadable(source, error) from None
    columns: list[Column] = [_ArrowColumn(column) for column in data.columns]
    return names, columns


def parquet_rows(source: Source) -> Iterator[dict[str, Any]]:
    """Yield the rows as Python values: text for bytes, datetimes for times.

    Raises
    ------
    InvalidInput
        The source's reason, with row and column of bytes that are not text.
    """
    file = _opened(source)
    import pyarrow

    first = 0
    try:
        names = [str(name) for name in file.schema_arrow.names]
        for batch in file.iter_batches(batch_size=_BATCH):
            columns = [_values(source, batch.column(i), names[i], first) for i in range(len(names))]
            for row in range(batch.num_rows):
                yield {name: column[row] for name, column in zip(names, columns, strict=True)}
            first += batch.num_rows
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise _unreadable(source, error) from None


def _values(source: Source, column: pyarrow.Array, name: str, first: int) -> list[Any]:
    try:
        return _python(column)
    except CellFault as fault:
        raise source.fault(
            f"row {first + fault.row}, column {name!r}: {fault.text}",
            row=str(first + fault.row),
            column=name,
        ) from None


def _opened(source: Source) -> pyarrow.parquet.ParquetFile:
    with needs_extra("parquet", "Reading Parquet"):
        import pyarrow
        from pyarrow import parquet

    try:
        file = parquet.ParquetFile(source.path or BytesIO(source.data))
        _check_names(source, [(field.name, field.type) for field in file.schema_arrow], "")
    # (Names in the file need not be UTF-8.)
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise _unreadable(source, error) from None
    except OSError as error:
        if error.errno is not None:  # no such file, or no permission
            raise
        raise _unreadable(source, error) from None
    return file


def _unreadable(source: Source, error: Exception) -> InvalidInput:
    return source.fault(f"not a readable Parquet file: {' '.join(str(error).split())}")


def _check_names(source: Source, fields: list[tuple[str, Any]], within: str) -> None:
    from pyarrow import types

    names = [name for name, _ in fields]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        inside = f" of {within!r}" if within else ""
        raise InvalidInput(
            f"{source.name}: two columns{inside} are named {twice!r}",
            reason="DUPLICATE_COLUMN" if source.reason == "INVALID_FIELD" else source.reason,
            metadata={"path": source.name, "column": twice},
        )
    for name, kind in fields:
        inner = [(kind.field(i).name, kind.field(i).type) for i in range(kind.num_fields)]
        if inner and not types.is_union(kind):
            _check_names(source, inner, f"{within}.{name}" if within else name)


@dataclass(frozen=True, slots=True)
class _ArrowColumn:
    """A column of pyarrow."""

    data: pyarrow.ChunkedArray

    def __len__(self) -> int:
        return len(self.data)

    def texts(self) -> list[str]:
        """Return the cells as text."""
        column = self._plain()
        return column.texts()

    def numbers(self) -> FloatArray:
        """Return the cells as finite doubles."""
        return self._plain().numbers()

    def _plain(self) -> Column:
        from pyarrow import types

        kind = self.data.type
        if types.is_dictionary(kind):
            return _ArrowColumn(self.data.cast(kind.value_type))
        if types.is_floating(kind):
            wide = self.data if kind.bit_width > 16 else self.data.cast("float32")
            return ArrayColumn(np.asarray(wide.to_numpy()))
        if self.data.null_count == 0 and types.is_integer(kind):
            return ArrayColumn(np.asarray(self.data.to_numpy()))
        if self.data.null_count == 0 and types.is_boolean(kind):
            return ArrayColumn(np.asarray(self.data.to_numpy()).astype(np.bool_))
        return TextColumn([_text(value) for value in _python(self.data)])


def _text(value: Any) -> str:
    """Return a value as text; a missing value is empty."""
    from decimal import Decimal

    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def _python(column: Any) -> list[Any]:
    """Return the values of an array as Python's own."""
    kind = _coarse(column.type)
    if kind != column.type:
        column = column.cast(kind, safe=False)
    if not _has_bytes(kind):
        try:
            return list(column.to_pylist())
        except UnicodeDecodeError:
            return _listed(column)
    return [_decoded(value, row) for row, value in enumerate(column.to_pylist())]


def _listed(column: Any) -> list[Any]:
    """Return the values of a column of text, whose bytes need not be text in a damaged file."""
    values = []
    for row, value in enumerate(column):
        try:
            values.append(value.as_py())
        except UnicodeDecodeError:
            text = "text that is not UTF-8"
            raise CellFault(row, "DATASET_NOT_TEXT", "", text) from None
    return values


def _decoded(value: Any, row: int) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            text = f"bytes that are not UTF-8 text: {value[:16]!r}"
            raise CellFault(row, "DATASET_NOT_TEXT", repr(value[:16]), text) from None
    if isinstance(value, dict):
        return {name: _decoded(item, row) for name, item in value.items()}
    if isinstance(value, list):
        return [_decoded(item, row) for item in value]
    if isinstance(value, tuple):
        return tuple(_decoded(item, row) for item in value)
    return value


def _has_bytes(kind: Any) -> bool:
    from pyarrow import types

    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return True
    if types.is_binary_view(kind):
        return True
    return any(_has_bytes(kind.field(i).type) for i in range(kind.num_fields))


def _coarse(kind: Any) -> Any:
    """Return a type whose times, nested ones included, are no finer than microseconds."""
    import pyarrow
    from pyarrow import types

    if types.is_timestamp(kind) and kind.unit == "ns":
        return pyarrow.timestamp("us", tz=kind.tz)
    if types.is_duration(kind) and kind.unit == "ns":
        return pyarrow.duration("us")
    if types.is_time64(kind) and kind.unit == "ns":
        return pyarrow.time64("us")
    if types.is_dictionary(kind):
        return _coarse(kind.value_type)
    if types.is_struct(kind):
        return pyarrow.struct([_coarse_field(kind.field(i)) for i in range(kind.num_fields)])
    if types.is_map(kind):
        return pyarrow.map_(_coarse_field(kind.key_field), _coarse_field(kind.item_field))
    if types.is_fixed_size_list(kind):
        return pyarrow.list_(_coarse_field(kind.value_field), kind.list_size)
    if types.is_large_list(kind):
        return pyarrow.large_list(_coarse_field(kind.value_field))
    if types.is_list(kind):
        return pyarrow.list_(_coarse_field(kind.value_field))
    return kind


def _coarse_field(field: Any) -> Any:
    return field.with_type(_coarse(field.type))
