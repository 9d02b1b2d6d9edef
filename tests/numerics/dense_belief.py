"""The belief and the gain as they are defined: full matrices over all rows, double precision."""

import numpy as np
from scipy.optimize import root

from svddtune.numerics import FloatArray, IndexArray, LabelArray
from svddtune.numerics.belief import AMPLITUDE, BIAS_SD, MEAN


def length(X: FloatArray) -> float:
    """Four times the median distance to the tenth nearest other row."""
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    return float(4.0 * np.median(np.sort(D, axis=1)[:, min(10, len(X) - 1)]))


def prior(X: FloatArray) -> FloatArray:
    """Covariance of f at all rows."""
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    return np.asarray(BIAS_SD**2 + AMPLITUDE**2 * np.exp(-D / length(X)))


def sigmoid(f: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-f)))


def laplace_mean(X: FloatArray, labels: LabelArray, mean: FloatArray) -> FloatArray:
    """Posterior mean of f at all rows: f = mean + k a with a = target - sigmoid(f) at labels."""
    rows = np.flatnonzero(labels)
    K, target = prior(X), (labels[rows] == -1).astype(np.float64)
    k = K[np.ix_(rows, rows)]

    def residual(a: FloatArray) -> FloatArray:
        return np.asarray(a - target + sigmoid(mean[rows] + k @ a))

    def slope(a: FloatArray) -> FloatArray:
        p = sigmoid(mean[rows] + k @ a)
        return np.asarray(np.eye(len(rows)) + (p * (1.0 - p))[:, None] * k)

    solution = root(residual, np.zeros(len(rows)), jac=slope, tol=1e-13)
    return np.asarray(mean + K[:, rows] @ solution.x)


def posterior(K: FloatArray, f: FloatArray, rows: IndexArray) -> FloatArray:
    """Covariance after `rows` are measured, each with variance 1 / (p (1 - p)) at f."""
    p = sigmoid(f[rows])
    noisy = K[np.ix_(rows, rows)] + np.diag(1.0 / (p * (1.0 - p)))
    return np.asarray(K - K[:, rows] @ np.linalg.solve(noisy, K[rows]))


def probability(
    X: FloatArray, labels: LabelArray, mean: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probability of "outlier" and f of all rows, and the covariance given the labels."""
    mean = np.full(len(X), MEAN) if mean is None else mean
    f, Sigma = mean, prior(X)
    if labels.any():
        f = laplace_mean(X, labels, mean)
        Sigma = posterior(Sigma, f, np.flatnonzero(labels))
    q = sigmoid(f / np.sqrt(1.0 + np.pi * np.diag(Sigma) / 8.0))
    return np.where(labels == 0, q, labels == -1), f, Sigma
