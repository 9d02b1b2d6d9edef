"""SVDD through the one-class SVM, and the conversion between C and nu.

SVDD: minimise alpha^T K alpha over sum(alpha) = 1, 0 <= alpha <= C. With a kernel of constant
diagonal that is the one-class SVM with nu = 1 / (n C); libsvm's duals are alpha nu n, in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.kernel import gram as kernel_matrix
from svddtune.numerics.mapped import Rows
from svddtune.numerics.neighbors import distinct_rows
from svddtune.numerics.solver import Problem, is_degenerate, make_problem, solve
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray

BOUNDARY_TOLERANCE = 1e-5
"""Rows outside by less than this squared feature-space distance lie on the boundary: inliers.
Two orders above the solver's own error, `solver.SOLVER_ERROR`."""

_AT_BOUND = 1e-10  # of a libsvm dual, in [0, 1]
_ROUNDING = 1e-9
_ABOVE_DEGENERATE = 1e-6  # of 1/N
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class SvddModel:
    """A fitted description of the data.

    Attributes
    ----------
    gamma : float
        Kernel parameter, in inverse squared distances.
    C : float
        Upper bound of an alpha, in [1/N, 1].
    nu : float
        1 / (N C), in (0, 1].
    rows : IndexArray, shape (S,)
        Support vectors, ascending, as rows of the data.
    support : FloatArray, shape (S, M)
        The support vectors themselves.
    alphas : FloatArray, shape (S,)
        Positive, sum 1. Bounded by C, or by C N / n where a sub-sample of n rows was fitted.
    R2 : float
        Squared radius in feature space.
    center_norm2 : float
        alpha^T K alpha, squared norm of the center.
    degenerate : bool
        True at nu = 1, where no row lies between the bounds: R2 is 0 and every row is outside.
    fit_rows : IndexArray or None
        Rows of the uniform sub-sample that was fitted; None when all rows were.
    """

    gamma: float
    C: float
    nu: float
    rows: IndexArray
    support: FloatArray
    alphas: FloatArray
    R2: float
    center_norm2: float
    degenerate: bool
    fit_rows: IndexArray | None

    def distance2(self, X: Rows) -> FloatArray:
        """Squared feature-space distance of the rows of `X`, shape (n, M), to the center."""
        step = max(1, _BLOCK // len(self.rows))
        with np.errstate(over="ignore"):  # of rows so far away that the kernel is 0
            similarity = [
                kernel_matrix(X[a : a + step], self.support, gamma=self.gamma) @ self.alphas
                for a in range(0, len(X), step)
            ]
        return np.asarray(1.0 - 2.0 * np.concatenate(similarity) + self.center_norm2)

    def outside(self, X: Rows) -> BoolArray:
        """Tell which rows of `X`, shape (n, M), are outliers; boundary rows are not."""
        return beyond(self.distance2(X), self.R2, self.degenerate)


@dataclass(frozen=True, slots=True)
class Fits:
    """Fits of one problem, in the order of C.

    Attributes
    ----------
    models : tuple of SvddModel, length S
    alphas : FloatArray, shape (S, n)
        In the order of the problem's rows.
    distance2 : FloatArray, shape (S, n)
        Squared distances of these rows to each center.
    """

    models: tuple[SvddModel, ...]
    alphas: FloatArray
    distance2: FloatArray


def beyond(
    distance2: FloatArray, R2: float | FloatArray, degenerate: bool | BoolArray
) -> BoolArray:
    """Outside means distance^2 > R^2 + tolerance; everything is outside a degenerate model."""
    return np.asarray((distance2 > R2 + BOUNDARY_TOLERANCE) | degenerate)


def classify(problem: Problem, fits: Fits, X: FloatArray | None = None) -> BoolArray:
    """Tell which rows each model of `fits` has outside.

    Parameters
    ----------
    problem : Problem
        That `fits` solve.
    fits : Fits
        Models to classify by.
    X : FloatArray, shape (n, M), optional
        By default the fitted rows, in the order of the data; then all rows have to be fitted.

    Returns
    -------
    BoolArray, shape (S, n)
    """
    if X is None:
        distance2 = np.empty_like(fits.distance2)
        distance2[:, problem.rows] = fits.distance2
    else:
        norms2 = np.array([[model.center_norm2] for model in fits.models])
        distance2 = 1.0 - 2.0 * problem.similarity(fits.alphas, X) + norms2
    R2 = np.array([[model.R2] for model in fits.models])
    degenerate = np.array([[model.degenerate] for model in fits.models])
    return beyond(distance2, R2, degenerate)


def nu_from_c(C: float, N: int) -> float:
    """Convert C to nu = 1 / (N C), in [1/N, 1].

    Parameters
    ----------
    C : float
        In [1/N, 1]. Above 1 the bound could not bind (the alphas sum to 1); pass 1 instead.
    N : int
        Rows of the data.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Where `C` is outside its range: below 1/N the alphas cannot sum to 1.
    """
    if not (1.0 - _ROUNDING) / N <= C <= 1.0 + _ROUNDING:
        raise ValueError(f"C is {C}, expected a value in [1/N, 1] = [{1.0 / N}, 1]")
    return min(1.0, max(1.0 / N, 1.0 / (N * C)))


def c_from_nu(nu: float, N: int) -> float:
    """Convert nu to C = 1 / (N nu), in [1/N, 1].

    Parameters
    ----------
    nu : float
        In (0, 1]; below 1/N it acts as 1/N, the hard margin.
    N : int
        Rows of the data.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `nu` is not in (0, 1].
    """
    if not 0.0 < nu <= 1.0 + _ROUNDING:
        raise ValueError(f"nu is {nu}, expected a value in (0, 1]")
    return min(1.0, max(1.0 / N, 1.0 / (N * nu)))


def fit(
    X: Rows, *, gamma: float, C: float, gram: FloatArray | None = None, seed: int = 0
) -> SvddModel:
    """Fit SVDD to all rows.

    Parameters
    ----------
    X : FloatArray or MappedRows, shape (N, M)
        Observations, finite.
    gamma : float
        Positive.
    C : float
        In [1/N, 1].
    gram : FloatArray, shape (N, N), optional
        Kernel matrix at `gamma`, to share it between several C; ignored where a sub-sample is
        fitted.
    seed : int
        Draws the sub-sample above `solver.FIT_LIMIT` rows.

    Returns
    -------
    SvddModel

    Notes
    -----
    Deviation: above `solver.FIT_LIMIT` rows a uniform sub-sample of n = `solver.FIT_SAMPLE` rows
    is fitted with the same nu, that is with C N / n as the bound of an alpha.
    """
    nu_from_c(C, len(X))  # an infeasible C should not cost a kernel matrix
    problem = make_problem(X, gamma=gamma, gram=gram, seed=seed)
    return fit_all(problem, np.array([C]), len(X)).models[0]


def fit_all(problem: Problem, C: FloatArray, N: int) -> Fits:
    """Fit several C, shape (S,), to one problem; N is the number of rows of the data."""
    return fits_of(problem, C, N, np.array([duals_at(problem, float(c), N) for c in C]))


def duals_at(problem: Problem, C: float, N: int) -> FloatArray:
    """Duals of the fit of one C, shape (n,); see `solver.solve`."""
    return solve(problem, max(nu_from_c(C, N), 1.0 / problem.n))


def at_bound(duals: FloatArray) -> BoolArray:
    """Rows whose dual is as large as it may be: those that are outside, and some on the edge."""
    return np.asarray(duals >= 1.0 - _AT_BOUND)


def fits_of(problem: Problem, C: FloatArray, N: int, duals: FloatArray) -> Fits:
    """The fits of several C, shape (S,), from their duals, shape (S, n)."""
    nu = np.array([nu_from_c(float(c), N) for c in C])
    nu_fit = np.maximum(nu, 1.0 / problem.n)
    alphas = duals / duals.sum(axis=1, keepdims=True)
    similarity = problem.similarity(alphas)
    norms2 = (alphas * similarity).sum(axis=1)
    distance2 = 1.0 - 2.0 * similarity + norms2[:, None]
    fit_rows = np.sort(problem.rows) if problem.sampled else None
    models = []
    for s, bounded in enumerate(nu_fit):
        degenerate = is_degenerate(problem.n, float(bounded))
        chosen = np.flatnonzero(alphas[s])
        chosen = chosen[np.argsort(problem.rows[chosen])]
        models.append(
            SvddModel(
                gamma=problem.gamma,
                C=float(C[s]),
                nu=float(nu[s]),
                rows=problem.rows[chosen],
                support=problem.Z[chosen],
                alphas=alphas[s, chosen],
                R2=0.0 if degenerate else _radius2(distance2[s], duals[s]),
                center_norm2=float(norms2[s]),
                degenerate=degenerate,
                fit_rows=fit_rows,
            )
        )
    return Fits(tuple(models), alphas, distance2)


def hard_margin(
    X: FloatArray, *, gamma: float, gram: FloatArray | None = None, seed: int = 0
) -> SvddModel:
    """Fit with C = 1: no row is outside (up to a sub-sample's error). Parameters as in `fit`."""
    return fit(X, gamma=gamma, C=1.0, gram=gram, seed=seed)


def c_upper_bound(model: SvddModel, X: FloatArray) -> float:
    """Smallest C at which no row is outside: the largest alpha that the hard margin needs.

    Parameters
    ----------
    model : SvddModel
        From `hard_margin`.
    X : FloatArray, shape (N, M)
        The data it was fitted to.

    Returns
    -------
    float
        In (1/N, 1]; 1 for a single row.

    Notes
    -----
    Deviation: the paper bisects. The hard-margin solution stays optimal until the box touches
    its largest alpha, so one fit gives the bound exactly. What the solution fixes is the mass of a
    group of equal rows. The solver puts it on any of them; the box is touched last where it is
    spread evenly.

    Where all alphas are 1/N the bound is 1/N, at which no solution fixes a radius; then the value
    is larger by a millionth.
    """
    N = len(X)
    fitted = np.arange(N) if model.fit_rows is None else model.fit_rows
    _, group = distinct_rows(X[fitted])
    size = np.bincount(group)
    own = group[np.searchsorted(fitted, model.rows)]
    mass = np.bincount(own, weights=model.alphas, minlength=len(size))
    largest = float((mass / size).max()) * (len(fitted) / N)
    return min(1.0, max((1.0 + _ABOVE_DEGENERATE) / N, largest))


def sklearn_parameters(model: SvddModel) -> dict[str, float]:
    """Parameters of the `sklearn.svm.OneClassSVM` that equals the model.

    Its decision values are nu n / 2 (R^2 - distance^2), so rows on the boundary come out as zero
    up to its solver's tolerance, on either side: pass a small ``tol`` and accept -1e-5 nu n / 2.
    """
    n = round(1.0 / (model.nu * model.C)) if model.fit_rows is None else len(model.fit_rows)
    return {"gamma": model.gamma, "nu": max(model.nu, 1.0 / n)}


def _radius2(distance2: FloatArray, duals: FloatArray) -> float:
    """R^2: the largest distance^2 of the rows strictly between the bounds.

    Where no row is, any value between the rows inside and those outside is optimal: the middle.
    """
    free = (duals > _AT_BOUND) & (duals < 1.0 - _AT_BOUND)
    if free.any():
        return max(0.0, float(distance2[free].max()))
    inner, outer = distance2[duals <= _AT_BOUND], distance2[duals >= 1.0 - _AT_BOUND]
    if len(inner) == 0 or len(outer) == 0:
        return max(0.0, float(distance2.max()))
    return max(0.0, 0.5 * float(inner.max() + outer.min()))
