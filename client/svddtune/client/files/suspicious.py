"""Columns that are probably no features, or rule all distances: told before anybody is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from svddtune.client.files.table import Note, Table
from svddtune.client.types import FloatArray

# Names that people give to ids and to codes, as a part of the name of their own.
_ID = re.compile(r"(^|[^a-z])(id|ids|uid|uuid|guid|key|index|idx|nr|no|rownum|row)([^a-z]|$)")
_CAMEL_ID = re.compile(r"[a-z](Id|ID|Key|Index|Nr|No)$")
_CODE = re.compile(
    r"(^|[^a-z])(code|type|category|class|kind|zip|postcode|port|proto|protocol|status|state|"
    r"country|region|group)([^a-z]|$)"
)
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]+", re.ASCII)
# 2000-01-01 to 2100-01-01, in seconds since 1970.
_FIRST_S, _LAST_S = 946_684_800, 4_102_444_800
_UNITS = {"seconds": 1, "milliseconds": 1_000, "microseconds": 10**6, "nanoseconds": 10**9}
_FEWEST_ROWS = 5
_MOST_CATEGORIES = 30
_ROWS_PER_CATEGORY = 4
_LEAST_CODE = 100
MOST_SPREAD = 1000.0


def suspicious_columns(
    table: Table, features: Sequence[int], X: FloatArray, *, scaled: bool
) -> list[Note]:
    """Return a note for each feature that is probably none, and for those that rule distances.

    Parameters
    ----------
    table : Table
        Where the features come from.
    features : sequence of int
        Their columns in the table.
    X : array (N, M)
        Their values.
    scaled : bool
        Whether features will be scaled, so that their spread does not matter.
    """
    notes = []
    for position, column in enumerate(features):
        found = _suspicion(table, column, X[:, position])
        if found is not None:
            notes.append(_note(table, column, *found))
    if not scaled:
        told = {note.position for note in notes}
        judged = [position for position, column in enumerate(features) if column not in told]
        notes += [
            _note(table, features[judged[position]], "SPREAD", text)
            for position, text in _spreads(X[:, judged])
        ]
    return notes


def _note(table: Table, column: int, reason: str, text: str) -> Note:
    name = table.names[column]
    shown = f"column {name!r}" if table.has_names else f"column {name} (counted from 0)"
    return Note(reason, name, f"{table.path}, {shown} {text}", column)


def _suspicion(table: Table, column: int, values: FloatArray) -> tuple[str, str] | None:
    """Return reason and text for a column that is probably no feature."""
    N = len(values)
    leave = "; leave it out with --ignore, or show it to labelers with --show"
    if N < 2:
        return None
    if np.all(values == values[0]):
        return "CONSTANT_COLUMN", f"has the value {table.text(column)[0]} in every row{leave}"
    if N < _FEWEST_ROWS or not np.all(values == np.floor(values)):
        return _time(values, leave) if N >= _FEWEST_ROWS else None
    name = table.names[column] if table.has_names else ""
    distinct = np.unique(values)
    with np.errstate(over="ignore"):
        counts = np.all(np.diff(values) == 1)
    if counts or (len(distinct) == N and (_ID.search(name.lower()) or _CAMEL_ID.search(name))):
        how = "counts the rows" if counts else "has a different whole number in each row"
        return "ID_COLUMN", f"{how}, like ids; give --id-column, or leave it out with --ignore"
    time = _time(values, leave) or _date(values, leave)
    if time is not None:
        return time
    if any(map(_LEADING_ZERO.fullmatch, table.text(column))):
        return "CATEGORY_COLUMN", f"has numbers with leading zeros, like codes{leave}"
    few = 2 < len(distinct) <= min(_MOST_CATEGORIES, N // _ROWS_PER_CATEGORY)
    if len(distinct) == 2 and np.min(np.abs(distinct)) >= _LEAST_CODE:
        few = True
    if few and (_CODE.search(name.lower()) or np.min(np.abs(distinct)) >= _LEAST_CODE):
        return "CATEGORY_COLUMN", (
            f"has {len(distinct)} different whole numbers, like codes of categories, whose "
            f"differences mean nothing{leave}"
        )
    return None


def _time(values: FloatArray, leave: str) -> tuple[str, str] | None:
    for unit, factor in _UNITS.items():
        if np.all((values >= _FIRST_S * factor) & (values < _LAST_S * factor)):
            return "TIME_COLUMN", f"looks like times in {unit} since 1970{leave}"
    return None


def _date(values: FloatArray, leave: str) -> tuple[str, str] | None:
    year, month, day = values // 10_000, values // 100 % 100, values % 100
    dates = (year >= 1900) & (year < 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    if np.all(dates):
        return "TIME_COLUMN", f"looks like dates written as numbers{leave}"
    return None


def _spreads(X: FloatArray) -> Iterator[tuple[int, str]]:
    """Yield the columns whose spread differs from the median of the others beyond the limit."""
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = np.array([_spread(column) for column in X.T])
    known = np.flatnonzero((spreads > 0) & np.isfinite(spreads))
    for position in known:
        others = spreads[known[known != position]]
        if not len(others):
            continue
        with np.errstate(over="ignore", under="ignore"):
            ratio = float(spreads[position] / np.median(others))
        if MOST_SPREAD < ratio < np.inf:
            yield (
                int(position),
                (
                    f"has {ratio:,.0f} times the spread of the others and dominates all "
                    f"distances; leave out --scaling none"
                ),
            )
        elif len(others) > 1 and 0 < ratio < 1 / MOST_SPREAD:
            yield (
                int(position),
                (
                    f"has 1/{1 / ratio:,.0f} of the spread of the others and hardly affects "
                    f"distances; leave out --scaling none"
                ),
            )


def _spread(values: FloatArray) -> float:
    """Return the distance of the quartiles; of wider quantiles where these are one."""
    for low, high in ((25, 75), (5, 95), (0, 100)):
        one, other = np.percentile(values, [low, high])
        if other > one:
            return float(other - one)
    return 0.0
