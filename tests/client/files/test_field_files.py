"""Small files like those that people brought and that were misread."""

import gzip
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.client.tickets.exports import verdicts

from svddtune.client import InvalidInput, TicketOracle, Verdict
from svddtune.client.files.data import read_data
from svddtune.client.files.labels import column_verdicts, read_labels
from svddtune.client.files.read_table import read_table
from svddtune.client.files.source import TextFormat

FIELD = Path(__file__).parent / "field"


def signs(name: str, column: str, outlier_value: str | None = None) -> list[int]:
    table = read_table(FIELD / name)
    found = column_verdicts(table, table.index(column, ""), outlier_value)
    return [found[row].sign if row in found else 0 for row in range(table.row_count)]


@pytest.mark.parametrize(
    ("name", "first"),
    [("snowflake_ids.parquet", "1234567890123456789"), ("big_ids.parquet", "9007199254740993")],
)
def test_long_whole_numbers_are_exact_ids(name: str, first: str) -> None:
    data = read_data(read_table(FIELD / name), id_column="alert_id", label_column="label")
    assert data.ids[0] == first
    assert len(set(data.ids)) == len(data.X)
    with pytest.raises(InvalidInput) as refused:
        read_data(read_table(FIELD / "big_ids.parquet"), label_column="label")
    assert refused.value.reason == "DATASET_NOT_EXACT"
    assert refused.value.metadata["feature"] == "alert_id"


def test_long_whole_numbers_in_npz_and_csv_are_exact_ids(tmp_path: Path) -> None:
    ids = np.array([2**53 + 1, 2**53 + 2, 2**63 - 1])
    np.savez(tmp_path / "d.npz", X=np.eye(3), ids=ids)
    assert read_data(read_table(tmp_path / "d.npz")).ids == [str(one) for one in ids.tolist()]
    (tmp_path / "d.csv").write_text("id,a\n" + "".join(f"{one},1\n" for one in ids.tolist()))
    data = read_data(read_table(tmp_path / "d.csv"), id_column="id")
    assert data.ids == [str(one) for one in ids.tolist()]


def test_codes_that_share_six_digits_are_different_labels() -> None:
    assert signs("unspsc_codes.csv", "category", "43211507").count(-1) == 1
    with pytest.raises(InvalidInput, match="does not occur"):
        signs("unspsc_codes.csv", "category", "4.32115e+07")


def test_index_of_a_data_frame_is_left_out_with_a_note() -> None:
    data = read_data(read_table(FIELD / "pandas_index.csv"), label_column="label")
    assert data.feature_names == ["temp", "load"]
    assert [note.reason for note in data.notes] == ["INDEX_COLUMN"]
    named = read_data(read_table(FIELD / "pandas_index.csv"), label_column="label", id_column="0")
    assert named.ids[:3] == ["0", "1", "2"]
    assert named.notes == ()


def test_data_frame_index_is_left_out_and_other_unnamed_columns_are_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "d.csv"
    path.write_text(",a,b\n17,1,2\n3,3,4\n")
    assert read_data(read_table(path)).feature_names == ["a", "b"]
    path.write_text("a,,b\n1,2,3\n2,2,4\n")
    with pytest.raises(InvalidInput, match="column 2, which has no name") as refused:
        read_table(path)
    assert refused.value.reason == "COLUMN_UNNAMED"
    path.write_text("a,b,\n1,2,\n3,4,\n")
    assert read_data(read_table(path)).feature_names == ["a", "b"]


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="both named 'temp'") as refused:
        read_table(FIELD / "duplicate_names.csv")
    assert refused.value.reason == "DUPLICATE_COLUMN"


def test_underscores_make_no_number() -> None:
    with pytest.raises(InvalidInput, match="'2024_10' is not a number"):
        read_data(read_table(FIELD / "underscores.csv"), label_column="label")


def test_separators_inside_lines_and_quotes_are_text() -> None:
    table = read_table(FIELD / "c_u2028.csv")
    assert table.row_count == 12
    assert table.text(table.index("note", ""))[4] == "first\u2028second"
    assert read_table(FIELD / "quoted_delimiter.csv").names == ["Time, s", "Load, %", "State"]


