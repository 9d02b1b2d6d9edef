"""SVDD through the one-class SVM, and the only home of C <-> nu.

SVDD: minimise alpha^T K alpha over sum(alpha) = 1, 0 <= alpha <= C. With a kernel of constant
diagonal that is the one-class SVM with nu = 1 / (n C); libsvm's duals are alpha nu n, in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.svm import OneClassSVM

from svddtune.numerics.kernel import gram as kernel_matrix
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray

FIT_LIMIT = 10_000
FIT_SAMPLE = 4096
GRAM_LIMIT = 5000
BOUNDARY_TOLERANCE = 1e-5
"""Rows outside by less than this squared feature-space distance lie on the boundary: inliers.
Two orders above the solver's own error, see `_SOLVER_ERROR`."""

_SOLVER_ERROR = 1e-7  # of a squared feature-space distance
_AT_BOUND = 1e-10  # of a libsvm dual, in [0, 1]
_ROUNDING = 1e-9
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

    def distance2(self, X: FloatArray) -> FloatArray:
        """Squared feature-space distance of the rows of `X`, shape (n, M), to the center."""
        step = max(1, _BLOCK // len(self.rows))
        similarity = [
            kernel_matrix(X[a : a + step], self.support, gamma=self.gamma) @ self.alphas
            for a in range(0, len(X), step)
        ]
        return np.asarray(1.0 - 2.0 * np.concatenate(similarity) + self.center_norm2)

    def outside(self, X: FloatArray) -> BoolArray:
        """Tell which rows of `X`, shape (n, M), are outliers; boundary rows are not."""
        return beyond(self.distance2(X), self.R2, self.degenerate)


def beyond(
    distance2: FloatArray, R2: float | FloatArray, degenerate: bool | BoolArray
) -> BoolArray:
    """Outside means distance^2 > R^2 + tolerance; everything is outside a degenerate model."""
    return np.asarray((distance2 > R2 + BOUNDARY_TOLERANCE) | degenerate)


def nu_from_c(C: float, N: int) -> float:
    """Convert C to nu = 1 / (N C), in [1/N, 1].

    Parameters
    ----------
    C : float
        In [1/N, 1]. Above 1 the bound could not bind (the alphas sum to 1); pass 1 instead.
    N : int

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

    Returns
    -------
    float
    """
    if not 0.0 < nu <= 1.0 + _ROUNDING:
        raise ValueError(f"nu is {nu}, expected a value in (0, 1]")
    return min(1.0, max(1.0 / N, 1.0 / (N * nu)))


def fit(
    X: FloatArray, *, gamma: float, C: float, gram: FloatArray | None = None, seed: int = 0
) -> SvddModel:
    """Fit SVDD to all rows.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
    gamma : float
        Positive.
    C : float
        In [1/N, 1].
    gram : FloatArray, shape (n, n), optional
        Kernel matrix of the fitted rows at `gamma`, to share it between several C.
    seed : int
        Draws the sub-sample above `FIT_LIMIT` rows.

    Returns
    -------
    SvddModel

    Notes
    -----
    Deviation: above `FIT_LIMIT` rows a uniform sub-sample of n = `FIT_SAMPLE` rows is fitted with
    the same nu, that is with C N / n as the bound of an alpha.
    """
    nu = nu_from_c(C, len(X))
    if not 0.0 < gamma < np.inf:
        raise ValueError(f"gamma is {gamma}, expected a positive number")
    fit_rows = fitted_rows(len(X), seed)
    Z = X if fit_rows is None else X[fit_rows]
    n = len(Z)
    K = shared_gram(Z, gamma) if gram is None else gram
    nu_fit = max(nu, 1.0 / n)
    degenerate = nu_fit * n > n - _ROUNDING
    duals = np.ones(n) if degenerate else _solve(Z, K, gamma, nu_fit)
    alphas = duals / duals.sum()
    chosen = np.flatnonzero(alphas)
    model = SvddModel(
        gamma=float(gamma),
        C=float(C),
        nu=nu,
        rows=chosen if fit_rows is None else fit_rows[chosen],
        support=Z[chosen],
        alphas=alphas[chosen],
        R2=0.0,
        center_norm2=0.0,
        degenerate=degenerate,
        fit_rows=fit_rows,
    )
    if K is None:
        similarity = 0.5 * (1.0 - model.distance2(Z))
    else:
        similarity = K[:, chosen] @ alphas[chosen] if len(chosen) < n // 2 else K @ alphas
    center_norm2 = float(alphas @ similarity)
    R2 = 0.0 if degenerate else _radius2(1.0 - 2.0 * similarity + center_norm2, duals)
    return _with_radius(model, R2, center_norm2)


def hard_margin(
    X: FloatArray, *, gamma: float, gram: FloatArray | None = None, seed: int = 0
) -> SvddModel:
    """Fit with C = 1: no row is outside (up to a sub-sample's error). Parameters as in `fit`."""
    return fit(X, gamma=gamma, C=1.0, gram=gram, seed=seed)


def c_upper_bound(model: SvddModel, N: int) -> float:
    """Smallest C at which no row is outside: the largest alpha of the hard margin.

    Parameters
    ----------
    model : SvddModel
        From `hard_margin`.
    N : int
        Rows of the data.

    Returns
    -------
    float
        In [1/N, 1].

    Notes
    -----
    Deviation: the paper bisects. The hard-margin solution stays optimal until the box touches
    its largest alpha, so one fit gives the bound exactly.
    """
    n = N if model.fit_rows is None else len(model.fit_rows)
    return float(np.clip(model.alphas.max() * (n / N), 1.0 / N, 1.0))


def sklearn_parameters(model: SvddModel) -> dict[str, float]:
    """Parameters of the `sklearn.svm.OneClassSVM` that equals the model.

    Its decision values are nu n / 2 (R^2 - distance^2), so rows on the boundary come out as zero
    up to its solver's tolerance, on either side: pass a small ``tol`` and accept -1e-5 nu n / 2.
    """
    n = round(1.0 / (model.nu * model.C)) if model.fit_rows is None else len(model.fit_rows)
    return {"gamma": model.gamma, "nu": max(model.nu, 1.0 / n)}


def fitted_rows(N: int, seed: int) -> IndexArray | None:
    """Rows of the sub-sample that stands for N rows, ascending; None where all are fitted."""
    if N <= FIT_LIMIT:
        return None
    return np.sort(np.random.default_rng(seed).choice(N, FIT_SAMPLE, replace=False))


def shared_gram(Z: FloatArray, gamma: float) -> FloatArray | None:
    """Kernel matrix of the fitted rows, None where it would be too large to keep."""
    return kernel_matrix(Z, gamma=gamma) if len(Z) <= GRAM_LIMIT else None


def _solve(Z: FloatArray, K: FloatArray | None, gamma: float, nu: float) -> FloatArray:
    """Solve for the duals of libsvm, in [0, 1], sum nu n."""
    n = len(Z)
    svm = OneClassSVM(
        kernel="rbf" if K is None else "precomputed",
        gamma=gamma,
        nu=nu,
        # libsvm stops on gradients of the scaled problem: distance^2 is 2/(nu n) of them.
        # Its default 1e-3 misplaces boundary rows.
        tol=max(1e-9, 0.5 * _SOLVER_ERROR * nu * n),
        # Shrinking costs more than it saves at these sizes when the Gram matrix is shared.
        shrinking=False,
        cache_size=512,
    )
    # A shift leaves distances alone and keeps libsvm's expanded form accurate.
    svm.fit(Z - Z.mean(axis=0) if K is None else K)
    duals = np.zeros(n)
    duals[svm.support_] = svm.dual_coef_[0]
    return duals


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


def _with_radius(model: SvddModel, R2: float, center_norm2: float) -> SvddModel:
    return SvddModel(
        model.gamma,
        model.C,
        model.nu,
        model.rows,
        model.support,
        model.alphas,
        R2,
        center_norm2,
        model.degenerate,
        model.fit_rows,
    )
