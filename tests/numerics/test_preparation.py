"""The table of kernel means is accurate, follows the scale of the data, and can be stored."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.numerics.cases import blobs, lattices, wdbc
from tests.profiles import sized

from svddtune.numerics import (
    FloatArray,
    Preparation,
    PreparationCourse,
    default_gamma_bounds,
    fit_representation,
    prepare,
)


def exact_means(X: FloatArray, gamma: float) -> FloatArray:
    D2 = np.array([np.square(X - x).sum(axis=1) for x in X])
    return np.asarray(np.exp(-gamma * D2).mean(axis=1))


def row_means(prep: Preparation, gamma: float) -> FloatArray:
    return np.asarray(prep.row_means @ prep.weights_at(np.array([gamma]))[0])


def grand_mean(prep: Preparation, gamma: float) -> float:
    return float(prep.grand_means @ prep.weights_at(np.array([gamma]))[0])


@pytest.mark.parametrize(
    "bounds",
    [
        (0.1, 100.0),
        pytest.param((1e-4, 1e4), marks=pytest.mark.slow),
        pytest.param((3.0, 3.1), marks=pytest.mark.slow),
    ],
)
def test_means_are_within_1e_5(bounds: tuple[float, float]) -> None:
    for X in (wdbc()[0], blobs(700, 5, seed=0)[0]):
        prep = prepare(X, k=5, gamma_bounds=bounds)
        for gamma in np.geomspace(*bounds, 41):
            exact = exact_means(X, gamma)
            found = row_means(prep, gamma)
            assert np.abs(found - exact).max() <= 1e-5
            assert abs(grand_mean(prep, gamma) - exact.mean()) <= 1e-5


def test_means_are_accurate_at_nodes_and_bounds() -> None:
    X, _ = blobs(60, 3, seed=5)
    prep = prepare(X, k=3)
    for gamma in (*np.exp(prep.log_gamma[3:-3:5]), *prep.gamma_bounds):
        found = row_means(prep, float(gamma))
        np.testing.assert_allclose(found, exact_means(X, float(gamma)), rtol=0, atol=1e-6)


@pytest.mark.slow
def test_means_of_large_data_come_from_declared_sample() -> None:
    X, _ = blobs(3000, 4, seed=1)
    prep = prepare(X, k=5, exact_limit=1000, sample_size=900)
    assert prep.sample_size == 900
    exact = exact_means(X, 5.0)
    assert np.abs(row_means(prep, 5.0) - exact).max() < 0.1
    assert abs(grand_mean(prep, 5.0) - exact.mean()) < 0.03
    again = prepare(X, k=5, exact_limit=1000, sample_size=900)
    np.testing.assert_array_equal(prep.row_means, again.row_means)
    assert prepare(X, k=5, exact_limit=3000, sample_size=900).sample_size is None


def test_round_trip_through_plain_arrays() -> None:
    prep = prepare(blobs(50, 2, seed=0)[0], k=4)
    again = Preparation.from_arrays(prep.to_arrays())
    assert (again.N, again.M, again.K) == (50, 2, 4)
    assert again.gamma_bounds == prep.gamma_bounds
    assert again.sample_size is None
    for name, array in prep.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[name], array)


@given(st.integers(0, 1000), st.floats(1e-3, 1e3))
@settings(max_examples=sized(30))
def test_bounds_follow_the_squared_scale(seed: int, c: float) -> None:
    X = np.random.default_rng(seed).normal(size=(40, 3))
    for bound, scaled in zip(default_gamma_bounds(X), default_gamma_bounds(c * X), strict=True):
        assert scaled == pytest.approx(bound / c**2, rel=1e-6)


def test_bounds_cover_those_of_paper_on_min_max_scaled_data() -> None:
    for X in (
        wdbc()[0],
        fit_representation(blobs(200, 1, seed=3)[0], "minmax").apply(blobs(200, 1, 3)[0]),
    ):
        low, high = default_gamma_bounds(X)
        assert low <= 0.1 * (1 + 1e-9)
        assert high >= 100.0 * (1 - 1e-9)


def test_bounds_fit_the_bulk_despite_extreme_row() -> None:
    X = np.vstack((np.random.default_rng(0).normal(size=(200, 2)), [[100.0, 100.0]]))
    low, high = default_gamma_bounds(X)
    assert (low, high) == pytest.approx(default_gamma_bounds(X[:-1]))


@given(lattices(min_rows=1))
def test_equal_rows_have_equal_means(X: FloatArray) -> None:
    prep = prepare(np.vstack((X, X[::-1])), k=2)
    np.testing.assert_array_equal(prep.row_means, prep.row_means[::-1])


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (2.0, 1.0), (1.0, np.inf)])
def test_invalid_bounds_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="gamma_bounds are"):
        prepare(np.eye(3), k=1, gamma_bounds=bounds)


def test_locality_beyond_the_table_is_refused() -> None:
    prep = prepare(blobs(50, 2, seed=0)[0], k=4)
    assert prep.locality(4) == 4
    with pytest.raises(ValueError, match="k is 5, expected 1 to 4"):
        prep.locality(5)
    assert prepare(np.eye(3), k=5).locality(9) == 3


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("part_s", [1e-9, 0.005, 1e9])
def test_parts_give_the_same_preparation_to_the_last_bit(sampled: bool, part_s: float) -> None:
    X, _ = blobs(700, 3, seed=2)
    X[:60] = X[60]
    exact_limit = 300 if sampled else 700
    expected = prepare(X, k=8, exact_limit=exact_limit, sample_size=250).to_arrays()
    course = PreparationCourse.of(X, k=8, exact_limit=exact_limit, sample_size=250, part_s=part_s)
    assert (len(course.parts) == 1) == (part_s > 1)
    every: dict[str, NDArray[Any]] = {}
    last: dict[str, NDArray[Any]] = {}
    for part in range(len(course.parts)):
        # A part sees what the one before it gave, and nothing else.
        last = course.run(part, last)
        every |= last
    for name, array in course.join(every).to_arrays().items():
        np.testing.assert_array_equal(array, expected[name])


def test_parts_of_a_large_dataset_take_about_a_second_each() -> None:
    course = PreparationCourse.of(np.zeros((100_000, 10)), k=8)
    seconds = [sum(step.seconds for step in part) for part in course.parts]
    assert max(seconds) < 1.3
    assert np.mean(seconds) > 0.7
    for table in ("means", "neighbors"):
        rows = [
            (step.begin, step.end) for part in course.parts for step in part if step.table == table
        ]
        assert [begin for begin, _ in rows] == [0, *(end for _, end in rows[:-1])]
        assert rows[-1][1] == 100_000
