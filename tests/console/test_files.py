"""The page Create reads a CSV file as the command line does: columns, doubts and refusals."""

import base64
import gzip
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from tests.prose import ROOT

from svddtune.client.errors import SvddtuneError
from svddtune.client.files.data import Data, read_data
from svddtune.client.files.labels import column_verdicts
from svddtune.client.files.read_table import read_table
from svddtune.client.files.source import TextFormat
from svddtune.client.files.table import Table
from svddtune.client.inputs.frames import read_features
from svddtune.client.inputs.ids import observation_ids
from svddtune.client.inputs.validate import check_magnitude

Value = TypeVar("Value")
_ESBUILD = ROOT / "console" / "node_modules" / ".bin" / "esbuild"


@dataclass(frozen=True)
class Case:
    """A file, and how it is read."""

    content: bytes
    name: str = "data.csv"
    form: dict[str, Any] | None = None
    # By position; the roles that the page proposes where it is None.
    roles: dict[int, str] | None = None
    scaled: bool = True


def _rows(*columns: list[Any], header: str = "", sep: str = ",") -> bytes:
    lines = [header] if header else []
    lines += [sep.join(map(str, row)) for row in zip(*columns, strict=True)]
    return ("\n".join(lines) + "\n").encode()


_RNG = np.random.default_rng(5)
_A, _B = (list(map(float, _RNG.normal(size=40).round(4))) for _ in range(2))
_COUNT = list(range(40))
_SHUFFLED = [int(one) for one in _RNG.permutation(40) + 1000]

