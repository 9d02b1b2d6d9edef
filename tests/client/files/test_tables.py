from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from svddtune.client import InvalidInput
from svddtune.client.errors import UsageError
from svddtune.client.files.data import full_truth, read_data
from svddtune.client.files.read_table import read_table

ARFF = """% a comment
@RELATION small
@ATTRIBUTE 'att 1' real
@attribute att2 {0,1}
@attribute id string
@attribute 'outlier' {'yes','no'}
@DATA
0.5,1,'7','no'
% between
1.5,0,'8','yes'
"""


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content)
    else:
        np.savez(path, **content)
    return path


@pytest.mark.parametrize(
    ("text", "names", "named"),
    [
        ("a,b\n1,2\n3,4\n", ["a", "b"], True),
        ("1,2\n3,4\n", ["0", "1"], False),
        ("a;b\n1;2\n3;4\n", ["a", "b"], True),
        ("a\tb\n1\t2\n\n3\t4", ["a", "b"], True),
        ("1  2\n3 4\n", ["0", "1"], False),
        ("\ufeffa,b\r\n1,2\r\n3,4\r\n", ["a", "b"], True),
    ],
)
def test_csv_in_its_many_forms(tmp_path: Path, text: str, names: list[str], named: bool) -> None:
    table = read_table(write(tmp_path, "data.csv", text))
    assert (table.names, table.has_names) == (names, named)
    np.testing.assert_array_equal(read_data(table).X, [[1, 2], [3, 4]])


def test_header_can_be_set_by_an_option(tmp_path: Path) -> None:
    path = write(tmp_path, "data.csv", "1,2\n3,4\n")
    assert read_table(path, header=True).names == ["1", "2"]
    assert read_table(path, header=True).row_count == 1


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
        min_size=1,
        max_size=8,
    )
)
def test_every_double_survives_csv(tmp_path_factory: pytest.TempPathFactory, X: Any) -> None:
    text = "\n".join(",".join(map(repr, row)) for row in X)
    path = write(tmp_path_factory.mktemp("csv"), "data.csv", text)
    np.testing.assert_array_equal(read_data(read_table(path)).X, X)


def test_arff_of_the_benchmark_kind(tmp_path: Path) -> None:
    data = read_data(read_table(write(tmp_path, "data.arff", ARFF)))
    np.testing.assert_array_equal(data.X, [[0.5, 1], [1.5, 0]])
    assert data.feature_names == ["att 1", "att2"]
    assert data.ids == ["7", "8"]
    assert {row: verdict.sign for row, verdict in data.known.items()} == {0: 1, 1: -1}


def test_npz_with_labels_and_names(tmp_path: Path) -> None:
    arrays = {
        "X": np.eye(3),
        "y": np.array([1, -1, 1], dtype=np.int8),
        "feature_names": np.array(["a", "b", "c"]),
        "ids": np.array(["x", "y", "z"]),
    }
    data = read_data(read_table(write(tmp_path, "data.npz", arrays)))
    np.testing.assert_array_equal(data.X, np.eye(3))
    assert data.feature_names == ["a", "b", "c"]
    assert data.ids == ["x", "y", "z"]
    truth = full_truth(data.known, 3)
    assert truth is not None
    assert truth.tolist() == [1, -1, 1]


def test_parquet_with_text_and_whole_numbers(tmp_path: Path) -> None:
    table = pyarrow.table({"a": [1, 2], "b": [0.5, 1.5], "host": ["db", None], "n": [7, 8]})
    parquet.write_table(table, tmp_path / "data.parquet")
    data = read_data(read_table(tmp_path / "data.parquet"), show=["host"], id_column="n")
    np.testing.assert_array_equal(data.X, [[1, 0.5], [2, 1.5]])
    assert data.display == [{"host": "db"}, {"host": ""}]
    assert data.ids == ["7", "8"]


