"""Values of gamma that need no labels: gamma = 1 / (2 s^2) for a bandwidth s."""

from __future__ import annotations

import numpy as np

from svddtune.numerics.types import FloatArray


def scott_gamma(X: FloatArray) -> float:
    """Scott's rule, s = d N^(-1/(M+4)).

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.

    Returns
    -------
    float
        In inverse squared units of X; 1 where all rows are equal.

    Notes
    -----
    Deviation: the rule assumes unit variance; here d, the mean attribute deviation, scales it.
    """
    N, M = X.shape
    return _gamma_from_bandwidth(X, float(N ** (-1.0 / (M + 4))))


def silverman_gamma(X: FloatArray) -> float:
    """Silverman's rule, s = d (N (M+2) / 4)^(-1/(M+4)).

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.

    Returns
    -------
    float
        In inverse squared units of X; 1 where all rows are equal.

    Notes
    -----
    Deviation: the rule assumes unit variance; here d, the mean attribute deviation, scales it.
    """
    N, M = X.shape
    return _gamma_from_bandwidth(X, float((N * (M + 2) / 4.0) ** (-1.0 / (M + 4))))


def sklearn_scale_gamma(X: FloatArray) -> float:
    """scikit-learn's ``gamma="scale"``: 1 / (M Var(X)) over all entries, 1 where all are equal.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.

    Returns
    -------
    float
    """
    if X.max() == X.min():  # their computed variance can be a rounding error
        return 1.0
    return float(1.0 / (X.shape[1] * X.var()))


def _gamma_from_bandwidth(X: FloatArray, unit_bandwidth: float) -> float:
    deviation = float(np.ptp(X, axis=0).any() and X.std(axis=0).mean())
    bandwidth2 = (deviation * unit_bandwidth) ** 2
    return 0.5 / bandwidth2 if bandwidth2 > 0.0 else 1.0
