"""Rules that make outliers up and choose the gamma that rejects them and keeps the rows."""

from __future__ import annotations

import numpy as np

from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.label_free.artificial import ARTIFICIAL_ROWS, least_error_gamma
from svddtune.numerics.label_free.curves import curve_of
from svddtune.numerics.label_free.edges import outward
from svddtune.numerics.types import FloatArray

ENLARGEMENT = 0.5
"""Of the box of skewed outliers on each side, in ranges of the column, where there is no skew."""


def counter_examples(X: FloatArray) -> FloatArray:
    """Move every row through the edge row that is nearest to it, and out of the data.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        N >= 2.

    Returns
    -------
    FloatArray, shape (N, M)
        x + (|b - x| + l) (b - x)/|b - x| with b the nearest edge row and l the mean over edge
        rows of their mean distance to their neighbours. An edge row moves by l away from its own
        neighbours. Empty where no row is on the edge.

    Notes
    -----
    Source: Bánhalmi, Kocsor, Busa-Fekete, *Counter-example generation-based one-class
    classification* (2007). Edge rows are those of `outward`; the original finds them by linear
    separability of the neighbours' directions, and l, which bends with the boundary there, is
    a parameter.
    """
    found = outward(X)
    edge = np.flatnonzero(found.edge)
    if len(edge) == 0:
        return X[:0]
    length = found.distance[edge].mean()
    nearest = edge[squared_distances(X, X[edge]).argmin(axis=1)]
    ray = X[nearest] - X
    far = np.sqrt(np.square(ray).sum(axis=1, keepdims=True))
    direction = np.where(far > 0.0, ray / np.where(far > 0.0, far, 1.0), found.direction[nearest])
    return np.asarray(X + (far + length) * direction)


def skewed_outliers(X: FloatArray, n: int, *, rng: np.random.Generator) -> FloatArray:
    """Draw rows uniformly from a box that reaches farther on the side of each column's tail.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    n : int
        Rows to draw.
    rng : np.random.Generator
        The only source of randomness.

    Returns
    -------
    FloatArray, shape (n, M)
        With the skewness g of a column and s = g/(1 + |g|), its side of the box is the range of
        the column, longer by `ENLARGEMENT` (1 - s) ranges below and (1 + s) above.

    Notes
    -----
    Source: Deng and Xu, *Model selection for anomaly detection in wireless ad hoc networks*
    (2007), which proposes a "skewness-based outlier generation". Only its abstract was at hand:
    how the skewness enters is our reading.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    deviation = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    skewness = (scaled**3).mean(axis=0)
    tilt = skewness / (1.0 + np.abs(skewness))
    reach = ENLARGEMENT * (high - low)
    return rng.uniform(low - reach * (1.0 - tilt), high + reach * (1.0 + tilt), (n, X.shape[1]))


def counter_example_gamma(
    X: FloatArray, *, rng: np.random.Generator, C: float | None = None
) -> float | None:
    """The gamma with the least mean of both error rates, `counter_examples` as the outliers.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    rng : np.random.Generator
        Draws `FIT_ROWS` rows where there are more.
    C : float, optional
        Sets the outlier share nu = 1/(N C), 0.05 by default.

    Returns
    -------
    float or None
        The smallest gamma where several are equally good. None where the data are too few or all
        equal, or no row is on the edge.

    Notes
    -----
    Both error rates are those of `artificial_gamma`. The original trains a two-class SVM on rows
    and counter-examples; here they choose the gamma of an SVDD, as the LAMA paper's related work
    has it.
    """
    curve = curve_of(X, rng, C)
    if curve is None:
        return None
    outliers = counter_examples(curve.X)
    return least_error_gamma(curve, outliers) if len(outliers) else None


def skewed_outlier_gamma(
    X: FloatArray, *, rng: np.random.Generator, C: float | None = None
) -> float | None:
    """The gamma with the least mean of both error rates, `skewed_outliers` as the outliers.

    Parameters
    ----------
    X, rng, C
        As in `counter_example_gamma`; `rng` also draws the outliers.

    Returns
    -------
    float or None
        The smallest gamma where several are equally good. None where the data are too few or all
        equal.
    """
    curve = curve_of(X, rng, C)
    if curve is None:
        return None
    return least_error_gamma(curve, skewed_outliers(X, ARTIFICIAL_ROWS, rng=rng))
