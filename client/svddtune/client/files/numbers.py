"""Numbers in files: ASCII digits, without the forms that only Python accepts."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from svddtune.client.types import FloatArray

BLANKS = " \t"
_NUMBER = re.compile(
    r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?", re.ASCII
)
_WORD = re.compile(r"[+-]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
_PLAIN = re.compile(r"[0-9+\-.eE \t\n]*", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
# Whole numbers of fewer digits are exact as doubles.
_EXACT_DIGITS = 15
# Beyond these an exact number has an exponent, or is not meant as a number.
_MOST_ZEROS = 40
_MOST_EXPONENT_DIGITS = 9


def parse_number(text: str, decimal: str = ".") -> float | None:
    """Return the number that a text denotes, None where it is no number.

    Digits are 0 to 9, without separators between them; nan, inf and infinity are numbers in any
    case. Spaces and tabs around the number are passed over.

    Parameters
    ----------
    text : str
        What may be a number.
    decimal : str
        The decimal sign, "." or ",".
    """
    text = text.strip(BLANKS)
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    if _NUMBER.fullmatch(text) or _WORD.fullmatch(text):
        return float(text)
    return None


def parse_numbers(texts: Sequence[str], decimal: str = ".") -> FloatArray | None:
    """Return the numbers of all texts, None where one is no number; see `parse_number`."""
    joined = "\n".join(texts)
    if decimal != ".":
        if "." in joined:
            return None
        joined = joined.replace(decimal, ".")
    # A line end inside a cell does not count as a blank.
    if not _PLAIN.fullmatch(joined) or joined.count("\n") != len(texts) - 1:
        return None
    try:
        return np.fromiter(map(float, joined.split("\n")), dtype=np.float64, count=len(texts))
    except ValueError:
        return None


def has_decimal_comma(text: str) -> bool:
    """Return whether a text is a number whose decimals follow a comma."""
    return _DECIMAL_COMMA.fullmatch(text.strip(BLANKS)) is not None


def loses_digits(text: str, value: float) -> bool:
    """Return whether a text is a whole number that `value`, its double, does not equal."""
    if len(text) <= _EXACT_DIGITS:
        return False
    digits = text.strip(BLANKS)
    if not _WHOLE.fullmatch(digits) or not np.isfinite(value):
        return False
    return int(value) != int(digits)


def exact_number(text: str) -> str | None:
    """Return the canonical form of a number, None for text that is no number.

    The form is exact, whatever the number of digits: "1", "1.0" and "10e-1" are "1". Text
    with a needless leading zero, such as "01", is a code and no number.
    """
    found = _NUMBER.fullmatch(text.strip(BLANKS))
    if found is None:
        return None
    sign, whole, decimals, bare, exponent = found.groups(default="")
    if (len(whole) > 1 and whole.startswith("0")) or len(exponent) > _MOST_EXPONENT_DIGITS:
        return None
    fraction = decimals or bare
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "0"
    power = int(exponent or "0") - len(fraction) + len(digits) - len(significant)
    minus = "-" if sign == "-" else ""
    if abs(power) > _MOST_ZEROS:
        return f"{minus}{significant}e{power}"
    if power >= 0:
        return minus + significant + "0" * power
    padded = significant.rjust(1 - power, "0")
    return f"{minus}{padded[:power]}.{padded[power:]}"
