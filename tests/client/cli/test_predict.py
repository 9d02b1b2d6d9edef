"""``svddtune predict``: a saved model and a file."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.client.models import fit, fit_refined_too, rows
from tests.profiles import sized

from svddtune.client.cli.app import run

IDS = [f"alert-{row}" for row in range(80)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fit().save("model.npz")
    return tmp_path


def frame() -> pd.DataFrame:
    return pd.DataFrame(rows(seed=5), columns=["f0", "f1", "f2"])


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_json_says_which_rows_are_outside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = frame()
    data.to_csv("new.csv", index=False)
    assert run(["predict", "model.npz", "new.csv", "--json"]) == 0
    told = document(capsys)
    expected = np.flatnonzero(fit().predict(data) == -1)
    assert sorted(one["row"] for one in told["outside"]) == expected.tolist()
    assert told["outside_count"] == len(expected)
    assert told["n"] == 80
    assert told["unused_columns"] == []
    scores = [one["score"] for one in told["outside"]]
    assert scores == sorted(scores, reverse=True)
    np.testing.assert_allclose(scores, np.sort(-fit().decision(data))[::-1][: len(scores)])


def test_refined_detector_is_chosen_by_an_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = fit_refined_too(), frame()
    model.save("both.npz")
    data.to_csv("new.csv", index=False)
    assert run(["predict", "both.npz", "new.csv", "--which", "refined", "--json"]) == 0
    told = document(capsys)
    expected = np.flatnonzero(model.predict(data, which="refined") == -1)
    assert sorted(one["row"] for one in told["outside"]) == expected.tolist()
    assert told["which"] == "refined"
    known = model.probability(data)
    assert [one["probability"] for one in told["outside"]] == [
        pytest.approx(known[one["row"]]) for one in told["outside"]
    ]
    for name in ("s.csv", "s.parquet"):
        assert run(["predict", "both.npz", "new.csv", "--which", "refined", "-o", name]) == 0
    np.testing.assert_allclose(pd.read_csv("s.csv").probability, known, rtol=1e-9)
    np.testing.assert_array_equal(pd.read_parquet("s.parquet").probability, known)


def test_model_without_refined_detector_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame().to_csv("new.csv", index=False)
    assert run(["predict", "model.npz", "new.csv", "--which", "refined"]) == 1
    assert "[REFINED_MISSING]" in capsys.readouterr().err


@settings(
    deadline=None,
    max_examples=sized(15),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.permutations(["f0", "f1", "f2", "id", "label"]), st.sampled_from(["csv", "parquet"]))
def test_order_of_columns_changes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], order: list[str], kind: str
) -> None:
    data = frame().assign(id=IDS, label="x")[order]
    data.to_csv("new.csv", index=False)
    data.to_parquet("new.parquet", index=False)
    assert run(["predict", "model.npz", f"new.{kind}", "--id-column", "id", "--json"]) == 0
    told = document(capsys)
    expected = np.flatnonzero(fit().predict(rows(seed=5)) == -1)
    assert {one["observation_id"] for one in told["outside"]} == {IDS[row] for row in expected}
    assert told["unused_columns"] == ["label"]


def test_written_file_has_every_row(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = frame().assign(id=IDS)
    data.to_csv("new.csv", index=False)
    assert run(["predict", "model.npz", "new.csv", "--id-column", "id", "-o", "scores.csv"]) == 0
    with Path("scores.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [one["observation_id"] for one in read] == IDS
    assert [int(one["row"]) for one in read] == list(range(80))
    verdicts = np.array([1 if one["verdict"] == "inlier" else -1 for one in read])
    np.testing.assert_array_equal(verdicts, fit().predict(rows(seed=5)))
    scores = np.array([float(one["score"]) for one in read])
    np.testing.assert_allclose(scores, -fit().decision(rows(seed=5)), rtol=1e-9)
    assert sorted(path.name for path in folder.iterdir()) == ["model.npz", "new.csv", "scores.csv"]
    shown = capsys.readouterr()
    outside = int((verdicts == -1).sum())
    assert f"{outside} of 80 rows are outside" in shown.out
    assert IDS[int(np.argmax(scores))] in shown.out
    assert "Wrote scores.csv" in shown.err


def test_unused_columns_are_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame().assign(host="db").to_csv("new.csv", index=False)
    assert run(["predict", "model.npz", "new.csv"]) == 0
    assert "not used: 'host'" in capsys.readouterr().err
    assert run(["predict", "model.npz", "new.csv", "--ignore", "host"]) == 0
    assert "not used" not in capsys.readouterr().err


def test_file_without_names_is_taken_by_position(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X = rows(seed=5)
    np.savetxt("bare.csv", X, delimiter=",", fmt="%.17g")
    np.savez("bare.npz", X=X, y=np.ones(80), ids=np.array(IDS))
    fit(feature_names=()).save("nameless.npz")
    frame().to_csv("named.csv", index=False)
    expected = np.flatnonzero(fit().predict(X) == -1).tolist()
    for model, data in (
        ("model.npz", "bare.csv"),
        ("model.npz", "bare.npz"),
        ("nameless.npz", "named.csv"),
    ):
        assert run(["predict", model, data, "--json"]) == 0
        told = document(capsys)
        assert sorted(one["row"] for one in told["outside"]) == expected
    np.savetxt("bare.csv", X[:, :2], delimiter=",")
    assert run(["predict", "model.npz", "bare.csv", "--json"]) == 1
    assert document(capsys)["error"]["reason"] == "FEATURE_COUNT_MISMATCH"


@pytest.mark.parametrize(
    ("change", "reason", "says"),
    [
        (lambda data: data.rename(columns={"f1": "F1"}), "FEATURE_NAMES_MISMATCH", "'F1'"),
        (
            lambda data: data.drop(columns="f2"),
            "FEATURE_NAMES_MISMATCH",
            "'f2'. It has no other columns",
        ),
        (lambda data: data.assign(f1="high"), "DATASET_NOT_NUMERIC", "column 'f1'"),
        (lambda data: data.mask(data > 200), "DATASET_NOT_FINITE", "row 2"),
    ],
)
def test_file_that_does_not_fit_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], change: Any, reason: str, says: str
) -> None:
    data = frame()
    data.loc[2, "f2"] = 1e6
    data.loc[data.index != 2, "f2"] = 100.0
    change(data).to_csv("new.csv", index=False)
    assert run(["predict", "model.npz", "new.csv", "-o", "scores.csv", "--json"]) == 1
    error = document(capsys)["error"]
    assert error["reason"] == reason
    assert says in error["message"]
    assert not Path("scores.csv").exists()


@pytest.mark.parametrize("content", [b"", b"f0,f1,f2\n1,2,3\n"])
def test_other_file_than_a_model_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    frame().to_csv("new.csv", index=False)
    Path("other").write_bytes(content)
    assert run(["predict", "other", "new.csv"]) == 1
    assert "other is not a readable svddtune model" in capsys.readouterr().err
    np.savez("data.npz", X=rows())
    assert run(["predict", "data.npz", "new.csv"]) == 1
    assert "data.npz is not a readable svddtune model" in capsys.readouterr().err


def test_place_of_the_output_is_checked_first(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame().to_csv("new.csv", index=False)
    before = Path("new.csv").read_bytes()
    for out, says in (
        ("new.csv", "is the file DATA"),
        ("./model.npz", "is the file MODEL"),
        ("nowhere/scores.csv", "does not exist"),
    ):
        assert run(["predict", "model.npz", "new.csv", "-o", out]) == 2
        assert says in capsys.readouterr().err
    assert Path("new.csv").read_bytes() == before


def test_standard_input_with_decimal_commas_is_read(folder: Path) -> None:
    frame().to_csv("new.csv", index=False, sep=";", decimal=",")
    arguments = ["predict", "model.npz", "-", "--decimal", ",", "--json"]
    with Path("new.csv").open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "svddtune", *arguments],
            stdin=file,
            capture_output=True,
            timeout=60,
            check=True,
        )
    told = json.loads(done.stdout)
    expected = np.flatnonzero(fit().predict(rows(seed=5)) == -1)
    assert sorted(one["row"] for one in told["outside"]) == expected.tolist()


def test_lines_and_parquet_hold_the_same_rows_as_csv(folder: Path) -> None:
    frame().assign(id=IDS).to_csv("new.csv", index=False)
    for name in ("s.csv", "s.jsonl", "s.parquet"):
        told = ["predict", "model.npz", "new.csv", "--id-column", "id", "--reasons", "2"]
        assert run([*told, "-o", name]) == 0
    read = pd.read_csv("s.csv")
    assert list(read.columns) == [
        "row",
        "observation_id",
        "verdict",
        "score",
        "reason_1",
        "deviation_1",
        "reason_2",
        "deviation_2",
    ]
    pd.testing.assert_frame_equal(pd.read_parquet("s.parquet"), read, check_dtype=False)
    lines = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    assert [one["observation_id"] for one in lines] == IDS
    unusual = fit().unusual(frame(), 2)
    for line, reasons, row in zip(lines, unusual, read.itertuples(), strict=True):
        assert line["score"] == row.score
        assert [one["feature"] for one in line["reasons"]] == [row.reason_1, row.reason_2]
        assert [one["deviation"] for one in line["reasons"]] == [one.deviation for one in reasons]


def test_scores_go_to_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame().to_csv("new.csv", index=False)
    assert run(["predict", "model.npz", "new.csv", "-o", "-"]) == 0
    read = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    np.testing.assert_allclose(
        [float(one["score"]) for one in read], -fit().decision(frame()), rtol=1e-9
    )
    assert run(["predict", "model.npz", "new.csv", "-o", "-", "--json"]) == 2


def test_rows_that_cannot_be_judged_are_skipped_on_demand(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = frame().astype(object)
    data.loc[3, "f1"] = ""
    data.loc[5, "f2"] = "high"
    data.loc[5, "f1"] = "inf"
    data.to_csv("new.csv", index=False)
    assert run(["predict", "model.npz", "new.csv"]) == 1
    capsys.readouterr()
    told = ["predict", "model.npz", "new.csv", "--skip-bad-rows", "--reasons", "1"]
    assert run([*told, "-o", "s.jsonl", "--json"]) == 0
    summary = document(capsys)
    assert [one["row"] for one in summary["bad_rows"]] == [3, 5]
    assert "column 'f1'" in summary["bad_rows"][0]["error"]
    assert summary["n"] == 80
    lines = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    for line in (lines[3], lines[5]):
        assert (line["verdict"], line["score"], line["reasons"]) == (None, None, [])
        assert line["error"]
    good = [line for line in lines if line["error"] is None]
    expected = np.delete(-fit().decision(frame()), [3, 5])
    np.testing.assert_allclose([one["score"] for one in good], expected, rtol=1e-9)
    assert run([*told, "-o", "s.csv"]) == 0
    assert "78 rows are outside" in capsys.readouterr().out
    with Path("s.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert (read[3]["verdict"], read[3]["score"], read[3]["reason_1"]) == ("", "", "")
    assert "f1" in read[3]["error"]


def test_file_without_any_good_row_is_answered(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame().head(3).assign(f0="x").to_csv("new.csv", index=False)
    assert run(["predict", "model.npz", "new.csv", "--skip-bad-rows", "-o", "s.csv"]) == 0
    assert "0 of 0 rows are outside." in capsys.readouterr().out


def test_reasons_need_a_profile(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit(profile=None).save("old.npz")
    frame().to_csv("new.csv", index=False)
    assert run(["predict", "old.npz", "new.csv"]) == 0
    capsys.readouterr()
    assert run(["predict", "old.npz", "new.csv", "--reasons", "2", "--json"]) == 1
    assert document(capsys)["error"]["reason"] == "PROFILE_MISSING"
