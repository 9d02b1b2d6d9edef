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


def likelihood(f: FloatArray, labels: FloatArray, wrong: FloatArray) -> FloatArray:
    """Probability of the labels, each of which is wrong with some probability."""
    return np.asarray((1.0 - wrong) * sigmoid(-labels * f) + wrong * sigmoid(labels * f))


def slope(f: FloatArray, labels: FloatArray, wrong: FloatArray) -> FloatArray:
    """Derivative of the log likelihood by f."""
    p = sigmoid(f)
    return np.asarray(-labels * (1 - 2 * wrong) * p * (1 - p) / likelihood(f, labels, wrong))


def curvature(f: FloatArray, labels: FloatArray, wrong: FloatArray) -> FloatArray:
    """Minus its second derivative, by a central difference; never below 1e-8."""
    h = 1e-5
    change = slope(f + h, labels, wrong) - slope(f - h, labels, wrong)
    return np.asarray(np.maximum(-change / (2 * h), 1e-8))


def laplace_mean(
    X: FloatArray, labels: LabelArray, mean: FloatArray, wrong: FloatArray
) -> FloatArray:
    """Posterior mean of f at all rows: f = mean + k a with a = slope(f) at labels."""
    rows = np.flatnonzero(labels)
    K, given = prior(X), labels[rows].astype(np.float64)
    k = K[np.ix_(rows, rows)]

    def residual(a: FloatArray) -> FloatArray:
        return np.asarray(a - slope(mean[rows] + k @ a, given, wrong[rows]))

    solution = root(residual, np.zeros(len(rows)), tol=1e-13)
    return np.asarray(mean + K[:, rows] @ solution.x)


def posterior(
    K: FloatArray, f: FloatArray, rows: IndexArray, W: FloatArray | None = None
) -> FloatArray:
    """Covariance after `rows` are measured, each with precision W, by default p (1 - p) at f."""
    p = sigmoid(f[rows])
    noisy = K[np.ix_(rows, rows)] + np.diag(1.0 / (p * (1.0 - p) if W is None else W))
    return np.asarray(K - K[:, rows] @ np.linalg.solve(noisy, K[rows]))


def probability(
    X: FloatArray,
    labels: LabelArray,
    mean: FloatArray | None = None,
    wrong: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probability of "outlier" and f of all rows, and the covariance given the labels.

    At a labelled row, of which the label is wrong with probability `wrong`, by Bayes' rule.
    """
    mean = np.full(len(X), MEAN) if mean is None else mean
    wrong = np.zeros(len(X)) if wrong is None else wrong
    f, Sigma, rows = mean, prior(X), np.flatnonzero(labels)
    if len(rows):
        f = laplace_mean(X, labels, mean, wrong)
        W = curvature(f[rows], labels[rows].astype(np.float64), wrong[rows])
        Sigma = posterior(Sigma, f, rows, W)
    q = sigmoid(f / np.sqrt(1.0 + np.pi * np.diag(Sigma) / 8.0))
    said_out = np.where(labels == -1, 1.0 - wrong, wrong)
    by_label = q * said_out / (q * said_out + (1.0 - q) * (1.0 - said_out))
    return np.where(labels == 0, q, by_label), f, Sigma
