"""The atlas: what every cell calls outliers, in one bit a row."""

import numpy as np
import pytest
from tests.numerics.cases import blobs

from svddtune.numerics import (
    Atlas,
    c_bounds,
    fit,
    fit_atlas,
    fit_atlas_part,
    lattice_gammas,
    panel_rows,
    prepare,
)
from svddtune.numerics.atlas import MAX_SHARE, PANEL_ROWS

X, y = blobs(203, 3, seed=31)  # the last byte of a row of bits is not full
BOUNDS = prepare(X, k=5).gamma_bounds
ATLAS = fit_atlas(X, BOUNDS, count=4, cells=6)


def test_bits_are_what_a_single_fit_says() -> None:
    for cell in range(len(ATLAS)):
        model = fit(X, gamma=float(ATLAS.gamma[cell]), C=float(ATLAS.C[cell]))
        np.testing.assert_array_equal(ATLAS.outside(cell), model.outside(X))
        assert ATLAS.R2[cell] == pytest.approx(model.R2, abs=1e-5)
        assert ATLAS.outliers[cell] == model.outside(X).sum()


def test_the_lattice_is_a_rectangle_in_ascending_order() -> None:
    gammas = lattice_gammas(BOUNDS, count=4)
    assert (gammas[0], gammas[-1]) == BOUNDS
    np.testing.assert_allclose(np.diff(np.log(gammas)), np.log(gammas[1] / gammas[0]))
    np.testing.assert_array_equal(ATLAS.gamma, np.repeat(gammas, 6))
    np.testing.assert_array_equal(ATLAS.gammas, gammas)
    for column, gamma in zip(ATLAS.C.reshape(4, 6), gammas, strict=True):
        low, high = c_bounds(X, gamma=float(gamma))
        assert (column[0], column[-1]) == pytest.approx((low, high), rel=1e-6)
        np.testing.assert_allclose(np.diff(np.log(column)), np.log(column[1] / column[0]))


def test_all_views_of_the_bits_agree() -> None:
    outside = np.array([ATLAS.outside(cell) for cell in range(len(ATLAS))])
    rows = np.array([0, 7, 8, 202, 5, 5])
    np.testing.assert_array_equal(ATLAS.outside_at(rows), outside[:, rows])
    np.testing.assert_array_equal(ATLAS.panel, outside)
    np.testing.assert_array_equal(ATLAS.panel_sizes, outside.sum(axis=1))
    np.testing.assert_array_equal(ATLAS.outliers, outside.sum(axis=1))


def test_vote_by_loops() -> None:
    voters = [c for c in range(len(ATLAS)) if 0 < ATLAS.outside(c).sum() <= MAX_SHARE * len(X)]
    assert ATLAS.voters.tolist() == voters
    for row in (0, 100, 202):
        share = sum(bool(ATLAS.outside(c)[row]) for c in voters) / len(voters)
        assert ATLAS.vote(np.array([row]))[0] == pytest.approx(share)
        assert ATLAS.panel_vote[row] == pytest.approx(share)


def test_parts_join_in_any_order() -> None:
    parts = [fit_atlas_part(X, float(gamma), cells=6) for gamma in ATLAS.gammas]
    joined = Atlas.from_parts([parts[2], parts[0], parts[3], parts[1]])
    for name, array in ATLAS.to_arrays().items():
        np.testing.assert_array_equal(joined.to_arrays()[name], array)
    with pytest.raises(ValueError, match=r"parts have N \[50, 203\], expected one value"):
        Atlas.from_parts([parts[0], fit_atlas_part(X[:50], 1.0, cells=6)])


def test_arrays_there_and_back() -> None:
    arrays = ATLAS.to_arrays()
    back = Atlas.from_arrays(arrays)
    assert back.N == ATLAS.N
    for name, array in back.to_arrays().items():
        assert array.dtype == arrays[name].dtype
        np.testing.assert_array_equal(array, arrays[name])


def test_the_order_of_the_rows_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(len(X))
    other = fit_atlas(X[order], BOUNDS, count=4, cells=6)
    outside = np.array([other.outside(cell) for cell in range(len(other))])
    moved = np.array([ATLAS.outside(cell)[order] for cell in range(len(ATLAS))])
    assert np.mean(outside != moved) < 1e-3  # rows on the very boundary may fall either way
    np.testing.assert_allclose(other.C, ATLAS.C, rtol=1e-4)


def test_the_panel_is_all_rows_or_a_fixed_sample() -> None:
    assert panel_rows(PANEL_ROWS).tolist() == list(range(PANEL_ROWS))
    panel = panel_rows(3 * PANEL_ROWS)
    assert len(np.unique(panel)) == PANEL_ROWS
    assert (np.diff(panel) > 0).all()
    assert panel.tolist() == panel_rows(3 * PANEL_ROWS).tolist()
    np.testing.assert_allclose(panel.mean(), 1.5 * PANEL_ROWS, rtol=0.05)


def test_equal_rows_and_two_rows_have_an_atlas() -> None:
    for Z in (np.full((9, 2), 0.4), np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((1, 1))):
        atlas = fit_atlas(Z, (0.1, 100.0), count=2, cells=3)
        assert len(atlas) == 6
        assert np.isfinite(atlas.R2).all()
        assert atlas.vote(np.arange(len(Z))).shape == (len(Z),)


@pytest.mark.parametrize(("bounds", "count"), [((0.0, 1.0), 3), ((2.0, 1.0), 3), ((1.0, 2.0), 1)])
def test_impossible_lattices_are_named(bounds: tuple[float, float], count: int) -> None:
    with pytest.raises(ValueError, match="gamma_bounds are"):
        lattice_gammas(bounds, count=count)
