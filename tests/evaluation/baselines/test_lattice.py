"""Cells of a lattice are the fits one by one, whichever solutions they share."""

import numpy as np
import pytest
from tests.evaluation.baselines import definitions
from tests.numerics.cases import blobs, partial_labels

from svddtune.evaluation.baselines import (
    best_on_labels,
    fit_lattice,
    fixed,
    random_labels,
    table_columns,
)
from svddtune.numerics import FloatArray, fit, hard_margin, score

X, Y = blobs(80, 3, seed=2)
GAMMAS = np.array([0.5, 8.0, 300.0])
CS = np.array([0.2, 0.013, 1.0, 0.001, 0.05])


def test_cells_equal_single_fits_of_lattice() -> None:
    lattice = fit_lattice(X, GAMMAS, CS, others=X[:7] + 0.3)
    assert lattice.C.tolist() == [0.2, 0.013, 1.0, 0.05]
    for g, gamma in enumerate(GAMMAS):
        for s, C in enumerate(lattice.C):
            model = fit(X, gamma=gamma, C=C)
            np.testing.assert_array_equal(lattice.outside[g, s], model.outside(X))
            np.testing.assert_array_equal(lattice.other_outside[g, s], model.outside(X[:7] + 0.3))
            alphas = model.alphas
            between = ((alphas > 1e-7) & (alphas < C - 1e-7)).sum()
            assert abs(int(lattice.free[g, s]) - int(between)) <= 1


def test_cells_with_inactive_bound_share_solution() -> None:
    bound = float(hard_margin(X, gamma=8.0).alphas.max())
    lattice = fit_lattice(X, np.array([8.0]), np.array([0.5 * bound, 1.01 * bound, 1.0]))
    assert lattice.outside[0, 0].any()
    assert not lattice.outside[0, 1:].any()


def test_c_above_one_acts_as_one() -> None:
    lattice = fit_lattice(X, GAMMAS, np.array([1.0, 7.0]))
    np.testing.assert_array_equal(lattice.outside[:, 0], lattice.outside[:, 1])
    assert lattice.C.tolist() == [1.0, 7.0]


def test_lattice_without_feasible_c_is_empty() -> None:
    lattice = fit_lattice(X, GAMMAS, np.array([0.001, 0.012]))
    assert lattice.outside.shape == (3, 0, 80)
    assert best_on_labels(lattice, Y) is None
    assert fixed(X, gamma=1.0, C=0.01) is None


def test_degenerate_cell_has_all_rows_outside() -> None:
    lattice = fit_lattice(X, np.array([2.0]), np.array([1.0 / 80]))
    assert lattice.outside.all()
    assert lattice.free.tolist() == [[0]]


def test_cell_without_free_rows_separates_inside_from_outside() -> None:
    # alpha = (1/2, 0, 1/2): both outer rows at the bound, the middle one inside.
    Z = np.array([[-1.0], [0.0], [1.0]])
    lattice = fit_lattice(Z, np.array([0.1]), np.array([0.5]))
    assert lattice.free.tolist() == [[0]]
    assert lattice.outside.tolist() == [[[True, False, True]]]


def test_upper_bound_equals_definition() -> None:
    choice = best_on_labels(fit_lattice(X, GAMMAS, CS), Y)
    assert choice is not None
    expected = definitions.upper_bound(X, Y, GAMMAS.tolist(), CS.tolist())
    assert (choice.score, choice.gamma, choice.C) == pytest.approx(expected)
    assert float(score(Y, choice.predictions)) == choice.score


def test_first_best_c_on_the_labels_is_taken() -> None:
    labels = partial_labels(Y, 20, seed=1)
    grid: FloatArray = np.linspace(0.001, 0.1, 20)
    choice = best_on_labels(fit_lattice(X, np.array([8.0]), grid), labels)
    kappas = [
        float(score(labels, np.where(fit(X, gamma=8.0, C=C).outside(X), -1, 1).astype(np.int8)))
        for C in grid
        if C >= 1 / 80
    ]
    assert choice is not None
    assert choice.score == pytest.approx(max(kappas))
    assert choice.C == grid[grid >= 1 / 80][int(np.argmax(kappas))]


def test_random_labels_are_true_labels_of_drawn_rows() -> None:
    labels = random_labels(Y, n=50, rng=np.random.default_rng(3))
    assert np.count_nonzero(labels) == 50
    assert (labels[labels != 0] == Y[labels != 0]).all()
    assert np.count_nonzero(random_labels(Y[:9], rng=np.random.default_rng(3))) == 9


@pytest.mark.parametrize("N", [1, 2, 40])
def test_table_of_equal_rows_is_undefined(N: int) -> None:
    y = np.ones(N, dtype=np.int8)
    columns = table_columns(np.full((N, 2), 0.5), y)
    undefined = (columns.dfn_fix, columns.qms, columns.ads, columns.ads_ext, columns.dfn_cells)
    assert undefined == (None,) * 5
    assert (columns.upper_bound is None) == (N < 10)  # no C of the grid is feasible


def test_table_choices_equal_single_fits() -> None:
    columns = table_columns(X, Y)
    for choice in (columns.dfn_fix, columns.ads, columns.ads_ext, columns.upper_bound):
        assert choice is not None
        outside = fit(X, gamma=choice.gamma, C=choice.C).outside(X)
        np.testing.assert_array_equal(choice.predictions == -1, outside)
    assert columns.dfn_cells is not None
    assert columns.dfn_fix is not None
    assert columns.dfn_cells.gammas.tolist() == [columns.dfn_fix.gamma]
    assert columns.dfn_cells.C.min() >= 1 / 80
