"""Beliefs about unlabelled rows, from the labels: a Gaussian process classifier.

The log-odds f of "outlier" have a Gaussian process prior with mean -2 and covariance

    k(x, z) = BIAS_SD^2 + AMPLITUDE^2 exp(-|x - z| / length),

a logistic likelihood, and Laplace's approximation (Rasmussen and Williams, *Gaussian Processes
for Machine Learning*, 2006, section 3.4). The length scale is LENGTH times the median distance
to the tenth nearest other row. This k has nothing to do with the kernel of SVDD.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from svddtune.numerics.atlas import panel_rows
from svddtune.numerics.extent import extent
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.types import OUTLIER, FloatArray, IndexArray, LabelArray
from svddtune.sigmoid import sigmoid

MEAN = -2.0
"""Prior log-odds: a row is an outlier with probability 0.12."""
BIAS_SD = 1.0
"""Of what all rows share: the unknown share of outliers."""
AMPLITUDE = 2.0
"""Standard deviation of what differs from place to place."""
LENGTH = 4.0
"""Length scale, in median distances to the tenth nearest other row."""
VOTE_SLOPE = 3.0
"""Prior log-odds added per unit of the atlas's vote while a class has no label."""
NEIGHBOR = 10
QUADRATURE_ROWS = 1024
LABEL_LIMIT = 1000
"""More labels than this are sampled for the belief (not for scores on the labels)."""

_BLOCK = 1 << 21
_NO_ROWS = np.empty(0, dtype=np.int64)
_LEAST_CURVATURE = 1e-8
_DUPLICATE = 1e-6  # of the width of the data
_SINGLE = 1e30  # widths up to this, and down to its inverse, are safe in single precision
_FAR2 = 1e4  # squared, in length scales: exp(-100) is nothing

Vote = Callable[[IndexArray], FloatArray]


@dataclass(frozen=True, slots=True)
class BeliefBasis:
    """What the belief needs of the data; computed once per dataset.

    Attributes
    ----------
    X : FloatArray, shape (N, M)
        The data, in the belief's representation.
    panel : IndexArray, shape (P,)
        `panel_rows`.
    isolation : FloatArray, shape (P,)
        Distance to the tenth nearest other row of the panel.
    length : float
        Length scale, in units of the data.
    quadrature : IndexArray, shape (Q,)
        Positions in `panel` that carry sums over rows.
    kernel : NDArray[np.float32], shape (P, Q)
        k between the panel and the quadrature rows.
    center : FloatArray, shape (M,)
        Medians of the panel.
    shifted : FloatArray, shape (P, M)
        The panel less its centre, in units of `length`.
    norms2 : FloatArray, shape (P,)
        Squared norms of `shifted`.
    """

    X: FloatArray
    panel: IndexArray
    isolation: FloatArray
    length: float
    quadrature: IndexArray
    kernel: NDArray[np.float32]
    center: FloatArray
    shifted: FloatArray
    norms2: FloatArray


@dataclass(frozen=True, slots=True)
class Belief:
    """Beliefs about the rows of the panel.

    Attributes
    ----------
    probability : FloatArray, shape (P,)
        Of being an outlier; 0 or 1 at rows whose label is certain.
    variance : FloatArray, shape (P,)
        Posterior variance of f, open rows counted as measured.
    root : NDArray[np.float32], shape (n, P)
        V with posterior covariance k - V^T V, open rows counted as measured.
    labelled : FloatArray, shape (N,)
        Probability of being an outlier at labelled rows, 0 or 1 where the label is certain; 0 at
        rows without a label.
    """

    probability: FloatArray
    variance: FloatArray
    root: NDArray[np.float32]
    labelled: FloatArray


