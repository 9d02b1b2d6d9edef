"""Closed formulas and pairwise statistics for gamma; no fit, no labels."""

from __future__ import annotations

from typing import Literal

import numpy as np

from svddtune.numerics.alignment import best_gamma
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.preparation import default_gamma_bounds
from svddtune.numerics.types import FloatArray

PAIR_ROWS = 1000
"""Rows whose pairs stand for all pairs where there are more."""

_MEAN_DELTA = np.sqrt(2.0) * 1e-6
_MEAN_EPSILON = 1e-6


def mean_gamma(X: FloatArray) -> float | None:
    """Mean criterion: s^2 = 2 N sum_j var_j / ((N-1) ln((N-1)/delta^2)), delta = sqrt(2) 1e-6.

    The numerator over N - 1 is the mean squared distance of two rows.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.

    Returns
    -------
    float or None
        In inverse squared units of X; None where all rows are equal or there is one only.

    Notes
    -----
    Source: Chaudhuri et al., *The mean and median criteria for kernel bandwidth selection for
    support vector data description* (2017), as described with the LAMA paper.
    """
    return _mean_gamma(X, float(_MEAN_DELTA))


def modified_mean_gamma(X: FloatArray) -> float | None:
    """Modified mean criterion: the mean criterion with a delta that depends on N.

    With p = 1/ln(N-1), delta = -0.14818008 p^4 + 0.284623624 p^3 - 0.252853808 p^2
    + 0.159059498 p - 0.001381145.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.

    Returns
    -------
    float or None
        None as in `mean_gamma`, and for N = 2, where p is not finite.

    Notes
    -----
    Source: Liao et al., *A new bandwidth selection criterion for using SVDD to analyze
    hyperspectral data* (2018), as described with the LAMA paper.
    """
    if len(X) < 3:
        return None
    p = 1.0 / np.log(len(X) - 1.0)
    coefficients = (-0.14818008, 0.284623624, -0.252853808, 0.159059498, -0.001381145)
    return _mean_gamma(X, float(np.polyval(coefficients, p)))


def variation_gamma(
    X: FloatArray,
    *,
    rng: np.random.Generator,
    ratio: Literal["coefficient", "dispersion"] = "coefficient",
) -> float | None:
    """Maximise the spread of the off-diagonal kernel entries relative to their mean.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    rng : np.random.Generator
        Draws `PAIR_ROWS` rows where there are more.
    ratio : {"coefficient", "dispersion"}
        coefficient: standard deviation / mean. dispersion: variance / mean.

    Returns
    -------
    float or None
        Within `default_gamma_bounds`; None where all rows are equal or there are fewer than 3.

    Raises
    ------
    ValueError
        If `ratio` is unknown.

    Notes
    -----
    Both means carry an added 1e-6 against underflow. The coefficient mostly grows with gamma as
    fewer and fewer pairs keep a similarity, so it tends to end at the upper bound; the
    dispersion has its maximum inside more often.

    Source: Evangelista, Embrechts, Szymanski, *Some properties of the Gaussian kernel for one
    class learning* (2007). The paper was not at hand: "coefficient" follows its description with
    the LAMA paper, "dispersion" the form in which later comparisons of bandwidth rules quote it.
    """
    if ratio not in ("coefficient", "dispersion"):
        raise ValueError(f"ratio is {ratio!r}, expected 'coefficient' or 'dispersion'")
    if len(X) < 3 or not np.ptp(X, axis=0).any():
        return None
    bounds = default_gamma_bounds(X)
    if len(X) > PAIR_ROWS:
        X = X[rng.choice(len(X), PAIR_ROWS, replace=False)]
    D2 = squared_distances(X, X)[np.triu_indices(len(X), 1)]
    power = 1 if ratio == "coefficient" else 2

    def objective(gammas: FloatArray) -> FloatArray:
        values = np.empty(len(gammas))
        for g, gamma in enumerate(gammas):
            K = np.exp(-gamma * D2)
            values[g] = K.std() ** power / (K.mean() + _MEAN_EPSILON)
        return values

    return best_gamma(objective, bounds)[0]


def _mean_gamma(X: FloatArray, delta: float) -> float | None:
    N = len(X)
    if N < 2 or not np.ptp(X, axis=0).any():
        return None
    distance2 = 2.0 * N / (N - 1.0) * float(X.var(axis=0).sum())
    logarithm = float(np.log((N - 1.0) / delta**2))
    return 0.5 * logarithm / distance2
