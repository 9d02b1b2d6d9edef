from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client import InvalidInput
from svddtune.client.files.arff import Arff, read_arff
from svddtune.client.files.lines import text_lines
from svddtune.client.files.source import Source

HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,'y z','?','it\\'s'}\n"


def arff(text: str) -> Arff:
    return read_arff(Source.of(Path("d.arff")), text_lines(text))


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("1,x", ["1", "x"]),
        ("1 , 'y z'", ["1", "y z"]),
        ('1,"y z"', ["1", "y z"]),
        ("?,'?'", ["", "?"]),
        ("1,?", ["1", ""]),
        ("1,'it\\'s'", ["1", "it's"]),
        ('1,"it\'s"', ["1", "it's"]),
        ("1 x", ["1", "x"]),
        ("1\tx", ["1", "x"]),
        ("1,x % a comment", ["1", "x"]),
        ("1,x,{2.5}", ["1", "x"]),
        ("{0 7, 1 'y z'}", ["7", "y z"]),
        ("{1 'y z'}", ["0", "y z"]),
        ("{}", ["0", "x"]),
        ("{0 7},{3}", ["7", "x"]),
    ],
)
def test_rows_are_read_as_the_description_says(row: str, cells: list[str]) -> None:
    assert arff(f"{HEAD}@data\n% a comment\n\n{row}\n").rows == [cells]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (HEAD + "@data\n1,w\n", 5, "'w' is not one of the values of attribute 'b'"),
        (HEAD + "@data\n1,'x\n", 5, "the quote at character 3 is not closed"),
        (HEAD + "@data\n1,,x\n", 5, "value 2 is empty"),
        (HEAD + "@data\n1,y z\n", 5, "are not separated by a comma"),
        (HEAD + "@data\n1,50%\n", 5, "a % follows a value"),
        (HEAD + "@data\n{2 1}\n", 5, "there is no attribute 2"),
        (HEAD + "@data\n{0 1, 0 2}\n", 5, "attribute 0 occurs twice"),
        (HEAD + "@data\n{0 1\n", 5, "a sparse row without a closing brace"),
        (HEAD + "@data\n1,x,{w}\n", 5, "the weight 'w' is not a number"),
        ("@attribute a relational\n", 1, "'a' is relational"),
        ("@attribute a colour\n@data\n", 1, "'a' has type 'colour'"),
        ("@attribute a string\n@data\n{}\n", 3, "a string has no 0"),
        ("@attribute a {x,y\n@data\n", 2, "no closing brace"),
        ("@attribute a {x,x}\n@data\n", 1, "declares a value twice"),
        ("@data\n", 1, "no @attribute"),
        ("hello\n", 1, "is not allowed in the header"),
    ],
)
def test_invalid_arff_is_refused_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        arff(text)
    assert refused.value.metadata["line"] == str(line)
    assert says in refused.value.message


def test_headers_in_their_many_forms_are_read() -> None:
    text = (
        "% comment\n@RELATION 'a b'\n@ATTRIBUTE 'farmer\\'s yield' REAL % bushels\n"
        '@Attribute "b c" Integer\n@attribute v(g) numeric\n@attribute d{no,\n  % why\n yes}\n'
        "@attribute e\n  {1,2}\n@attribute t date 'yyyy-MM-dd'\n@Data\n1,2,3,yes,2,'2024-01-02'\n"
    )
    found = arff(text)
    assert found.names == ["farmer's yield", "b c", "v(g)", "d", "e", "t"]
    assert found.rows == [["1", "2", "3", "yes", "2", "2024-01-02"]]
    assert found.lines == [13]


def test_weights_are_noted() -> None:
    assert arff(HEAD + "@data\n1,x,{5}\n").weighted
    assert not arff(HEAD + "@data\n1,x\n").weighted


def quoted(text: str, quote: str) -> str:
    for char, escape in (("\\", "\\\\"), (quote, "\\" + quote), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(char, escape)
    return quote + text + quote


@given(
    rows=st.lists(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
            | st.text(st.sampled_from("?%{},'\"\\ \t\u2028"), max_size=5),
            min_size=2,
            max_size=2,
        ),
        min_size=1,
        max_size=5,
    ),
    quotes=st.lists(st.sampled_from("'\""), min_size=10, max_size=10),
)
def test_quoted_text_of_any_kind_is_read_back_exactly(
    rows: list[list[str]], quotes: list[str]
) -> None:
    marks = iter(quotes)
    body = "\n".join(",".join(quoted(cell, next(marks)) for cell in row) for row in rows)
    text = f"@relation r\n@attribute a string\n@attribute b string\n@data\n{body}\n"
    assert arff(text).rows == rows
