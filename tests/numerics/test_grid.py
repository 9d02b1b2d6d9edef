"""The C grid, its fits, and the choice of a cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.numerics.cases import blobs

from svddtune.numerics import c_bounds, c_grid, choose, choose_c, fit, fit_cells, solver
from svddtune.numerics.grid import fit_useful_cells


def test_grids_include_both_ends() -> None:
    np.testing.assert_allclose(c_grid(0.1, 0.4, steps=4), [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(c_grid(0.1, 0.4, steps=3, spacing="geometric"), [0.1, 0.2, 0.4])
    assert c_grid(0.1, 0.4, steps=1).tolist() == [0.4]
    assert c_grid(0.3, 0.3, steps=2).tolist() == [0.3, 0.3]


@given(st.floats(1e-6, 1.0), st.floats(0.0, 1.0), st.integers(2, 40), st.booleans())
def test_grids_never_leave_the_bounds(low: float, share: float, steps: int, even: bool) -> None:
    high = low + share * (1.0 - low)
    grid = c_grid(low, high, steps=steps, spacing="linear" if even else "geometric")
    assert (grid[0], grid[-1]) == (low, high)
    assert (np.diff(grid) >= 0).all()


def test_error_names_wrong_argument() -> None:
    with pytest.raises(ValueError, match=r"C_LB is 0\.5, C_UB is 0\.1"):
        c_grid(0.5, 0.1)
    with pytest.raises(ValueError, match="steps is 0"):
        c_grid(0.1, 0.5, steps=0)
    with pytest.raises(ValueError, match="spacing is 'log'"):
        c_grid(0.1, 0.5, spacing="log")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rule is 'last'"):
        choose(np.zeros(3), rule="last")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scores are empty"):
        choose(np.zeros(0))


@pytest.mark.parametrize(
    ("scores", "plateau", "first"),
    [
        ([0.1, 0.5, 0.5, 0.5, 0.2], 2, 1),
        ([0.5, 0.1, 0.5, 0.5, 0.5], 3, 0),
        ([0.5, 0.5, 0.5, 0.5], 1, 0),
        ([0.5, 0.5, 0.1, 0.5, 0.5], 0, 0),
        ([-1.0], 0, 0),
    ],
)
def test_choice_takes_the_middle_of_the_longest_plateau(
    scores: list[float], plateau: int, first: int
) -> None:
    assert choose(np.array(scores)) == plateau
    assert choose(np.array(scores), rule="first") == first


def test_cells_equal_single_fits() -> None:
    X, _ = blobs(250, 4, seed=9)
    fits = fit_cells(X, gamma=6.0, steps=7)
    C_LB, C_UB = c_bounds(X, gamma=6.0)
    assert (fits.C[0], fits.C[-1]) == (C_LB, C_UB)
    for model, outside in zip(fits.models, fits.outside, strict=True):
        single = fit(X, gamma=6.0, C=model.C)
        assert pytest.approx(model.R2, abs=1e-5) == single.R2
        np.testing.assert_array_equal(outside, single.outside(X))
    assert fits.outside[0].all()
    assert not fits.outside[-1].any()
    assert fits.predictions().dtype == np.int8
    assert set(fits.predictions()[3].tolist()) == {-1, 1}


@pytest.mark.parametrize("limit", [100, 10])
def test_cells_of_large_data_are_fitted_on_sample(
    monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(solver, "FIT_LIMIT", limit)
    monkeypatch.setattr(solver, "FIT_SAMPLE", 80)
    monkeypatch.setattr(solver, "GRAM_LIMIT", limit)
    X, _ = blobs(250, 4, seed=9)
    fits = fit_cells(X, gamma=6.0, steps=5, spacing="geometric")
    assert fits.outside.shape == (5, 250)
    for model, outside in zip(fits.models, fits.outside, strict=True):
        np.testing.assert_array_equal(outside, model.outside(X))


def test_cells_do_not_depend_on_row_order() -> None:
    X, _ = blobs(150, 3, seed=4)
    order = np.random.default_rng(0).permutation(150)
    assert c_bounds(X[order], gamma=3.0) == pytest.approx(c_bounds(X, gamma=3.0), rel=1e-4)
    C = np.array([0.01, 0.03, 0.1])
    np.testing.assert_array_equal(
        fit_cells(X[order], gamma=3.0, C=C).outside, fit_cells(X, gamma=3.0, C=C).outside[:, order]
    )


@pytest.mark.parametrize(
    ("labels", "chosen"),
    [
        ([0, 0, 0, 0], 2),  # nothing known: fewest outside
        ([1, 1, 0, 0], 2),  # only inliers: the same
        ([0, 0, 0, -1], 1),  # the outlier is outside up to cell 1
        ([0, 0, -1, -1], 0),  # both are outside in cell 0 only
        ([-1, 0, 0, 0], 2),  # outside in no cell: nothing contradicts less
    ],
)
def test_largest_c_with_fewest_contradictions_is_chosen_without_both_classes(
    labels: list[int], chosen: int
) -> None:
    predicted = np.array([[1, 1, -1, -1], [1, 1, 1, -1], [1, 1, 1, 1]], dtype=np.int8)
    given = np.array(labels, dtype=np.int8)
    outliers = (predicted == -1).sum(axis=1)
    assert choose_c(given, predicted, np.zeros(3), outliers) == chosen


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [-1, 1, 0, 0], [-1, -1, -1, -1]])
def test_cell_with_every_row_outside_is_chosen_only_as_last_resort(
    labels: list[int],
) -> None:
    given = np.array(labels, dtype=np.int8)
    predicted = np.array([[-1, -1, -1, -1], [1, 1, 1, 1]], dtype=np.int8)
    scores = np.array([0.5, 0.0])
    assert choose_c(given, predicted, scores, np.array([4, 0])) == 1
    assert choose_c(given, predicted[:1], scores[:1], np.array([4])) == 0


@pytest.mark.parametrize("most_outside", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("gamma", [0.3, 4.0, 60.0])
def test_useful_cells_are_those_of_the_grid_with_few_rows_outside(
    gamma: float, most_outside: float
) -> None:
    X = blobs(90, 3, seed=8)[0]
    grid = fit_cells(X, gamma=gamma, steps=12, spacing="geometric")
    useful = fit_useful_cells(X, gamma=gamma, steps=12, most_outside=most_outside)
    kept = grid.outside.mean(axis=1) <= most_outside
    np.testing.assert_allclose(useful.C, grid.C[kept], rtol=1e-4)
    np.testing.assert_array_equal(useful.outside, grid.outside[kept])
    expected = [model for model, few in zip(grid.models, kept, strict=True) if few]
    for found, model in zip(useful.models, expected, strict=True):
        assert found.R2 == pytest.approx(model.R2, abs=1e-5)


def test_useful_cells_of_equal_and_of_repeated_rows() -> None:
    equal = fit_useful_cells(np.zeros((8, 2)), gamma=1.0, steps=5, most_outside=0.9)
    assert not equal.outside.any()
    repeated = np.repeat(blobs(20, 2, seed=1)[0], 4, axis=0)
    grid = fit_cells(repeated, gamma=2.0, steps=8, spacing="geometric")
    useful = fit_useful_cells(repeated, gamma=2.0, steps=8, most_outside=0.5)
    kept = grid.outside.mean(axis=1) <= 0.5
    np.testing.assert_array_equal(useful.outside, grid.outside[kept])


def test_useful_cells_of_a_sample_classify_all_rows() -> None:
    X = blobs(5200, 2, seed=3)[0]
    useful = fit_useful_cells(X, gamma=3.0, steps=3, most_outside=0.9)
    assert useful.outside.shape == (len(useful.models), 5200)
    for model, outside in zip(useful.models, useful.outside, strict=True):
        np.testing.assert_array_equal(model.outside(X), outside)
