"""Every bit of the atlas equals the prediction of its cell's own fit, for any data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.numerics.cases import blobs, lattices

from svddtune.numerics import (
    Atlas,
    FloatArray,
    LatticePart,
    default_gamma_bounds,
    fit,
    fit_atlas,
    fit_atlas_part,
    lattice_gammas,
)
from svddtune.numerics.panel import uniform_panel

X, y = blobs(83, 3, seed=4)
ATLAS = fit_atlas(X, default_gamma_bounds(X), count=4, cells=6)
DUPLICATES = np.repeat(X[:20], 4, axis=0)
CONSTANT_COLUMN = np.column_stack((X, np.full(len(X), 0.3)))


def check_against_single_fits(Z: FloatArray, atlas: Atlas) -> None:
    for cell in range(len(atlas)):
        model = fit(Z, gamma=float(atlas.gamma[cell]), C=float(atlas.C[cell]))
        np.testing.assert_array_equal(atlas.outside(cell), model.outside(Z))
        assert atlas.R2[cell] == pytest.approx(model.R2, abs=1e-9)
        assert atlas.support_vectors[cell] == len(model.rows)


@pytest.mark.parametrize("Z", [X, DUPLICATES, CONSTANT_COLUMN], ids=["plain", "twins", "constant"])
def test_every_bit_equals_prediction_of_single_fit(Z: FloatArray) -> None:
    atlas = fit_atlas(Z, default_gamma_bounds(Z), count=4, cells=6)
    assert len(atlas) == 24
    assert atlas.packed.shape == (24, (len(Z) + 7) // 8)
    check_against_single_fits(Z, atlas)


@pytest.mark.parametrize(
    "Z",
    [np.zeros((9, 2)), np.full((2, 3), 0.5), np.array([[0.0], [1.0]]), np.array([[0.0], [5.0]])],
    ids=["equal", "equal pair", "pair", "wide pair"],
)
def test_degenerate_data_give_an_atlas(Z: FloatArray) -> None:
    atlas = fit_atlas(Z, default_gamma_bounds(Z), count=3, cells=4)
    assert len(atlas) == 12
    check_against_single_fits(Z, atlas)


def test_equal_rows_are_outliers_only_where_nu_is_one() -> None:
    Z = np.full((11, 2), 0.4)
    atlas = fit_atlas(Z, default_gamma_bounds(Z), count=3, cells=4)
    assert atlas.outliers.tolist() == [11, 0, 0, 0] * 3


@given(lattices(max_rows=9))
def test_equal_rows_have_equal_bits(Z: FloatArray) -> None:
    atlas = fit_atlas(Z, default_gamma_bounds(Z), count=2, cells=3)
    bits = atlas.outside_at(np.arange(len(Z)))
    _, group = np.unique(Z, axis=0, return_inverse=True)
    for members in (np.flatnonzero(group == g) for g in range(group.max() + 1)):
        assert (bits[:, members] == bits[:, members[:1]]).all()


def test_cells_are_sorted_by_gamma_then_c() -> None:
    order = np.lexsort((ATLAS.C, ATLAS.gamma))
    np.testing.assert_array_equal(order, np.arange(24))
    gammas = ATLAS.gammas("none")
    np.testing.assert_array_equal(gammas, lattice_gammas(default_gamma_bounds(X), count=4))
    for gamma in gammas:
        assert ATLAS.C[ATLAS.gamma == gamma][0] == pytest.approx(1.0 / len(X))


def test_parts_join_in_any_order() -> None:
    gammas = ATLAS.gammas("none")
    parts = [fit_atlas_part(X, LatticePart("none", float(gamma), 6)) for gamma in gammas]
    joined = Atlas.from_parts([parts[2], parts[0], parts[3], parts[1]])
    for name, values in ATLAS.to_arrays().items():
        np.testing.assert_array_equal(joined.to_arrays()[name], values)


def test_parts_of_other_data_are_refused() -> None:
    part = LatticePart("none", 1.0, cells=2)
    parts = [fit_atlas_part(X, part), fit_atlas_part(X[1:], part)]
    with pytest.raises(ValueError, match=r"parts have N \[82, 83\]"):
        Atlas.from_parts(parts)


def test_atlas_survives_round_trip_through_arrays() -> None:
    copy = Atlas.from_arrays(ATLAS.to_arrays())
    assert copy.N == ATLAS.N
    for name, values in ATLAS.to_arrays().items():
        again = copy.to_arrays()[name]
        np.testing.assert_array_equal(again, values)
        assert again.dtype == values.dtype


def test_lattice_is_geometric_and_includes_its_bounds() -> None:
    gammas = lattice_gammas((0.1, 100.0))
    assert (len(gammas), gammas[0], gammas[-1]) == (21, 0.1, 100.0)
    np.testing.assert_allclose(gammas[1:] / gammas[:-1], 1000.0 ** (1 / 20))


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (2.0, 1.0), (1.0, 1.0), (1.0, np.inf)])
def test_error_names_wrong_bounds(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="gamma_bounds are"):
        lattice_gammas(bounds)
    with pytest.raises(ValueError, match="count is 1"):
        lattice_gammas((0.1, 1.0), count=1)


def test_lookups_equal_loops_over_cells() -> None:
    table = np.array([ATLAS.outside(cell) for cell in range(24)])
    rows = np.random.default_rng(0).integers(0, 83, 40)
    np.testing.assert_array_equal(
        ATLAS.outside_at(rows), [[table[cell, row] for row in rows] for cell in range(24)]
    )
    np.testing.assert_array_equal(ATLAS.outliers, [table[cell].sum() for cell in range(24)])
    np.testing.assert_array_equal(ATLAS.panel, table.astype(float))
    np.testing.assert_array_equal(ATLAS.panel_sizes, table.sum(axis=1))
    voters = [cell for cell in range(24) if 0 < table[cell].sum() <= 0.6 * 83]
    assert 0 < len(voters) < 24
    assert ATLAS.voters.tolist() == voters
    expected = [np.mean([table[cell, row] for cell in voters]) for row in rows]
    np.testing.assert_allclose(ATLAS.vote(rows), expected)
    np.testing.assert_allclose(ATLAS.panel_vote, ATLAS.vote(np.arange(83)))


def test_vote_is_zero_without_voters() -> None:
    Z = np.zeros((5, 1))
    atlas = fit_atlas(Z, default_gamma_bounds(Z), count=2, cells=2)
    assert len(atlas.voters) == 0
    assert atlas.vote(np.arange(5)).tolist() == [0.0] * 5


def test_panel_of_large_data_is_a_fixed_sample() -> None:
    assert uniform_panel(4096).rows.tolist() == list(range(4096))
    panel = uniform_panel(5000).rows
    assert len(np.unique(panel)) == len(panel) == 4096
    assert (np.diff(panel) > 0).all()
    np.testing.assert_array_equal(panel, uniform_panel(5000).rows)
    bits = np.random.default_rng(1).random((3, 5000)) < 0.2
    atlas = Atlas(
        scaling=np.full(3, "none"),
        gamma=np.ones(3),
        C=np.arange(1.0, 4.0),
        R2=np.ones(3),
        support_vectors=np.ones(3, dtype=np.int32),
        packed=np.packbits(bits, axis=1),
        N=5000,
    )
    np.testing.assert_array_equal(atlas.panel, bits[:, panel])
    np.testing.assert_array_equal(atlas.outliers, bits.sum(axis=1))


@given(st.sets(st.integers(min_value=0, max_value=len(X) - 1)))
def test_counts_and_sums_over_rows_equal_those_of_single_bits(chosen: set[int]) -> None:
    rows = np.array(sorted(chosen), dtype=np.int64)
    bits = ATLAS.outside_at(rows)
    np.testing.assert_array_equal(ATLAS.count_outside(rows), bits.sum(axis=1))
    weights = np.linspace(0.1, 0.9, len(rows))
    np.testing.assert_allclose(ATLAS.sum_outside(rows, weights), bits @ weights)
    for cell in range(len(ATLAS)):
        np.testing.assert_array_equal(ATLAS.calls(cell, rows), bits[cell])


def test_sum_over_many_rows_equals_that_of_single_bits() -> None:
    rng = np.random.default_rng(0)
    packed = rng.integers(0, 256, (24, 500), dtype=np.uint8)
    atlas = replace(ATLAS, packed=packed, N=4000)
    for count in (300, 3000):
        rows, weights = rng.choice(4000, count, replace=False), rng.random(count)
        expected = atlas.outside_at(rows) @ weights
        np.testing.assert_allclose(atlas.sum_outside(rows, weights), expected)
