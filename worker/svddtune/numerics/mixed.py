"""Queries that serve two detectors: three by the knowledge gradient, then one uncertain row.

The knowledge gradient tells the cells of the atlas apart, which is what the tuned SVDD needs. The
refined detector learns the border between the classes, and needs rows near it. (Random rows in turn
with these help the refined detector no more, and cost the tuned SVDD.)

A row is uncertain where a support vector machine on the labels is near its border. Both classes
weigh alike in it, whatever the numbers of their labels; it sees the belief's representation with
standardised columns. It costs some milliseconds; the refined detector's trees would cost a hundred.
Of many labels it sees a sample with half of each class, as far as there are so many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from svddtune.numerics.belief import BeliefBasis
from svddtune.numerics.border import Border
from svddtune.numerics.types import OUTLIER, FloatArray, IndexArray, LabelArray, labelled_rows

MixedRule = Literal["knowledge_gradient", "uncertain"]
MIXED_TURNS: tuple[MixedRule, ...] = (
    "uncertain",
    "knowledge_gradient",
    "knowledge_gradient",
    "knowledge_gradient",
)
BORDER_LABELS = 200
"""More labels than this are sampled for the border."""


def mixed_turns(asked: int) -> tuple[MixedRule, ...]:
    """Rules of the next places, after `asked` labels and open queries."""
    first = asked % len(MIXED_TURNS)
    return MIXED_TURNS[first:] + MIXED_TURNS[:first]


def border_distance(basis: BeliefBasis, labels: LabelArray) -> FloatArray:
    """Distance of the panel's rows to the border between the labelled classes, in margins.

    Parameters
    ----------
    basis : BeliefBasis
        Of the data.
    labels : LabelArray, shape (N,)
        The oracle's labels, of both classes.

    Returns
    -------
    FloatArray, shape (P,)
        Not negative; 0 on the border.
    """
    rows = border_rows(labels)
    panel = basis.X[basis.panel]
    center, scale = panel.mean(axis=0), panel.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    known, panel = (basis.X[rows] - center) / scale, (panel - center) / scale
    return np.abs(Border.fit(known, labels[rows]).beyond(panel))


def border_rows(labels: LabelArray) -> IndexArray:
    """Labelled rows that the border is found with, ascending."""
    rows = labelled_rows(labels)
    if len(rows) <= BORDER_LABELS:
        return rows
    drawn = np.random.default_rng(0).permutation(rows)
    outside = labels[drawn] == OUTLIER
    inliers, outliers = drawn[~outside], drawn[outside]
    half = BORDER_LABELS // 2
    count = max(half, BORDER_LABELS - len(inliers)) if len(outliers) > half else len(outliers)
    return np.sort(np.concatenate((outliers[:count], inliers[: BORDER_LABELS - count])))


def take_turns(rankings: Sequence[IndexArray], reserve: int) -> IndexArray:
    """Rank by several rankings in turn, each row once.

    Parameters
    ----------
    rankings : sequence of IndexArray
        Best first; each has all rows, or at least `reserve`.
    reserve : int
        Largest number of places.

    Returns
    -------
    IndexArray, shape (n,)
        The first place is the first ranking's best.
    """
    left = [iter(ranking.tolist()) for ranking in rankings]
    placed: dict[int, None] = {}
    for place in range(min(reserve, max(map(len, rankings)))):
        turn = left[place % len(left)]
        row = next((row for row in turn if row not in placed), None)
        if row is None:
            break
        placed[row] = None
    return np.array(list(placed), dtype=np.int64)
