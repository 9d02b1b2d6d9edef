"""Equality and similarity of values in ticket data."""

from __future__ import annotations

import hashlib
import re
from datetime import date
from decimal import Decimal
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.files.numbers import exact_number

# The limit of a label's source reference.
_MOST_BYTES = 256
_NUMBER = re.compile(r"([+-]?)([0-9]+)((?:\.[0-9]*)?)", re.ASCII)


class Identity(tuple[str, str]):
    """A value with its type: ("text", "7"), ("number", "7") and ("number", "7.0") are three.

    Equality is exact; `alike` is equal for values that differ in case, type or notation only.
    """

    __slots__ = ()

    @property
    def kind(self) -> str:
        """One of text, number, truth, time."""
        return self[0]

    @property
    def text(self) -> str:
        """The value as text."""
        return self[1]

    @property
    def alike(self) -> str:
        """The value without case, type, surrounding space, leading zeros and trailing ".0"."""
        text = self.text.strip().casefold()
        found = _NUMBER.fullmatch(text)
        if found is None:
            return text
        sign, whole, decimals = found.groups()
        return exact_number(f"{sign}{whole.lstrip('0') or '0'}{decimals}") or text

    def __str__(self) -> str:
        return self.text if self.kind == "text" else f"{self.text} ({self.kind})"


def identity(value: Any, *, numbers_as_text: bool = False) -> Identity:
    """Return the identity of a plain value.

    Parameters
    ----------
    value : object
        Text, number, time or another plain value.
    numbers_as_text : bool
        Whether whole numbers stand for their decimal text, so that 7 is "7".

    Raises
    ------
    InvalidInput
        TICKETS_INVALID for a value that is not text, number, boolean or time.
    """
    if isinstance(value, str):
        return Identity(("text", value))
    if isinstance(value, bool):
        return Identity(("truth", "true" if value else "false"))
    if isinstance(value, int):
        return Identity(("text" if numbers_as_text else "number", str(value)))
    if isinstance(value, float | Decimal):
        return Identity(("number", str(value)))
    if isinstance(value, date):
        return Identity(("time", value.isoformat()))
    raise InvalidInput(
        f"{value!r} is neither text, number, truth nor time", reason="TICKETS_INVALID"
    )


def source_reference(ticket: Identity | None) -> str:
    """Return the ticket's key as a label's source reference."""
    return "" if ticket is None else shortened(ticket.text)


def shortened(text: str) -> str:
    """Return a text of at most 256 bytes; a longer one ends in its hash."""
    data = text.encode()
    if len(data) <= _MOST_BYTES:
        return text
    mark = f"...{hashlib.sha256(data).hexdigest()[:16]}"
    return data[: _MOST_BYTES - len(mark)].decode(errors="ignore") + mark
