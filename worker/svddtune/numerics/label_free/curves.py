"""Fits of one sample at one outlier share along gamma, for rules that read such a curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.label_free.edges import outward
from svddtune.numerics.preparation import default_gamma_bounds
from svddtune.numerics.solver import make_problem
from svddtune.numerics.svdd import SvddModel, c_from_nu, fit_all, nu_from_c
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray

PRECISION = 1e-7
"""Of an alpha: the distance from a bound within which it counts as at the bound, as in SVDD.jl."""

FIT_ROWS = 500
"""Rows that are fitted where there are more: these rules fit tens of times."""

CURVE_POINTS = 25
OUTLIER_SHARE = 0.05
"""nu where no C is given."""


@dataclass(frozen=True, slots=True)
class FitCurve:
    """Fits along gamma.

    Attributes
    ----------
    gammas : FloatArray, shape (G,)
        Ascending.
    X : FloatArray, shape (n, M)
        The fitted rows.
    nu : float
    models : tuple of SvddModel, length G
    alphas : FloatArray, shape (G, n)
    distance2 : FloatArray, shape (G, n)
        Squared feature-space distances to the center.
    """

    gammas: FloatArray
    X: FloatArray
    nu: float
    models: tuple[SvddModel, ...]
    alphas: FloatArray
    distance2: FloatArray

    @property
    def support_vectors(self) -> IndexArray:
        """Number of rows with a positive alpha, shape (G,)."""
        return np.asarray(self.supports().sum(axis=1))

    def supports(self) -> BoolArray:
        """Rows with a positive alpha, shape (G, n)."""
        return np.asarray(self.alphas > PRECISION)


def outlier_share(C: float | None, N: int) -> float:
    """Outlier share nu of a given C (at least 1/N, above 1 as 1), or the default."""
    if C is None:
        return max(OUTLIER_SHARE, 1.0 / N)
    return nu_from_c(min(C, 1.0), N)


def gamma_grid(X: FloatArray, points: int = CURVE_POINTS) -> FloatArray:
    """Even grid in log(gamma) over `default_gamma_bounds`, shape (points,)."""
    return np.geomspace(*default_gamma_bounds(X), points)


def draw(X: FloatArray, limit: int, rng: np.random.Generator) -> FloatArray:
    """All rows, or `limit` of them drawn uniformly."""
    return X if len(X) <= limit else X[np.sort(rng.choice(len(X), limit, replace=False))]


def fit_curve(X: FloatArray, gammas: FloatArray, nu: float) -> FitCurve:
    """Fit the rows at every gamma with the same outlier share.

    Parameters
    ----------
    X : FloatArray, shape (n, M)
        Rows to fit, finite.
    gammas : FloatArray, shape (G,)
        Inverse squared distances, positive, ascending.
    nu : float
        In (0, 1]; below 1/n it acts as 1/n, the hard margin.

    Returns
    -------
    FitCurve
    """
    n = len(X)
    C = np.array([c_from_nu(nu, n)])
    models, alphas = [], np.zeros((len(gammas), n))
    distance2 = np.zeros((len(gammas), n))
    for g, gamma in enumerate(gammas):
        problem = make_problem(X, gamma=float(gamma))
        fits = fit_all(problem, C, n)
        models.append(fits.models[0])
        alphas[g, problem.rows], distance2[g, problem.rows] = fits.alphas[0], fits.distance2[0]
    return FitCurve(gammas, X, nu, tuple(models), alphas, distance2)


def undefined(X: FloatArray) -> bool:
    """Tell whether the rows are too few or too equal for any curve."""
    return len(X) < 3 or not bool(np.ptp(X, axis=0).any())


def curve_of(
    X: FloatArray, rng: np.random.Generator, C: float | None, *, points: int = CURVE_POINTS
) -> FitCurve | None:
    """Fit a sample of the rows along gamma, as most rules do.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    rng : np.random.Generator
        Draws `FIT_ROWS` rows where there are more.
    C : float or None
        See `outlier_share`.
    points : int
        Of `gamma_grid`.

    Returns
    -------
    FitCurve or None
        None where the data are too few or all equal.
    """
    if undefined(X):
        return None
    rows = draw(X, FIT_ROWS, rng)
    return fit_curve(rows, gamma_grid(X, points), outlier_share(C, len(X)))


def edged_curve(
    X: FloatArray, rng: np.random.Generator, C: float | None
) -> tuple[FitCurve, BoolArray] | None:
    """`curve_of` and which of the fitted rows are on the edge, shape (n,).

    None also where all fitted rows or none are on the edge. Edge rows are those of `outward`.
    """
    curve = curve_of(X, rng, C)
    if curve is None:
        return None
    edge = outward(curve.X).edge
    return None if edge.all() or not edge.any() else (curve, edge)
