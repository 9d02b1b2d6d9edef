"""CSV: what Python's csv module wrote is read back exactly, in time linear in the text."""

import csv
import io
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from svddtune.client import InvalidInput
from svddtune.client.files.csv_rows import CsvRows, RowFault, Splitter, guessed_delimiter
from svddtune.client.files.lines import Lines, text_lines
from svddtune.client.files.read_table import read_table
from svddtune.client.files.source import Source, TextFormat

CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
AWKWARD = st.text(st.sampled_from("a1 \"',;|\t\n\r\u2028\u0085\x0b\x0c\x1c\x1e"), max_size=8)


def rows_of(text: str, delimiter: str = "", quote: str = '"') -> list[list[str]]:
    reader = CsvRows(delimiter, quote)
    return [row.cells for row in [*reader.feed(text_lines(text)), *reader.finish()]]


@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(CELLS | AWKWARD, min_size=width, max_size=width), min_size=1, max_size=6
        )
    ),
    delimiter=st.sampled_from(",;\t|"),
    quote=st.sampled_from("\"'"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"]),
    cuts=st.lists(st.integers(0, 500), max_size=8),
)
def test_rows_written_by_the_csv_module_are_read_back_exactly(
    rows: list[list[str]],
    delimiter: str,
    quote: str,
    quoting: Any,
    end: str,
    encoding: str,
    cuts: list[int],
) -> None:
    # A row of blanks alone looks like an empty line; a mark at the start is that of the encoding.
    assume(all(len(row) == 1 or any(cell.strip(" \t") for cell in row) for row in rows))
    assume(not (len(rows[0]) == 1 and not rows[0][0].strip(" \t")))
    assume(not rows[0][0].startswith("\ufeff"))
    # csv quotes only those line ends that it writes itself; nobody can tell the others apart.
    bare = [] if quoting != csv.QUOTE_MINIMAL else [char for char in "\r\n" if char not in end]
    assume(not any(char in cell for char in bare for row in rows for cell in row))
    out = io.StringIO(newline="")
    csv.writer(
        out, delimiter=delimiter, quotechar=quote, quoting=quoting, lineterminator=end
    ).writerows(rows)
    data = out.getvalue().encode(encoding)
    lines, reader, read = Lines(Source.of(Path("t.csv")), encoding), CsvRows(delimiter, quote), []
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, stop in itertools.pairwise(edges):
        read += reader.feed(lines.feed(data[start:stop]))
    read += [*reader.feed(lines.finish()), *reader.finish()]
    assert [row.cells for row in read] == rows


@given(
    names=st.lists(
        st.from_regex(r"[a-z]{1,4}", fullmatch=True), min_size=2, max_size=4, unique=True
    ),
    data=st.data(),
    delimiter=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_delimiter_inside_quoted_cells_is_not_guessed(
    names: list[str], data: Any, delimiter: str, end: str
) -> None:
    cell = st.text(st.sampled_from('ab,;\t \n"'), min_size=1, max_size=5).filter(str.strip)
    row = st.lists(cell, min_size=len(names), max_size=len(names))
    rows = [names, *data.draw(st.lists(row, min_size=1, max_size=5))]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    assert rows_of(out.getvalue()) == rows


class CountedText(str):
    """A line that counts the characters searched in it."""

    searched = 0

    def find(self, *arguments: Any) -> int:
        found = super().find(*arguments)
        start = arguments[1] if len(arguments) > 1 else 0
        CountedText.searched += (found if found >= 0 else len(self)) - start + 1
        return found


@pytest.mark.parametrize("lines", [1_000, 4_000])
def test_stray_quote_is_found_in_linear_time(lines: int) -> None:
    line = CountedText("e1,disposition:3,5,2024-03-12T15:04:05.000+00:00,reviewed and closed\n")
    CountedText.searched = 0
    splitter = Splitter(",")
    assert splitter.feed('e0,"5 inch\n') is None
    for _ in range(lines):
        assert splitter.feed(line) is None
    assert CountedText.searched == lines * (len(line) + 1)


def test_stray_quote_in_a_long_file_is_reported_with_its_line() -> None:
    text = "a,b\n" + "1,2\n" * 50_000 + '3,"4\n' + "5,6\n" * 50_000
    with pytest.raises(RowFault, match="a quote that begins here is not closed") as caught:
        rows_of(text)
    assert caught.value.line == 50_002


def test_a_long_quoted_cell_is_one_cell() -> None:
    cell = 'line "quoted"\n' * 100_000
    doubled = cell.replace('"', '""')
    assert rows_of(f'a,b\n1,"{doubled}"\n') == [["a", "b"], ["1", cell]]


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (['"Time, s";"Load, %";"State"\n', "1.5;2.5;inlier\n"], ";"),
        (["Time;Load\n", "1,5;2,5\n"], ";"),
        (["1,5;2,5;3,5\n", "2,5;1,5;0,5\n"], ";"),
        (["a,b\n", "1,x;y\n"], ","),
        (['size 5",b\n', "1,2\n"], ","),
        (["a|b\n", "1|2\n"], "|"),
        (["1  2\n", "3 4\n"], " "),
        (["name\n", "two words\n"], ","),
        (["a\tb c\n", "1\t2\n"], "\t"),
    ],
)
def test_the_delimiter_is_guessed_from_the_first_lines(lines: list[str], delimiter: str) -> None:
    assert guessed_delimiter(lines) == delimiter


def test_an_open_header_waits_for_its_end() -> None:
    assert guessed_delimiter(['"Time,\n'], wait=True) is None
    reader = CsvRows()
    assert reader.feed([(1, '"Time,\n'), (2, 's";b\n')])[0].cells == ["Time,\ns", "b"]


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1d", "\x85"])
def test_only_cr_and_lf_end_rows(tmp_path: Path, char: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f"id,a\nx{char}y,1\nz,2\r\nw,3\rv,4", encoding="utf-8", newline="")
    table = read_table(path)
    assert table.text(0) == [f"x{char}y", "z", "w", "v"]
    assert list(table.lines) == [2, 3, 4, 5]


def test_empty_rows_at_the_end_are_left_out_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,b\n1,2\n,\n,\n")
    table = read_table(path)
    assert table.row_count == 1
    assert [note.reason for note in table.notes] == ["EMPTY_ROWS"]


def test_ragged_row_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text('a,b\n"1\n",2\n3,4,5\n')
    with pytest.raises(InvalidInput, match="line 4 has 3 values; expected 2"):
        read_table(path)


def test_a_given_delimiter_is_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a;b,c\n1;2,3\n")
    assert read_table(path, form=TextFormat(delimiter=";")).names == ["a", "b,c"]
