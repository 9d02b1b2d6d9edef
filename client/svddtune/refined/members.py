"""Classifiers of the refined detector besides its trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svddtune.sigmoid import sigmoid

Array = NDArray[np.float64]

_BLOCK = 1 << 20  # kernel values held at a time


@dataclass(frozen=True, eq=False)
class LinearMember:
    """Logistic regression: sigmoid(x . weights + intercept) is the probability of "outlier".

    Attributes
    ----------
    weights : array, shape (F,)
    intercept : float
    """

    weights: Array
    intercept: float

    def probability(self, X: Array) -> Array:
        """Probabilities, shape (n,), of rows, shape (n, F)."""
        return sigmoid(X @ self.weights + self.intercept)


@dataclass(frozen=True, eq=False)
class KernelMember:
    """Support vector machine with a Gaussian kernel, its decision value d as sigmoid(slope d).

    Attributes
    ----------
    vectors : array, shape (s, F)
        Support vectors.
    weights : array, shape (s,)
        Of the support vectors; positive speaks for "outlier".
    intercept : float
    gamma : float
        In inverse squared units of the rows.
    slope : float
    """

    vectors: Array
    weights: Array
    intercept: float
    gamma: float
    slope: float

    def decision(self, X: Array) -> Array:
        """d, shape (n,), of rows, shape (n, F): positive for outliers."""
        out = np.empty(len(X))
        norms2 = np.square(self.vectors).sum(axis=1)
        step = max(1, _BLOCK // max(1, len(self.vectors)))
        for start in range(0, len(X), step):
            block = X[start : start + step]
            D2 = np.square(block).sum(axis=1)[:, None] + norms2 - 2.0 * (block @ self.vectors.T)
            kernel = np.exp(-self.gamma * np.maximum(D2, 0.0))
            out[start : start + step] = kernel @ self.weights + self.intercept
        return out

    def probability(self, X: Array) -> Array:
        """Probabilities, shape (n,), of rows, shape (n, F)."""
        return sigmoid(self.slope * self.decision(X))