def test_infinities_are_shown() -> None:
    data = read_data(
        read_table(FIELD / "infinity_shown.parquet"),
        label_column="Label",
        outlier_value="DDoS",
        show=["Flow Bytes/s"],
    )
    assert data.display is not None
    assert "inf" in {fields["Flow Bytes/s"] for fields in data.display}


def test_bytes_are_utf8_text() -> None:
    table = read_table(FIELD / "binary_strings.parquet")
    ids = table.text(table.index("id", ""))
    assert all(not text.startswith("b'") for text in ids)


@pytest.mark.parametrize(
    ("name", "names", "labels"),
    [
        ("a_esc.arff", ["farmer's yield", "b"], ["it's ok", "bad", "it's ok"]),
        ("a_farff25.arff", ["repeat", "confidence"], ["setosa", "virginica"]),
        ("a_multi.arff", ["a", "b"], ["tcp", "udp"]),
        ("a_nobrace.arff", ["loc", "v(g)"], ["false", "true", "false"]),
        ("a_oml216.arff", ["strength", "width"], ["'B1of3'", "'B2of3'", "'B1of3'"]),
        ("a_oml287.arff", ["a", "b"], ["-1", "1", "1"]),
        ("a_q.arff", ["a", "b"], ["?", "A", "", "B"]),
        ("a_sparse.arff", ["a", "b"], ["no", "yes"]),
        ("a_weight.arff", ["a", "b"], ["no", "yes"]),
    ],
)
def test_arff_is_read_as_its_description_says(
    name: str, names: list[str], labels: list[str]
) -> None:
    table = read_table(FIELD / name)
    assert table.names[:2] == names
    assert table.text(2) == labels


def test_a_quoted_question_mark_is_a_class_and_a_bare_one_is_missing() -> None:
    assert signs("a_q.arff", "class", "?") == [-1, 1, 0, 1]
    assert signs("a_q.arff", "class", "A") == [1, -1, 0, 1]


def test_the_portal_export_of_sentinel_is_read_with_its_update_times() -> None:
    oracle = TicketOracle(
        FIELD / "sentinel_portal.csv",
        "microsoft-sentinel",
        FIELD / "sentinel_obs.csv",
        observation_id="IncidentName",
    )
    assert verdicts(oracle) == {"a1": Verdict.OUTLIER}
    assert any("month first" in warning for warning in oracle.report().warnings)


def test_export_in_an_unknown_time_zone_is_refused(tmp_path: Path) -> None:
    text = (FIELD / "sentinel_portal.csv").read_text(encoding="utf-8-sig")
    path = tmp_path / "local.csv"
    path.write_text(text.replace("[UTC]", "[Local Time]"))
    with pytest.raises(
        InvalidInput, match=r"zone of 'LastModifiedTime \[Local Time\]' is not known"
    ):
        TicketOracle(path, "microsoft-sentinel", observation_id="IncidentName")


def test_records_that_differ_without_update_times_are_not_decided_by_their_order(
    tmp_path: Path,
) -> None:
    text = (FIELD / "sentinel_portal.csv").read_text(encoding="utf-8-sig")
    path = tmp_path / "short.csv"
    path.write_text(text.replace("LastModifiedTime [UTC]", "Changed"))
    oracle = TicketOracle(path, "microsoft-sentinel", observation_id="IncidentName")
    assert verdicts(oracle) == {}
    (doubt,) = oracle.report().doubts.first
    assert "'LastModifiedTime'" in doubt.why


WITHOUT_PANDAS = """
import sys
class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoPandas())
from svddtune.client import TicketOracle
oracle = TicketOracle(sys.argv[1], "ocsf", observation_id="obs")
print(oracle.report().outliers)
"""


def test_nested_times_are_read_without_pandas() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS, str(FIELD / "nested_ns.parquet")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("1", 0), done.stderr


