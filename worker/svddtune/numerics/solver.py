"""Duals of the one-class SVM, for one gamma and any number of nu.

All fits at one gamma share the rows, their order, and the kernel matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn import config_context
from sklearn.svm import OneClassSVM

from svddtune.numerics.checkpoint import checkpoint
from svddtune.numerics.kernel import gram as kernel_matrix
from svddtune.numerics.mapped import Rows, complete
from svddtune.numerics.types import FloatArray, IndexArray

FIT_LIMIT = 10_000
FIT_SAMPLE = 4096
GRAM_LIMIT = 5000
SOLVER_ERROR = 1e-7
"""Of a squared feature-space distance."""
LATTICE_ERROR = 1e-6
"""The same where many cells are only compared: a quarter less time, and still an order below
`svdd.BOUNDARY_TOLERANCE`."""

_ROUNDING = 1e-9
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Problem:
    """What is fitted at one gamma.

    Attributes
    ----------
    gamma : float
    rows : IndexArray, shape (n,)
        Fitted rows of the data, in the order of `Z`.
    sampled : bool
        True where `rows` are a uniform sub-sample of the data.
    Z : FloatArray, shape (n, M)
        The fitted rows.
    K : FloatArray or None, shape (n, n)
        Their kernel matrix; None where it would be too large to keep.
    error : float
        Of a squared feature-space distance.
    """

    gamma: float
    rows: IndexArray
    sampled: bool
    Z: FloatArray
    K: FloatArray | None
    error: float = SOLVER_ERROR

    @property
    def n(self) -> int:
        """Number of fitted rows."""
        return len(self.rows)

    def similarity(self, alphas: FloatArray, X: FloatArray | None = None) -> FloatArray:
        """Inner products of centers, alphas (S, n), with rows of `X` (default: `Z`), (S, n)."""
        if X is None and self.K is not None:
            return np.asarray(alphas @ self.K)
        X = self.Z if X is None else X
        step = max(1, _BLOCK // self.n)
        blocks = [
            alphas @ kernel_matrix(self.Z, X[a : a + step], gamma=self.gamma)
            for a in range(0, len(X), step)
        ]
        return np.concatenate(blocks, axis=1)


def make_problem(
    X: Rows,
    *,
    gamma: float,
    gram: FloatArray | None = None,
    seed: int = 0,
    error: float = SOLVER_ERROR,
) -> Problem:
    """Choose the rows to fit and compute their kernel matrix.

    Parameters
    ----------
    X : FloatArray or MappedRows, shape (N, M)
        Observations, finite.
    gamma : float
        Positive.
    gram : FloatArray, shape (N, N), optional
        Kernel matrix of all rows, where it is at hand and N is at most `FIT_LIMIT`.
    seed : int
        Draws the sub-sample above `FIT_LIMIT` rows.
    error : float
        Of a squared feature-space distance, positive.

    Returns
    -------
    Problem
    """
    if not 0.0 < gamma < np.inf:
        raise ValueError(f"gamma is {gamma}, expected a positive number")
    N = len(X)
    sampled = N > FIT_LIMIT
    if gram is not None and not sampled:
        return Problem(float(gamma), np.arange(N), False, complete(X), gram, error)
    rows = np.arange(N)
    if sampled:
        rows = np.random.default_rng(seed).choice(N, FIT_SAMPLE, replace=False)
    # libsvm starts with the first rows at their bound: outlying rows first start it nearer to
    # the solution.
    Z = X[rows]
    order = np.lexsort((rows, -np.square(Z - Z.mean(axis=0)).sum(axis=1)))
    rows, Z = rows[order], Z[order]
    K = kernel_matrix(Z, gamma=gamma) if len(Z) <= GRAM_LIMIT else None
    return Problem(float(gamma), rows, sampled, Z, K, error)


def solve(problem: Problem, nu: float) -> FloatArray:
    """Duals in [0, 1], sum nu n, shape (n,), in the order of `problem.rows`.

    At nu = 1 all are 1; libsvm has no finite offset there and scikit-learn raises.
    """
    n, K = problem.n, problem.K
    if is_degenerate(n, nu):
        return np.ones(n)
    checkpoint()
    svm = OneClassSVM(
        kernel="rbf" if K is None else "precomputed",
        gamma=problem.gamma,
        nu=nu,
        # libsvm stops on gradients of the scaled problem: distance^2 is 2/(nu n) of them.
        # Its default 1e-3 misplaces boundary rows.
        tol=max(1e-9, 0.5 * problem.error * nu * n),
        # Shrinking costs more than it saves at these sizes when the kernel matrix is shared.
        shrinking=False,
        cache_size=512,
    )
    # Scanning the kernel matrix is a third of a fit; parameters are as they should be.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        # A shift leaves distances alone and keeps libsvm's expanded form accurate.
        svm.fit(problem.Z - np.median(problem.Z, axis=0) if K is None else K)
    duals = np.zeros(n)
    duals[svm.support_] = svm.dual_coef_[0]
    return duals


def is_degenerate(n: int, nu: float) -> bool:
    """Tell whether nu is 1 up to rounding, where every dual is at its bound."""
    return nu * n > n - _ROUNDING
