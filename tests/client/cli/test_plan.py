"""``svddtune plan``: figures for a file, and nothing created."""

import json
from pathlib import Path

import numpy as np
import pytest

from svddtune.client.cli.app import run
from svddtune.cost import estimate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(300, 4))
    np.savetxt("rows.csv", X, delimiter=",", header="a,b,c,d", comments="")
    return tmp_path


def test_plan_prints_the_estimate_and_creates_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", "rows.csv"]) == 0
    shown = capsys.readouterr().out
    assert "300 rows x 4 features" in shown
    assert "first question" in shown
    assert "4.0 GiB it may use" in shown
    assert [path.name for path in folder.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize(
    ("options", "several", "atlas"),
    [([], True, True), (["--scaling", "none"], False, True), (["--strategy", "lama"], True, False)],
)
def test_plan_estimates_for_the_scaling_and_strategy_given(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    several: bool,
    atlas: bool,
) -> None:
    assert run(["plan", "rows.csv", "--json", *options]) == 0
    told = json.loads(capsys.readouterr().out)
    expected = estimate(300, 4, several=several, atlas=atlas)
    assert told["first_question_s"] == round(expected.seconds, 1)
    assert told["worker_memory_bytes"] == expected.memory_bytes
    assert told["fits"] is True


def test_plan_says_that_data_do_not_fit_and_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("wide.npy", np.random.default_rng(0).normal(size=(2000, 400)))
    assert run(["plan", "wide.npy", "--memory-mib", "256", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fits"] is False
    assert told["worker_memory_bytes"] > told["memory_limit_bytes"] == 256 << 20
    assert run(["plan", "wide.npy", "--memory-mib", "256"]) == 0
    assert "would refuse" in capsys.readouterr().out
