"""A query strategy and a representation of one's own."""

import numpy as np

from svddtune.numerics import FloatArray, Ranked, Representation, Situation

KNOTS = 65


def farthest(situation: Situation) -> Ranked:
    """Rank the rows by their distance to the nearest labelled or open row."""
    rows = np.flatnonzero(situation.askable)
    known = np.union1d(np.flatnonzero(situation.labels), situation.open_rows)
    center = np.median(situation.X, axis=0, keepdims=True)
    anchors = situation.X[known] if len(known) else center
    distance = np.array(
        [np.sqrt(np.square(anchors - row).sum(axis=1)).min() for row in situation.X[rows]]
    )
    best = np.argsort(-distance, kind="stable")[: situation.reserve]
    return Ranked(rows[best], distance[best])


def signed_root(X: FloatArray) -> Representation:
    """Map every column to the root of its distance from the median, with its sign."""
    knots, values = [], []
    for column in X.T:
        center, reach = np.median(column), np.ptp(column) or 1.0
        steps = np.linspace(-1.0, 1.0, KNOTS)
        knots.append(center + reach * steps)
        values.append(np.sign(steps) * np.sqrt(np.abs(steps)))
    M = X.shape[1]
    return Representation("signed_root", np.zeros(M), np.ones(M), tuple(knots), tuple(values))
