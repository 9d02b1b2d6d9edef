"""Ids of observations: the same text wherever one is given, or refused with its row."""

import datetime
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client import InvalidInput
from svddtune.client.inputs.ids import id_text, observation_ids
from svddtune.client.inputs.label_values import labels_from
from svddtune.client.runs.initial import initial_labels
from svddtune.client.wire.upload import Upload

NAN = float("nan")


@pytest.mark.parametrize(
    "missing",
    [None, NAN, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN"), ""],
)
def test_missing_id_is_refused_with_its_row(missing: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        observation_ids(["a", missing, "c"], 3)
    assert refused.value.reason == "INVALID_FIELD"
    assert refused.value.metadata["row"] == "1"
    assert "row 1" in refused.value.message


@pytest.mark.parametrize(
    "ids",
    [
        np.ma.array(["a", "b", "c"], mask=[False, True, False]),
        np.array([1.0, np.nan, 3.0]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3]),
        pd.Series(["a", None, "c"]),
        pd.DatetimeIndex(["2020-01-01", None, "2020-01-03"]),
        pl.Series(["a", None, "c"]),
        pa.chunked_array([["a", None], ["c"]]),
    ],
)
def test_missing_id_in_any_container_is_refused_with_its_row(ids: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        observation_ids(ids, 3)
    assert refused.value.metadata["row"] == "1"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (True, "boolean"),
        (np.False_, "boolean"),
        (b"a1", "bytes"),
        (1.5, "fraction"),
        (Decimal("2.5"), "fraction"),
        (float("inf"), "not finite"),
        (float(2**53), "rounded"),
        (np.float64(1e300), "rounded"),
        ((1, 2), "tuple"),
        (object(), "object"),
        ("\ud800", "Unicode"),
        ("x" * 257, "257 bytes"),
    ],
)
def test_id_without_one_text_is_refused(value: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        observation_ids([value], 1)
    assert refused.value.metadata["row"] == "0"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (np.str_("a"), "a"),
        (1, "1"),
        (-1, "-1"),
        (np.int64(2**60 + 1), str(2**60 + 1)),
        (np.uint64(2**64 - 1), str(2**64 - 1)),
        (2**90, str(2**90)),
        (1.0, "1"),
        (np.float32(3), "3"),
        (Decimal("12"), "12"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        (pd.Timestamp("2020-01-02 03:04:05"), "2020-01-02T03:04:05"),
        (np.datetime64("2020-01-02T03:04:05.000000001"), "2020-01-02T03:04:05.000000001"),
    ],
)
def test_id_becomes_its_usual_text(value: Any, text: str) -> None:
    assert id_text(value) == text


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True))
def test_whole_numbers_are_the_same_ids_in_every_container(numbers: list[int]) -> None:
    expected = [str(number) for number in numbers]
    for ids in (
        numbers,
        np.array(numbers, dtype=np.int64),
        pd.Series(numbers, dtype="int64"),
        pd.Index(numbers, dtype="int64"),
        pl.Series(numbers, dtype=pl.Int64),
        pa.array(numbers, pa.int64()),
        iter(numbers),
    ):
        assert observation_ids(ids, len(numbers)) == expected


def test_number_and_its_text_are_one_id() -> None:
    with pytest.raises(InvalidInput) as refused:
        observation_ids([1, "2", "1"], 3)
    assert refused.value.reason == "DUPLICATE_OBSERVATION_ID"
    assert refused.value.metadata == {"value": "1", "row": "2"}


@pytest.mark.parametrize("ids", ["abc", b"abc", {"a", "b", "c"}, {"a": 1, "b": 2, "c": 3}])
def test_ids_that_are_no_sequence_are_refused(ids: Any) -> None:
    with pytest.raises(InvalidInput, match="one id for each row"):
        observation_ids(ids, 3)


def test_table_of_ids_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one dimension"):
        observation_ids(np.array([["a"], ["b"]]), 2)
    with pytest.raises(InvalidInput, match="one dimension"):
        observation_ids(3, 2)  # type: ignore[arg-type]


def test_upload_sends_the_texts_of_the_ids() -> None:
    ids = np.array([2**60 + 1, 2**60 + 2])
    _, chunk = Upload(np.ones((2, 1)), observation_ids=ids).messages()
    assert list(chunk.chunk.observation_ids) == [str(2**60 + 1), str(2**60 + 2)]
    with pytest.raises(InvalidInput, match="observation_ids has 1 entries, but X has 2 rows"):
        Upload(np.ones((2, 1)), observation_ids=["a"])


def test_labels_and_start_use_the_same_texts() -> None:
    labels: dict[Any, str] = {np.int64(7): "inlier"}
    (label,) = labels_from(labels)
    assert label.observation_id == "7"
    start = initial_labels({7.0: "inlier"}, print, ["6", "7"], seed=0)
    assert list(start) == ["7"]


@pytest.mark.parametrize(
    ("initial", "reason"),
    [
        ({None: 1}, "INVALID_FIELD"),
        ({"nobody": 1}, "UNKNOWN_OBSERVATION"),
        ({1: 1, "1": -1}, "CONFLICTING_LABELS"),
        ({"0": 0}, "INVALID_FIELD"),
        ((1.5, 1), "INVALID_FIELD"),
        ((-1, 1), "INVALID_FIELD"),
        ((True, False), "INVALID_FIELD"),
    ],
)
def test_ambiguous_initial_labels_are_refused(initial: Any, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        initial_labels(initial, print, ["0", "1"], seed=0)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ([{"a": None, "b": NAN, "c": 1}, {}], [{"c": "1"}, {}]),
        ([None, {"a": np.float64(1.5)}], [{}, {"a": "1.5"}]),
        ([{"a": float("inf")}, {"a": pd.NaT}], [{"a": "inf"}, {}]),
        (pd.DataFrame({"host": ["x", None], "n": [1, 2]}), [{"host": "x", "n": "1"}, {"n": "2"}]),
        (pl.DataFrame({"host": ["x", None]}), [{"host": "x"}, {}]),
    ],
)
def test_missing_display_values_are_not_shown(display: Any, expected: list[dict[str, str]]) -> None:
    _, chunk = Upload(np.ones((2, 1)), display=display).messages()
    sent = [{f.key: f.value for f in shown.fields} for shown in chunk.chunk.displays]
    assert sent == expected


@pytest.mark.parametrize(
    ("display", "says"),
    [
        ([{}, 3], "row 1 is 3"),
        ([{"a": b"x"}, {}], "row 0 holds bytes in 'a'"),
        ([{}, {None: 1}], "row 1 has the field name None"),
        ([{}, {"a": "\ud800"}], "row 1 holds a text in 'a' that is not valid"),
        ([{}], "1 entries"),
    ],
)
def test_display_that_cannot_be_shown_is_refused_with_its_row(display: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Upload(np.ones((2, 1)), display=display)
