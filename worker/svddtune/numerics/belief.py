"""Beliefs about unlabelled rows, from the labels: a Gaussian process classifier.

The log-odds f of "outlier" have a Gaussian process prior with mean -2 and covariance

    k(x, z) = BIAS_SD^2 + AMPLITUDE^2 exp(-|x - z| / length),

a logistic likelihood, and Laplace's approximation (Rasmussen and Williams, *Gaussian Processes
for Machine Learning*, 2006, section 3.4). The length scale is LENGTH times the median distance
to the tenth nearest other row. This k has nothing to do with the kernel of SVDD.

More than `EXACT_LABELS` labels inform a part of f of low rank, F w with k ~ F F^T by `landmarks`
and w standard normal; the rest of f keeps its prior. The cost is then linear in the
labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from svddtune.numerics.extent import extent
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.landmarks import Landmarks, draw_landmarks
from svddtune.numerics.laplace import curvature, laplace, laplace_weights, likelihood, precision
from svddtune.numerics.mapped import Rows
from svddtune.numerics.panel import uniform_panel
from svddtune.numerics.survey import Lean, Survey, lean_rows
from svddtune.numerics.types import (
    OUTLIER,
    BoolArray,
    FloatArray,
    IndexArray,
    LabelArray,
    labelled_rows,
)
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
EXACT_LABELS = 200
"""Up to this many labels the posterior is that of the process; with more, of its landmarks."""
LANDMARKS = 128
"""Rows of the panel on which the posterior of many labels rests."""
LABEL_LIMIT = 2048
"""More labels than this are sampled for the belief (not for scores on the labels)."""

_BLOCK = 1 << 21
_NO_ROWS = np.empty(0, dtype=np.int64)
_ROUNDING = 1e-5  # of precisions in single precision
_DUPLICATE = 1e-6  # of the width of the data
_SINGLE = 1e30  # widths up to this, and down to its inverse, are safe in single precision
_FAR2 = 1e4  # squared, in length scales: exp(-100) is nothing

Vote = Callable[[IndexArray], FloatArray]


@dataclass(frozen=True, eq=False)
class BeliefBasis:
    """What the belief needs of the data; computed once per dataset.

    Attributes
    ----------
    X : FloatArray or MappedRows, shape (N, M)
        The data, in the belief's representation.
    panel : IndexArray, shape (P,)
        Rows of the panel.
    weights : FloatArray, shape (P,)
        For how many rows each of them stands, of mean 1.
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
    survey : Survey or None
        What the panel was drawn from, and what finds rare outliers; None where all rows are in the
        panel, or the panel is a uniform sample.
    """

    X: Rows
    panel: IndexArray
    weights: FloatArray
    isolation: FloatArray
    length: float
    quadrature: IndexArray
    kernel: NDArray[np.float32]
    center: FloatArray
    shifted: FloatArray
    norms2: FloatArray
    survey: Survey | None = None

    @cached_property
    def landmarks(self) -> Landmarks:
        """Landmarks among the positions of the panel; the same for every caller."""
        prior = AMPLITUDE**2 + BIAS_SD**2

        def column(position: int) -> FloatArray:
            return np.asarray(_columns(self, self.X[self.panel[[position]]])[0], dtype=np.float64)

        return draw_landmarks(np.full(len(self.panel), prior), column, LANDMARKS)

    def features(self, rows: IndexArray) -> FloatArray:
        """F of any rows of the data, shape (n, m)."""
        position = np.minimum(np.searchsorted(self.panel, rows), len(self.panel) - 1)
        features = self.landmarks.features[position].astype(np.float64)
        others = np.flatnonzero(self.panel[position] != rows)
        if len(others):
            K = _columns(self, self.X[rows[others]], self.landmarks.rows)
            features[others] = self.landmarks.features_of(K)
        return features


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
    verdict : FloatArray, shape (P,)
        What cells are judged against: `probability`, or where the set was surveyed and both classes
        have labels, 0 or 1 by classifiers of the labels. (Rare outliers are fewer than what the
        probabilities of all inliers sum up to.)
    lean : Lean or None
        These classifiers.
    lean_probability : FloatArray or None, shape (P,)
        What they say of the panel's rows.
    """

    probability: FloatArray
    variance: FloatArray
    root: NDArray[np.float32]
    labelled: FloatArray
    verdict: FloatArray
    lean: Lean | None = None
    lean_probability: FloatArray | None = None


