"""Data shifting against its definition and by hand; the choice on pseudo rows."""

import numpy as np
import pytest
from tests.evaluation.baselines import definitions
from tests.numerics.cases import blobs

from svddtune.evaluation.baselines import GRIDS, Shifted, ads, ads_choice, ads_lattice, shift
from svddtune.numerics import FloatArray, fit
from svddtune.numerics.label_free.edges import neighbor_count, outward


def test_edges_of_a_line_equal_hand_calculation() -> None:
    # K = 4: all others. Rows 0 and 4 are on the edge, their mean distance is 2.5. Row 2 has as
    # many neighbours on either side and no direction.
    pseudo = shift(np.arange(5.0)[:, None])
    assert pseudo.edge.tolist() == [0, 4]
    assert pseudo.outliers.ravel().tolist() == [-2.5, 6.5]
    assert pseudo.targets.ravel().tolist() == [1.0, 2.0, 2.0, 3.0]


def test_neighbor_count_follows_formula_within_limits() -> None:
    assert [neighbor_count(N) for N in (2, 5, 10, 100, 1000, 2000)] == [1, 4, 5, 10, 15, 17]


@pytest.mark.parametrize("seed", range(4))
def test_shifting_by_definition(seed: int) -> None:
    X, _ = blobs(70, 3, seed=seed)
    pseudo = shift(X)
    edge, outliers, targets = definitions.shifted(X, neighbor_count(70))
    assert pseudo.edge.tolist() == edge
    np.testing.assert_allclose(pseudo.outliers, outliers, atol=1e-12)
    np.testing.assert_allclose(pseudo.targets, targets, atol=1e-12)
    np.testing.assert_array_equal(shift(X, authors=True).targets, pseudo.targets)


def test_equal_rows_have_no_direction_and_leave_others_unchanged() -> None:
    X = np.concatenate((np.arange(5.0), [4.0]))[:, None]
    found = outward(X)
    assert found.edge.tolist() == [True, False, False, False, True, True]
    assert found.duplicated.tolist() == [False, False, False, False, True, True]
    assert shift(X).edge.tolist() == [0, 4, 5]
    assert shift(X, authors=True).edge.tolist() == [0]


def test_shifting_follows_the_scale() -> None:
    X, _ = blobs(50, 2, seed=1)
    a, b = shift(X), shift(10.0 * X)
    np.testing.assert_allclose(b.outliers, 10.0 * a.outliers, rtol=1e-9)
    np.testing.assert_allclose(b.targets, 10.0 * a.targets, rtol=1e-9)


def test_grids_equal_those_of_paper() -> None:
    gammas, C = GRIDS["default"]
    assert gammas == pytest.approx([1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4])
    assert C.tolist() == [0.01, 0.05]
    gammas, C = GRIDS["extended"]
    assert (len(gammas), gammas[0], gammas[-1]) == (20, pytest.approx(10**-0.1), 100.0)
    assert (len(C), C[0], C[-1]) == (20, 0.001, 0.1)


@pytest.mark.parametrize("grid", ["default", "extended"])
def test_chosen_cell_has_least_error_on_pseudo_rows(grid: str) -> None:
    X, _ = blobs(120, 2, seed=3)
    pseudo = shift(X)
    choice = ads(X, grid=grid)  # type: ignore[arg-type]
    assert choice is not None
    best = 2.0
    for gamma in GRIDS[grid][0]:  # type: ignore[index]
        for C in GRIDS[grid][1]:  # type: ignore[index]
            if C < 1 / 120:
                continue
            model = fit(X, gamma=gamma, C=C)
            rejected = model.outside(pseudo.targets).mean()
            accepted = 1.0 - model.outside(pseudo.outliers).mean()
            best = min(best, 0.5 * (rejected + accepted))
    assert choice.score == pytest.approx(1.0 - best)


@pytest.mark.parametrize("X", [np.ones((1, 2)), np.ones((2, 2)), np.full((40, 3), 0.3), np.eye(2)])
def test_ads_is_undefined_without_feasible_cell(X: FloatArray) -> None:
    assert ads(X) is None


def test_ads_is_undefined_without_pseudo_outliers() -> None:
    X, _ = blobs(120, 2, seed=3)
    pseudo = Shifted(np.empty((0, 2)), X, np.empty(0, dtype=np.int64))
    assert ads_choice(ads_lattice(X, pseudo, grid="default"), pseudo) is None