@pytest.mark.parametrize(
    ("name", "content", "reason", "says"),
    [
        ("d.csv", "a,b\n1,2\n3,nan\n", "DATASET_NOT_FINITE", "line 3 (row 1), column 'b': nan"),
        ("d.csv", "a,b\n1,2\n3,\n", "DATASET_NOT_FINITE", "line 3 (row 1), column 'b': nothing"),
        ("d.csv", "a,b\n1,inf\n", "DATASET_NOT_FINITE", "line 2 (row 0), column 'b': inf"),
        ("d.csv", "a,b\n1,2\n\n3,db-7\n", "DATASET_NOT_NUMERIC", "line 4 (row 1), column 'b'"),
        ("d.csv", "a,b\n1,2\n3\n", "DATASET_RAGGED", "line 3 has 1 values; expected 2"),
        ("d.csv", "", "DATASET_EMPTY", "is empty"),
        ("d.csv", "\n\n", "DATASET_EMPTY", "is empty"),
        ("d.csv", "a,b\n", "DATASET_EMPTY", "a header and no rows"),
        ("d.csv", b"\xff\xfe\x00", "INVALID_FIELD", "this is UTF-16 text"),
        ("d.arff", ARFF.replace("1.5,0", "1.5"), "DATASET_RAGGED", "line 10 has 3 values"),
        ("d.arff", ARFF.replace("1.5,0", "?,0"), "DATASET_NOT_FINITE", "column 'att 1': nothing"),
        ("d.arff", "@relation x\n", "DATASET_EMPTY", "no @data"),
        ("d.arff", "@relation x\n@attribute a real\n@data\n", "DATASET_EMPTY", "no rows"),
        ("d.arff", "hello\n", "INVALID_FIELD", "line 1"),
        ("d.npz", b"rubbish", "INVALID_FIELD", "not a readable NPZ"),
        ("d.npz", {"Y": np.eye(2)}, "INVALID_FIELD", "there is no array X; the file has: Y"),
        ("d.npz", {"X": np.array([[1, np.nan]])}, "DATASET_NOT_FINITE", "row 0, column 1"),
        ("d.npz", {"X": np.array([["a", "b"]])}, "DATASET_NOT_NUMERIC", "'a'"),
        ("d.npz", {"X": np.array([{}], dtype=object)}, "INVALID_FIELD", "not a readable NPZ"),
        ("d.npz", {"X": np.eye(3), "y": np.ones(2)}, "INVALID_FIELD", "y has shape (2,)"),
        ("d.npz", {"X": np.empty((0, 2))}, "DATASET_EMPTY", "0 rows"),
        ("d.parquet", b"rubbish", "INVALID_FIELD", "not a readable Parquet"),
    ],
)
def test_fault_of_a_file_is_named(
    tmp_path: Path, name: str, content: Any, reason: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_data(read_table(write(tmp_path, name, content)))
    assert refused.value.reason == reason
    assert says in refused.value.message


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"label_column": "c"}, UsageError, "no column 'c' (--label-column); it has: a, b"),
        ({"id_column": "9"}, UsageError, "no column '9' (--id-column)"),
        ({"id_column": "a"}, InvalidInput, "row 2), column 'a': '1' is also the id of row 0"),
        ({"ignore": ["a", "b"]}, InvalidInput, "no feature column left"),
    ],
)
def test_fault_of_an_option_is_named(
    tmp_path: Path, options: dict[str, Any], kind: type[Exception], says: str
) -> None:
    table = read_table(write(tmp_path, "d.csv", "a,b\n1,2\n2,3\n1,4\n"))
    with pytest.raises(kind) as refused:
        read_data(table, **options)
    assert says in str(refused.value)


def test_column_without_a_name_goes_by_number(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "d.csv", "1,2,-1\n3,4,1\n"))
    data = read_data(table, label_column="-1")
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    assert [data.known[row].sign for row in (0, 1)] == [-1, 1]


def test_bytes_in_npz_are_text(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, X=np.ones((2, 1)), ids=np.array([b"a", "é".encode()]))
    table = read_table(path)
    assert table.text(table.index("ids", "")) == ["a", "é"]
    np.savez(path, X=np.ones((2, 1)), ids=np.array([b"a", b"\xff"]))
    with pytest.raises(InvalidInput, match="ids holds bytes that are not UTF-8 text"):
        read_table(path)
