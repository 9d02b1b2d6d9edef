"""Context of a row, against plain definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.numerics.cases import blobs, lattices

from svddtune.numerics import (
    FloatArray,
    nearest_labelled,
    spread_of,
)


@given(lattices(min_rows=4, max_rows=40), st.data())
def test_nearest_labelled_rows_equal_those_of_full_sort(X: FloatArray, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(X))))
    cut = data.draw(st.integers(0, len(X)))
    rows, labelled = np.array(order[:cut], dtype=np.int64), np.array(order[cut:], dtype=np.int64)
    near, distance2 = nearest_labelled(X, rows, labelled, 3)
    assert near.shape == distance2.shape == (cut, min(3, len(labelled)))
    for n, row in enumerate(rows):
        full = sorted((float(np.square(X[row] - X[other]).sum()), int(other)) for other in labelled)
        # Of many equally near ones any may stand, each with its own distance.
        assert distance2[n].tolist() == [distance for distance, _ in full[:3]]
        assert {*zip(distance2[n].tolist(), near[n].tolist(), strict=True)} <= {*full}
        assert len({*near[n].tolist()}) == near.shape[1]


def test_nearest_of_many_labelled_rows_are_exact() -> None:
    X, _ = blobs(1500, 8, seed=3)
    rows, labelled = np.arange(16), np.arange(16, 1500)
    near, distance2 = nearest_labelled(X, rows, labelled, 3)
    exact = np.square(X[rows, None] - X[labelled]).sum(axis=2)
    order = np.argsort(exact, axis=1)[:, :3]
    np.testing.assert_array_equal(near, labelled[order])
    np.testing.assert_allclose(distance2, np.take_along_axis(exact, order, 1), rtol=1e-12)


def test_ties_in_distance_go_to_lower_row() -> None:
    near, distance2 = nearest_labelled(np.zeros((5, 2)), np.array([1]), np.array([4, 3, 0, 2]), 3)
    assert near.tolist() == [[0, 2, 3]]
    assert distance2.tolist() == [[0.0, 0.0, 0.0]]


@given(lattices(max_rows=30))
def test_spread_equals_median_and_scaled_mad(X: FloatArray) -> None:
    spread = spread_of(X)
    for column in range(X.shape[1]):
        values = X[:, column]
        mad = np.median(np.abs(values - np.median(values)))
        assert spread.center[column] == np.median(values)
        if mad > 0:
            assert spread.scale[column] == pytest.approx(1.4826 * mad)
        else:
            assert spread.scale[column] == pytest.approx(values.std())


def test_spread_does_not_depend_on_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = blobs(50, 7, seed=0)
    X[:, 3] = 0.0
    X[:5, 5] = 0.0
    X[5:, 5] = 1.0
    whole = spread_of(X)
    monkeypatch.setattr("svddtune.numerics.context._BLOCK", 100)
    parts = spread_of(X)
    np.testing.assert_array_equal(parts.center, whole.center)
    np.testing.assert_array_equal(parts.scale, whole.scale)


def test_spread_of_no_rows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(0, 2\)"):
        spread_of(np.empty((0, 2)))
