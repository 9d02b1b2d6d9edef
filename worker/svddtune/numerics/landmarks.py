"""Landmarks: a few rows that stand for the covariance of all, K ~ F F^T with F of low rank.

Pivoted Cholesky factorisation whose pivots are drawn in proportion to what is left of the diagonal
(Chen, Epperly, Tropp, Webber, *Randomly pivoted Cholesky*, 2022). F F^T never exceeds K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from svddtune.numerics.types import FloatArray, IndexArray

_NOTHING_LEFT = 1e-6  # of the diagonal; roundings are below it


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Rows drawn as landmarks, and the factor that they give.

    Attributes
    ----------
    rows : IndexArray, shape (m,)
        In the order in which they were drawn.
    features : NDArray[np.float32], shape (P, m)
        F.
    """

    rows: IndexArray
    features: NDArray[np.float32]

    @cached_property
    def _inverse(self) -> FloatArray:
        """Inverse of the landmarks' own features: a product with it is faster than a solution."""
        root = self.features[self.rows].astype(np.float64)
        return np.asarray(solve_triangular(root, np.eye(len(root)), lower=True, check_finite=False))

    def features_of(self, covariance: NDArray[np.floating]) -> FloatArray:
        """Features of other rows from their covariance with the landmarks, (n, m) to (n, m)."""
        return np.asarray(covariance @ self._inverse.T)


def draw_landmarks(
    diagonal: FloatArray, column: Callable[[int], FloatArray], count: int, *, seed: int = 0
) -> Landmarks:
    """Draw landmarks among P rows.

    Parameters
    ----------
    diagonal : FloatArray, shape (P,)
        Variances of the rows, positive.
    column : callable
        From a row to its covariances with all rows, shape (P,).
    count : int
        Landmarks at most; fewer where fewer explain everything.
    seed : int
        Of the draw.

    Returns
    -------
    Landmarks
    """
    rng, P = np.random.default_rng(seed), len(diagonal)
    left, factor = diagonal.astype(np.float64), np.zeros((P, min(count, P)))
    least = _NOTHING_LEFT * float(diagonal.max())
    rows: list[int] = []
    while len(rows) < factor.shape[1] and left.max() > least:
        left[left <= least] = 0.0
        row, m = int(rng.choice(P, p=left / left.sum())), len(rows)
        rest = column(row) - factor[:, :m] @ factor[row, :m]
        rest[row] = left[row]
        rest[rows] = 0.0
        factor[:, m] = rest / np.sqrt(left[row])
        left = np.maximum(left - np.square(factor[:, m]), 0.0)
        left[row] = 0.0
        rows.append(row)
    features = np.ascontiguousarray(factor[:, : len(rows)], dtype=np.float32)
    return Landmarks(np.array(rows, dtype=np.int64), features)
