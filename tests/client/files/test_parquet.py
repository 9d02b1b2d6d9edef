from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from svddtune.client import InvalidInput
from svddtune.client.files.data import read_data
from svddtune.client.files.parquet import parquet_rows
from svddtune.client.files.read_table import read_table
from svddtune.client.files.source import Source
from svddtune.client.files.table import Table


def table_of(folder: Path, **columns: Any) -> Table:
    path = folder / "d.parquet"
    parquet.write_table(pa.table(columns), path)
    return read_table(path)


@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.none(), min_size=1),
    data=st.data(),
)
def test_texts_and_whole_numbers_are_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None], data: Any
) -> None:
    size = len(texts)
    signed = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=size, max_size=size))
    unsigned = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=size, max_size=size))
    gaps = [None if number % 3 == 0 else number for number in signed]
    table = table_of(
        tmp_path_factory.mktemp("parquet"),
        t=pa.array(texts, pa.string()),
        i=pa.array(signed, pa.int64()),
        u=pa.array(unsigned, pa.uint64()),
        g=pa.array(gaps, pa.int64()),
        d=pa.array([Decimal(number) for number in signed], pa.decimal128(30, 0)),
        c=pa.array(texts, pa.string()).dictionary_encode(),
        b=pa.array([None if t is None else t.encode() for t in texts], pa.binary()),
    )
    plain = [text or "" for text in texts]
    assert table.text(0) == table.text(5) == table.text(6) == plain
    assert table.text(1) == table.text(4) == list(map(str, signed))
    assert table.text(2) == list(map(str, unsigned))
    assert table.text(3) == ["" if number is None else str(number) for number in gaps]


def test_times_in_nanoseconds_are_read_wherever_they_stand(tmp_path: Path) -> None:
    moment, ns = 1_710_255_845_123_456_789, pa.timestamp("ns", tz="UTC")
    path = tmp_path / "d.parquet"
    columns = {
        "plain": pa.array([moment], ns),
        "struct": pa.array([{"seen": [moment]}], pa.struct([("seen", pa.list_(ns))])),
        "map": pa.array([[("k", moment)]], pa.map_(pa.string(), ns)),
        "coded": pa.array([moment], ns).dictionary_encode(),
        "spell": pa.array([1_001], pa.duration("ns")),
    }
    parquet.write_table(pa.table(columns), path)
    (row,) = parquet_rows(Source.of(path))
    seen = datetime(2024, 3, 12, 15, 4, 5, 123456, tzinfo=UTC)
    assert row["plain"] == row["coded"] == row["struct"]["seen"][0] == row["map"][0][1] == seen
    assert type(row["plain"]) is datetime
    assert read_table(path).text(0) == ["2024-03-12 15:04:05.123456+00:00"]


def test_bytes_that_are_not_text_are_reported_with_row_and_column(tmp_path: Path) -> None:
    table = table_of(tmp_path, a=[1.0, 2.0], id=[b"fine", b"\xff\x00"])
    with pytest.raises(InvalidInput, match=r"\(row 1\), column 'id': bytes that are not UTF-8"):
        table.text(1)
    with pytest.raises(InvalidInput, match=r"d.parquet: row 1, column 'id': bytes") as refused:
        list(parquet_rows(Source.of(tmp_path / "d.parquet", "TICKETS_INVALID")))
    assert refused.value.reason == "TICKETS_INVALID"


def test_truths_are_numbers_as_features_and_words_as_text(tmp_path: Path) -> None:
    table = table_of(tmp_path, a=[True, False])
    assert table.numbers(0).tolist() == [1.0, 0.0]
    assert table.text(0) == ["true", "false"]


def test_two_fields_of_one_name_in_a_struct_are_refused(tmp_path: Path) -> None:
    kind = pa.struct([pa.field("x", pa.int64()), pa.field("x", pa.int64())])
    column = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], fields=list(kind))
    parquet.write_table(pa.table({"s": column}), tmp_path / "d.parquet")
    with pytest.raises(InvalidInput, match="two columns of 's' are named 'x'"):
        read_table(tmp_path / "d.parquet")


def test_a_missing_file_is_an_error_of_the_file_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.parquet")


def test_parquet_with_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")]
    )
    parquet.write_table(pa.table({"id": broken, "x": [1.0, 2.0]}), tmp_path / "data.parquet")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        read_data(read_table(tmp_path / "data.parquet"), id_column="id")
    with pytest.raises(InvalidInput, match=r"row 1.*not UTF-8"):
        list(parquet_rows(Source.of(tmp_path / "data.parquet")))
