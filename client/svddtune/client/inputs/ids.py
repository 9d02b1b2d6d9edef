"""Observation ids as text: the same id has the same text everywhere."""

from __future__ import annotations

import numbers
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.validate import LARGEST_EXACT, is_missing

_LONGEST_ID = 256


def id_text(value: object, *, row: int | None = None) -> str:
    """Return an observation's id as text.

    Texts stay as they are. Whole numbers become their digits, also where they came as floats
    (1.0 is "1": columns of pandas with a missing value hold floats). UUIDs and dates become their
    usual text.

    Parameters
    ----------
    value : object
        The id as it was given.
    row : int, optional
        Where it stands, for the message.

    Raises
    ------
    InvalidInput
        For missing or empty values, and values without a unique text: booleans, bytes, fractions,
        floats beyond 2^53, other objects.
    """
    # Nearly all ids are of these two types.
    if type(value) is int:
        return str(value)
    if type(value) is str and 0 < len(value) <= _LONGEST_ID and value.isascii():
        return value
    if is_missing(value):
        raise _refused(value, row, "is missing")
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return check_text(value, "observation_ids", "The observation id of row", row, _LONGEST_ID)
    if isinstance(value, bool):
        raise _refused(value, row, "is a boolean: use texts or whole numbers")
    if isinstance(value, bytes | bytearray | memoryview):
        raise _refused(value, row, "is bytes: decode it first, e.g. with .decode()")
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, float | Decimal):
        return _whole(value, row)
    if isinstance(value, uuid.UUID | date):  # date includes datetime and pandas' Timestamp
        return value.isoformat() if isinstance(value, date) else str(value)
    raise _refused(value, row, f"is a {type(value).__name__}: use texts or whole numbers")


def observation_ids(ids: Iterable[object] | None, count: int, name: str = "ids") -> list[str]:
    """Return one unique id per row as text; the row numbers where none are given.

    Raises
    ------
    InvalidInput
        As `id_text`, with the row; INVALID_FIELD for another number than `count`;
        DUPLICATE_OBSERVATION_ID.
    """
    if ids is None:
        return [str(row) for row in range(count)]
    if isinstance(ids, str | bytes | Mapping | Set):
        raise InvalidInput(
            f"{name} is a {type(ids).__name__}: give a sequence with one id for each row",
            metadata={"field": name, "value": type(ids).__name__},
        )
    values = as_list(ids, name)
    if len(values) != count:
        raise InvalidInput(
            f"{name} has {len(values)} entries, but X has {count} rows",
            metadata={"field": name, "value": str(len(values)), "expected": str(count)},
        )
    seen: dict[str, int] = {}
    for row, value in enumerate(values):
        text = id_text(value, row=row)
        if text in seen:
            raise InvalidInput(
                f"Observation id {text!r} occurs in row {seen[text]} and in row {row}: ids must "
                f"be unique",
                reason="DUPLICATE_OBSERVATION_ID",
                metadata={"value": text, "row": str(row)},
            )
        seen[text] = row
    return list(seen)


def by_id(labels: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a mapping with its keys as ids; CONFLICTING_LABELS for two keys of one text."""
    found: dict[str, Any] = {}
    for key, value in labels.items():
        text = id_text(key)
        if text in found:
            raise InvalidInput(
                f"{key!r} is given twice, as a text and as a number: both mean the id {text!r}",
                reason="CONFLICTING_LABELS",
                metadata={"observation_id": text},
            )
        found[text] = value
    return found


def unknown_observation(observation_id: str, ids: Sequence[str]) -> InvalidInput:
    """Return the error for a label of an observation that is not in the data."""
    number = observation_id.isdecimal() and int(observation_id) < len(ids)
    hint = f". Row {observation_id} has the id {ids[int(observation_id)]!r}" if number else ""
    return InvalidInput(
        f"There is a label for observation {observation_id!r}, "
        f"but no such observation in the data{hint}",
        reason="UNKNOWN_OBSERVATION",
        metadata={"observation_id": observation_id},
    )


def as_list(values: Any, name: str) -> list[Any]:
    """Return a one-dimensional array, series or iterable as a list of Python values.

    Masked entries are None.
    """
    if isinstance(values, list | tuple | range):
        return list(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return list(values)  # tolist() would make plain integers of them
    for method in ("to_pylist", "to_list", "tolist"):  # pyarrow; pandas and polars; numpy
        if hasattr(values, method):
            found = getattr(values, method)()
            break
    else:
        try:
            found = list(values)
        except TypeError:
            found = None
    shape = getattr(values, "shape", ())
    if not isinstance(found, list) or len(shape) > 1:
        raise InvalidInput(
            f"{name} must have one dimension, with one value for each row, not "
            f"{f'shape {tuple(shape)}' if len(shape) > 1 else repr(values)[:60]}",
            metadata={"field": name, "value": str(tuple(shape))},
        )
    return found


def check_text(text: str, field: str, what: str, position: int | None, most_bytes: int) -> str:
    """Return a text that can be sent: not empty, valid Unicode, at most `most_bytes` bytes."""
    where = what if position is None else f"{what} {position}"
    place = {"field": field, "value": repr(text[:100])}
    if position is not None:
        place["row" if field == "observation_ids" else "column"] = str(position)
    if not text:
        raise InvalidInput(f"{where} is empty", metadata=place)
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{where} is {text[:100]!r}, which is not valid Unicode", metadata=place
        ) from None
    if size > most_bytes:
        raise InvalidInput(
            f"{where} has {size} bytes, but at most {most_bytes} are allowed: {text[:40]!r}...",
            metadata=place,
        )
    return str(text)


def _whole(value: float | Decimal, row: int | None) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        raise _refused(value, row, "is not finite")
    if value != int(value):
        raise _refused(value, row, "has a fraction: use texts or whole numbers")
    if isinstance(value, float) and abs(value) >= LARGEST_EXACT:
        raise _refused(
            value,
            row,
            "is a float so large that it may be rounded: read ids as text or integers",
        )
    return str(int(value))


def _refused(value: object, row: int | None, why: str) -> InvalidInput:
    where = "" if row is None else f" of row {row}"
    place = {} if row is None else {"row": str(row)}
    return InvalidInput(
        f"The observation id{where} is {value!r}, which {why}",
        metadata={"field": "observation_ids", "value": repr(value)[:100], **place},
    )
