"""The data in several representations, and the atlas, belief and sessions over them."""

import weakref

import numpy as np
import pytest
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    AUTO_SCALINGS,
    REPRESENTATIONS,
    Atlas,
    Views,
    belief_basis,
    choose_cell,
    complete,
    default_gamma_bounds,
    final_cell,
    finish_with_atlas,
    fit,
    fit_atlas,
    fit_atlas_part,
    fit_representation,
    lattice_part,
    lattice_plan,
    lattice_size,
    prepare,
    run,
)

X, y = blobs(90, 3, seed=8)
RAW = np.column_stack((1000.0 * X[:, 0], np.exp(5.0 * X[:, 1]), X[:, 2], np.full(90, 4.0)))
VIEWS = Views(RAW)
ATLAS = fit_atlas(VIEWS, count=3, cells=4)
BASIS = belief_basis(VIEWS.rows(VIEWS.belief))


def test_rows_are_those_of_the_fitted_representation() -> None:
    for kind in VIEWS.kinds:
        fitted = fit_representation(RAW, kind)
        np.testing.assert_array_equal(VIEWS.rows(kind), fitted.apply(RAW))
        np.testing.assert_array_equal(VIEWS.representation(kind).apply(RAW), fitted.apply(RAW))
    assert VIEWS.rows("none") is RAW
    np.testing.assert_array_equal(VIEWS.X, VIEWS.rows("minmax"))


def test_rows_of_base_and_belief_and_of_one_other_representation_stay_in_memory() -> None:
    views = Views(RAW)
    asked = (*views.kinds, views.belief)
    rows = {kind: weakref.ref(views.rows(kind)) for kind in asked}
    held = {kind for kind, reference in rows.items() if reference() is not None}
    assert held == {views.base, views.belief, views.kinds[-1]}


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_single_scaling_serves_everything(kind: str) -> None:
    views = Views(RAW, kind)
    assert views.kinds == (kind,)
    assert views.base == views.belief == kind
    assert {part.scaling for part in lattice_plan(views)} == {kind}


def test_unknown_scaling_is_refused() -> None:
    with pytest.raises(ValueError, match="scaling is 'zscore', expected one of"):
        Views(RAW, "zscore")


@pytest.mark.parametrize("scaling", ["auto", "minmax"])
@pytest.mark.parametrize("bounds", [None, (0.2, 7.0)])
def test_plan_names_every_part_in_the_order_of_the_atlas(
    scaling: str, bounds: tuple[float, float] | None
) -> None:
    views = Views(RAW, scaling)
    plan = lattice_plan(views, bounds)
    assert len(plan) == lattice_size(scaling)
    assert plan == tuple(lattice_part(views, index, bounds) for index in range(len(plan)))
    assert [(part.scaling, part.gamma) for part in plan] == sorted(
        (part.scaling, part.gamma) for part in plan
    )
    for kind in views.kinds:
        gammas = [part.gamma for part in plan if part.scaling == kind]
        low, high = bounds or default_gamma_bounds(complete(views.rows(kind)))
        assert (gammas[0], gammas[-1]) == (low, high)


def test_every_cell_equals_a_fit_in_its_representation() -> None:
    for kind in AUTO_SCALINGS:
        for gamma in ATLAS.gammas(kind):
            # The cell at 1/N has all rows outside.
            assert len(ATLAS.column(kind, float(gamma))) == 3
    for cell in range(len(ATLAS)):
        rows = VIEWS.rows(str(ATLAS.scaling[cell]))
        model = fit(rows, gamma=float(ATLAS.gamma[cell]), C=float(ATLAS.C[cell]))
        np.testing.assert_array_equal(ATLAS.outside(cell), model.outside(rows))


def test_parts_of_several_representations_join_in_any_order() -> None:
    plan = lattice_plan(VIEWS, count=3, cells=4)
    parts = [fit_atlas_part(VIEWS, part) for part in plan]
    shuffled = np.random.default_rng(0).permutation(len(parts))
    joined = Atlas.from_parts([parts[index] for index in shuffled])
    again = Atlas.from_arrays(joined.to_arrays())
    for name, values in ATLAS.to_arrays().items():
        np.testing.assert_array_equal(joined.to_arrays()[name], values)
        np.testing.assert_array_equal(again.to_arrays()[name], values)


def test_columns_are_told_apart_by_their_representation() -> None:
    atlas = fit_atlas(VIEWS, (0.5, 2.0), count=2, cells=3)  # the same gammas everywhere
    for kind in AUTO_SCALINGS:
        assert atlas.gammas(kind).tolist() == [0.5, 2.0]
        column = atlas.column(kind, 0.5)
        assert len(column) == 2
        assert set(atlas.scaling[column]) == {kind}
    labels = np.where(np.arange(90) < 9, 1, 0).astype(np.int8)
    choice = choose_cell(atlas, BASIS, labels)
    assert atlas.scaling[final_cell(atlas, choice, labels)] == choice.scaling


@pytest.mark.parametrize("seed", range(4))
def test_result_is_the_model_of_the_chosen_representation(seed: int) -> None:
    labels = partial_labels(y, 14, seed=seed)
    final = finish_with_atlas(prepare(VIEWS.X, k=5), VIEWS, labels, ATLAS, BASIS, k=5)
    choice = choose_cell(ATLAS, BASIS, labels)
    assert final.scaling == choice.scaling
    assert (final.alignment is None) == (choice.scaling != VIEWS.base)
    again = final.model.outside(final.representation.apply(RAW))
    np.testing.assert_array_equal(again, final.predictions == -1)
    np.testing.assert_array_equal(again, ATLAS.outside(choice.cell))


def test_session_over_several_representations_is_reproducible() -> None:
    first, second = (run(Views(RAW), y, budget=9, strategy="knowledge_gradient") for _ in range(2))
    assert first.queries.tolist() == second.queries.tolist()
    assert [choice.scaling for choice in first.choices] == [c.scaling for c in second.choices]
    assert first.final.scaling == first.choices[-1].scaling


def test_lama_over_several_representations_is_lama_on_the_base() -> None:
    auto = run(VIEWS, y, budget=9)
    plain = run(VIEWS.X, y, budget=9)
    assert auto.queries.tolist() == plain.queries.tolist()
    assert (auto.final.gamma, auto.final.chosen) == (plain.final.gamma, plain.final.chosen)
    assert auto.final.scaling == "minmax"
    np.testing.assert_array_equal(auto.final.predictions, plain.final.predictions)


def test_units_of_columns_do_not_change_a_session() -> None:
    units = np.array([1e-3, 1.0, 1e6, 1.0])
    atlas = fit_atlas(Views(RAW * units), count=3, cells=4)
    assert np.mean(np.unpackbits(atlas.packed ^ ATLAS.packed)) < 0.01
