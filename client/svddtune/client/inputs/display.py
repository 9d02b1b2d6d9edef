"""The display fields of observations, which labelers see, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.frames import as_frame
from svddtune.client.inputs.validate import is_missing


def display_fields(display: Any, count: int) -> list[dict[str, str]]:
    """Return one mapping of texts for each row; an empty list without display fields.

    Parameters
    ----------
    display : sequence of `count` mappings, frame with `count` rows, or None
        Missing values (None, NaN) are left out; a row may be None.
    count : int
        Number of rows, N.

    Raises
    ------
    InvalidInput
        Where it does not fit, with the row.
    """
    if display is None:
        return []
    frame = as_frame(display)
    rows: list[Any] = list(display) if frame is None else list(frame.iter_rows(named=True))
    if len(rows) != count:
        raise InvalidInput(
            f"display has {len(rows)} entries, but X has {count} rows",
            metadata={"field": "display", "value": str(len(rows)), "expected": str(count)},
        )
    return [_texts(fields, row) for row, fields in enumerate(rows)]


def _texts(fields: Any, row: int) -> dict[str, str]:
    if fields is None:
        return {}
    if not isinstance(fields, Mapping):
        raise _refused(row, f"is {fields!r:.60}, not a mapping of names to values")
    texts: dict[str, str] = {}
    for key, value in fields.items():
        if not isinstance(key, str) or not key:
            raise _refused(row, f"has the field name {key!r}: names must be texts")
        if not is_missing(value):
            texts[key] = _text(key, value, row)
    return texts


def _text(key: str, value: object, row: int) -> str:
    if isinstance(value, bytes | bytearray):
        raise _refused(row, f"holds bytes in {key!r}: decode them first, e.g. with .decode()")
    text = str(value.item() if isinstance(value, np.number) else value)
    try:
        (key + text).encode()
    except UnicodeEncodeError:
        raise _refused(row, f"holds a text in {key!r} that is not valid Unicode") from None
    return text


def _refused(row: int, what: str) -> InvalidInput:
    return InvalidInput(
        f"The display of row {row} {what}",
        metadata={"field": "display", "row": str(row)},
    )
