"""The features of a question: their values, names and order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svddtune.client.types import Query
from svddtune.text import on_one_line

# Not more features than this are shown all at once.
FEW_FEATURES = 8


def shown_values(query: Query) -> dict[int, float]:
    """Return the values that the session shows, by column."""
    values = query.features.tolist()
    return dict(zip(query.columns or range(len(values)), values, strict=True))


def columns_first(query: Query) -> list[int]:
    """Return the columns to show at first: the unusual ones; where there are few, all."""
    values = shown_values(query)
    columns = [item.column for item in query.unusual]
    if len(values) <= FEW_FEATURES:
        columns += [column for column in values if column not in columns]
    return columns or list(values)


def feature_name(query: Query, names: Sequence[str], column: int) -> str:
    """Return the name of a column; `names` are those of the dataset, where they are known."""
    if query.names:
        return on_one_line(query.names[query.columns.index(column)])
    # (The name of a feature that another session hides is empty.)
    name = names[column] if column < len(names) else ""
    return on_one_line(name) or f"column {column}"


def name_shown(query: Query, names: Sequence[str], column: int) -> str:
    """Return the name that the query gives an unusual feature; else as `feature_name`."""
    unusual = next((item.name for item in query.unusual if item.column == column), "")
    return on_one_line(unusual) or feature_name(query, names, column)


def signed(deviation: float) -> str:
    """Return a deviation with its sign."""
    if math.isnan(deviation):
        return "-"
    if abs(deviation) >= 100:
        return ">+99" if deviation > 0 else "<-99"
    return f"{deviation:+.1f}"
