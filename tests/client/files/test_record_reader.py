import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from tests.client.tickets.exports import csv_text, json_lines

from svddtune.client.errors import InvalidInput
from svddtune.client.files.lines import Lines
from svddtune.client.files.record_parsers import CsvParser, JsonLinesParser
from svddtune.client.files.record_reader import read_records
from svddtune.client.files.records import MISSING, Record
from svddtune.client.files.source import Source


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def source(name: str) -> Source:
    return Source.of(Path(name), "TICKETS_INVALID")


def fault(path: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        list(read_records(path))
    assert caught.value.reason == "TICKETS_INVALID"
    return caught.value.message.removeprefix(str(path)).strip()


def test_csv_json_lines_and_parquet_have_the_same_records(tmp_path: Path) -> None:
    rows = [{"key": "A-1", "note": "two\nlines"}, {"key": "A-2", "note": 'a "quoted" word; é'}]
    table = written(tmp_path / "t.csv", csv_text(["key", "note"], [list(r.values()) for r in rows]))
    lines = json_lines(tmp_path / "t.jsonl", rows)
    columns = tmp_path / "t.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), columns)
    for path in (table, lines, columns):
        assert [dict(record.values) for record in read_records(path)] == rows
    assert [record.place for record in read_records(table)] == [
        f"{table} line 2",
        f"{table} line 4",
    ]
    assert [record.place for record in read_records(columns)] == [
        f"{columns} row 0",
        f"{columns} row 1",
    ]


def test_a_last_line_without_newline_is_read_and_blank_lines_are_not(tmp_path: Path) -> None:
    lines = written(tmp_path / "t.jsonl", '\n{"key": 1}\r\n\n{"key": 2}')
    assert [record.values["key"] for record in read_records(lines)] == [1, 2]
    table = written(tmp_path / "t.csv", "\ufeffkey;n\r\n1;2\r\n\r\n3;4")
    assert [dict(r.values) for r in read_records(table)] == [
        {"key": "1", "n": "2"},
        {"key": "3", "n": "4"},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": 1, "b', "line 2: not JSON: Unterminated string starting at at column 10"),
        ('{"a": 1}\n17\n', "line 2: a JSON value, not an object"),
        ('{"a": 1}\n{"a": 1, "a": 2}', "line 2: not JSON: field 'a' occurs twice"),
        (
            '{"a": ["\\ud83d\\ude00", "\\ud800"]}',
            "line 1: an escape \\uD800 to \\uDFFF without its partner",
        ),
        ('{"a": NaN}', "line 1: not JSON: NaN is not a JSON value"),
        ("[\n{}\n]", "line 1: not JSON: Expecting value at column 2; write one object per line"),
        ("{\n}", "line 1: not JSON: Expecting property name enclosed in double quotes"),
        ('{"a": ' + "[" * 100_000, "line 1: not read: nested too deeply"),
    ],
)
def test_broken_json_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert fault(written(tmp_path / "t.jsonl", text)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": the file is empty; it needs a header"),
        ("a,b,a\n1,2,3\n", "line 1: columns 1 and 3 are both named 'a'"),
        ("a,,c\n", "line 1: column 2 has no name"),
        ("a,b\n1,2\n3\n", "line 3: 1 cells, but the header has 2"),
        ("a,b\n1,2,3\n", "line 2: 3 cells, but the header has 2"),
        ('a,b\n1,"2\n3,4\n', "line 2: a quote that begins here is not closed"),
        ('a,b\n1,"2"x\n', "line 2: not CSV: ',' expected after '\"'"),
    ],
)
def test_broken_csv_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert fault(written(tmp_path / "t.csv", text)).startswith(message)


def test_text_that_is_not_utf8_is_reported_with_line_and_byte(tmp_path: Path) -> None:
    latin = "key,who\nA,Bj\u00f6rn\n".encode("latin-1")
    assert fault(written(tmp_path / "t.csv", latin)) == (
        "line 2: not UTF-8 text: invalid start byte at byte 4 of the line (0xf6); "
        "give its encoding with --encoding NAME, or export it as UTF-8"
    )


def test_unknown_endings_and_broken_parquet_are_reported(tmp_path: Path) -> None:
    assert "the file ending '.xlsx' is not supported" in fault(written(tmp_path / "t.xlsx", ""))
    assert "not a readable Parquet file" in fault(written(tmp_path / "t.parquet", "PAR1"))


def test_parquet_times_are_instants_and_structs_are_objects(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    moments = pa.array([1_700_000_000_123_456_789], pa.timestamp("ns", tz="UTC"))
    table = pa.table({"when": moments, "case": [{"state": "closed"}], "n": pa.array([7])})
    parquet.write_table(table, path)
    (record,) = read_records(path)
    assert record.field("when") == datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC)
    assert record.field("case.state") == "closed"
    assert record.field("n") == 7


def test_paths_prefer_whole_names_and_count_in_lists() -> None:
    record = Record({"a.b": 1, "a": {"b": 2, "c.d": [{"e": 5}]}, "none": None}, "here")
    assert record.field("a.b") == 1
    assert record.field("a.c.d.0.e") == 5
    assert record.field("none") is None
    for absent in ("a.c.d.1", "a.c.d.-1", "a.c.d.x", "none.x", "b", "a.c.d.0.e.f"):
        assert record.field(absent) is MISSING, absent
    with pytest.raises(InvalidInput, match=r"here: field 'a' is an object, not a value"):
        record.scalar("a")
    with pytest.raises(InvalidInput, match=r"'a.c.d' is a list.*e\.g\. 'a.c.d.0'"):
        record.scalar("a.c.d")


cells = st.text(st.characters(exclude_characters="\r\x00", codec="utf-8"), max_size=6)


@given(
    rows=st.lists(st.lists(cells, min_size=2, max_size=2), max_size=8),
    delimiter=st.sampled_from(",;\t"),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
def test_csv_in_any_pieces_is_the_csv_that_was_written(
    rows: list[list[str]], delimiter: str, cuts: list[int]
) -> None:
    rows = [row for row in rows if "".join(row).strip()]
    data = csv_text(["key", "note"], rows, delimiter).encode()
    lines, parser = Lines(source("t.csv")), CsvParser("t.csv")
    read: list[Record] = []
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(edges):
        read += parser.feed(lines.feed(data[start:end]))
    parser.finish()
    assert [list(record.values.values()) for record in read] == rows
    assert lines.waiting == 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(records=st.lists(st.dictionaries(st.text(max_size=3), json_values), max_size=5))
def test_json_lines_round_trip(records: list[dict[str, Any]]) -> None:
    data = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    read = JsonLinesParser("t.jsonl").feed(Lines(source("t.jsonl")).feed(data.encode()))
    assert [record.values for record in read] == records
