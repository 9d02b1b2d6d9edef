"""The command line as people call it: output, exit codes, one line for every mistake."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.client.scene import blob

from svddtune.client import EmbeddedStack, SvddModel, TuningClient
from svddtune.client.cli.app import run
from svddtune.client.cli.demo import FEATURE_NAMES, wisconsin

PROGRAM = (sys.executable, "-c", "from svddtune.client.cli import main; main()")

pytestmark = pytest.mark.integration

ESCAPE = "\x1b"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("SVDDTUNE_SERVER", "SVDDTUNE_REDIS", "SVDDTUNE_DEBUG", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def write_csv(path: Path, seed: int = 0) -> tuple[Any, Any]:
    X, y = blob(seed)
    lines = ["a,b,class"]
    lines += [f"{row[0]!r},{row[1]!r},{sign}" for row, sign in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(lines))
    return X, y


def one_document(text: str) -> Any:
    document = json.loads(text, parse_constant=pytest.fail)
    assert text.count("\n{") == 0
    return document


def test_gamma_bounds_of_the_command_line_hold(
    stack: EmbeddedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(tmp_path / "data.csv")
    code = run(
        "tune data.csv --label-column class --budget 8 --gamma-bounds 50 60 --out found --json "
        f"--server {stack.address}".split()
    )
    assert code == 0
    assert 50 <= one_document(capsys.readouterr().out)["gamma"] <= 60


@pytest.mark.parametrize("bounds", ["2 1", "0 1", "nan 1", "1 inf"])
def test_senseless_gamma_bounds_are_a_mistake_of_usage(
    bounds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(tmp_path / "data.csv")
    assert run(f"tune data.csv --label-column class --gamma-bounds {bounds}".split()) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "--gamma-bounds is (" in line
    assert "allowed: two finite numbers, 0 < LOW < HIGH" in line


def test_tune_prints_one_document(
    stack: EmbeddedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = write_csv(tmp_path / "data.csv")
    code = run(
        "tune data.csv --label-column class --budget 14 --seed 2 --scaling minmax --out found "
        f"--json --server {stack.address}".split()
    )
    out, err = capsys.readouterr()
    assert code == 0
    assert ESCAPE not in err
    document = one_document(out)
    assert document["dataset"] | {"hash": ""} == {"name": "data", "n": 60, "m": 2, "hash": ""}
    assert document["strategy"] == "mixed"
    assert document["seed"] == 2
    labels = document["labels"]
    assert labels["total"] == labels["inlier"] + labels["outlier"] == 14
    assert len(document["queries"]) == 10
    assert document["C_bounds"][0] == pytest.approx(1 / 60)
    assert document["nu"] == pytest.approx(1 / (60 * document["C"]))
    assert document["quality"]["metric"] == "kappa"
    assert set(document["quality"]["interval"]) == {"low", "high", "level"}
    assert set(document["defaults"]) >= {"sklearn_default", "scott", "silverman"}
    seconds = document["seconds"]
    assert 0 < seconds["per_query_p50"] <= seconds["per_query_p95"] <= seconds["total"]
    assert seconds["estimate"] > 0
    assert document["versions"]["svddtune"]
    model = SvddModel.load(tmp_path / "found" / "model.npz")
    predicted = model.predict(X)
    assert (predicted == y).mean() > 0.9
    assert document["truth"]["kappa"] > 0.5
    assert json.loads((tmp_path / "found" / "result.json").read_text()) == document
    assert (tmp_path / "found" / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_tune_prints_its_result_for_people(
    stack: EmbeddedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(tmp_path / "data.csv")
    assert run(["tune", "data.csv", "--label-column", "class", "--server", stack.address]) == 0
    out, err = capsys.readouterr()
    for word in (
        "gamma",
        "nu",
        "kappa on labels",
        "true kappa",
        "Outside, farthest",
        "sklearn_default",
    ):
        assert word in out
    assert "Asking for labels" in err
    assert ESCAPE not in out + err


def test_initial_labels_that_fill_the_budget_ask_nothing(
    stack: EmbeddedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = blob(0)
    np.savez(tmp_path / "data.npz", X=X)
    rows = [*np.flatnonzero(y > 0)[:5].tolist(), *np.flatnonzero(y < 0)[:3].tolist()]
    (tmp_path / "start.csv").write_text("row,verdict\n" + "".join(f"{r},{y[r]}\n" for r in rows))
    options = ["tune", "data.npz", "--start", "start.csv", "--budget", "8", "--json"]
    assert run([*options, "--server", stack.address]) == 0
    document = one_document(capsys.readouterr().out)
    assert document["queries"] == []
    assert document["labels"] == {"total": 8, "inlier": 5, "outlier": 3}
    assert document["truth"] is None


def test_labels_of_some_rows_are_used_and_queries_about_others_are_counted(
    stack: EmbeddedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = blob(0)
    np.savez(tmp_path / "data.npz", X=X)
    some = "".join(f"{row},{y[row]}\n" for row in range(0, 60, 3))
    (tmp_path / "labels.csv").write_text("row,verdict\n" + some)
    options = ["tune", "data.npz", "--labels", "labels.csv", "--strategy", "random"]
    assert run([*options, "--server", stack.address]) == 0
    out = capsys.readouterr().out
    assert "queries were about rows without a label" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "content", "code", "says"),
    [
        (["tune", "d.csv", "--label-column", "c"], "a,c\n1,0\n2,1\n", 2, "--outlier-value"),
        (["tune", "d.csv", "--label-column", "z"], "a,c\n1,1\n2,-1\n", 2, "no column 'z'"),
        (["tune", "d.csv", "--label-column", "c"], "a,c\nx,1\n2,-1\n", 1, "'x' is not a number"),
        (["tune", "d.csv"], "a,c\n1,1\n2,-1\n", 2, "nobody can answer"),
        (["tune", "none.csv"], "", 2, "none.csv"),
        (
            ["tune", "d.csv", "--label-column", "c", "--budget", "3"],
            "a,c\n1,1\n2,-1\n",
            1,
            "1 to 2, the observations of the dataset",
        ),
        (["tune", "d.csv", "--strategy", "magic"], "a\n1\n", 2, "lama, random, disagreement"),
        (["tune", "d.csv", "--budget", "x"], "a\n1\n", 2, "--budget"),
        (["tune", "d.csv", "--overlap-rule", "often"], "a\n1\n", 2, "always, adaptive"),
        (["tune", "d.csv", "--aggregation", "mean"], "a\n1\n", 2, "majority, dawid_skene"),
        (["tune", "d.csv", "--overlap", "11"], "a\n1\n", 2, "--overlap"),
        (
            ["tune", "d.csv", "--label-column", "c", "--overlap", "2"],
            "a,c\n1,1\n2,-1\n",
            1,
            "at least 2 labelers",
        ),
        (
            ["tune", "d.csv", "--label-column", "c", "--out", "d.csv"],
            "a,c\n1,1\n2,-1\n",
            2,
            "--out d.csv: File exists. Give a folder that can be written",
        ),
        (
            ["tune", "d.csv", "--label-column", "c", "--out", "/proc/nothing"],
            "a,c\n1,1\n2,-1\n",
            2,
            "--out /proc/nothing: ",
        ),
        (["resume", "nothing"], "", 1, "no interrupted run"),
        (["tune"], "", 2, "DATA"),
        (["nonsense"], "", 2, "nonsense"),
        (["sessions", "--server", "nowhere"], "", 1, "HOST:PORT"),
        (["sessions", "--state", "busy"], "", 1, "allowed: preparing, labeling"),
        (["sessions", "--label", "team"], "", 2, "--label team: give KEY=VALUE"),
        (["sessions", "--label", "a=1", "--label", "a=2"], "", 2, "each key once"),
    ],
)
def test_mistake_is_one_line_and_with_json_one_document(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    content: str,
    code: int,
    says: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", (tmp_path / "empty").open("w+"))
    (tmp_path / "d.csv").write_text(content)
    assert run(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert err.startswith("svddtune: ")
    assert says in err
    assert run([*arguments, "--json"]) == code
    error = one_document(capsys.readouterr().out)["error"]
    assert error["reason"]
    assert error["message"] in err
    sys.stdin.close()


def test_sessions_watch_and_export(
    stack: EmbeddedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = blob(1)
    with TuningClient(stack.address) as client:
        session = client.create_session(
            client.upload_dataset(X, scaling="minmax"),
            initial_labels={str(row): int(y[row]) for row in range(20)},
            budget=20,
            name="shown",
            labels={"team": "payments"},
        )
        client.wait_until_completed(session, timeout_s=60)
    number = session.name.removeprefix("sessions/")
    server = ["--server", stack.address]
    assert run(["sessions", *server]) == 0
    assert "shown" in capsys.readouterr().out
    assert run(["sessions", *server, "--json"]) == 0
    listed = one_document(capsys.readouterr().out)["sessions"]
    assert session.name in [item["name"] for item in listed]
    ours = ["sessions", *server, "--json", "--label", "team=payments", "--state"]
    for state, expected in (("completed", [session.name]), ("paused", [])):
        assert run([*ours, state]) == 0
        listed = one_document(capsys.readouterr().out)["sessions"]
        assert [item["name"] for item in listed] == expected
    assert run(["watch", number, *server, "--json"]) == 0
    assert one_document(capsys.readouterr().out)["state"] == "completed"
    assert run(["watch", session.name, *server]) == 0
    assert "completed  20/20 labels" in capsys.readouterr().out

    assert run(["export", number, "--out", "m.npz", *server]) == 0
    snippet = capsys.readouterr().out
    names: dict[str, Any] = {"X": X}
    exec(snippet, names)
    model = SvddModel.load("m.npz")
    assert model.profile is not None
    assert model.profile.count == len(X)
    np.testing.assert_array_equal(model.profile.center, np.median(X, axis=0))
    np.testing.assert_array_equal(names["labels"], model.predict(X))
    np.testing.assert_array_equal(names["pipeline"].predict(X), model.predict(X))
    assert run(["export", number, *server, "--json"]) == 0
    document = one_document(capsys.readouterr().out)
    assert Path(document["file"]) == Path(f"{number}.npz")
    assert Path(document["file"]).is_file()
    assert run(["export", number, "--format", "onnx", *server]) == 0
    exec(capsys.readouterr().out, names)
    np.testing.assert_array_equal(names["labels"], model.predict(X))


def test_unknown_session_is_reported(
    stack: EmbeddedStack, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("watch", "export"):
        assert run([command, "none", "--server", stack.address]) == 1
        assert "NOT_FOUND" in capsys.readouterr().err


def test_data_of_the_demo_are_those_of_the_literature() -> None:
    X, y, ids = wisconsin()
    assert X.shape == (367, 30)
    assert (y == -1).sum() == 10
    assert len(set(ids)) == 367
    assert [int(i) for i in ids] == sorted(int(i) for i in ids)
    assert np.flatnonzero(y == -1).tolist() == list(range(10))
    assert len(FEATURE_NAMES) == len(set(FEATURE_NAMES)) == 30


@pytest.mark.slow
@pytest.mark.e2e
def test_demo_leaves_picture_model_and_result(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "demo", "--budget", "12", "--json"],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert document["labels"]["total"] == 12
    assert document["truth"]["kappa"] > document["truth"]["defaults"]["sklearn_default"]
    folder = tmp_path / "svddtune-demo"
    assert sorted(p.name for p in folder.iterdir()) == [
        "model.npz",
        "outside.csv",
        "picture.png",
        "result.json",
    ]
    X, _, _ = wisconsin()
    outside = int((SvddModel.load(folder / "model.npz").predict(X) < 0).sum())
    assert outside > 0
    assert "Traceback" not in done.stderr


@pytest.mark.e2e
def test_up_serves_until_interrupted(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [
            *PROGRAM,
            *["up", "--listen", "127.0.0.1:0", "--workers", "1", "--data-dir", "data", "--json"],
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    with process:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("\n}"):
            line = process.stdout.readline()
            assert line, process.communicate()
            text += line
        with TuningClient(json.loads(text)["address"]) as client:
            assert list(client.list_sessions()) == []
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err.strip() == "Stopped."
    assert (tmp_path / "data" / "stack.log").is_file()


@pytest.mark.e2e
def test_interrupted_run_is_reported_in_one_line(stack: EmbeddedStack, tmp_path: Path) -> None:
    with TuningClient(stack.address) as client:
        session = client.create_session(client.upload_dataset(blob(2)[0]))
        process = subprocess.Popen(
            [*PROGRAM, "watch", session.name, "--server", stack.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "80"},
        )
        with process:
            assert process.stderr is not None
            while "labeling" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        client.cancel_session(session)
    assert process.returncode == 130
    assert out == ""
    assert err.strip().splitlines()[-1] == "svddtune: interrupted"
    assert "Traceback" not in err
