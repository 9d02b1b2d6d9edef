"""Uniform artificial outliers: the cell with the least mean of both estimated error rates."""

from __future__ import annotations

import numpy as np

from svddtune.numerics.label_free.curves import FitCurve, curve_of
from svddtune.numerics.types import FloatArray

ENLARGEMENT = 1.1
"""Radius of the ball of artificial outliers over that of the data."""

ARTIFICIAL_ROWS = 1000


def ball_outliers(
    X: FloatArray, n: int, *, rng: np.random.Generator, enlargement: float = ENLARGEMENT
) -> FloatArray:
    """Rows uniform in the enlarged bounding ball.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    n : int
        Rows to draw.
    rng : np.random.Generator
        The only source of randomness.
    enlargement : float
        Of the radius.

    Returns
    -------
    FloatArray, shape (n, M)

    Notes
    -----
    Deviation: the ball's center is the mean of the rows and its radius their largest distance to
    it; the original fits the smallest ball.
    """
    center = X.mean(axis=0)
    radius = enlargement * float(np.sqrt(np.square(X - center).sum(axis=1).max()))
    direction = rng.normal(size=(n, X.shape[1]))
    length = np.sqrt(np.square(direction).sum(axis=1, keepdims=True))
    distance = radius * rng.uniform(size=(n, 1)) ** (1.0 / X.shape[1])
    return np.asarray(center + direction / length * distance)


def artificial_gamma(
    X: FloatArray, *, rng: np.random.Generator, C: float | None = None
) -> float | None:
    """The gamma with the least mean of both error rates, artificial rows as the outliers.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    rng : np.random.Generator
        Draws `FIT_ROWS` rows where there are more, and `ARTIFICIAL_ROWS` artificial outliers.
    C : float, optional
        Sets the outlier share nu = 1/(N C), 0.05 by default.

    Returns
    -------
    float or None
        The smallest gamma where several are equally good. None where the data are too few or
        all equal.

    Notes
    -----
    The error on the targets is the share of support vectors, the leave-one-out bound: the rows'
    own rejections would favour the largest gamma, at which no row is outside. The error on the
    outliers is the share of artificial rows inside. In many dimensions nearly all of a ball lies
    near its surface, far from the data, and the rule favours small gamma.

    Source: Tax and Duin, *Uniform object generation for optimizing one-class classifiers* (2001),
    as described with the LAMA paper.
    """
    curve = curve_of(X, rng, C)
    if curve is None:
        return None
    return least_error_gamma(curve, ball_outliers(X, ARTIFICIAL_ROWS, rng=rng))


def least_error_gamma(curve: FitCurve, outliers: FloatArray) -> float:
    """The gamma with the least mean of both error rates.

    Parameters
    ----------
    curve : FitCurve
        Fits of the rows along gamma.
    outliers : FloatArray, shape (P, M)
        Artificial outliers.

    Returns
    -------
    float
        The smallest gamma where several are equally good.
    """
    accepted = np.array([1.0 - model.outside(outliers).mean() for model in curve.models])
    rejected = curve.support_vectors / len(curve.X)
    return float(curve.gammas[int(np.argmin(0.5 * (accepted + rejected)))])