def belief_basis(X: FloatArray, *, seed: int = 0) -> BeliefBasis:
    """Measure the data for the belief, once per dataset; about 0.1 s at 2000 rows.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations in the belief's representation (`Views.belief`), finite. The basis keeps them.
    seed : int
        Draws the quadrature rows among more than `QUADRATURE_ROWS`.

    Returns
    -------
    BeliefBasis

    Notes
    -----
    The neighbours are found here, and not taken from a `Preparation`, so that the belief does
    not depend on how many neighbours that holds.
    """
    panel = panel_rows(len(X))
    Z, P = X[panel], len(panel)
    quadrature = np.arange(P)
    if P > QUADRATURE_ROWS:
        drawn = np.random.default_rng(seed).choice(P, QUADRATURE_ROWS, replace=False)
        quadrature = np.sort(drawn)
    kth = min(NEIGHBOR, P - 1)
    isolation = np.empty(P)
    to_quadrature = np.empty((P, len(quadrature)), dtype=np.float32)
    step = max(1, _BLOCK // P)
    width = float(np.ptp(Z, axis=0).max())
    unit = 1.0 if width == 0.0 or 1.0 / _SINGLE < width < _SINGLE else width
    for a in range(0, P, step):
        rows = slice(a, min(a + step, P))
        distance = np.sqrt(squared_distances(Z[rows], Z))
        to_quadrature[rows] = (
            distance[:, quadrature] if unit == 1.0 else distance[:, quadrature] / unit
        )
        distance[np.arange(len(distance)), np.arange(rows.start, rows.stop)] = 0.0
        isolation[rows] = np.partition(distance, kth, axis=1)[:, kth]
    # Duplicates are at a rounding error from each other, not at a distance.
    isolation[isolation <= _DUPLICATE * np.sqrt(extent(Z, seed=seed).width2)] = 0.0
    scale = float(np.median(isolation))
    if scale <= 0.0:
        positive = isolation[isolation > 0.0]
        scale = float(np.median(positive)) if len(positive) else 1.0
    length = LENGTH * scale
    to_quadrature /= np.float32(-length / unit)
    kernel = np.exp(to_quadrature, out=to_quadrature)
    kernel *= np.float32(AMPLITUDE**2)
    kernel += np.float32(BIAS_SD**2)
    center = np.median(Z, axis=0)
    shifted = (Z - center) / length
    norms2 = np.square(shifted).sum(axis=1)
    return BeliefBasis(X, panel, isolation, length, quadrature, kernel, center, shifted, norms2)


def covariance(X: FloatArray, Z: FloatArray, *, length: float) -> FloatArray:
    """Prior covariance k between the rows of `X`, shape (n, M), and `Z`, shape (m, M)."""
    K = np.sqrt(squared_distances(X, Z))
    K *= -1.0 / length
    np.exp(K, out=K)
    K *= AMPLITUDE**2
    K += BIAS_SD**2
    return K


def _columns(basis: BeliefBasis, X: FloatArray) -> NDArray[np.float32]:
    """`covariance` of rows with the panel, shape (n, P), in single precision: it is wide."""
    Z = (X - basis.center) / basis.length
    D2 = (-2.0 * Z) @ basis.shifted.T
    D2 += basis.norms2
    D2 += np.square(Z).sum(axis=1)[:, None]
    K = np.clip(D2, 0.0, _FAR2).astype(np.float32)
    np.sqrt(K, out=K)
    np.negative(K, out=K)
    np.exp(K, out=K)
    K *= np.float32(AMPLITUDE**2)
    K += np.float32(BIAS_SD**2)
    return K


def used_labels(labels: LabelArray) -> IndexArray:
    """Labelled rows that a fit of the labels uses: all, or a sample of `LABEL_LIMIT`; ascending."""
    rows = np.flatnonzero(labels)
    if len(rows) > LABEL_LIMIT:
        rows = np.sort(np.random.default_rng(0).choice(rows, LABEL_LIMIT, replace=False))
    return rows


def believe(
    basis: BeliefBasis,
    labels: LabelArray,
    *,
    open_rows: IndexArray = _NO_ROWS,
    vote: Vote | None = None,
    certainty: FloatArray | None = None,
) -> Belief:
    """Condition the belief on the labels.

    Parameters
    ----------
    basis : BeliefBasis
        Of the data.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    open_rows : IndexArray
        Rows of open queries. Their answers are unknown, but the variance that remains after them
        is known to first order, and it is what the next query can still reduce.
    vote : callable, optional
        From rows to values in [0, 1] that tilt the prior mean by `VOTE_SLOPE`; flat by default.
    certainty : FloatArray, shape (N,), optional
        Probability that the label of a row is right, in [0.5, 1]; 1 for all rows by default. Rows
        without a label do not count.

    Returns
    -------
    Belief
    """
    all_rows, rows = np.flatnonzero(labels), used_labels(labels)
    n, known = len(rows), labels[rows] == OUTLIER
    waiting = np.unique(np.asarray(open_rows, dtype=np.int64))
    measured = np.concatenate((rows, waiting[labels[waiting] == 0]))
    Z = basis.X[measured]
    columns = _columns(basis, Z)
    K = covariance(Z, Z, length=basis.length)
    np.fill_diagonal(K, AMPLITUDE**2 + BIAS_SD**2)

    mean_rows, mean_panel = np.full(len(measured), MEAN), np.full(len(basis.panel), MEAN)
    if vote is not None:
        mean_rows += VOTE_SLOPE * vote(measured)
        mean_panel += VOTE_SLOPE * vote(basis.panel)
    wrong = np.zeros(len(measured))
    if certainty is not None:
        wrong[:n] = 1.0 - certainty[rows]
    sign = np.where(known, 1.0, -1.0)
    a = laplace(K[:n, :n], mean_rows[:n], known.astype(np.float64), wrong[:n])
    mode = mean_rows[:n] + K[:n, :n] @ a
    root, variance = _condition(K[:n, :n], _curvature(mode, sign, wrong[:n]), columns[:n])
    # sigmoid(f) averaged over the posterior of f, in MacKay's approximation
    probability = sigmoid(
        (mean_panel + a.astype(np.float32) @ columns[:n]) / np.sqrt(1.0 + np.pi * variance / 8.0)
    )
    if len(measured) > n:
        f = mean_rows + K[:, :n] @ a
        asked = np.concatenate((sign, np.ones(len(measured) - n)))
        root, variance = _condition(K, _curvature(f, asked, wrong), columns)
    labelled = np.zeros(len(labels))
    labelled[all_rows] = labels[all_rows] == OUTLIER
    if certainty is not None:
        unsampled = np.setdiff1d(all_rows, rows, assume_unique=True)
        labelled[unsampled] = np.where(
            labels[unsampled] == OUTLIER, certainty[unsampled], 1.0 - certainty[unsampled]
        )
        labelled[rows] = _doubted(K[:n, :n], mode, sign, wrong[:n])
    in_panel = labels[basis.panel] != 0
    probability[in_panel] = labelled[basis.panel[in_panel]]
    return Belief(probability, variance, root, labelled)


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
        certain = np.logaddexp(0.0, -sign * f)
        loss = np.where(e > 0.0, -np.log(np.maximum(_likelihood(f, sign, e), 1e-300)), certain)
        return float(0.5 * a @ (f - mean) + loss.sum())

    value = objective(a, f)
    for _ in range(50 if n else 0):
        p = sigmoid(f)
        slope = np.where(e > 0.0, _slope(f, sign, e), target - p)
        W = _curvature(f, sign, e)
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
        if gained < 1e-9 * n:
            break
    return a


def _likelihood(f: FloatArray, sign: FloatArray, wrong: FloatArray) -> FloatArray:
    """Probability of the labels `sign` where each is wrong with some probability."""
    return np.asarray(wrong + (1.0 - 2.0 * wrong) * sigmoid(sign * f))


def _slope(f: FloatArray, sign: FloatArray, wrong: FloatArray) -> FloatArray:
    """Derivative of the log of `_likelihood` by f."""
    p = sigmoid(f)
    return np.asarray(sign * (1.0 - 2.0 * wrong) * p * (1.0 - p) / _likelihood(f, sign, wrong))


def _curvature(f: FloatArray, sign: FloatArray, wrong: FloatArray) -> FloatArray:
    """Negative second derivative of the log of `_likelihood`, at least `_LEAST_CURVATURE`."""
    p = sigmoid(f)
    W = p * (1.0 - p)
    if np.any(wrong > 0.0):
        bend = (1.0 - 2.0 * wrong) * W * (1.0 - 2.0 * sigmoid(sign * f))
        noisy = np.square(_slope(f, sign, wrong)) - bend / _likelihood(f, sign, wrong)
        W = np.where(wrong > 0.0, noisy, W)
    return np.asarray(np.maximum(W, _LEAST_CURVATURE))


def _doubted(K: FloatArray, mode: FloatArray, sign: FloatArray, wrong: FloatArray) -> FloatArray:
    """Probability of "outlier" at labelled rows, by their labels and by those around them."""
    _, variance = _condition(K, _curvature(mode, sign, wrong), K.astype(np.float32))
    f = mode / np.sqrt(1.0 + np.pi * variance / 8.0)
    said = np.where(sign > 0.0, 1.0 - wrong, wrong)
    return np.asarray(np.where(wrong > 0.0, sigmoid(f) * said / _likelihood(f, sign, wrong), said))


def _condition(
    K: FloatArray, W: FloatArray, columns: NDArray[np.float32]
) -> tuple[NDArray[np.float32], FloatArray]:
    """V and the posterior variance of the panel, for measurements of precision W, shape (n,)."""
    prior = AMPLITUDE**2 + BIAS_SD**2
    if len(W) == 0:
        return columns, np.full(columns.shape[1], prior)
    root_W = np.sqrt(W)
    L = np.linalg.cholesky(np.eye(len(W)) + root_W[:, None] * K * root_W)
    # L has no eigenvalue below 1, and a product is several times faster than a wide solve.
    inverse = solve_triangular(L, np.diag(root_W), lower=True, check_finite=False)
    V = inverse.astype(np.float32) @ columns
    left = prior - np.einsum("ij,ij->j", V, V).astype(np.float64)
    return V, np.maximum(left, 0.0)
