"""Posterior modes of a Gaussian process with a logistic likelihood, by Laplace's method.

A label is wrong with probability e, 0 by default. Its likelihood is e + (1 - 2 e) sigmoid(sign f).
Source: Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, section 3.4.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from svddtune.numerics.types import FloatArray
from svddtune.sigmoid import sigmoid

_LEAST_CURVATURE = 1e-8
_CONVERGED = 1e-9  # gain of the objective per label
_STEPS = 50
_GOOD_STEP = 0.1


def laplace(
    K: FloatArray, mean: FloatArray, target: FloatArray, wrong: FloatArray | None = None
) -> FloatArray:
    """Posterior mode of a logistic Gaussian process, by damped Newton steps.

    Parameters
    ----------
    K : FloatArray, shape (n, n)
        Prior covariance.
    mean : FloatArray, shape (n,)
        Prior mean.
    target : FloatArray, shape (n,)
        0 or 1.
    wrong : FloatArray, shape (n,), optional
        Probability that a target is the other class, in [0, 0.5]; 0 by default.

    Returns
    -------
    FloatArray, shape (n,)
        a, with the mode at f = mean + K a; there a is the slope of the log likelihood, which is
        target - sigmoid(f) where wrong is 0.

    Notes
    -----
    Algorithm 3.1 of Rasmussen and Williams. Deviation: steps are halved until the objective
    falls; full steps diverge where the latent variance is large. The likelihood of a target that
    is wrong with probability e is e + (1 - 2 e) sigmoid(sign f), which is not log-concave; where
    its curvature is negative, the steps take a small positive one.
    """
    n = len(target)
    sign, a, f = 2.0 * target - 1.0, np.zeros(n), mean.copy()
    e = np.zeros(n) if wrong is None else wrong

    def objective(a: FloatArray, f: FloatArray) -> float:
        return float(0.5 * a @ (f - mean)) + _loss(f, sign, e)

    value = objective(a, f)
    for _ in range(_STEPS if n else 0):
        slope = _slope(f, sign, e)
        W = curvature(f, sign, e)
        root_W = np.sqrt(W)
        L = np.linalg.cholesky(np.eye(n) + root_W[:, None] * K * root_W)
        b = W * (f - mean) + slope
        inner = solve_triangular(L, root_W * (K @ b), lower=True, check_finite=False)
        step = b - root_W * solve_triangular(L.T, inner, check_finite=False) - a
        move, size = K @ step, 1.0
        while (new := objective(a + size * step, f + size * move)) > value and size > 1e-4:
            size *= 0.5
        if new > value:
            break
        a, f, gained, value = a + size * step, f + size * move, value - new, new
        if gained < _CONVERGED * n:
            break
    return a


def laplace_weights(
    features: FloatArray, mean: FloatArray, target: FloatArray, wrong: FloatArray
) -> FloatArray:
    """Posterior mode of logistic regression with a standard normal prior of the weights.

    Parameters
    ----------
    features : FloatArray, shape (n, m)
        Of the labelled rows, so that the prior covariance is features features^T.
    mean, target, wrong : FloatArray, shape (n,)
        As in `laplace`.

    Returns
    -------
    FloatArray, shape (m,)
        w, with the mode at f = mean + features w.

    Notes
    -----
    Newton steps, damped as in `laplace`. A Hessian takes far longer than a step, so one serves for
    as long as every step gains a tenth of what the one before it gained at most.
    """
    n, m = features.shape
    sign, w, f = 2.0 * target - 1.0, np.zeros(m), mean.copy()

    def objective(w: FloatArray, f: FloatArray) -> float:
        return float(0.5 * w @ w) + _loss(f, sign, wrong)

    value, before, factor = objective(w, f), np.inf, None
    for _ in range(_STEPS if n else 0):
        stale = factor is not None
        if factor is None:
            factor = cho_factor(precision(features, curvature(f, sign, wrong)), check_finite=False)
        step = cho_solve(factor, features.T @ _slope(f, sign, wrong) - w, check_finite=False)
        move, size = features @ step, 1.0
        while (new := objective(w + size * step, f + size * move)) > value and size > 1e-4:
            size *= 0.5
        if new <= value:
            w, f, gained, value = w + size * step, f + size * move, value - new, new
            if gained < _CONVERGED * n:
                break
            if stale and gained > _GOOD_STEP * before:
                factor = None
            before = gained
        elif stale:
            factor = None
        else:
            break
    return w


def precision(features: FloatArray, W: FloatArray) -> FloatArray:
    """Posterior precision I + features^T diag(W) features of the weights, shape (m, m).

    The product is in single precision, which is twice as fast.
    """
    scaled = (features * np.sqrt(W)[:, None]).astype(np.float32)
    return np.asarray(np.eye(features.shape[1]) + scaled.T @ scaled)


def likelihood(f: FloatArray, sign: FloatArray, wrong: FloatArray) -> FloatArray:
    """Probability of the labels `sign` where each is wrong with some probability."""
    return np.asarray(wrong + (1.0 - 2.0 * wrong) * sigmoid(sign * f))


def _loss(f: FloatArray, sign: FloatArray, wrong: FloatArray) -> float:
    """Negative log likelihood of all labels."""
    certain = np.logaddexp(0.0, -sign * f)
    if not wrong.any():
        return float(certain.sum())
    doubted = -np.log(np.maximum(likelihood(f, sign, wrong), 1e-300))
    return float(np.where(wrong > 0.0, doubted, certain).sum())


def _slope(f: FloatArray, sign: FloatArray, wrong: FloatArray) -> FloatArray:
    """Derivative of the log likelihood by f."""
    p = sigmoid(f)
    certain = 0.5 * (sign + 1.0) - p
    if not wrong.any():
        return np.asarray(certain)
    return np.where(wrong > 0.0, _doubted_slope(f, sign, wrong), certain)


def _doubted_slope(f: FloatArray, sign: FloatArray, wrong: FloatArray) -> FloatArray:
    p = sigmoid(f)
    return np.asarray(sign * (1.0 - 2.0 * wrong) * p * (1.0 - p) / likelihood(f, sign, wrong))


def curvature(f: FloatArray, sign: FloatArray, wrong: FloatArray) -> FloatArray:
    """Negative second derivative of the log of `likelihood`, at least `_LEAST_CURVATURE`."""
    p = sigmoid(f)
    W = p * (1.0 - p)
    if np.any(wrong > 0.0):
        bend = (1.0 - 2.0 * wrong) * W * (1.0 - 2.0 * sigmoid(sign * f))
        noisy = np.square(_doubted_slope(f, sign, wrong)) - bend / likelihood(f, sign, wrong)
        W = np.where(wrong > 0.0, noisy, W)
    return np.asarray(np.maximum(W, _LEAST_CURVATURE))
