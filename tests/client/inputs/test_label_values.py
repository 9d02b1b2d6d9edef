"""Labels in the codes that people use, accepted rightly or refused."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client import InvalidInput, KnownLabels, Verdict

IN, OUT, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE
NAN = float("nan")


@pytest.mark.parametrize(
    ("labels", "outlier_value", "expected"),
    [
        ([1, -1, 0], None, {0: IN, 1: OUT}),
        ([1.0, -1.0, NAN], None, {0: IN, 1: OUT}),
        (np.array([1, -1, 0], dtype=np.int8), None, {0: IN, 1: OUT}),
        (np.ma.array([1, -1, 1], mask=[False, False, True]), None, {0: IN, 1: OUT}),
        (["inlier", "OUTLIER", ""], None, {0: IN, 1: OUT}),
        (["normal", "anomaly", None], None, {0: IN, 1: OUT}),
        (["1", "-1", "?"], None, {0: IN, 1: OUT}),
        (["inlier", "unsure", "-1"], None, {0: IN, 1: UNSURE, 2: OUT}),
        ([1, 1, 1], None, {0: IN, 1: IN, 2: IN}),
        ([Decimal(1), Decimal(-1), Decimal("NaN")], None, {0: IN, 1: OUT}),
        ([0, 1, 1], 1, {0: IN, 1: OUT, 2: OUT}),
        ([0, 1, 1], 0, {0: OUT, 1: IN, 2: IN}),
        ([0.0, 1.0, NAN], 1, {0: IN, 1: OUT}),
        (["0", "1", ""], "1", {0: IN, 1: OUT}),
        (["0", "1", ""], 1, {0: IN, 1: OUT}),
        ([False, True, None], True, {0: IN, 1: OUT}),
        (np.array([False, True, False]), True, {0: IN, 1: OUT, 2: IN}),
        (np.array([False, True, False]), np.True_, {0: IN, 1: OUT, 2: IN}),
        ([1, -1, -1], -1, {0: IN, 1: OUT, 2: OUT}),
        (["BENIGN", "DDoS", "nan"], "DDoS", {0: IN, 1: OUT}),
        ([43211507, 43211508, 43211509], 43211507, {0: OUT, 1: IN, 2: IN}),
        ([2**60 + 1, 2**60, 2**60], 2**60 + 1, {0: OUT, 1: IN, 2: IN}),
        (pd.Series([1, -1, 0], index=[7, 8, 9]), None, {0: IN, 1: OUT}),
        (pd.Series([1, None, -1], dtype="Int64"), None, {0: IN, 2: OUT}),
        (pd.Series([True, None, False], dtype="boolean"), True, {0: OUT, 2: IN}),
        (pd.Series(["a", "b", None], dtype="category"), "b", {0: IN, 1: OUT}),
        (pd.Series(["inlier", "outlier", None], dtype="category"), None, {0: IN, 1: OUT}),
        (pl.Series([1, None, -1]), None, {0: IN, 2: OUT}),
        (pl.Series(["a", "b", None], dtype=pl.Categorical), "a", {0: OUT, 1: IN}),
        (pa.chunked_array([[True, None], [False]]), True, {0: OUT, 2: IN}),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "b", {0: IN, 1: OUT, 2: IN}),
    ],
)
def test_common_label_codes_are_verdicts(
    labels: Any, outlier_value: object, expected: dict[int, Verdict]
) -> None:
    known = KnownLabels(labels, outlier_value=outlier_value)
    assert known.verdicts(["a", "b", "c"]) == expected


@pytest.mark.parametrize(
    ("labels", "outlier_value", "reason", "says"),
    [
        ([0, 1], 2, "OUTLIER_VALUE_UNKNOWN", "which holds: 0, 1"),
        ([0, 1], "yes", "OUTLIER_VALUE_UNKNOWN", "'yes' (str) does not occur in labels"),
        (["no", "yes"], "Yes", "OUTLIER_VALUE_UNKNOWN", "'no', 'yes'"),
        ([None, None], 1, "OUTLIER_VALUE_UNKNOWN", "no label"),
        ([0, 1], NAN, "OUTLIER_VALUE_UNKNOWN", "cannot be the value of a label"),
        ([0, 1], [1], "OUTLIER_VALUE_UNKNOWN", "cannot be the value of a label"),
        ([1, 0, -1], -1, "LABELS_AMBIGUOUS", "not known"),
    ],
)
def test_outlier_value_that_fits_no_label_is_refused(
    labels: Any, outlier_value: object, reason: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        KnownLabels(labels, outlier_value=outlier_value)
    assert refused.value.reason == reason
    assert says in refused.value.message


def test_message_about_ambiguous_labels_says_what_to_do() -> None:
    with pytest.raises(InvalidInput, match="outlier_value=") as refused:
        KnownLabels([0, 1, 0])
    assert refused.value.metadata == {"field": "labels", "value": "0, 1"}


@given(st.lists(st.sampled_from([0, 1]), min_size=1), st.sampled_from([0, 1]))
def test_zeros_and_ones_are_read_by_the_outlier_value_alone(y: list[int], outlier: int) -> None:
    if outlier not in y:
        with pytest.raises(InvalidInput):
            KnownLabels(y, outlier_value=outlier)
        return
    known = KnownLabels(y, outlier_value=outlier)
    assert known.by_row == {row: OUT if value == outlier else IN for row, value in enumerate(y)}


def test_mapping_of_labels_accepts_an_outlier_value_and_missing_values() -> None:
    known = KnownLabels({7: "ok", "8": "bad", 9: None}, outlier_value="bad")
    assert known.by_id == {"7": IN, "8": OUT}


def test_label_by_row_number_says_the_id_of_that_row() -> None:
    with pytest.raises(InvalidInput, match="Row 1 has the id 'b'") as refused:
        KnownLabels({1: "inlier"}).verdicts(["a", "b"])
    assert refused.value.reason == "UNKNOWN_OBSERVATION"