def belief_basis(X: Rows, *, survey: Survey | None = None, seed: int = 0) -> BeliefBasis:
    """Measure the data for the belief, once per dataset; about 0.1 s at 2000 rows.

    Parameters
    ----------
    X : FloatArray or MappedRows, shape (N, M)
        Observations in the belief's representation (`Views.belief`), finite. The basis keeps them.
    survey : Survey, optional
        Of the same rows, which draws the panel; without it the panel of a large set is a uniform
        sample.
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
    sample = uniform_panel(len(X)) if survey is None else survey.panel
    panel = sample.rows
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
    return BeliefBasis(
        X, panel, sample.weights, isolation, length, quadrature, kernel, center, shifted, norms2,
        survey,
    )  # fmt: skip


def covariance(X: FloatArray, Z: FloatArray, *, length: float) -> FloatArray:
    """Prior covariance k between the rows of `X`, shape (n, M), and `Z`, shape (m, M)."""
    K = np.sqrt(squared_distances(X, Z))
    K *= -1.0 / length
    np.exp(K, out=K)
    K *= AMPLITUDE**2
    K += BIAS_SD**2
    return K


def _columns(
    basis: BeliefBasis, X: FloatArray, positions: IndexArray | slice = slice(None)
) -> NDArray[np.float32]:
    """`covariance` of rows with the panel, or positions in it, in single precision: it is wide."""
    Z = (X - basis.center) / basis.length
    D2 = (-2.0 * Z) @ basis.shifted[positions].T
    D2 += basis.norms2[positions]
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
    rows = labelled_rows(labels)
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
    all_rows, rows = labelled_rows(labels), used_labels(labels)
    known = labels[rows] == OUTLIER
    waiting = np.unique(np.asarray(open_rows, dtype=np.int64))
    waiting = waiting[labels[waiting] == 0]
    measured = np.concatenate((rows, waiting))
    mean_rows, mean_panel = np.full(len(measured), MEAN), np.full(len(basis.panel), MEAN)
    if vote is not None:
        mean_rows += VOTE_SLOPE * vote(measured)
        mean_panel += VOTE_SLOPE * vote(basis.panel)
    wrong = np.zeros(len(measured))
    if certainty is not None:
        wrong[: len(rows)] = 1.0 - certainty[rows]
    condition = _by_process if len(rows) <= EXACT_LABELS else _by_landmarks
    given = condition(basis, measured, known, wrong, mean_rows, mean_panel)
    # sigmoid(f) averaged over the posterior of f, in MacKay's approximation
    probability = sigmoid(given.f / np.sqrt(1.0 + np.pi * given.variance / 8.0))
    labelled = np.zeros(len(labels))
    labelled[all_rows] = labels[all_rows] == OUTLIER
    if certainty is not None:
        unsampled = np.setdiff1d(all_rows, rows, assume_unique=True)
        labelled[unsampled] = np.where(
            labels[unsampled] == OUTLIER, certainty[unsampled], 1.0 - certainty[unsampled]
        )
        labelled[rows] = given.labelled
    in_panel = labels[basis.panel] != 0
    probability[in_panel] = labelled[basis.panel[in_panel]]
    belief = Belief(probability, given.remaining, given.root, labelled, probability)
    if basis.survey is None or known.all() or not known.any():
        return belief
    taught = lean_rows(labels)
    lean = Lean.fit(basis.survey.of_rows(taught), labels[taught])
    leaning = lean.probability(basis.survey.of_panel)
    verdict = (leaning >= 0.5).astype(np.float64)
    verdict[in_panel] = labelled[basis.panel[in_panel]]
    return replace(belief, verdict=verdict, lean=lean, lean_probability=leaning)


@dataclass(frozen=True, slots=True)
class _Posterior:
    """Of f, given labels.

    Attributes
    ----------
    f : FloatArray, shape (P,)
        Its mode at the panel.
    variance : FloatArray, shape (P,)
        Given the labels.
    remaining : FloatArray, shape (P,)
        The same, with open rows counted as measured.
    root : NDArray[np.float32]
        As `Belief.root`.
    labelled : FloatArray, shape (n,)
        Probability of "outlier" at the labelled rows.
    """

    f: FloatArray
    variance: FloatArray
    remaining: FloatArray
    root: NDArray[np.float32]
    labelled: FloatArray


def _by_process(
    basis: BeliefBasis,
    measured: IndexArray,
    known: BoolArray,
    wrong: FloatArray,
    mean_rows: FloatArray,
    mean_panel: FloatArray,
) -> _Posterior:
    """Condition f itself on the labels of the first of the measured rows; the others are open."""
    n, Z = len(known), basis.X[measured]
    columns = _columns(basis, Z)
    K = covariance(Z, Z, length=basis.length)
    np.fill_diagonal(K, AMPLITUDE**2 + BIAS_SD**2)
    sign, doubt = np.where(known, 1.0, -1.0), wrong[:n]
    a = laplace(K[:n, :n], mean_rows[:n], known.astype(np.float64), doubt)
    mode = mean_rows[:n] + K[:n, :n] @ a
    root, variance = _condition(K[:n, :n], curvature(mode, sign, doubt), columns[:n])
    remaining, labelled = variance, known.astype(np.float64)
    if len(measured) > n:
        f = mean_rows + K[:, :n] @ a
        asked = np.concatenate((sign, np.ones(len(measured) - n)))
        root, remaining = _condition(K, curvature(f, asked, wrong), columns)
    if doubt.any():
        _, own = _condition(K[:n, :n], curvature(mode, sign, doubt), K[:n, :n].astype(np.float32))
        labelled = _by_label(mode, own, sign, doubt)
    return _Posterior(
        mean_panel + a.astype(np.float32) @ columns[:n], variance, remaining, root, labelled
    )


def _by_landmarks(
    basis: BeliefBasis,
    measured: IndexArray,
    known: BoolArray,
    wrong: FloatArray,
    mean_rows: FloatArray,
    mean_panel: FloatArray,
) -> _Posterior:
    """As `_by_process`, conditioning only the part of f that the landmarks span."""
    n, features, panel = len(known), basis.features(measured), basis.landmarks.features
    sign, doubt = np.where(known, 1.0, -1.0), wrong[:n]
    w = laplace_weights(features[:n], mean_rows[:n], known.astype(np.float64), doubt)
    f = mean_rows + features @ w
    asked = np.concatenate((sign, np.ones(len(measured) - n)))
    W = curvature(f, asked, wrong)
    told = _told(precision(features[:n], W[:n]))
    root = remaining_root = told @ panel.T
    variance = remaining = _left(root)
    if len(measured) > n:
        remaining_root = _told(precision(features, W)) @ panel.T
        remaining = _left(remaining_root)
    labelled = known.astype(np.float64)
    if doubt.any():
        own = _left(told @ features[:n].T.astype(np.float32))
        labelled = _by_label(f[:n], own, sign, doubt)
    mode = mean_panel + panel @ w.astype(np.float32)
    return _Posterior(mode, variance, remaining, remaining_root, labelled)


def _told(precision: FloatArray) -> NDArray[np.float32]:
    """R with R^T R = I - precision^-1: what the labels took from the prior of the weights."""
    m = len(precision)
    inverse = cho_solve(cho_factor(precision, check_finite=False), np.eye(m), check_finite=False)
    # Directions that no label tells about are singular up to rounding.
    told = np.eye(m) * (1.0 + _ROUNDING) - inverse
    return np.asarray(np.linalg.cholesky(told).T, dtype=np.float32)


def _by_label(
    mode: FloatArray, variance: FloatArray, sign: FloatArray, wrong: FloatArray
) -> FloatArray:
    """Probability of "outlier" at labelled rows, by their labels and by those around them."""
    f = mode / np.sqrt(1.0 + np.pi * variance / 8.0)
    said = np.where(sign > 0.0, 1.0 - wrong, wrong)
    return np.asarray(np.where(wrong > 0.0, sigmoid(f) * said / likelihood(f, sign, wrong), said))


def _condition(
    K: FloatArray, W: FloatArray, columns: NDArray[np.float32]
) -> tuple[NDArray[np.float32], FloatArray]:
    """V and the posterior variance of the panel, for measurements of precision W, shape (n,)."""
    if len(W) == 0:
        return columns, np.full(columns.shape[1], AMPLITUDE**2 + BIAS_SD**2)
    root_W = np.sqrt(W)
    L = np.linalg.cholesky(np.eye(len(W)) + root_W[:, None] * K * root_W)
    # L has no eigenvalue below 1, and a product is several times faster than a wide solve.
    inverse = solve_triangular(L, np.diag(root_W), lower=True, check_finite=False)
    V = inverse.astype(np.float32) @ columns
    return V, _left(V)


def _left(V: NDArray[np.float32]) -> FloatArray:
    """Posterior variances of the rows whose columns are V's."""
    left = AMPLITUDE**2 + BIAS_SD**2 - np.einsum("ij,ij->j", V, V).astype(np.float64)
    return np.asarray(np.maximum(left, 0.0))