CASES = {
    "usual": Case(_rows(_A, _B, header="width,height")),
    "no header": Case(_rows(_A, _B)),
    "header asked for": Case(b"1,2\n3,4\n5,7\n", form={"header": True}),
    "no header asked for": Case(b"a,b\n3,4\n", form={"header": False}),
    "one column": Case(_rows(_A, header="width")),
    "one column with a blank row": Case(b"width\n1\n \n2\n"),
    "row counter": Case(_rows(_COUNT, _A, _B, header="n,width,height")),
    "ids by name": Case(_rows(_SHUFFLED, _A, header="user_id,width")),
    "ids in camel case": Case(_rows(_SHUFFLED, _A, header="userId,width")),
    "text ids": Case(_rows([f"h-{one}" for one in _SHUFFLED], _A, header="id,width")),
    "host names": Case(_rows([f"h-{one}" for one in _SHUFFLED], _A, header="host,width")),
    "duplicate ids": Case(b"id,w\na,1\na,2\nb,3\n", roles={0: "id"}),
    "empty id": Case(b"id,w\na,1\n,2\nb,3\n", roles={0: "id"}),
    "index of a frame": Case(_rows(_COUNT, _A, header=",width")),
    "index read again": Case(_rows(_COUNT, _COUNT, _A, header="Unnamed: 0,Unnamed: 0.1,width")),
    "unnamed and empty": Case(_rows(_A, [""] * 40, header="width,")),
    "unnamed": Case(_rows(_A, _B, header="width,")),
    "constant": Case(_rows(_A, [7] * 40, header="width,version")),
    "all constant": Case(_rows([1] * 9, [7] * 9, header="width,version")),
    "times in s": Case(_rows([1_700_000_000 + 60.5 * i for i in _COUNT], _A, header="t,w")),
    "times in ms": Case(_rows([1_700_000_000_000 + 7919 * i for i in _COUNT], _A, header="t,w")),
    "dates": Case(_rows([20_240_100 + i % 28 + 1 for i in _COUNT], _A, header="day,w")),
    "dates as text": Case(_rows([f"2024-01-{i % 28 + 1:02}" for i in _COUNT], _A, header="day,w")),
    "leading zeros": Case(_rows([f"0{i % 30 + 1}" for i in _COUNT], _A, header="zone,w")),
    "codes": Case(_rows([i % 4 for i in _COUNT], _A, header="status,w")),
    "ports": Case(_rows([[80, 443][i % 2] + 100 for i in _COUNT], _A, header="p,w")),
    "few numbers that are none": Case(_rows([i % 4 for i in _COUNT], _A, header="wheels,w")),
    "label 0/1": Case(_rows([int(i % 9 == 0) for i in _COUNT], _A, header="label,w")),
    "label in words": Case(
        _rows(["normal" if i % 9 else "anomaly" for i in _COUNT], _A, header="said,w")
    ),
    "label as a feature": Case(b"label,w\ninlier,1\noutlier,2\n", roles={0: "feature"}),
    "nan": Case(b"a,b\n1,2\nnan,3\n4,5\n"),
    "empty cell": Case(b"a,b\n1,2\n,3\n4,5\n"),
    "inf": Case(b"a,b\n1,2\n-inf,3\n4,5\n"),
    "overflow": Case(b"a,b\n1,2\n1e999,3\n4,5\n"),
    "too large": Case(b"a,b\n1,2\n1e101,3\n4,5\n"),
    "digits lost": Case(b"a,b\n1,2\n9007199254740993,3\n4,5\n", roles={}),
    "digits kept": Case(b"a,b\n1,2\n9007199254740992,3\n4,5\n", roles={}),
    "long negative": Case(b"a,b\n1,2\n-00000000000000012345678901234567,3\n", roles={}),
    "a word among numbers": Case(b"a,b\n1,2\nmany,3\n4,5\n5,6\n"),
    "python's own numbers": Case("a,b\n1,2\n1_0,3\n٣,5\n0x1,1\n".encode(), roles={}),
    "numbers of all forms": Case(b"a,b\n+1.,.5\n-1e+5, 2E-3 \n\t3,4.25\n"),
    "quotes": Case(b'note,w\n"a, ""b""",1\n"two\nlines",2\n  "led by blanks",3\nmid"dle,4\n'),
    "quote without an end": Case(b'note,w\n"a,1\nb,2\n'),
    "text after a quote": Case(b'note,w\n"a"x,1\nb,2\n'),
    "carriage returns": Case(b"a,b\r1,2\r3,4\r"),
    "windows": Case(b"a,b\r\n1,2\r\n\r\n3,4\r\n"),
    "byte order mark": Case(b"\xef\xbb\xbfa,b\n1,2\n3,4\n"),
    "utf-16": Case("a,b\n1,2\n3,4\n".encode("utf-16")),
    "utf-16 said": Case("ä,b\n1,2\n3,4\n".encode("utf-16-le"), form={"encoding": "utf-16le"}),
    "latin without saying": Case("größe,b\n1,2\n3,4\n".encode("latin-1")),
    "latin": Case("größe,b\n1,2\n3,4\n".encode("latin-1"), form={"encoding": "windows-1252"}),
    "nul": Case(b"a,b\n1,2\n3,\x004\n"),
    "gzip": Case(gzip.compress(b"a,b\n1,2\n3,4\n"), "data.csv.gz"),
    "zip": Case(b"PK\x03\x04rest", "data.xlsx"),
    "semicolons": Case(b"a;b\n1.5;2\n3;4\n"),
    "decimal commas": Case(b"a;b\n1,5;2,25\n-3,125;4\n7;1,5e3\n"),
    "decimal commas refused": Case(b"a;b\n1,5;2\n3;4\n", form={"decimal": "."}, roles={}),
    "points where commas are": Case(b"a;b\n1.5;2\n3;4\n", form={"decimal": ","}, roles={}),
    "tabs": Case(b"a\tb\n1\t2\n3\t4\n"),
    "one column of tsv": Case(b"a b\n1\n2\n", "data.tsv"),
    "bars": Case(b"a|b|c\n1|2|3\n3|4|5\n"),
    "blanks": Case(b"a  b\n1 \t 2\n 3 4\n"),
    "delimiter said": Case(b"a,b;c\n1;2\n3;4\n", form={"delimiter": ";"}),
    "duplicate header": Case(b"a,a\n1,2\n3,4\n"),
    "headers that are numbers": Case(b"2020,b\n1,2\n3,4\n"),
    "ragged": Case(b"a,b\n1,2\n3\n4,5\n"),
    "ragged and unclosed": Case(b'a,b\n1,2\n3\n"4,5\n'),
    "empty rows at the end": Case(b"a,b\n1,2\n3,4\n,\n,\n"),
    "empty rows within": Case(b"a,b\n1,2\n,\n3,4\n", roles={}),
    "empty": Case(b""),
    "header only": Case(b"a,b\n"),
    "blank lines only": Case(b"\n\n  \n"),
    "no feature left": Case(_rows(["x", "y"], ["u", "v"], header="a,b")),
    "observations": Case(
        b"id,key,time,display:alert,width\n"
        b"1,k,2024-01-01,'=cmd(),2\n2,k,2024-01-01,,3\n'-x,k,2024-01-01,'plain,5\n"
    ),
    "hostile names": Case(b'<img src=x onerror=alert(1)>,"=cmd|"" /C"\n1,2\n3,4\n'),
    "long name": Case(b"a" * 300 + b",b\n1,2\n3,4\n"),
    "long id": Case(b"id,b\n" + b"x" * 300 + b",2\ny,4\n", roles={0: "id"}),
    "spread": Case(
        _rows([1e6 * one for one in _A], _A, _B, header="a,b,c"), scaled=False, roles={}
    ),
    "small spread": Case(
        _rows([1e-6 * one for one in _A], _A, _B, header="a,b,c"), scaled=False, roles={}
    ),
    "10,000 columns": Case(
        _rows(*(list(map(float, one)) for one in _RNG.normal(size=(10_000, 6)).round(2)))
    ),
    "several chunks": Case(_rows(*(list(one) for one in _RNG.normal(size=(50, 3000))))),
}
LABELS: dict[str, tuple[list[str], str | None]] = {
    "words": (["inlier", "Outlier", "?", "unsure"], None),
    "codes": (["1", "-1", "0", "+1.0"], None),
    "0/1": (["0", "1", "0", "1"], None),
    "0/1 with a value": (["0", "1", "0", "1"], "1"),
    "yes": (["yes", "no", "yes", "no"], None),
    "value in another case": (["Bad", "good", "", "BAD"], "bad"),
    "value that is not there": (["a", "b", "a", "b"], "c"),
    "none": (["", "?", "null", "nan"], None),
    "no label": (["inlier", "maybe", "outlier", ""], None),
    "codes with zeros": (["01", "1", "2", "1"], "1"),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the page's modules make of all cases, by name."""
    if shutil.which("node") is None or not _ESBUILD.exists():
        pytest.skip("no npm packages: make console-packages")
    folder = tmp_path_factory.mktemp("files")
    script = folder / "read.mjs"
    subprocess.run(
        [
            str(_ESBUILD),
            str(ROOT / "tests" / "console" / "read_files.ts"),
            *("--bundle", "--platform=node", "--format=esm", f"--outfile={script}"),
            "--log-level=error",
        ],
        check=True,
    )
    asked, names = [], []
    for number, (name, case) in enumerate(CASES.items()):
        path = _path(folder, number, case.name)
        path.write_bytes(case.content)
        form = {"encoding": "utf-8", "delimiter": ""} | (case.form or {})
        roles = None if case.roles is None else {str(k): v for k, v in case.roles.items()}
        asked.append(json.dumps([str(path), form, roles, case.scaled]))
        names.append(name)
    for name, (values, outlier_value) in LABELS.items():
        path = folder / f"labels {name.replace('/', '-')}.csv"
        path.write_bytes(_labels_file(values))
        labels = [0] if outlier_value is None else [0, outlier_value]
        form = {"encoding": "utf-8", "delimiter": ","}
        asked.append(json.dumps([str(path), form, {"0": "label"}, True, labels]))
        names.append(f"labels {name}")
    done = subprocess.run(["node", script, *asked], check=True, capture_output=True, text=True)
    told = map(json.loads, done.stdout.splitlines())
    return {"folder": folder, **dict(zip(names, told, strict=True))}


def _path(folder: Path, number: int, name: str) -> Path:
    (folder / str(number)).mkdir(exist_ok=True)
    return folder / str(number) / name


def _labels_file(values: list[str]) -> bytes:
    return _rows([f'"{one}"' for one in values], [3, 1, 2, 9], header="is outlier,w")


@pytest.mark.parametrize("name", CASES)
def test_columns_doubts_and_refusals_are_those_of_the_command_line(
    page: dict[str, Any], name: str
) -> None:
    case, told = CASES[name], page[name]
    path = _path(page["folder"], list(CASES).index(name), case.name)
    read = told["read"]
    form = case.form or {}
    decimal = form.get("decimal") or read.get("decimal", ".")
    table, refused = _outcome(
        lambda: read_table(
            path,
            header=form.get("header"),
            form=TextFormat(form.get("encoding", "utf-8"), decimal, form.get("delimiter", "")),
        )
    )
    assert read.get("refused") == refused
    if table is None:
        return
    assert (read["names"], read["hasNames"]) == (table.names, table.has_names)
    assert read["rowCount"] == table.row_count
    assert read["lines"] == list(table.lines[:5])
    data, refused = _outcome(lambda: _data(table, read["roles"], scaled=case.scaled))
    refusal = told["judged"].get("refusal") or told["encoded"]
    assert refusal.get("reason", refusal.get("refused")) == refused
    if data is None:
        return
    assert {(note["reason"], note.get("column")) for note in told["judged"]["notes"]} == {
        (note.reason, note.position) for note in data.notes
    }
    _assert_sent(told["encoded"], data)


def _outcome(call: Callable[[], Value]) -> tuple[Value | None, str | None]:
    """What a call returns, or the reason of its refusal."""
    try:
        return call(), None
    except SvddtuneError as error:
        return None, error.reason


def _data(table: Table, roles: list[str], *, scaled: bool) -> Data:
    """As ``svddtune dataset add`` takes a table apart, with an option for each role."""

    def named(role: str) -> list[str]:
        return [
            table.names[j] or str(j)
            for j, one in enumerate(roles)
            if one == role and j not in table.left_out
        ]

    data = read_data(
        table,
        id_column=next(iter(named("id")), None),
        show=[one for one in named("display") if not one.startswith("display:")],
        ignore=[*named("out"), *named("label")],
        scaling="auto" if scaled else "none",
    )
    features = read_features(data.X, data.feature_names or None)
    check_magnitude(features.rows, features.names)
    if data.has_ids:
        observation_ids(data.ids, len(data.X), "observation_ids")
    return data


def _assert_sent(encoded: dict[str, Any], data: Data) -> None:
    header = encoded["header"]
    assert (header["observationCount"], header["featureCount"]) == data.X.shape
    assert header["featureNames"] == data.feature_names
    chunks = [json.loads(line)["chunk"] for line in encoded["chunks"]]
    assert max(map(len, encoded["chunks"])) < 1 << 20
    values = b"".join(base64.b64decode(one["rows"]["values"]) for one in chunks)
    assert values == data.X.astype("<f8").tobytes()
    ids = [text for one in chunks for text in one.get("observationIds", [])]
    assert ids == (data.ids if data.has_ids else [])
    shown = [
        {field["key"]: field["value"] for field in row["fields"]}
        for one in chunks
        for row in one.get("displays", [])
    ]
    assert shown == (data.display or [])


@pytest.mark.parametrize("name", LABELS)
def test_known_labels_are_read_as_the_command_line_reads_them(
    page: dict[str, Any], name: str
) -> None:
    _, outlier_value = LABELS[name]
    path = page["folder"] / f"labels {name.replace('/', '-')}.csv"
    told = page[f"labels {name}"]["labels"]
    known, refused = _outcome(lambda: column_verdicts(read_table(path), 0, outlier_value))
    if known is not None:
        assert told == {str(row): verdict.name for row, verdict in known.items()}
    elif name == "value that is not there":  # on the command line that is a wrong option
        assert (told["refused"], refused) == ("INVALID_LABEL", "USAGE")
    else:
        assert told["refused"] == refused


def test_what_is_no_feature_is_proposed_so(page: dict[str, Any]) -> None:
    """A column that names rows is the id; labels are offered, and never features."""
    proposed = {name: page[name]["read"].get("roles") for name in CASES}
    assert proposed["row counter"] == ["id", "feature", "feature"]
    assert proposed["text ids"] == ["id", "feature"]
    assert proposed["host names"] == ["display", "feature"]
    assert proposed["constant"] == ["feature", "out"]
    assert proposed["dates"] == proposed["dates as text"] == ["display", "feature"]
    for name in ("label 0/1", "label in words"):
        assert proposed[name] == ["out", "feature"]
        assert page[name]["read"]["offered"] == [0]
    assert page["decimal commas"]["read"]["decimal"] == ","
