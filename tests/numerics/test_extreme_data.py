"""Extreme rows, repeated rows and labels of one class: the right answers, by definition."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.numerics import by_definition
from tests.numerics.cases import blobs, wdbc
from tests.profiles import sized

from svddtune.numerics import (
    Atlas,
    FloatArray,
    LabelArray,
    Strategy,
    belief_basis,
    c_bounds,
    choose_cell,
    default_gamma_bounds,
    final_cell,
    finish,
    finish_with_atlas,
    fit_atlas,
    fit_cells,
    fit_representation,
    prepare,
    run,
    score,
    scott_gamma,
    spread_of,
    uneven_columns,
)
from svddtune.numerics.extent import LARGEST, LEAST_WIDTH, extent
from svddtune.numerics.kernel import gram
from svddtune.numerics.neighbors import nearest


def clusters(far: float | None) -> tuple[FloatArray, LabelArray]:
    """190 normal rows and 10 outliers around them, the last at `far`."""
    rng = np.random.default_rng(0)
    around = rng.normal(size=(10, 2))
    around *= (rng.uniform(5, 9, 10) / np.linalg.norm(around, axis=1))[:, None]
    X = np.vstack((rng.normal(size=(190, 2)), around))
    if far is not None:
        X[-1] = far
    return X, np.repeat(np.array([1, -1], dtype=np.int8), (190, 10))


def ring(far: float | None) -> tuple[FloatArray, LabelArray]:
    """A ring of 190 rows, 10 outliers in its middle and outside, the last at `far`."""
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 200), np.ones(200) + 0.03 * rng.normal(size=200)
    radius[190:] = np.where(np.arange(10) % 2, 0.1, 1.8)
    X = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    if far is not None:
        X[-1] = far
    return X, np.repeat(np.array([1, -1], dtype=np.int8), (190, 10))


@pytest.mark.parametrize("far", [pytest.param(4e3, marks=pytest.mark.slow), -1e9])
@pytest.mark.parametrize("scaling", ["none", "minmax"])
@pytest.mark.parametrize("strategy", ["lama", "knowledge_gradient"])
@pytest.mark.parametrize(("data", "least"), [(clusters, 0.6), (ring, 0.25)])
def test_one_extreme_row_does_not_lower_kappa(
    data: Callable[[float | None], tuple[FloatArray, LabelArray]],
    least: float,
    strategy: Strategy,
    scaling: str,
    far: float,
) -> None:
    kappas = []
    for place in (None, far):
        X, y = data(place)
        Z = fit_representation(X, scaling).apply(X)
        atlas = fit_atlas(Z, default_gamma_bounds(Z), count=11, cells=10)
        result = run(Z, y, strategy=strategy, budget=30, atlas=atlas)
        kappas.append(float(score(y, result.final.predictions)))
    assert kappas[1] > max(kappas[0] - 0.15, least)


@given(st.integers(0, 1000), st.integers(1, 4), st.floats(1e3, 1e12), st.sampled_from([1.0, -1.0]))
@example(456, 1, 1e3, 1.0)  # Scott's gamma is above the upper bound
@settings(max_examples=sized(40))
def test_bounds_are_those_of_the_rows_that_are_not_extreme(
    seed: int, count: int, far: float, sign: float
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    extreme = np.vstack((X, sign * far * rng.uniform(1, 2, size=(count, 3))))
    low, high = default_gamma_bounds(X)
    assert default_gamma_bounds(extreme) == pytest.approx((low, high), rel=0.1)
    # So is the gamma that is used until the labels can choose one: Scott's, within the bounds.
    default = np.clip(scott_gamma(X), low, high)
    assert prepare(extreme, k=3).default_gamma == pytest.approx(default, rel=0.1)
    assert prepare(X, k=3).default_gamma == default
    # And the length scale of the belief.
    assert belief_basis(extreme).length == pytest.approx(belief_basis(X).length, rel=0.1)


@given(st.integers(0, 1000), st.floats(1e-30, 1e30))
@settings(max_examples=sized(40))
def test_bounds_follow_the_squared_scale_with_extreme_rows_too(seed: int, c: float) -> None:
    X = np.random.default_rng(seed).normal(size=(60, 2))
    X[:2] = [[1e7, 3.0], [-5e8, 1e9]]
    low, high = default_gamma_bounds(X)
    assert default_gamma_bounds(c * X) == pytest.approx((low / c**2, high / c**2), rel=1e-6)


def test_masses_of_repeated_rows_leave_the_bounds_positive_and_finite() -> None:
    rng = np.random.default_rng(0)
    few = rng.normal(size=(12, 2))
    X = np.vstack((np.repeat(few[:1], 3000, axis=0), few, [[1e9, 1e9]]))
    low, high = default_gamma_bounds(X)
    assert (low, high) == pytest.approx(default_gamma_bounds(few), rel=0.2)
    # Rows that differ by rounding errors alone are repetitions too.
    noisy = X * (1.0 + 1e-15 * rng.normal(size=X.shape))
    assert default_gamma_bounds(noisy) == pytest.approx((low, high), rel=0.5)


def test_bounds_of_ordinary_data_are_those_of_the_range() -> None:
    for X in (wdbc()[0], blobs(400, 4, seed=1)[0]):
        width2 = np.square(np.ptp(X, axis=0)).max()
        assert extent(X).width2 == width2
        assert default_gamma_bounds(X)[0] == 0.1 / width2


@pytest.mark.parametrize("far", [1e6, 1e10, 1e14])
def test_extreme_row_does_not_lower_precision_of_others(far: float) -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    extreme = np.vstack((X, [[far, -far, far]]))
    exact = by_definition.kernel(by_definition.squared_distances(X), 2.0)
    np.testing.assert_allclose(gram(extreme, gamma=2.0)[:80, :80], exact, rtol=0, atol=1e-12)
    assert nearest(extreme, 6)[:80].tolist() == nearest(X, 6).tolist()
    prep = prepare(extreme, k=3, gamma_bounds=(0.1, 10.0))
    means = prep.row_means[:80] @ prep.weights_at(np.array([2.0]))[0] * 81 / 80
    np.testing.assert_allclose(means, exact.mean(axis=1), rtol=0, atol=1e-5)


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("gamma", [0.3, 2.0, 20.0])
def test_upper_bound_of_c_is_the_smallest_with_no_row_outside(gamma: float, times: int) -> None:
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(9, 2)), times, axis=0)
    K = by_definition.kernel(by_definition.squared_distances(X), gamma)
    expected = by_definition.c_upper_bound(K)
    C_LB, C_UB = c_bounds(X, gamma=gamma)
    assert C_UB == pytest.approx(expected, rel=0.01)
    assert C_LB == 1 / len(X)


@given(st.integers(0, 500), st.integers(2, 20), st.floats(-1.0, 1.5))
@settings(max_examples=sized(25))
def test_repeating_every_row_divides_the_upper_bound_of_c(
    seed: int, times: int, log_gamma: float
) -> None:
    X = np.random.default_rng(seed).normal(size=(25, 2))
    gamma = 10.0**log_gamma
    once, often = c_bounds(X, gamma=gamma)[1], c_bounds(np.repeat(X, times, axis=0), gamma=gamma)[1]
    assert often * times == pytest.approx(once, rel=1e-3)


def test_uneven_repetition_counts_by_group() -> None:
    X = np.random.default_rng(1).normal(size=(8, 2))
    Z = np.repeat(X, [1, 7, 1, 2, 1, 3, 1, 1], axis=0)
    K = by_definition.kernel(by_definition.squared_distances(Z), 1.0)
    assert c_bounds(Z, gamma=1.0)[1] == pytest.approx(by_definition.c_upper_bound(K), rel=0.01)


def test_linear_cells_of_repeated_rows_call_rows_outliers() -> None:
    X = np.repeat(blobs(60, 2, seed=2)[0], 20, axis=0)
    found = np.any(fit_cells(X, gamma=5.0).outside, axis=1).tolist()
    assert sum(found[:-1]) >= 15
    assert not found[-1]


def test_equal_rows_are_all_inside_the_upper_bound_of_c() -> None:
    for X in (np.ones((20, 2)), 1e3 * np.eye(20)):
        fits = fit_cells(X, gamma=1.0)
        assert fits.outside[0].all()
        assert not fits.outside[-1].any()


def atlas_of(X: FloatArray) -> Atlas:
    return fit_atlas(X, default_gamma_bounds(X), count=6, cells=8)


ONE_CLASS = {
    "no label": (0, 0),
    "inliers only": (20, 0),
    "outliers only": (0, 3),
    "both": (20, 3),
}


@pytest.mark.parametrize("counts", ONE_CLASS.values(), ids=ONE_CLASS)
@pytest.mark.parametrize("far", [None, 1e6])
def test_final_model_contradicts_as_few_labels_as_possible(
    counts: tuple[int, int], far: float | None
) -> None:
    X, y = clusters(far)
    labels = np.zeros_like(y)
    labels[np.flatnonzero(y == 1)[: counts[0]]] = 1
    labels[np.flatnonzero(y == -1)[::-1][: counts[1]]] = -1
    prep, atlas = prepare(X, k=5), atlas_of(X)
    by_paper = finish(prep, X, labels, k=5)
    for final in (
        by_paper,
        finish_with_atlas(prep, X, labels, atlas, belief_basis(X), k=5),
    ):
        outside = final.predictions == -1
        assert outside.mean() <= 0.9
        assert not outside[labels == 1].any()
        if counts[1]:
            assert outside[labels == -1].all()
        elif counts[0] or final is by_paper:
            assert not outside.any()


def test_final_cell_keeps_gamma_of_choice_with_labels_of_one_class() -> None:
    X, y = clusters(None)
    labels = np.where(np.arange(len(y)) < 20, y, 0).astype(np.int8)
    atlas = atlas_of(X)
    choice = choose_cell(atlas, belief_basis(X), labels)
    assert atlas.gamma[final_cell(atlas, choice, labels)] == choice.gamma


@pytest.mark.parametrize("column", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("strategy", ["lama", "random", "disagreement", "knowledge_gradient"])
def test_no_session_ends_with_every_row_outside(strategy: Strategy, column: bool) -> None:
    X = np.random.default_rng(2).normal(size=(100, 3))
    if column:
        X[:, 0] *= 1e6
    else:
        X[0] = 1e6
    atlas = atlas_of(X)
    for answer in (lambda row: 1, lambda row: 1 if row % 5 else -1):
        result = run(X, answer, strategy=strategy, budget=12, initial=(0, 0), atlas=atlas)
        assert (result.final.predictions == -1).mean() <= 0.9
        assert all(choice.outliers <= 0.9 * len(X) for choice in result.choices)


def test_extreme_labelled_inlier_leaves_other_rows_inside() -> None:
    X = np.random.default_rng(2).normal(size=(200, 3))
    X[0] = 1e6
    labels = np.zeros(200, dtype=np.int8)
    labels[0] = 1
    atlas = atlas_of(X)
    assert choose_cell(atlas, belief_basis(X), labels).outliers < 180
    final = finish_with_atlas(prepare(X, k=5), X, labels, atlas, belief_basis(X), k=5)
    assert not (final.predictions == -1).any()


def test_value_too_large_for_squared_distances_is_refused_with_its_place() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[7, 1] = -10 * LARGEST
    with pytest.raises(ValueError, match=r"X\[7, 1\] is -1e\+101"):
        prepare(X, k=3)
    with pytest.raises(ValueError, match="the widest column of X, column 0, has the range"):
        prepare(np.linspace(0, 1e-2 * LEAST_WIDTH, 30)[:, None], k=3)
    # At the limits all is well.
    for scale in (LARGEST / 10, 100 * LEAST_WIDTH):
        Z = np.random.default_rng(0).normal(size=(30, 2))
        result = run(scale * Z, lambda row: 1 if row % 4 else -1, budget=10, initial=(0, 0))
        plain = run(Z, lambda row: 1 if row % 4 else -1, budget=10, initial=(0, 0))
        assert result.final.gamma * scale**2 == pytest.approx(plain.final.gamma, rel=0.02)


def test_columns_with_very_different_spread_are_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 3] = 7.0
    assert uneven_columns(X) is None
    X[:, 2] *= 5e4
    found = uneven_columns(X)
    assert found is not None
    assert (found.wide, found.narrow in (0, 1)) == (2, True)
    assert 1e4 < found.ratio < 2e5
    # One extreme value does not make a column wide, but min-max scaling then makes it narrow.
    Y = rng.normal(size=(200, 2))
    Y[0, 1] = 1e9
    assert uneven_columns(Y) is None
    squeezed = uneven_columns(fit_representation(Y, "minmax").apply(Y))
    assert squeezed is not None
    assert (squeezed.wide, squeezed.narrow) == (0, 1)


def test_scale_of_mostly_constant_column_ignores_extreme_value() -> None:
    values = np.zeros((200, 1))
    values[:20] = 5.0
    usual = spread_of(values).scale[0], fit_representation(values, "robust").scale[0]
    values[0] = 1e9
    assert spread_of(values).scale[0] < 20 * usual[0]
    assert fit_representation(values, "robust").scale[0] <= 32 * usual[1]
