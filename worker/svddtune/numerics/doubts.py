"""What a user should know of data and labels before a result is trusted: one sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from svddtune.numerics.scores import class_counts, score
from svddtune.numerics.types import OUTLIER, FloatArray, LabelArray

FEW_ROWS = 20
"""Fewer rows than this are too few to judge a model by."""

_NAMED = 5  # columns that a sentence names


def data_notes(X: FloatArray, names: Sequence[str] = ()) -> Iterator[str]:
    """Say what is odd about the rows.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations in the units of the columns, finite.
    names : sequence of str, optional
        Of the columns; their numbers, from 0, where there are none.

    Yields
    ------
    str
        About few rows, rows that are all equal, constant columns, and columns that are equal.
    """
    N, M = X.shape
    if N < FEW_ROWS:
        have = "is 1 row" if N == 1 else f"are {N} rows"
        yield f"There {have}; a model of fewer than {FEW_ROWS} says little about new ones."
    constant = np.flatnonzero(np.ptp(X, axis=0) == 0.0).tolist()
    if len(constant) == M and N > 1:
        yield "All rows are equal, so no model can tell them apart."
        return
    if constant and N > 1:
        yield f"{_columns(constant, names)} constant and can tell no rows apart."
    first: dict[bytes, int] = {}
    repeated = []
    for column in range(M):
        if column not in constant:
            values = np.ascontiguousarray(X[:, column]).tobytes()
            if first.setdefault(values, column) != column:
                repeated.append(column)
    if repeated and N > 1:
        yield (
            f"{_columns(repeated, names)} equal to a column before, which so counts more than once."
        )


def label_notes(
    labels: LabelArray, predicted: LabelArray, best: float | None = None
) -> Iterator[str]:
    """Say where model and labels do not fit together.

    Parameters
    ----------
    labels : LabelArray, shape (N,)
        The oracle's labels.
    predicted : LabelArray, shape (N,)
        Of the chosen model: +1 inside, -1 outside.
    best : float, optional
        Largest kappa on the labels of any cell that could be chosen.

    Yields
    ------
    str
        With labels of both classes: where no cell, or not the chosen one, agrees with them better
        than chance, and where most rows are outside.
    """
    if min(class_counts(labels)) == 0:
        return
    kappa = float(score(labels, predicted, "kappa"))
    if max(kappa, kappa if best is None else best) <= 0.0:
        which = "The chosen model agrees" if best is None else "No cell agrees"
        yield (
            f"{which} with the labels {'no ' if best is None else ''}better than chance (kappa "
            f"{kappa:.2f}): labels may be wrong or swapped, or the columns may say nothing about "
            "them."
        )
    outside = int((predicted == OUTLIER).sum())
    if 2 * outside > len(labels):
        yield (
            f"The model calls {outside} of {len(labels)} rows outliers, more than half: check "
            "whether labels are swapped."
        )


def _columns(columns: Sequence[int], names: Sequence[str]) -> str:
    shown = [repr(str(names[one])) if len(names) else str(one) for one in columns[:_NAMED]]
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    if len(columns) == 1:
        return f"Column {shown[0]} is"
    return f"Columns {', '.join(shown)}{more} are"
