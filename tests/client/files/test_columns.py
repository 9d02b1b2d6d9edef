from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client.files.columns import ArrayColumn, CellFault, TextColumn
from svddtune.client.files.numbers import exact_number, parse_number


@pytest.mark.parametrize(
    "text", ["1", "+1", "-1.5", ".5", "5.", "1e5", "1E-5", " 1\t", "007", "-0"]
)
def test_common_number_formats_are_numbers(text: str) -> None:
    assert parse_number(text) == float(text)
    assert TextColumn([text]).numbers().tolist() == [float(text)]


@pytest.mark.parametrize(
    "text",
    [
        "2024_10",
        "1_000.5",
        "0x10",
        "１２",
        "٣",
        "1 000",
        "1,000",
        "1.000,5",
        "1e",
        "--1",
        "1\u00a0",
        "1\n2",
    ],
)
def test_python_only_number_formats_are_no_numbers(text: str) -> None:
    assert parse_number(text) is None
    with pytest.raises(CellFault) as refused:
        TextColumn(["1", text]).numbers()
    assert (refused.value.row, refused.value.reason) == (1, "DATASET_NOT_NUMERIC")


@pytest.mark.parametrize(
    ("text", "value"), [("1,5", 1.5), ("-,5", -0.5), ("3", 3.0), ("1,5e2", 150)]
)
def test_decimal_commas_are_read_where_asked_for(text: str, value: float) -> None:
    assert TextColumn([text, "0"], ",").numbers()[0] == value
    with pytest.raises(CellFault, match="has a decimal point, but --decimal , expects a comma"):
        TextColumn(["1.5"], ",").numbers()


def test_decimal_comma_in_place_of_a_point_is_reported() -> None:
    with pytest.raises(CellFault, match="give --decimal ,"):
        TextColumn(["1,5"]).numbers()


@pytest.mark.parametrize(
    "column",
    [
        TextColumn(["1", "9007199254740993"]),
        TextColumn(["2", "-12345678901234567891"]),
        ArrayColumn(np.array([1, 2**53 + 1])),
        ArrayColumn(np.array([1, 2**64 - 1], dtype=np.uint64)),
    ],
)
def test_a_whole_number_that_no_double_equals_is_no_feature(column: Any) -> None:
    with pytest.raises(CellFault) as refused:
        column.numbers()
    assert (refused.value.row, refused.value.reason) == (1, "DATASET_NOT_EXACT")


def test_large_numbers_that_doubles_equal_are_features() -> None:
    assert TextColumn(["9007199254740992", "1e300"]).numbers().tolist() == [2.0**53, 1e300]
    assert ArrayColumn(np.array([2**60])).numbers().tolist() == [2.0**60]


def test_infinities_and_whole_numbers_are_shown() -> None:
    values = np.array([np.inf, -np.inf, np.nan, 3.0, -0.0, 1e22, 0.1])
    assert ArrayColumn(values).texts() == ["inf", "-inf", "", "3", "0", "1e+22", "0.1"]
    assert ArrayColumn(np.array([0.1], dtype=np.float32)).texts() == ["0.1"]


@pytest.mark.parametrize("value", ["inf", "1e999", "nan", "-Infinity"])
def test_infinite_value_is_reported_with_its_row(value: str) -> None:
    with pytest.raises(CellFault) as refused:
        TextColumn(["1", value]).numbers()
    assert (refused.value.row, refused.value.reason) == (1, "DATASET_NOT_FINITE")
    assert value in refused.value.text


@given(
    one=st.decimals(allow_nan=False, allow_infinity=False),
    other=st.decimals(allow_nan=False, allow_infinity=False),
)
def test_exact_numbers_are_equal_as_the_numbers_are(one: Decimal, other: Decimal) -> None:
    forms = exact_number(str(one)), exact_number(str(other))
    assert None not in forms
    assert (forms[0] == forms[1]) == (one == other)


@pytest.mark.parametrize(
    ("text", "form"),
    [("1.0", "1"), ("+10e-1", "1"), ("4.32115e+07", "43211500"), ("-2.50", "-2.5"), ("0.0", "0")],
)
def test_exact_numbers_have_one_form(text: str, form: str) -> None:
    assert exact_number(text) == form


@pytest.mark.parametrize("text", ["01", "00", "-007", "x", "", "1_0", "nan", "1e9999999999"])
def test_codes_and_words_have_no_exact_number(text: str) -> None:
    assert exact_number(text) is None
