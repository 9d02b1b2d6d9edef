import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.text import (
    formula_cell,
    on_one_line,
    printable,
    redacted,
    url_fault,
    visible,
    without_formula_mark,
)

STEERS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def steers(text: str) -> bool:
    return bool(STEERS.search(text)) or any(
        unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("a\nINFO forged\r\tb", r"a\nINFO forged\r\tb"),
        ("abc\u202exe.txt\u2066", r"abc\u202exe.txt\u2066"),
        ("x\u2028y\U000e0041", r"x\u2028y\U000e0041"),
        ("Björn 東京 👩‍💻 [red]", "Björn 東京 👩‍💻 [red]"),
    ],
)
def test_control_characters_are_written_as_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_escaped_text_holds_no_control_characters(text: str) -> None:
    assert not steers(visible(text))
    assert not steers(on_one_line(text))
    assert not steers(printable(text).replace("\n", ""))
    assert printable(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"])
def test_spreadsheet_formulas_are_marked_as_text(text: str) -> None:
    assert formula_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-5", "+1.5e3", "-0.25", "plain", "", "a=b", "'quoted'"])
def test_numbers_and_plain_texts_are_not_marked(text: str) -> None:
    assert formula_cell(text) == text


@given(st.text(st.sampled_from("'=+-@\t\r1a")))
def test_formula_mark_is_removed_on_reading(text: str) -> None:
    assert without_formula_mark(formula_cell(text)) == text


@pytest.mark.parametrize(
    "url",
    [
        "redis://:secret@host:6379/0",
        "rediss://user:secret@host",
        "redis://user:se:secret@x/y@host",
        "redis://:/secret#@host",
        "unix:///run/redis.sock?password=secret&db=1",
        "redis://host?db=0&username=secret&password=secret",
        "redis+sentinel://:secret@a:1,b:2/name",
    ],
)
def test_no_password_of_a_url_is_shown(url: str) -> None:
    assert "secret" not in redacted(f"cannot use '{url}' now")
    assert "secret" not in url_fault(url, ValueError("port 'secret' is not a number"))


def test_malformed_url_without_password_is_shown() -> None:
    assert redacted("redis://host:6379/0?db=1") == "redis://host:6379/0?db=1"
    assert url_fault("nonsense", ValueError("no scheme")) == "'nonsense': no scheme"
