"""Alignment, its maximum and tau agree with their definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.numerics import by_definition
from tests.numerics.cases import blobs, labelled, partial_labels, wdbc
from tests.profiles import sized

from svddtune.numerics import (
    FloatArray,
    LabelArray,
    alignment,
    alignment_curve,
    best_gamma,
    local_alignment,
    prepare,
    relabel,
    spread,
    tau,
)

BOUNDS = (0.05, 50.0)


@given(labelled(), st.floats(0.05, 50.0))
def test_pools_pairs_and_alignment_equal_definition(
    case: tuple[FloatArray, LabelArray, int], gamma: float
) -> None:
    X, labels, k = case
    prep = prepare(X, k=k, gamma_bounds=BOUNDS)
    local = local_alignment(prep, X, labels, k=k)
    D2 = by_definition.squared_distances(X)
    nn = by_definition.nearest(D2, k)
    n_in, n_out = by_definition.counts(nn, labels)
    assert (local.pools.n_in.tolist(), local.pools.n_out.tolist()) == (n_in, n_out)
    np.testing.assert_array_equal(local.pools.y, by_definition.relabelled(nn, labels))
    i, j = local.edges.i[local.mask].tolist(), local.edges.j[local.mask].tolist()
    assert set(zip(i, j, strict=True)) == by_definition.pairs(nn, labels, local.pools.y)
    value = alignment(prep, X, labels, k=k, gamma=gamma)
    assert -1.0 <= value <= 1.0
    expected = by_definition.alignment(D2, labels, k=k, gamma=gamma)
    assert value == pytest.approx(expected, rel=0, abs=1e-5)


@given(labelled(), st.floats(0.05, 50.0))
@settings(max_examples=sized(60))
def test_tau_includes_changes_of_neighbors_labels(
    case: tuple[FloatArray, LabelArray, int], gamma: float
) -> None:
    X, labels, k = case
    prep = prepare(X, k=k, gamma_bounds=BOUNDS)
    local = local_alignment(prep, X, labels, k=k)
    rows = np.flatnonzero(labels == 0)
    values = tau(local, X, rows, k=prep.locality(k), gamma=gamma)
    D2 = by_definition.squared_distances(X)
    expected = [by_definition.tau(D2, labels, int(row), k=k, gamma=gamma) for row in rows]
    np.testing.assert_allclose(values, expected, rtol=0, atol=2e-5)


@given(labelled(), st.floats(0.05, 50.0))
@settings(max_examples=sized(60))
def test_printed_tau_changes_the_label_of_the_row_alone(
    case: tuple[FloatArray, LabelArray, int], gamma: float
) -> None:
    X, labels, k = case
    prep = prepare(X, k=k, gamma_bounds=BOUNDS)
    local = local_alignment(prep, X, labels, k=k)
    rows = np.flatnonzero(labels == 0)
    values = tau(local, X, rows, k=prep.locality(k), gamma=gamma, rule="printed")
    D2 = by_definition.squared_distances(X)
    expected = [by_definition.printed_tau(D2, labels, int(row), k=k, gamma=gamma) for row in rows]
    np.testing.assert_allclose(values, expected, rtol=0, atol=2e-5)


def test_both_tau_rules_agree_where_a_row_is_its_only_neighbor() -> None:
    X, y = blobs(30, 2, seed=3)
    labels = partial_labels(y, 8, seed=1)
    prep = prepare(X, k=1)
    local = local_alignment(prep, X, labels, k=1)
    rows = np.flatnonzero(labels == 0)
    printed = tau(local, X, rows, k=1, gamma=2.0, rule="printed")
    np.testing.assert_allclose(printed, tau(local, X, rows, k=1, gamma=2.0), rtol=0, atol=1e-12)


def test_unknown_tau_rule_is_named() -> None:
    X, y = blobs(30, 2, seed=3)
    local = local_alignment(prepare(X, k=3), X, partial_labels(y, 8, seed=1), k=3)
    with pytest.raises(ValueError, match="rule is 'no'"):
        tau(local, X, np.array([0]), k=3, gamma=1.0, rule="no")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 5])
def test_alignment_and_tau_on_wdbc_equal_definition(k: int) -> None:
    X, y = wdbc()
    labels = partial_labels(y, 16, seed=4)
    prep = prepare(X, k=8)
    local = local_alignment(prep, X, labels, k=k)
    D2 = np.square(X[:, None] - X).sum(axis=2)
    gamma, value = best_gamma(local, prep.gamma_bounds)
    assert value == pytest.approx(by_definition.alignment(D2, labels, k=k, gamma=gamma), abs=1e-5)
    rows = np.flatnonzero(labels == 0)[::90]
    expected = [by_definition.tau(D2, labels, int(row), k=k, gamma=gamma) for row in rows]
    np.testing.assert_allclose(tau(local, X, rows, k=k, gamma=gamma), expected, rtol=0, atol=1e-5)


def test_best_gamma_finds_the_higher_of_two_maxima_to_one_percent() -> None:
    def curve(gamma: FloatArray) -> FloatArray:
        t = np.log(gamma)
        low, high = np.exp(-np.square(t + 1.0)), np.exp(-np.square((t - 3.0) / 0.3))
        return np.asarray(0.9 * low + high)

    gamma, value = best_gamma(curve, (0.1, 100.0))
    assert gamma == pytest.approx(np.exp(3.0), rel=0.01)
    assert value == pytest.approx(1.0, abs=1e-3)


def test_best_gamma_at_the_ends_and_on_a_plateau() -> None:
    assert best_gamma(lambda gamma: -gamma, (0.1, 100.0))[0] == 0.1
    assert best_gamma(lambda gamma: gamma, (0.1, 100.0))[0] == 100.0
    assert best_gamma(np.zeros_like, (0.1, 100.0)) == (0.1, 0.0)


def test_best_gamma_is_at_least_the_best_of_a_fine_grid() -> None:
    X, y = blobs(300, 4, seed=7)
    labels = partial_labels(y, 20, seed=1)
    prep = prepare(X, k=5)
    curve = alignment_curve(prep, X, labels, k=5, gamma=np.geomspace(*prep.gamma_bounds, 2000))
    gamma, value = best_gamma(local_alignment(prep, X, labels, k=5), prep.gamma_bounds)
    assert value >= curve.value.max() - 1e-5
    assert gamma == pytest.approx(curve.gamma[curve.value.argmax()], rel=0.015)


@given(st.integers(0, 500), st.floats(1e-2, 1e2))
@settings(max_examples=sized(25))
def test_alignment_does_not_depend_on_row_order_or_scale(seed: int, c: float) -> None:
    X, y = blobs(60, 3, seed=seed, outliers=0.3)
    labels = partial_labels(y, 12, seed=seed)
    prep = prepare(X, k=4, gamma_bounds=(0.1, 100.0))
    gamma, value = best_gamma(local_alignment(prep, X, labels, k=4), prep.gamma_bounds)
    order = np.random.default_rng(seed).permutation(len(X))
    moved = prepare(c * X[order], k=4, gamma_bounds=(0.1 / c**2, 100.0 / c**2))
    again = best_gamma(local_alignment(moved, c * X[order], labels[order], k=4), moved.gamma_bounds)
    assert again[1] == pytest.approx(value, abs=1e-4)  # either search stops within 1 %
    at_first = alignment(moved, c * X[order], labels[order], k=4, gamma=gamma / c**2)
    assert at_first == pytest.approx(value, abs=1e-5)


def test_alignment_of_two_clusters_peaks_at_their_scale() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack((rng.normal(0.0, 0.1, (30, 2)), rng.normal(3.0, 0.1, (30, 2))))
    labels = np.zeros(60, dtype=np.int8)
    labels[:5], labels[30:35] = 1, -1
    prep = prepare(X, k=30, gamma_bounds=(1e-3, 1e3))
    values = [alignment(prep, X, labels, k=30, gamma=gamma) for gamma in (0.5, 1000.0)]
    assert values[0] > 0.99
    assert values[1] < 0.6


def test_alignment_without_both_classes_is_zero_or_bounded() -> None:
    X, _ = blobs(20, 2, seed=0)
    labels = np.zeros(20, dtype=np.int8)
    prep = prepare(X, k=20)
    assert alignment(prep, X, labels, k=5, gamma=1.0) == 0.0
    labels[0] = 1
    assert -1.0 <= alignment(prep, X, labels, k=5, gamma=1.0) <= 1.0
    # Every row is in the inlier pool: the centred labels vanish.
    assert alignment(prep, X, labels, k=20, gamma=1.0) == 0.0


def test_tau_of_no_candidates_is_empty() -> None:
    X, y = blobs(20, 2, seed=0)
    prep = prepare(X, k=3)
    local = local_alignment(prep, X, y, k=3)
    assert tau(local, X, np.empty(0, dtype=np.int64), k=3, gamma=1.0).shape == (0,)


def test_tie_of_neighbor_counts_goes_to_outlier_pool() -> None:
    pools = relabel(np.array([0, 1, 0, 1, 2, 1]), np.array([0, 0, 1, 1, 1, 2]))
    assert pools.tolist() == [0, 1, -1, -1, 1, -1]
    assert pools.dtype == np.int8


def test_labelled_outlier_without_inlier_neighbors_stays_in_outlier_pool() -> None:
    prep = prepare(np.array([[0.0], [0.1], [9.0], [9.1]]), k=2)
    pools = spread(prep.nn, np.array([1, 0, -1, 0], dtype=np.int8), k=2)
    assert pools.y.tolist() == [1, 1, -1, -1]
