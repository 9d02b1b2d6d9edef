"""The belief: a Gaussian process classifier, against explicit matrices."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import BeliefBasis, FloatArray, IndexArray, LabelArray, belief_basis, believe
from svddtune.numerics.belief import AMPLITUDE, BIAS_SD, LENGTH, MEAN, VOTE_SLOPE, laplace

X, y = blobs(90, 3, seed=41)
BASIS = belief_basis(X)
LABELS = partial_labels(y, 14, seed=1)
NONE = np.empty(0, dtype=np.int64)


def distances(Z: FloatArray) -> FloatArray:
    return np.sqrt(np.square(Z[:, None] - Z[None]).sum(axis=2))


def covariance(Z: FloatArray, length: float) -> FloatArray:
    return BIAS_SD**2 + AMPLITUDE**2 * np.exp(-distances(Z) / length)


def dense(
    Z: FloatArray, labels: LabelArray, mean: FloatArray, length: float, open_rows: IndexArray = NONE
) -> tuple[FloatArray, FloatArray]:
    """Believed probabilities and posterior covariance, by full matrices and a general minimizer."""
    K, rows = covariance(Z, length), np.flatnonzero(labels)
    target = (labels[rows] == -1).astype(float)
    A = K[np.ix_(rows, rows)]

    def objective(a: FloatArray) -> float:
        f = mean[rows] + A @ a
        return float(0.5 * a @ A @ a + np.logaddexp(0.0, (1.0 - 2.0 * target) * f).sum())

    a = minimize(objective, np.zeros(len(rows)), method="BFGS", options={"gtol": 1e-9}).x
    mu = mean + K[:, rows] @ a

    def posterior(measured: IndexArray) -> FloatArray:
        p = 1.0 / (1.0 + np.exp(-mu[measured]))
        noisy = K[np.ix_(measured, measured)] + np.diag(1.0 / (p * (1.0 - p)))
        return K - K[:, measured] @ np.linalg.inv(noisy) @ K[measured]

    variance = np.diag(posterior(rows))
    q = 1.0 / (1.0 + np.exp(-mu / np.sqrt(1.0 + np.pi * variance / 8.0)))
    q[rows] = target
    return q, posterior(np.concatenate((rows, open_rows)))


def check(basis: BeliefBasis, labels: LabelArray, open_rows: IndexArray) -> None:
    belief = believe(basis, X, labels, open_rows=open_rows)
    q, Sigma = dense(X, labels, np.full(len(X), MEAN), basis.length, open_rows)
    np.testing.assert_allclose(belief.probability, q, atol=2e-5)
    np.testing.assert_allclose(belief.variance, np.diag(Sigma), atol=2e-4)
    root = belief.root.astype(np.float64)
    np.testing.assert_allclose(covariance(X, basis.length) - root.T @ root, Sigma, atol=5e-4)


def test_belief_is_the_laplace_posterior() -> None:
    check(BASIS, LABELS, NONE)


def test_open_rows_take_variance_away_and_leave_probabilities() -> None:
    free = np.flatnonzero(LABELS == 0)[:3]
    check(BASIS, LABELS, free)
    plain, opened = believe(BASIS, X, LABELS), believe(BASIS, X, LABELS, open_rows=free)
    np.testing.assert_array_equal(plain.probability, opened.probability)
    assert (opened.variance <= plain.variance + 1e-5).all()
    assert (opened.variance[free] < plain.variance[free]).all()


def test_labelled_and_repeated_open_rows_count_once() -> None:
    free, known = np.flatnonzero(LABELS == 0)[:2], np.flatnonzero(LABELS)[:2]
    once = believe(BASIS, X, LABELS, open_rows=free)
    often = believe(BASIS, X, LABELS, open_rows=np.concatenate((free, known, free)))
    np.testing.assert_array_equal(once.variance, often.variance)


def test_vote_tilts_the_prior() -> None:
    labels = np.where(LABELS == 1, LABELS, 0).astype(np.int8)
    vote = np.random.default_rng(2).random(len(X))
    belief = believe(BASIS, X, labels, vote=lambda rows: vote[rows])
    q, _ = dense(X, labels, MEAN + VOTE_SLOPE * vote, BASIS.length)
    np.testing.assert_allclose(belief.probability, q, atol=2e-5)


def test_without_labels_the_prior_is_left() -> None:
    belief = believe(BASIS, X, np.zeros_like(LABELS))
    prior = AMPLITUDE**2 + BIAS_SD**2
    expected = 1.0 / (1.0 + np.exp(-MEAN / np.sqrt(1.0 + np.pi * prior / 8.0)))
    np.testing.assert_allclose(belief.probability, expected)
    np.testing.assert_allclose(belief.variance, prior)


def test_basis_by_definition() -> None:
    D = distances(X)
    np.fill_diagonal(D, np.inf)
    isolation = np.sort(D, axis=1)[:, 9]
    np.testing.assert_allclose(BASIS.isolation, isolation, rtol=1e-6)
    assert BASIS.length == pytest.approx(LENGTH * np.median(isolation), rel=1e-6)
    assert BASIS.quadrature.tolist() == BASIS.panel.tolist() == list(range(len(X)))
    np.testing.assert_allclose(BASIS.kernel, covariance(X, BASIS.length), atol=1e-4)


def test_mode_satisfies_its_equation_where_full_newton_steps_diverge() -> None:
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(60, 2))
    K = 400.0 * np.exp(-distances(Z))
    target = rng.integers(2, size=60).astype(float)
    mean = np.full(60, -20.0)
    a = laplace(K, mean, target)
    f = mean + K @ a
    np.testing.assert_allclose(a, target - 1.0 / (1.0 + np.exp(-f)), atol=1e-5)


def test_order_of_rows_and_of_space_do_not_matter() -> None:
    order = np.random.default_rng(4).permutation(len(X))
    plain = believe(BASIS, X, LABELS).probability
    moved = believe(belief_basis(X[order]), X[order], LABELS[order]).probability
    np.testing.assert_allclose(moved, plain[order], atol=1e-5)
    grown = believe(belief_basis(50.0 * X), 50.0 * X, LABELS).probability
    np.testing.assert_allclose(grown, plain, atol=1e-5)


@pytest.mark.parametrize(
    "Z",
    [np.full((30, 2), 0.3), np.array([[0.0], [1.0]]), np.ones((1, 1)), np.repeat(np.eye(3), 9, 0)],
    ids=["equal", "two", "one", "duplicates"],
)
def test_odd_data(Z: FloatArray) -> None:
    basis = belief_basis(Z)
    assert basis.length > 0.0
    for labels in (np.zeros(len(Z), dtype=np.int8), np.resize([1, -1], len(Z)).astype(np.int8)):
        belief = believe(basis, Z, labels)
        assert ((belief.probability >= 0.0) & (belief.probability <= 1.0)).all()
        assert (belief.variance >= 0.0).all()


def test_many_labels_are_sampled_for_the_belief_but_known_where_they_are() -> None:
    Z, truth = blobs(1300, 2, seed=5)
    belief = believe(belief_basis(Z), Z, truth)
    assert len(belief.root) == 1000
    np.testing.assert_array_equal(belief.probability, truth == -1)
