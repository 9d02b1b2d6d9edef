"""``svddtune bench paper``: output, files, continuation, and one-line errors."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.evaluation.scene import cloud, write_sets
from tests.waiting import wait_until

from svddtune.client.cli.app import run

PROGRAM = (sys.executable, "-c", "from svddtune.client.cli import main; main()")
MEANS = {
    "lama",
    "lama_sample",
    "dfn_fix",
    "dfn_sample",
    "qms",
    "ads",
    "ads_ext",
    "upper_bound",
    "default",
    "default_25",
}


def quick(data: Path, out: Path, *more: str) -> list[str]:
    """Arguments of a run that needs few seconds, in this process."""
    return [
        *("bench", "paper", "--data", str(data), "--out", str(out), "--seeds", "1", "--jobs", "1"),
        *("--methods", "lama,default,dfn_fix", "--no-service", *more),
    ]


def kept(out: Path) -> dict[str, int]:
    """Finished pieces of work, and when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in (out / "units").glob("*.json")}


def one_document(text: str) -> Any:
    document = json.loads(text, parse_constant=pytest.fail)
    assert text.startswith("{\n")
    return document


@pytest.mark.slow
@pytest.mark.thorough
def test_paper_command_runs_all_methods(data: Path, tmp_path: Path) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    done = subprocess.run(
        [
            *(*PROGRAM, "bench", "paper", "--data", str(data), "--seeds", "2", "--json"),
            *("--sets", "Glass", "--out", str(out), "--write-docs", str(docs), "--no-service"),
        ],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    document = one_document(done.stdout)
    assert set(document["means"]) >= MEANS - {"qms"}
    assert all(-1 <= value <= 1 for value in document["means"].values())
    with (out / "runs.csv").open() as file:
        runs = list(csv.DictReader(file))
    columns = {"set", "method", "seed", "gamma", "C", "kappa", "labels", "seconds"}
    assert columns <= set(runs[0])
    assert {run["seed"] for run in runs if run["method"] == "lama"} == {"0", "1"}
    page = (docs / "evaluation.md").read_text()
    assert "--seeds 2" in page
    assert "--write-docs docs" in page
    assert str(tmp_path) not in page
    assert "10.1007/s10618-015-0444-8" in page
    pictures = list((docs / "evaluation").glob("*.png"))
    assert pictures
    for picture in pictures:
        assert f"evaluation/{picture.name}" in page
        assert picture.stat().st_size < 150_000
    mean = np.mean([float(run["kappa"]) for run in runs if run["method"] == "lama"])
    assert document["means"]["lama"] == pytest.approx(mean)


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.thorough
def test_service_asks_same_queries_as_single_process(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = quick(data, tmp_path / "out", "--sets", "Glass", "--json", "--service")
    assert run(arguments) == 0
    compared = one_document(capsys.readouterr().out)["service"]
    asked = [(one["method"], one["answers"]) for one in compared]
    assert asked == [
        ("lama", "truth"),
        ("default", "truth"),
        ("default", "inliers"),
        ("default", "outliers"),
    ]
    for one in compared:
        assert one["same"] == one["queries"] > 0
        assert one["same_choice"]


@pytest.mark.slow
@pytest.mark.thorough
def test_second_run_computes_only_missing_work(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(quick(data, out, "--json")) == 0
    first, before = one_document(capsys.readouterr().out), kept(out)
    lost = min(before)
    (out / "units" / lost).unlink()
    assert run(quick(data, out, "--json")) == 0
    second, after = one_document(capsys.readouterr().out), kept(out)
    assert set(after) == set(before)
    assert {name for name in after if after[name] != before[name]} == {lost}
    assert second["per_set"] == first["per_set"]


@pytest.mark.slow
@pytest.mark.thorough
def test_damaged_piece_of_work_is_recomputed(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = quick(data, out, "--sets", "Glass", "--json")
    assert run(arguments) == 0
    first = one_document(capsys.readouterr().out)
    (out / "units" / min(kept(out))).write_text('{"points": [')
    assert run(arguments) == 0
    assert one_document(capsys.readouterr().out)["per_set"] == first["per_set"]


def test_printed_table_shows_published_figures(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(quick(data, tmp_path / "out", "--sets", "glass")) == 0
    shown = capsys.readouterr().out
    assert "LAMA" in shown
    assert "paper" in shown


@pytest.mark.slow
@pytest.mark.thorough
def test_means_leave_out_sets_that_paper_lacks(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(quick(data, tmp_path / "out", "--sets", "own,Glass", "--json")) == 0
    document = one_document(capsys.readouterr().out)
    assert {one["name"]: one["in_paper"] for one in document["sets"]} == {
        "Glass": True,
        "own": False,
    }
    for method, mean in document["means"].items():
        assert mean == document["per_set"]["Glass"][method]["kappa"]
    assert document["per_set"]["own"]["lama"]["kappa"] is not None
    assert document["per_set"]["own"]["lama"]["paper"] is None


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_interrupt_keeps_finished_work_without_traceback(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [
            *(*PROGRAM, "bench", "paper", "--data", str(data), "--seeds", "400", "--jobs", "2"),
            *("--methods", "lama", "--out", str(out)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: len(kept(out)) >= 3 or process.poll() is not None, timeout_s=60)
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert shown == ""
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("svddtune: interrupted")
    assert len(kept(out)) >= 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--data", "nowhere"], 2, "nowhere"),
        (["--data", "."], 2, "has no"),
        (["--data", "{data}", "--methods", "lama,magic"], 2, "magic"),
        (["--data", "{data}", "--sets", "Glass,Nothing"], 2, "Nothing"),
        (["--data", "{data}", "--seeds", "0"], 2, "--seeds"),
        (["--data", "{data}", "--seeds", "few"], 2, "--seeds"),
        (["--data", "{data}", "--jobs", "0"], 2, "--jobs"),
        (["--seeds", "1"], 2, "--data"),
    ],
)
def test_wrong_arguments_give_one_line_error(
    arguments: list[str], code: int, words: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [argument.format(data=data) for argument in arguments]
    assert run(["bench", "paper", *given]) == code
    assert words in one_line(capsys)


@pytest.mark.parametrize("content", ["nothing", "text", "no labels", "one class", "not finite"])
def test_unusable_file_gives_one_line_error_with_its_name(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "Pima.npz"
    X, y = cloud(30, 5, seed=4)
    if content == "nothing":
        path.touch()
    elif content == "text":
        path.write_text("this is no archive")
    elif content == "no labels":
        np.savez(path, X=X)
    elif content == "one class":
        np.savez(path, X=X, y=np.abs(y))
    else:
        X[3, 1] = np.nan
        np.savez(path, X=X, y=y)
    assert run(["bench", "paper", "--data", str(folder)]) in (1, 2)
    assert "Pima.npz" in one_line(capsys)


def test_same_set_twice_gives_one_line_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_sets(tmp_path / "data")
    (folder / "glass_norm.csv").write_text("a,outlier\n1,0\n2,1\n")
    assert run(["bench", "paper", "--data", str(folder)]) == 2
    assert "Glass" in one_line(capsys)


def test_failure_with_json_prints_error_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "paper", "--data", "nowhere", "--json"]) == 2
    assert "nowhere" in one_document(capsys.readouterr().out)["error"]["message"]


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr by which a mistake is reported; stdout is empty."""
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("svddtune: ")
    assert output.err.count("\n") == 1
    return output.err
