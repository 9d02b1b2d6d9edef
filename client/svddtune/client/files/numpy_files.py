"""Reads NumPy files as tables: NPZ with an array X, and NPY with X alone."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from io import BytesIO
from typing import Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.files.columns import ArrayColumn, Column, TextColumn
from svddtune.client.files.source import Source
from svddtune.client.files.table import Table
from svddtune.client.inputs.validate import check_matrix


def read_npz(source: Source) -> Table:
    """Return the arrays X, and y, ids and feature_names where there are any."""
    arrays = _loaded(source)
    if not isinstance(arrays, dict):
        raise source.fault("this is an NPY file: name it .npy")
    if "X" not in arrays:
        raise source.fault(f"there is no array X; the file has: {', '.join(arrays) or 'nothing'}")
    given = arrays.get("feature_names")
    if given is not None and given.ndim != 1:
        raise source.fault(f"feature_names has shape {given.shape}; it needs one dimension")
    names = None if given is None else [str(name) for name in given]
    table = _matrix(source, arrays["X"], names)
    columns, all_names = list(table.columns), list(table.names)
    hints = {"y": "", "ids": ""}
    for name in hints:
        if name in arrays:
            if arrays[name].shape != (table.row_count,):
                raise source.fault(
                    f"{name} has shape {arrays[name].shape}, but X has {table.row_count} rows"
                )
            hints[name] = name
            all_names.append(name)
            columns.append(_column(source, name, arrays[name]))
    return Table(
        source.name,
        all_names,
        columns,
        table.has_names,
        label_hint=hints["y"],
        id_hint=hints["ids"],
    )


def read_npy(source: Source) -> Table:
    """Return the one array as X."""
    array = _loaded(source)
    if isinstance(array, dict):
        raise source.fault("this is an NPZ file: name it .npz")
    if array.dtype.names:
        columns = [_column(source, name, array[name]) for name in array.dtype.names]
        return Table(source.name, list(array.dtype.names), columns, True)
    return _matrix(source, array, None)


# What NumPy and zipfile raise for damaged files.
_UNREADABLE = (
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,  # NotImplementedError included
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def _loaded(source: Source) -> Any:
    content = source.read()
    try:
        loaded = np.load(BytesIO(content), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded as archive:
            return {name: archive[name] for name in archive.files}
    except _UNREADABLE as error:
        what = "NPZ" if source.kind == ".npz" else "NPY"
        raise source.fault(f"not a readable {what} file of plain arrays: {error}") from None


def _matrix(source: Source, raw: np.ndarray[Any, Any], names: list[str] | None) -> Table:
    try:
        X = check_matrix(raw, names or ())
    except InvalidInput as error:
        raise InvalidInput(
            f"{source.name}: {error.message}", reason=error.reason, metadata=error.metadata
        ) from None
    if names is not None and len(names) != X.shape[1]:
        raise source.fault(f"feature_names has {len(names)} names, but X has {X.shape[1]} columns")
    # Whole numbers stay integers, so that those without an equal double are found.
    kept = raw if raw.dtype.kind in "iu" else X
    columns: list[Column] = [ArrayColumn(column) for column in kept.T]
    positions = [str(column) for column in range(X.shape[1])]
    return Table(source.name, names or positions, columns, names is not None)


def _column(source: Source, name: str, values: np.ndarray[Any, Any]) -> Column:
    if values.dtype.kind == "b":
        return ArrayColumn(values.astype(np.uint8))
    if values.dtype.kind in "fiu":
        return ArrayColumn(values)
    if values.dtype.kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError as error:
            raise source.fault(f"{name} holds bytes that are not UTF-8 text: {error}") from None
    return TextColumn([str(value) for value in values.tolist()])
