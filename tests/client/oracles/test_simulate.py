"""``svddtune oracle simulate`` as people and programs run it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.client.scene import blob

from svddtune.client import EmbeddedStack
from svddtune.client.cli.app import run
from svddtune.client.cli.simulation import duration


def write_csv(path: Path, seed: int = 0) -> None:
    X, y = blob(seed)
    lines = ["id,a,b,class"]
    lines += [
        f"host-{i},{a},{b},{'bad' if sign < 0 else 'good'}"
        for i, ((a, b), sign) in enumerate(zip(X, y, strict=True))
    ]
    path.write_text("\n".join(lines) + "\n")


def simulate(
    capsys: pytest.CaptureFixture[str], data: Path, options: str, *more: str
) -> dict[str, Any]:
    code = run(["oracle", "simulate", str(data), *options.split(), *more, "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)  # type: ignore[no-any-return]


OF_CSV = ["--label-column", "class", "--outlier-value", "bad", "--id-column", "id"]


@pytest.mark.slow
@pytest.mark.e2e
def test_with_a_service_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(tmp_path / "data.csv")
    simulation = simulate(
        capsys,
        tmp_path / "data.csv",
        "--labelers 3 --noise 0.1 --abstain 0.05 --delay 20 --cost 2.5 --overlap 2 "
        "--overlap-rule adaptive --budget 9 --workers 1",
        *OF_CSV,
    )
    assert simulation["labels"]["total"] == 9
    assert simulation["votes"] >= 9
    assert simulation["answers"] >= simulation["votes"]
    assert simulation["cost"] == 2.5 * simulation["answers"]
    assert simulation["busy_s"] == 20 * simulation["answers"]
    assert 9 / 3 * 20 <= simulation["wall_clock_s"] <= simulation["busy_s"]
    assert simulation["took_s"] < simulation["wall_clock_s"]
    assert -1 <= simulation["kappa"] <= 1
    assert simulation["config"]["overlap_rule"] == "adaptive"
    assert [one["labeler"] for one in simulation["labelers"]] == [
        f"simulated-{i}" for i in (1, 2, 3)
    ]


@pytest.mark.integration
def test_all_figures_are_those_of_the_labelers(
    stack: EmbeddedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(tmp_path / "data.csv", 1)
    simulation = simulate(
        capsys,
        tmp_path / "data.csv",
        "--labelers 2 --overlap 2 --budget 15 --seed 3 --noise inlier=0,outlier=1 "
        "--cost inlier=1,outlier=10 --delay 30 --repeat-every 4 --audit 3",
        *[*OF_CSV, "--server", stack.address],
    )
    # Both say of every outlier that it is an inlier, and agree on it.
    assert simulation["labels"]["outlier"] == 0
    outliers = simulation["labels"]["wrong"]
    wrong = sum(one["wrong"] for one in simulation["labelers"])
    assert wrong >= 2 * outliers
    assert simulation["cost"] == simulation["answers"] + 9 * wrong
    assert simulation["agreement"]["observed"] == 1.0
    assert simulation["votes"] == 30
    assert all(one["self_consistency"] == 1.0 for one in simulation["labelers"])
    assert simulation["audit"]["kind"] == "audit"


@pytest.mark.integration
def test_table_names_what_planning_needs(
    stack: EmbeddedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = blob(2)
    np.savez(tmp_path / "data.npz", X=X)
    rows = "".join(f"{row},{sign}\n" for row, sign in enumerate(y))
    (tmp_path / "truth.csv").write_text("row,verdict\n" + rows)
    arguments = [str(tmp_path / "data.npz"), "--labels", str(tmp_path / "truth.csv")]
    arguments += ["--budget", "6", "--server", stack.address, "--cost", "2", "--delay", "90"]
    assert run(["oracle", "simulate", *arguments]) == 0
    out, err = capsys.readouterr()
    lines = {line.split("  ")[0].strip(): line for line in out.splitlines()}
    assert "on 60 rows" in lines["true kappa"]
    assert "6 (1.00 a label)" in lines["votes"]
    assert lines["cost"].split() == ["cost", "12"]
    assert "9 min 0 s" in lines["wall-clock"]
    assert "simulated-1" in lines
    assert "no observation has two votes" in lines["agreement"]
    assert "Asking for labels" in err


@pytest.mark.e2e
def test_interrupted_between_answers(stack: EmbeddedStack, tmp_path: Path) -> None:
    write_csv(tmp_path / "data.csv", 3)
    command = [sys.executable, "-m", "svddtune.client", "oracle", "simulate"]
    command += [str(tmp_path / "data.csv"), *OF_CSV, "--server", stack.address]
    command += ["--labelers", "2", "--real-time", "--delay", "0.2", "--budget", "40"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        while "Asking for labels" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=15)
    assert process.returncode == 130
    assert out == ""
    assert err.strip().splitlines()[-1] == "svddtune: interrupted"
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Give either a file of labelled data or --demo"),
        (["d.csv", "--demo"], "Give either a file of labelled data or --demo"),
        (["d.csv"], "Simulated labelers need the true classes of d.csv: give --labels or --label-"),
        (["--demo", "--overlap", "2"], "--overlap 2 needs at least 2 labelers: give --labelers 2"),
        (["--demo", "--noise", "lots"], "--noise 'lots' is neither a number nor of the form"),
        (["--demo", "--noise", "1.5"], "noise is 1.5; it must be a number from 0 to 1"),
        (
            ["--demo", "--noise", "inlier=2"],
            "noise of inliers is 2.0; it must be a number from 0 to 1",
        ),
        (["--demo", "--cost", "anomaly=1"], "'anomaly' is not a verdict"),
        (["--demo", "--abstain", "0.7", "--pass-on", "0.7"], "add up to more than 1"),
        (["--demo", "--delay", "-1"], "delay_s is -1.0; it must be a finite number, 0 or more"),
        (
            ["--demo", "--overlap-rule", "never"],
            "--overlap-rule is 'never'; allowed: always, adaptive",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(
    arguments: list[str],
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("a,b\n1,2\n3,4\n")
    assert run(["oracle", "simulate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("svddtune: ")
    assert says in err


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.4321, "0.432 s"),
        (59.97, "60 s"),
        (60, "1 min 0 s"),
        (725.2, "12 min 5 s"),
        (3599.9, "1 h 0 min"),
        (11220, "3 h 7 min"),
    ],
)
def test_durations_as_people_read_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
