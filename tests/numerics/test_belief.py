"""The belief equals the Gaussian process by definition, and takes open queries into account."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from tests.numerics import dense_belief
from tests.numerics.cases import blobs, lattices, partial_labels

from svddtune.numerics import Belief, FloatArray, IndexArray, LabelArray, belief_basis, believe
from svddtune.numerics.belief import EXACT_LABELS, LABEL_LIMIT
from svddtune.numerics.laplace import laplace

X, y = blobs(120, 3, seed=6)
BASIS = belief_basis(X)
NOTHING = np.zeros_like(y)
BOTH = partial_labels(y, 16, seed=1)
CASES = {
    "none": NOTHING,
    "both": BOTH,
    "only inliers": np.where(BOTH == 1, BOTH, 0).astype(np.int8),
    "only outliers": np.where(BOTH == -1, BOTH, 0).astype(np.int8),
    "one": np.where(np.arange(120) == 5, np.int8(-1), np.int8(0)),
    "all": y,
}


def full_covariance(belief: Belief) -> FloatArray:
    """k - V^T V; without a measurement k itself."""
    return np.asarray(dense_belief.prior(X) - belief.root.T @ belief.root)


def test_kernel_length_follows_distance_to_tenth_neighbor() -> None:
    D = np.sort(np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2)), axis=1)
    np.testing.assert_allclose(BASIS.isolation, D[:, 10], rtol=1e-6)
    assert BASIS.length == pytest.approx(dense_belief.length(X))
    np.testing.assert_allclose(BASIS.kernel, dense_belief.prior(X), rtol=1e-5)


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
def test_posterior_equals_laplace_approximation_by_definition(labels: LabelArray) -> None:
    belief = believe(BASIS, labels)
    q, _, Sigma = dense_belief.probability(X, labels)
    np.testing.assert_allclose(belief.probability, q, atol=1e-5)
    np.testing.assert_allclose(belief.variance, np.diag(Sigma), atol=1e-4)
    np.testing.assert_allclose(full_covariance(belief), Sigma, atol=1e-4)


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
@pytest.mark.parametrize("most", [0.05, 0.2])
def test_posterior_of_labels_that_may_be_wrong_equals_its_definition(
    labels: LabelArray, most: float
) -> None:
    wrong = np.random.default_rng(4).uniform(0.0, most, 120)
    wrong[:60:2] = 0.0
    belief = believe(BASIS, labels, certainty=1.0 - wrong)
    q, _, Sigma = dense_belief.probability(X, labels, wrong=wrong)
    np.testing.assert_allclose(belief.probability, q, atol=1e-4)
    np.testing.assert_allclose(belief.variance, np.diag(Sigma), atol=1e-3)
    np.testing.assert_allclose(belief.labelled, np.where(labels == 0, 0.0, q), atol=1e-4)


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
def test_labels_of_certainty_1_give_bit_identical_belief(labels: LabelArray) -> None:
    plain, certain = believe(BASIS, labels), believe(BASIS, labels, certainty=np.ones(120))
    for name in ("probability", "variance", "root", "labelled"):
        np.testing.assert_array_equal(getattr(certain, name), getattr(plain, name))


def test_doubtful_label_moves_belief_less_and_is_doubted_where_others_contradict_it() -> None:
    Z = np.linspace(0.0, 1.0, 40)[:, None]
    basis = belief_basis(Z)
    labels = np.zeros(40, dtype=np.int8)
    labels[10:20] = 1
    labels[14] = -1
    certainty = np.where(np.arange(40) == 14, 0.8, 1.0)
    plain, soft = believe(basis, labels), believe(basis, labels, certainty=certainty)
    assert plain.labelled[14] == 1.0
    assert soft.labelled[14] < 0.8
    assert (soft.probability[20:] < plain.probability[20:]).all()


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
def test_vote_of_atlas_shifts_prior_mean(labels: LabelArray) -> None:
    share = np.random.default_rng(0).random(120)

    def vote(rows: IndexArray) -> FloatArray:
        return np.asarray(share[rows])

    belief = believe(BASIS, labels, vote=vote)
    q, _, Sigma = dense_belief.probability(X, labels, -2.0 + 3.0 * share)
    np.testing.assert_allclose(belief.probability, q, atol=1e-5)
    np.testing.assert_allclose(belief.variance, np.diag(Sigma), atol=1e-4)


@pytest.mark.parametrize("labels", [NOTHING, BOTH], ids=["none", "both"])
def test_open_rows_reduce_variance_but_keep_probabilities(labels: LabelArray) -> None:
    waiting = np.flatnonzero(labels == 0)[[3, 40, 7]]
    belief = believe(BASIS, labels, open_rows=waiting)
    q, f, _ = dense_belief.probability(X, labels)
    measured = np.concatenate((np.flatnonzero(labels), waiting))
    Sigma = dense_belief.posterior(dense_belief.prior(X), f, measured)
    np.testing.assert_allclose(belief.probability, q, atol=1e-5)
    np.testing.assert_allclose(belief.variance, np.diag(Sigma), atol=1e-4)
    np.testing.assert_allclose(full_covariance(belief), Sigma, atol=1e-4)


def test_repeated_or_labelled_open_row_counts_once() -> None:
    waiting = np.flatnonzero(BOTH == 0)[:2]
    answered = np.flatnonzero(BOTH)[:3]
    once = believe(BASIS, BOTH, open_rows=waiting)
    again = believe(BASIS, BOTH, open_rows=np.concatenate((waiting, answered, waiting)))
    np.testing.assert_array_equal(once.variance, again.variance)


def test_all_rows_have_equal_belief_without_labels() -> None:
    belief = believe(BASIS, NOTHING)
    assert np.ptp(belief.probability) == 0.0
    assert belief.probability[0] == pytest.approx(1 / (1 + np.exp(2 / np.sqrt(1 + 5 * np.pi / 8))))
    assert (belief.variance == 5.0).all()
    assert belief.root.shape == (0, 120)


def test_labels_of_one_class_move_all_probabilities_towards_it() -> None:
    flat = believe(BASIS, NOTHING).probability
    for name, sign in (("only inliers", -1.0), ("only outliers", 1.0)):
        moved = believe(BASIS, CASES[name]).probability - flat
        assert (sign * moved > 0.0).all()


def test_belief_does_not_depend_on_row_order() -> None:
    order = np.random.default_rng(2).permutation(120)
    plain = believe(BASIS, BOTH, open_rows=np.array([0, 1]))
    position = np.argsort(order)
    shuffled = believe(belief_basis(X[order]), BOTH[order], open_rows=position[[0, 1]])
    np.testing.assert_allclose(shuffled.probability, plain.probability[order], atol=1e-5)
    np.testing.assert_allclose(shuffled.variance, plain.variance[order], atol=1e-4)


def test_same_labels_give_bit_identical_belief() -> None:
    first, second = (believe(belief_basis(X), BOTH) for _ in range(2))
    np.testing.assert_array_equal(first.probability, second.probability)
    np.testing.assert_array_equal(first.variance, second.variance)
    np.testing.assert_array_equal(first.root, second.root)


def test_belief_does_not_depend_on_scale_or_offset_of_data() -> None:
    plain, moved = believe(BASIS, BOTH), believe(belief_basis(40 * X + 7), BOTH)
    np.testing.assert_allclose(moved.probability, plain.probability, atol=1e-5)


def test_newton_finds_mode_under_wide_prior() -> None:
    rng = np.random.default_rng(3)
    K = 1e4 * np.exp(-np.abs(np.subtract.outer(np.arange(30), np.arange(30))) / 5.0)
    target = rng.integers(0, 2, 30).astype(np.float64)
    a = laplace(K, np.full(30, -2.0), target)
    f = -2.0 + K @ a
    np.testing.assert_allclose(a, target - dense_belief.sigmoid(f), atol=1e-4)


@given(lattices())
def test_row_equal_to_labelled_row_has_strongest_belief(Z: FloatArray) -> None:
    labels = np.zeros(len(Z), dtype=np.int8)
    labels[0] = -1
    q = believe(belief_basis(Z), labels).probability
    twins = (Z == Z[0]).all(axis=1)
    assert q[0] == 1.0
    assert np.isfinite(q).all()
    if twins[1:].any():
        assert np.ptp(q[1:][twins[1:]]) < 1e-5
        assert (q[1:] <= q[1:][twins[1:]].max() + 1e-5).all()


def test_equal_rows_have_equal_belief() -> None:
    Z = np.full((12, 2), 0.3)
    labels = np.zeros(12, dtype=np.int8)
    labels[:3] = (1, 1, -1)
    belief = believe(belief_basis(Z), labels)
    assert belief_basis(Z).length == 4.0
    assert np.ptp(belief.probability[3:]) < 1e-6
    assert 0.1 < belief.probability[3] < 0.5


# 120 places with three rows each: as many landmarks as places are exact.
THRICE = np.repeat(X, 3, axis=0)
MANY = partial_labels(np.repeat(y, 3), EXACT_LABELS + 20, seed=5)


def test_posterior_of_many_labels_equals_its_definition_where_landmarks_are_enough() -> None:
    basis = belief_basis(THRICE)
    waiting = np.flatnonzero(MANY == 0)[[3, 40]]
    belief = believe(basis, MANY, open_rows=waiting)
    q, f, Sigma = dense_belief.probability(THRICE, MANY)
    measured = np.concatenate((np.flatnonzero(MANY), waiting))
    left = dense_belief.posterior(dense_belief.prior(THRICE), f, measured)
    assert len(basis.landmarks.rows) == 120
    np.testing.assert_allclose(belief.probability, q, atol=1e-3)
    np.testing.assert_allclose(belief.variance, np.diag(left), atol=5e-3)
    np.testing.assert_allclose(
        dense_belief.prior(THRICE) - belief.root.T @ belief.root, left, atol=5e-3
    )
    np.testing.assert_allclose(believe(basis, MANY).variance, np.diag(Sigma), atol=5e-3)


def test_posterior_of_many_labels_that_may_be_wrong_equals_its_definition() -> None:
    wrong = np.random.default_rng(4).uniform(0.0, 0.2, len(MANY))
    wrong[::2] = 0.0
    belief = believe(belief_basis(THRICE), MANY, certainty=1.0 - wrong)
    q, _, _ = dense_belief.probability(THRICE, MANY, wrong=wrong)
    np.testing.assert_allclose(belief.probability, q, atol=2e-3)
    np.testing.assert_allclose(belief.labelled, np.where(MANY == 0, 0.0, q), atol=2e-3)


def test_labels_beyond_the_exact_ones_lower_the_log_loss_on_the_other_rows() -> None:
    Z, truth = blobs(900, 4, seed=11)
    basis, order = belief_basis(Z), np.random.default_rng(3).permutation(900)
    rest, losses = order[600:], []
    for count in (EXACT_LABELS, 600):
        labels = np.zeros_like(truth)
        labels[order[:count]] = truth[order[:count]]
        q = np.clip(believe(basis, labels).probability[rest], 1e-6, 1.0 - 1e-6)
        losses.append(-np.log(np.where(truth[rest] == -1, q, 1.0 - q)).mean())
    assert losses[1] < losses[0]


def test_rows_outside_the_panel_have_the_features_of_equal_rows_in_it() -> None:
    Z = np.random.default_rng(1).normal(size=(5000, 3))
    basis = belief_basis(Z)
    outside = np.setdiff1d(np.arange(5000), basis.panel)[:20]
    Z[outside] = Z[basis.panel[:20]]
    moved = replace(basis, X=Z)
    np.testing.assert_allclose(moved.features(outside), basis.features(basis.panel[:20]), atol=1e-3)


def test_more_labels_than_the_limit_give_probabilities() -> None:
    Z, truth = blobs(LABEL_LIMIT + 300, 2, seed=3)
    belief = believe(belief_basis(Z), truth)
    assert np.isin(belief.probability, (0.0, 1.0)).all()
    assert np.isfinite(belief.variance).all()