def test_numbers_in_json_lines_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = [
        {"event_id": f"e{i}", "status": "5", "disposition": "disposition:1", "row": number}
        for i, number in enumerate((2**60 + 1, 2**60 + 2))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    oracle = TicketOracle(
        path,
        "splunk-es",
        [{"id": str(2**60 + 1)}, {"id": str(2**60 + 2)}, {"id": str(2**60)}],
        observation_id="row",
        numbers_as_text=True,
    )
    assert set(verdicts(oracle)) == {str(2**60 + 1), str(2**60 + 2)}


@pytest.mark.parametrize("name", ["pandas_index.csv", "a_esc.arff", "big_ids.parquet"])
def test_kind_of_standard_input_is_guessed_from_its_content(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (FIELD / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    piped, read = read_table(Path("-")), read_table(FIELD / name)
    assert piped.path == "standard input"
    assert [piped.text(j) for j in range(3)] == [read.text(j) for j in range(3)]


def test_compressed_files_are_read_and_broken_ones_reported(tmp_path: Path) -> None:
    packed = tmp_path / "d.csv.gz"
    with gzip.open(packed, "wb") as file, (FIELD / "unspsc_codes.csv").open("rb") as plain:
        shutil.copyfileobj(plain, file)
    assert read_table(packed).text(2) == read_table(FIELD / "unspsc_codes.csv").text(2)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(InvalidInput, match="not a readable gzip file"):
        read_table(packed)


def test_npy_is_the_matrix(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.eye(3))
    np.testing.assert_array_equal(read_data(read_table(tmp_path / "d.npy")).X, np.eye(3))


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("a;b\nß;1\n".encode("cp1252"), {}, "line 2: not UTF-8 text.*--encoding"),
        ("a,b\n1,2\n".encode("utf-16"), {}, "UTF-16 text: give --encoding utf-16"),
        ("a,b\n1,2\n".encode("utf-16-le"), {}, "line 1: contains a NUL character"),
        (b"a,b\n1,2\n3,\x004\n", {}, "line 3: contains a NUL character"),
        (b"PK\x03\x04rest", {}, "ZIP archive or an Excel workbook"),
        (b"BZh91", {}, "compressed with bzip2"),
        (b"a,b\n\x81,1\n", {"encoding": "cp1252"}, "line 2: not cp1252 text"),
    ],
)
def test_text_in_another_encoding_is_reported(
    tmp_path: Path, content: bytes, options: dict[str, str], says: str
) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=says):
        read_table(path, form=TextFormat(**options))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "latin-1", "utf-8-sig"])
def test_text_in_a_named_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes("größe;b\n1,5;2\n".encode(encoding))
    table = read_table(path, form=TextFormat(encoding, ","))
    assert table.names == ["größe", "b"]
    assert table.numbers(0).tolist() == [1.5]


@pytest.mark.parametrize("options", [("nonsense",), ("base64",), ("utf-8", "x")])
def test_unknown_encodings_and_decimal_signs_are_refused(options: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        TextFormat(*options)
    assert refused.value.reason in ("ENCODING_UNKNOWN", "DECIMAL_UNKNOWN")


def test_labels_are_read_in_the_same_encoding(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes("id;verdict\nä;outlier\n".encode("cp1252"))
    found = read_labels(path, ["ä", "b"], None, TextFormat("cp1252"))
    assert found == {"ä": Verdict.OUTLIER}


@pytest.mark.parametrize(
    ("command", "name", "reason"),
    [
        ("tune - --label-column label", "underscores.csv", "DATASET_NOT_NUMERIC"),
        ("tune -", "c_u2028.csv", "DATASET_NOT_NUMERIC"),
        ("tune - --labels -", "c_u2028.csv", "USAGE"),
        ("tune - --ignore label", "pandas_index.csv", "USAGE"),
        ("oracle simulate - --label-column label", "duplicate_names.csv", "DUPLICATE_COLUMN"),
        ("oracle check - --mapping splunk-es", "sentinel_obs.csv", "TICKETS_INVALID"),
        ("observations alertmanager - --features f.toml", "sentinel_obs.csv", "PAYLOAD_INVALID"),
    ],
)
def test_commands_read_standard_input(command: str, name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text('schema = 1\n[[feature]]\nkind = "group_count"\n')
    done = subprocess.run(
        [sys.executable, "-m", "svddtune", *command.split(), "--json"],
        input=(FIELD / name).read_bytes(),
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode in (1, 2)
    assert json.loads(done.stdout)["error"]["reason"] == reason, done.stderr
