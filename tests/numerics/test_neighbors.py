"""Neighbours agree with their definition, ties and duplicates included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.numerics import by_definition
from tests.numerics.cases import blobs, lattices, wdbc
from threadpoolctl import threadpool_limits

from svddtune.numerics import FloatArray, mutual, nearest, reverse
from svddtune.numerics.neighbors import distinct_rows


@given(lattices(min_rows=1, max_rows=24), st.integers(1, 30))
def test_ties_go_to_the_lower_row(X: FloatArray, k: int) -> None:
    expected = by_definition.nearest(by_definition.squared_distances(X), k)
    assert nearest(X, k).tolist() == expected


def test_blockwise_search_equals_full_sort() -> None:
    X, _ = blobs(3000, 6, seed=1)
    X[100:140] = X[100]
    D2 = np.array([np.square(X - x).sum(axis=1) for x in X])
    np.fill_diagonal(D2, -1.0)
    np.testing.assert_array_equal(nearest(X, 9), np.argsort(D2, axis=1, kind="stable")[:, :9])


def test_neighbors_of_wdbc_equal_definition() -> None:
    X, _ = wdbc()
    assert nearest(X, 6).tolist() == by_definition.nearest(by_definition.squared_distances(X), 6)


def test_ties_survive_a_far_offset() -> None:
    # Integers of this size are exact, their squares are not.
    X = np.arange(200.0)[:, None] % 17 + 2.0**40
    assert nearest(X, 5).tolist() == nearest(X - 2.0**40, 5).tolist()


def test_extreme_row_does_not_hide_neighbors() -> None:
    X = np.vstack((np.random.default_rng(0).normal(size=(300, 3)), [[1e9, 0.0, 0.0]]))
    D2 = np.array([np.square(X - x).sum(axis=1) for x in X])
    np.fill_diagonal(D2, -1.0)
    np.testing.assert_array_equal(nearest(X, 5), np.argsort(D2, axis=1, kind="stable")[:, :5])


def test_equal_rows_are_neighbors_by_row_order() -> None:
    nn = nearest(np.ones((5000, 4)), 4)
    assert nn[0].tolist() == [0, 1, 2, 3]
    assert nn[2].tolist() == [2, 0, 1, 3]
    assert nn[4999].tolist() == [4999, 0, 1, 2]


def test_neighbors_for_small_k_are_prefix_of_those_for_large_k() -> None:
    X, _ = blobs(300, 3, seed=2)
    np.testing.assert_array_equal(nearest(X, 12)[:, :5], nearest(X, 5))


def test_neighbors_do_not_depend_on_thread_count() -> None:
    X, _ = blobs(1500, 20, seed=3)
    with threadpool_limits(1):
        one = nearest(X, 8)
    with threadpool_limits(2):
        np.testing.assert_array_equal(nearest(X, 8), one)


def test_k_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="k is 0, expected at least 1"):
        nearest(np.ones((3, 1)), 0)


@given(lattices(), st.integers(1, 6))
def test_mutual_and_reverse_neighbors_equal_definition(X: FloatArray, k: int) -> None:
    nn = nearest(X, k)
    lists = nn.tolist()
    rows = np.arange(len(X))
    is_mutual = mutual(nn, rows, nn.shape[1])
    for row, (expected, back) in enumerate(
        zip(by_definition.mutual(lists), by_definition.reverse(lists), strict=True)
    ):
        assert set(nn[row][is_mutual[row]].tolist()) == expected
        assert set(reverse(nn, row, nn.shape[1]).tolist()) == back


@given(lattices())
def test_distinct_rows_are_grouped_by_equality(X: FloatArray) -> None:
    X = np.where(X == 0.0, -0.0, X)
    X[::2] += 0.0
    first, group = distinct_rows(X)
    np.testing.assert_array_equal(X[first[group]], X)
    assert len(first) == len(np.unique(X + 0.0, axis=0))
    assert (first[group] <= np.arange(len(X))).all()
    assert (np.diff(first) > 0).all()
