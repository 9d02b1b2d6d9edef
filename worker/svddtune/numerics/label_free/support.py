"""Rules that count support vectors, follow the optimal value, or look at the boundary."""

from __future__ import annotations

import numpy as np

from svddtune.numerics.label_free.curves import (
    FitCurve,
    curve_of,
    draw,
    edged_curve,
    fit_curve,
    gamma_grid,
    outlier_share,
    undefined,
)
from svddtune.numerics.types import FloatArray

PEAK_POINTS = 40
RESAMPLES = 5
RESAMPLE_ROWS = 200
_NOISE = 1e-3  # of the largest second difference
_NO_ROOM = 1e-12


def peak_gamma(X: FloatArray, *, rng: np.random.Generator, C: float | None = None) -> float | None:
    """First s at which the second derivative of the dual's optimal value crosses zero.

    The optimal value 1 - alpha^T K alpha falls from 1 - 1/n to 0 as s grows: concave at first,
    convex later.

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
        gamma = 1/(2 s^2). None where the data are too few or all equal, or where the curve does
        not turn from concave to convex within `default_gamma_bounds`.

    Notes
    -----
    Second differences on a geometric grid of `PEAK_POINTS` values of s; the crossing is placed
    between its two grid points by a straight line. The original smooths a curve on an even grid.

    Source: Kakde et al., *Peak criterion for choosing Gaussian kernel bandwidth in support vector
    data description* (2017), as described with the LAMA paper.
    """
    curve = curve_of(X, rng, C, points=PEAK_POINTS)
    if curve is None:
        return None
    value = np.array([1.0 - model.center_norm2 for model in curve.models])
    s = first_inflection(1.0 / np.sqrt(2.0 * curve.gammas[::-1]), value[::-1])
    return None if s is None else 0.5 / s**2


def first_inflection(s: FloatArray, value: FloatArray) -> float | None:
    """First s at which the second derivative turns from negative to positive.

    Parameters
    ----------
    s : FloatArray, shape (P,)
        Ascending.
    value : FloatArray, shape (P,)
        Values at `s`.

    Returns
    -------
    float or None
    """
    slope = np.diff(value) / np.diff(s)
    second = 2.0 * np.diff(slope) / (s[2:] - s[:-2])
    concave = np.flatnonzero(second < -_NOISE * np.abs(second).max(initial=0.0))
    if len(concave) == 0:
        return None
    later = np.flatnonzero(second[concave[0] :] >= 0.0)
    if len(later) == 0:
        return None
    b = int(concave[0] + later[0])
    a = b - 1
    share = second[a] / (second[a] - second[b])
    return float(s[1 + a] + share * (s[1 + b] - s[1 + a]))


def bound_gamma(X: FloatArray, *, rng: np.random.Generator, C: float | None = None) -> float | None:
    """Smallest gamma at which the number of support vectors is the bound that C imposes.

    At least N nu rows are support vectors, whatever gamma is.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    rng, C
        As in `peak_gamma`; the bound is n nu, rounded up, on the n fitted rows.

    Returns
    -------
    float or None
        The smallest gamma of the grid that comes closest where none reaches the bound. None
        where the data are too few or all equal.

    Notes
    -----
    Source: Gurram and Kwon, *Support-vector-based hyperspectral anomaly detection using optimized
    kernel parameters* (2011), as described with the LAMA paper.
    """
    curve = curve_of(X, rng, C)
    if curve is None:
        return None
    excess = np.maximum(curve.support_vectors - np.ceil(curve.nu * len(curve.X) - 1e-9), 0)
    return float(curve.gammas[int(np.argmin(excess))])


def resampled_support_gamma(
    X: FloatArray, *, rng: np.random.Generator, C: float | None = None
) -> float | None:
    """The gamma with the smallest mean share of support vectors over resamples.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    rng : np.random.Generator
        Draws `RESAMPLES` times `RESAMPLE_ROWS` rows, or half the rows where that is less.
    C : float, optional
        As in `peak_gamma`.

    Returns
    -------
    float or None
        The smallest gamma where several are equally good. None where the data are too few or
        all equal.

    Notes
    -----
    Source: Banerjee, Burlina, Diehl, *A support vector method for anomaly detection in
    hyperspectral imagery* (2006), as described with the LAMA paper.
    """
    if undefined(X):
        return None
    nu, gammas = outlier_share(C, len(X)), gamma_grid(X)
    n = max(2, min(RESAMPLE_ROWS, len(X) // 2))
    counts = np.zeros(len(gammas))
    for _ in range(RESAMPLES):
        counts += fit_curve(draw(X, n, rng), gammas, nu).support_vectors
    return float(gammas[int(np.argmin(counts))])


def mies_gamma(X: FloatArray, *, rng: np.random.Generator, C: float | None = None) -> float | None:
    """MIES: keep interior rows far from the boundary and edge rows near it.

    Maximises (largest normalised distance of an interior row to the boundary) - (largest of an
    edge row).

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    rng, C
        As in `peak_gamma`.

    Returns
    -------
    float or None
        None where the data are too few or all equal, or where all rows or none are on the edge.

    Notes
    -----
    Edge rows are told apart as in `outward`, on the fitted rows. With the center a and the
    hyperplane <a, phi(x)> = rho that is the sphere's boundary on the unit sphere of the images,
    the distance (<a, phi(x)> - rho)/|a| is normalised by the largest possible, 1 - rho/|a|.

    Source: Xiao, Wang, Xu, *Parameter selection of Gaussian kernel for one-class SVM* (2015). The
    paper was not at hand: the criterion is as described with the LAMA paper, the normalisation
    from memory of it.
    """
    found = edged_curve(X, rng, C)
    if found is None:
        return None
    curve, edge = found
    inward = normalised_distance(curve)
    criterion = inward[:, ~edge].max(axis=1) - inward[:, edge].max(axis=1)
    return float(curve.gammas[int(np.argmax(criterion))])


def normalised_distance(curve: FitCurve) -> FloatArray:
    """Distance of the fitted rows to the boundary, at most 1, negative outside, shape (G, n)."""
    norm2 = np.array([[model.center_norm2] for model in curve.models])
    R2 = np.array([[model.R2] for model in curve.models])
    norm = np.sqrt(norm2)
    rho = 0.5 * (1.0 + norm2 - R2)
    room = np.maximum(norm - rho, _NO_ROOM)
    return np.asarray(0.5 * (R2 - curve.distance2) / room)
