"""Frames of pandas, polars and pyarrow: names are kept, rows are matched by them."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.client.models import fit, rows
from tests.profiles import sized

from svddtune.client import InvalidInput, SvddModel
from svddtune.client.inputs.frames import read_features
from svddtune.client.report.usage import npz_lines
from svddtune.client.wire.upload import Upload

NAMES = ["f0", "f1", "f2"]


def from_pandas(data: dict[str, Any]) -> Any:
    return pd.DataFrame(data, index=range(100, 100 + len(next(iter(data.values())))))


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": from_pandas,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "record batch": lambda data: pa.RecordBatch.from_pydict(data),
}


def columns(X: np.ndarray[Any, Any], names: list[str]) -> dict[str, Any]:
    return {name: X[:, j].copy() for j, name in enumerate(names)}


@pytest.mark.parametrize("kind", FRAMES)
def test_frame_gives_rows_and_names(kind: str) -> None:
    X = rows()
    features = read_features(FRAMES[kind](columns(X, NAMES)))
    np.testing.assert_array_equal(features.rows, X)
    assert features.names == tuple(NAMES)
    assert features.rows.flags.c_contiguous


@settings(deadline=None, max_examples=sized(40))
@given(st.sampled_from(sorted(FRAMES)), st.permutations(range(3)), st.integers(0, 5))
def test_order_of_a_frames_columns_changes_nothing(kind: str, order: list[int], seed: int) -> None:
    model, X = fit(), rows(seed)
    frame = FRAMES[kind](columns(X[:, order], [NAMES[j] for j in order]))
    np.testing.assert_array_equal(model.predict(frame), model.predict(X))
    np.testing.assert_array_equal(model.decision(frame), model.decision(X))
    np.testing.assert_array_equal(model.distance2(frame), model.distance2(X))
    np.testing.assert_array_equal(model.scaled(frame), model.scaled(X))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    ("names", "missing", "unexpected"),
    [
        (["f0", "f1", "F2"], "'f2'", "'F2'"),
        (["f0", "f1"], "'f2'", ""),
        (["f0", "f1", "f2", "label"], "", "'label'"),
        ([f"x{j}" for j in range(9)], "'f0', 'f1', 'f2'", "'x4' and 4 more"),
    ],
)
def test_frame_with_other_names_is_refused(
    kind: str, names: list[str], missing: str, unexpected: str
) -> None:
    frame = FRAMES[kind]({name: [1.0, 2.0] for name in names})
    with pytest.raises(InvalidInput) as refused:
        fit().predict(frame)
    assert refused.value.reason == "FEATURE_NAMES_MISMATCH"
    assert missing in refused.value.metadata["missing"]
    assert unexpected in refused.value.metadata["unexpected"]
    assert missing in refused.value.message
    assert unexpected in refused.value.message


def test_unknown_column_is_reported_before_values_are_checked() -> None:
    frame = pl.DataFrame({"f0": [1.0], "f1": [1.0], "f2": [1.0], "label": ["x"]})
    with pytest.raises(InvalidInput) as refused:
        fit().predict(frame)
    assert refused.value.reason == "FEATURE_NAMES_MISMATCH"


def test_array_is_taken_by_position_with_the_right_number_of_columns() -> None:
    model, X = fit(), rows()
    np.testing.assert_array_equal(model.predict(X.tolist()), model.predict(X))
    np.testing.assert_array_equal(model.predict(pd.DataFrame(X)), model.predict(X))
    for wrong in (X[:, :2], pd.DataFrame(X[:, :2])):
        with pytest.raises(InvalidInput) as refused:
            model.predict(wrong)
        assert refused.value.reason == "FEATURE_COUNT_MISMATCH"


def test_names_given_to_a_model_without_names_are_warned_about() -> None:
    model, X = fit(feature_names=()), rows()
    with pytest.warns(UserWarning, match="fitted without"):
        predicted = model.predict(pd.DataFrame(X, columns=NAMES))
    np.testing.assert_array_equal(predicted, model.predict(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(pd.DataFrame(X))


def test_names_survive_saving_and_loading(tmp_path: Path) -> None:
    model, X = fit(), rows()
    loaded = SvddModel.load(model.save(tmp_path / "model.npz"))
    assert loaded.feature_names == tuple(NAMES)
    frame = pd.DataFrame(X, columns=NAMES)[["f2", "f0", "f1"]]
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(X))


@pytest.mark.parametrize(
    "labels",
    [[2, 0, 1], [0, 1, 5], ["a", 1, "c"], [("a", 1), ("a", 2), ("b", 1)], [0.0, 1.0, 2.5]],
)
def test_column_labels_that_are_not_texts_are_refused(labels: list[Any]) -> None:
    frame = pd.DataFrame(np.ones((2, 3)))
    frame.columns = pd.Index(labels)
    with pytest.raises(InvalidInput, match=r"not a text.*columns\.map\(str\)"):
        read_features(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]),
        pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]),
    ],
)
def test_two_columns_of_one_name_are_refused(frame: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_features(frame)
    assert refused.value.reason == "DUPLICATE_FEATURE_NAME"


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a", "a"], "DUPLICATE_FEATURE_NAME"),
        (["a"], "INVALID_FIELD"),
        (["a", None], "INVALID_FIELD"),
        (["a", float("nan")], "INVALID_FIELD"),
        (["a", 2], "INVALID_FIELD"),
        (["a", b"b"], "INVALID_FIELD"),
        (["a", ""], "INVALID_FIELD"),
        (["a", "\udcff"], "INVALID_FIELD"),
        (["a", "x" * 257], "INVALID_FIELD"),
        ("ab", "INVALID_FIELD"),
    ],
)
def test_names_that_cannot_be_matched_are_refused(names: Any, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_features(np.ones((2, 2)), names)
    assert refused.value.reason == reason


def test_names_beside_a_frame_must_be_its_own() -> None:
    frame = pl.DataFrame({"a": [1.0], "b": [2.0]})
    assert read_features(frame, ["a", "b"]).names == ("a", "b")
    with pytest.raises(InvalidInput, match="not the names of the frame's columns"):
        read_features(frame, ["b", "a"])
    assert read_features(pd.DataFrame([[1.0, 2.0]]), ["a", "b"]).names == ("a", "b")


@pytest.mark.parametrize(
    "column",
    [
        [1, 2],
        np.array([1, 2], dtype="u1"),
        np.array([1, 2], dtype="f2"),
        np.array([1, 2], dtype="f4"),
        np.array([1, 2], dtype=np.longdouble),
        np.array([1, 2], dtype=object),
        pd.array([1, 2], dtype="Int64"),
        pd.array([1.0, 2.0], dtype="Float64"),
        pd.array([1, 2], dtype="int64[pyarrow]"),
        pd.arrays.SparseArray([1.0, 2.0]),
    ],
)
def test_pandas_columns_of_any_kind_of_number_are_taken(column: Any) -> None:
    features = read_features(pd.DataFrame({"a": column}))
    assert features.rows.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [True, False]}),
        pd.DataFrame({"a": pd.array([True, False], dtype="boolean")}),
        pl.DataFrame({"a": [True, False]}),
        pa.table({"a": [True, False]}),
        pd.DataFrame({"a": np.array([True, False], dtype=object)}),
    ],
)
def test_boolean_columns_are_ones_and_zeros(frame: Any) -> None:
    assert read_features(frame).rows.tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None], dtype="Int64"),
        pd.array([1.0, None], dtype="Float64"),
        pd.array([True, None], dtype="boolean"),
        pd.array([1, None], dtype="int64[pyarrow]"),
        [1.0, np.nan],
        [1.0, np.inf],
        np.array([1, None], dtype=object),
        np.array([1, pd.NA], dtype=object),
        [1e300, np.longdouble("1e4000")],
    ],
)
def test_missing_value_in_pandas_is_refused_by_row_and_name(column: Any) -> None:
    with pytest.raises(InvalidInput, match=r"row 1, column 1 \('b'\)") as refused:
        read_features(pd.DataFrame({"a": [1, 2], "b": column}))
    assert refused.value.reason == "DATASET_NOT_FINITE"
    assert refused.value.metadata["feature"] == "b"


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, np.nan]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, None]}, dtype="Float64"),
        pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, None]}, dtype="float64[pyarrow]"),
        pl.DataFrame({"a": [1.0, 2.0], "b": [0.5, None]}),
        pa.table({"a": [1.0, 2.0], "b": [0.5, None]}),
    ],
)
def test_missing_value_in_a_frame_of_floats_is_refused_by_row_and_name(frame: Any) -> None:
    with pytest.raises(InvalidInput, match=r"row 1, column 1 \('b'\)") as refused:
        read_features(frame)
    assert refused.value.reason == "DATASET_NOT_FINITE"


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("values", [[1, None], [1.5, None], [1.5, float("nan")], [True, None]])
def test_missing_value_in_arrow_is_refused_by_row_and_name(make: Any, values: list[Any]) -> None:
    with pytest.raises(InvalidInput, match=r"row 1, column 1 \('b'\)") as refused:
        read_features(make({"a": [1, 2], "b": values}))
    assert refused.value.reason == "DATASET_NOT_FINITE"


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (["x", "y"], "Encode it as numbers"),
        (pd.Categorical([1, 2]), "Encode it as numbers"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "seconds since"),
        (pd.to_timedelta([1, 2], unit="s"), "seconds since"),
        ([1 + 2j, 1], "not a number"),
        (np.array([1, "2"], dtype=object), "not a number"),
        (np.array([1, [2]], dtype=object), "not a number"),
        (pd.period_range("2020", periods=2, freq="Y"), "not a number"),
    ],
)
def test_pandas_column_of_no_numbers_is_refused_by_name(column: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        read_features(pd.DataFrame({"a": [1, 2], "b": column}))
    assert refused.value.reason == "DATASET_NOT_NUMERIC"
    assert refused.value.metadata["feature"] == "b"


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["x", "y"]),
        pa.array(["x", "y"]).dictionary_encode(),
        pa.array([b"x", b"y"]),
        pa.array([[1], [2]]),
        pa.array([{"c": 1}, {"c": 2}]),
        pa.array([1, 2], pa.timestamp("us")),
        pa.array([1, 2], pa.date32()),
        pa.array([1, 2], pa.time32("s")),
        pa.array([1, 2], pa.duration("s")),
    ],
)
def test_arrow_column_of_no_numbers_is_refused_by_name(column: Any) -> None:
    table = pa.table({"a": [1, 2], "b": column})
    for frame in (table, pl.from_arrow(table)):
        with pytest.raises(InvalidInput) as refused:
            read_features(frame)
        assert refused.value.reason == "DATASET_NOT_NUMERIC"
        assert refused.value.metadata["feature"] == "b"


def test_decimals_of_arrow_are_numbers() -> None:
    table = pa.table({"a": pa.array([1, 2], pa.decimal128(5, 2))})
    assert read_features(table).rows.tolist() == [[1.0], [2.0]]
    assert read_features(pl.from_arrow(table)).rows.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1], [2**53 + 1]]),
        np.array([[1], [-(2**53) - 1]]),
        np.array([[1], [2**64 - 1]], dtype=np.uint64),
        [[1], [2**53 + 1]],
        [[1.5], [2**53 + 1]],
        [[1], [2**70 + 1]],
        [[1], [10**400]],
        pd.DataFrame({"a": [1, 2**53 + 1]}),
        pd.DataFrame({"a": pd.array([1, 2**53 + 1], dtype="Int64")}),
        pl.DataFrame({"a": [1, 2**53 + 1]}),
        pa.table({"a": [1, 2**53 + 1]}),
    ],
)
def test_whole_number_that_a_double_would_round_is_refused(X: Any) -> None:
    with pytest.raises(InvalidInput, match="row 1, column 0") as refused:
        read_features(X)
    assert refused.value.reason == "DATASET_NOT_EXACT"


@given(st.lists(st.integers(-(2**64), 2**64), min_size=1, max_size=5))
def test_whole_numbers_are_kept_exactly_or_refused(values: list[int]) -> None:
    X = [[value] for value in values]
    if all(int(float(value)) == value for value in values):
        assert [int(value) for value in read_features(X).rows[:, 0]] == values
    else:
        with pytest.raises(InvalidInput) as refused:
            read_features(X)
        assert refused.value.reason == "DATASET_NOT_EXACT"


def test_masked_entry_is_refused_with_its_place() -> None:
    X = rows()
    X[5, 1] = -9999.0
    whole = X.astype(np.int64)
    for masked in (
        np.ma.masked_equal(X, -9999.0),
        np.ma.masked_equal(whole, -9999),
        np.ma.masked_equal(X, -9999.0).astype(object),
        list(np.ma.masked_equal(X, -9999.0)),
    ):
        for take in (read_features, Upload, fit().predict):
            with pytest.raises(InvalidInput, match="row 5, column 1") as refused:
                take(masked)
            assert refused.value.reason == "DATASET_NOT_FINITE"


def test_masked_array_without_masked_entries_is_an_array() -> None:
    X = rows()
    np.testing.assert_array_equal(read_features(np.ma.array(X)).rows, X)
    # What is masked is not looked at.
    large = np.ma.array([[1], [2**53 + 1]], mask=[[False], [True]])
    with pytest.raises(InvalidInput) as refused:
        read_features(large)
    assert refused.value.reason == "DATASET_NOT_FINITE"


@pytest.mark.parametrize("kind", ["csr_matrix", "coo_array", "dok_matrix", "lil_array"])
def test_sparse_matrix_is_refused_with_what_to_do(kind: str) -> None:
    X = getattr(scipy.sparse, kind)(np.eye(3))
    for take in (read_features, Upload, fit().predict):
        with pytest.raises(InvalidInput, match=r"X\.toarray\(\)") as refused:
            take(X)
        assert refused.value.reason == "DATASET_SPARSE"


def test_lazy_frame_is_refused_with_what_to_do() -> None:
    with pytest.raises(InvalidInput, match="collect"):
        read_features(pl.DataFrame({"a": [1.0]}).lazy())


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame({"a": []}), pd.DataFrame(index=[1, 2]), pl.DataFrame(), pa.table({"a": []})],
)
def test_empty_frame_is_refused(frame: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_features(frame)
    assert refused.value.reason == "DATASET_EMPTY"


def test_text_among_numbers_is_named_and_not_read_as_a_number() -> None:
    for X in ([[1.0, "2_0"]], np.array([[1.0, "20"]], dtype=object), [[1.0, b"20"]]):
        with pytest.raises(InvalidInput, match="row 0, column 1") as refused:
            read_features(X)
        assert refused.value.reason == "DATASET_NOT_NUMERIC"


def test_upload_of_a_frame_announces_its_names() -> None:
    header, *_ = Upload(pl.DataFrame({"b": [1.0], "a": [2.0]})).messages()
    assert list(header.header.feature_names) == ["b", "a"]


def test_pipeline_of_the_lines_that_export_prints_keeps_the_names(tmp_path: Path) -> None:
    model, X = fit(), pd.DataFrame(rows(), columns=NAMES)
    path = model.save(tmp_path / "model.npz")
    names: dict[str, Any] = {"X": X}
    exec(npz_lines(str(path)), names)
    pipeline = names["pipeline"]
    assert list(pipeline.feature_names_in_) == NAMES == list(model.feature_names)
    np.testing.assert_array_equal(names["labels"], model.predict(X))
    np.testing.assert_array_equal(pipeline.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        pipeline.predict(X[["f2", "f0", "f1"]])
