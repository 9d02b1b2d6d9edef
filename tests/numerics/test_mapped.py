"""Large data: rows mapped on demand, the atlas on a sample, the preparation of the panel."""

import numpy as np
import pytest
from tests.numerics.cases import blobs

from svddtune.numerics import (
    Atlas,
    Views,
    as_labels,
    complete,
    fit_atlas,
    fit_atlas_part,
    judged,
    lattice,
    lattice_part,
    local_alignment,
    panel_rows,
    prepare,
    run,
    score,
    suggest,
    views,
)
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.mapped import MappedRows
from svddtune.numerics.svdd import fit

N = 300
RAW, TRUTH = blobs(N, 3, seed=4)
PANEL = np.arange(0, N, 3)


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let 300 rows be large data: a sample of 80, a panel of 100."""
    for module in (lattice, views):
        monkeypatch.setattr(module, "SAMPLED_ABOVE", 200)
    monkeypatch.setattr(lattice, "LATTICE_SAMPLE", 80)
    monkeypatch.setattr(lattice, "panel_rows", lambda N: PANEL)


@pytest.mark.parametrize("kind", ["none", "minmax", "ranks", "whitened"])
def test_mapped_rows_equal_those_of_the_complete_matrix(kind: str) -> None:
    representation = Views(RAW, kind).representation(kind)
    mapped, whole = MappedRows(RAW, representation), representation.apply(RAW)
    assert mapped.shape == whole.shape
    assert len(mapped) == N
    rows = np.array([7, 3, 299, 7])
    np.testing.assert_allclose(mapped[rows], whole[rows], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mapped[10:20], whole[10:20], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(complete(mapped), whole)


@pytest.mark.usefixtures("small_limits")
def test_no_complete_matrix_is_made_of_large_data() -> None:
    seen = Views(RAW)
    fit_atlas_part(seen, lattice_part(seen, 0))
    assert all(isinstance(seen.rows(kind), MappedRows) for kind in seen.kinds)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("scaling", ["auto", "standard"])
def test_verdicts_of_sampled_cells_are_those_of_their_fits(scaling: str) -> None:
    seen = Views(RAW, scaling)
    atlas = fit_atlas(seen, count=2, cells=4)
    assert atlas.models is not None
    sample = atlas.models.rows
    assert len(sample) == 80
    np.testing.assert_array_equal(atlas.covered, PANEL)
    outside = atlas.outside_at(np.arange(N))
    for cell in range(len(atlas)):
        Z = complete(seen.rows(str(atlas.scaling[cell])))
        gamma, C = float(atlas.gamma[cell]), float(atlas.C[cell]) * N / 80
        # With several representations a column's last cell is the hard margin's solution.
        last = cell == atlas.column(str(atlas.scaling[cell]), gamma)[-1]
        model = fit(Z[sample], gamma=gamma, C=1.0 if last and scaling == "auto" else C)
        margin = model.distance2(Z) - model.R2
        clear = np.abs(margin - 1e-5) > 5e-6
        np.testing.assert_array_equal(outside[cell, clear], model.outside(Z)[clear])
        np.testing.assert_array_equal(atlas.outside(cell), outside[cell])
    np.testing.assert_array_equal(atlas.panel, outside[:, PANEL])
    np.testing.assert_array_equal(atlas.outliers, 3 * outside[:, PANEL].sum(axis=1))


@pytest.mark.usefixtures("small_limits")
def test_verdicts_do_not_depend_on_the_order_in_which_rows_are_asked_for() -> None:
    seen = Views(RAW, "standard")
    stored = fit_atlas(seen, count=2, cells=3).to_arrays()
    first, second = (judged(Atlas.from_arrays(stored), seen) for _ in range(2))
    rows = np.random.default_rng(0).permutation(N)
    for row in rows[:40].tolist():
        first.outside_at(np.array([row]))
    np.testing.assert_array_equal(first.outside_at(rows), second.outside_at(rows))
    weights = np.random.default_rng(1).random(N)
    expected = second.outside_at(rows)
    np.testing.assert_allclose(first.sum_outside(rows, weights), expected @ weights)
    np.testing.assert_array_equal(first.count_outside(rows[:50]), expected[:, :50].sum(axis=1))
    np.testing.assert_array_equal(first.calls(2, rows), expected[2])
    some = first.of_cells(np.array([4, 1]))
    np.testing.assert_array_equal(
        judged(some, seen).outside_at(rows), second.outside_at(rows)[[4, 1]]
    )


@pytest.mark.usefixtures("small_limits")
def test_atlas_without_its_data_refuses_verdicts_on_other_rows() -> None:
    seen = Views(RAW, "standard")
    stored = Atlas.from_arrays(fit_atlas(seen, count=2, cells=3).to_arrays())
    assert stored.outside_at(PANEL).shape == (6, 100)
    with pytest.raises(ValueError, match="judged"):
        stored.outside_at(np.array([1]))


def test_preparation_of_some_rows_has_their_neighbours_among_themselves() -> None:
    prep = prepare(RAW, k=4, rows=PANEL)
    assert (prep.N, len(prep.nn), len(prep.row_means)) == (N, 100, 0)
    D2 = squared_distances(RAW[PANEL], RAW[PANEL])
    expected = {3, *PANEL[np.argsort(D2[1], kind="stable")[:4]].tolist()}
    assert set(prep.near(np.array([3]), 4).tolist()) == expected
    assert prep.near(np.array([1]), 4).tolist() == [1]
    again = type(prep).from_arrays(prep.to_arrays())
    np.testing.assert_array_equal(again.rows, PANEL)
    assert again.N == N


def test_what_needs_all_rows_refuses_the_preparation_of_some() -> None:
    prep = prepare(RAW, k=4, rows=PANEL)
    labels = np.zeros(N, dtype=np.int8)
    labels[:4] = 1, 1, -1, -1
    with pytest.raises(ValueError, match="100 of 300 rows are prepared"):
        local_alignment(prep, RAW, labels, k=4)
    with pytest.raises(ValueError, match="preparation of all rows"):
        suggest(prep, RAW, labels, k=4, strategy="lama", sample=0, rng=np.random.default_rng(0))


def test_session_on_large_data_ends_with_a_model_like_its_cell() -> None:
    rng = np.random.default_rng(0)
    raw = np.concatenate((rng.normal(size=(5800, 3)), rng.normal(6.0, 1.0, size=(200, 3))))
    truth = np.where(np.arange(6000) < 5800, 1, -1).astype(np.int8)
    seen = Views(raw, "standard")
    atlas = fit_atlas(seen, count=4, cells=5)
    result = run(seen, truth, budget=15, initial=(0, 0), strategy="mixed", atlas=atlas)
    assert not np.isin(result.queries, panel_rows(6000)).all()
    assert result.final.curve is None
    assert score(truth, result.final.predictions) > 0.3
    # The model is fitted to all rows, its cell to a sample.
    of_cell = as_labels(atlas.outside(result.choices[-1].cell))
    assert np.mean(result.final.predictions == of_cell) > 0.95
