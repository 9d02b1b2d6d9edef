from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client import InvalidInput
from svddtune.client.inputs.validate import check_magnitude, check_matrix


@given(st.integers(1, 6), st.integers(1, 6), st.data(), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_first_value_that_is_not_finite_is_named(
    n: int, m: int, data: st.DataObject, bad: float
) -> None:
    row, column = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, m - 1))
    X = np.ones((n, m))
    X[row, column] = bad
    names = [f"f{j}" for j in range(m)]
    with pytest.raises(InvalidInput) as refused:
        check_matrix(X, names)
    assert refused.value.reason == "DATASET_NOT_FINITE"
    assert refused.value.metadata["row"] == str(row)
    assert refused.value.metadata["column"] == str(column)
    assert f"row {row}, column {column} ('f{column}')" in refused.value.message


@pytest.mark.parametrize("value", [1e155, -1e200, 1.1e100])
def test_values_beyond_squared_distances_are_refused_with_their_place(value: float) -> None:
    X = np.ones((4, 3))
    check_magnitude(X)
    check_magnitude(np.full((1, 1), 1e100))
    X[2, 1] = value
    with pytest.raises(InvalidInput) as refused:
        check_magnitude(X, ["a", "b", "c"])
    assert refused.value.reason == "DATASET_OUT_OF_RANGE"
    assert refused.value.metadata == {
        "row": "2", "column": "1", "value": str(value), "feature": "b"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("X", "reason", "says"),
    [
        ([[1.0, 2.0], [3.0]], "DATASET_RAGGED", "Row 1 has 1 values, row 0 has 2"),
        ([], "DATASET_EMPTY", "0"),
        (np.empty((0, 3)), "DATASET_EMPTY", "0 rows"),
        (np.empty((3, 0)), "DATASET_EMPTY", "0 columns"),
        ([1.0, 2.0], "DATASET_RAGGED", "two"),
        ([[1.0, "x"]], "DATASET_NOT_NUMERIC", "row 0, column"),
        (np.array([[1.0, None]], dtype=object), "DATASET_NOT_FINITE", "row 0, column 1"),
        (np.array([[1.0, "db"]], dtype=object), "DATASET_NOT_NUMERIC", "'db' at row 0, column 1"),
        (np.array([[1 + 2j]]), "DATASET_NOT_NUMERIC", "not a number"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "DATASET_NOT_NUMERIC", "not a number"),
    ],
)
def test_data_that_are_no_matrix_of_numbers_are_refused(X: Any, reason: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_matrix(X)
    assert refused.value.reason == reason
    assert says in refused.value.message


@pytest.mark.parametrize("dtype", ["f4", "i8", "u1", "?", "O"])
def test_all_kinds_of_numbers_become_doubles(dtype: str) -> None:
    checked = check_matrix(np.array([[0, 1], [1, 0]], dtype=dtype))
    assert checked.dtype == np.float64
    assert checked.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_argument_stays_as_it_was() -> None:
    X = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    checked = check_matrix(X)
    assert checked.flags.c_contiguous
    assert X.flags.f_contiguous
