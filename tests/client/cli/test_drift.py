"""``svddtune drift``: a saved model and a file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.client.models import fit_model

from svddtune.client.cli.app import run

NAMES = ["load", "heat", "noise"]


def draw(seed: int, n: int) -> pd.DataFrame:
    X = np.random.default_rng(seed).normal(size=(n, 3)) * [1.0, 10.0, 0.1]
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fit_model(draw(0, 200).to_numpy(), nu=0.1, feature_names=tuple(NAMES)).save("model.npz")
    draw(1, 200).assign(host="db").to_csv("same.csv", index=False)
    draw(1, 200).assign(heat=lambda one: one.heat + 20).to_csv("hot.csv", index=False)
    return tmp_path


def test_rows_of_the_same_kind_end_with_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["drift", "model.npz", "same.csv"]) == 0
    shown = capsys.readouterr()
    assert "No drift found" in shown.out
    assert "of 200 rows are outside" in shown.out
    assert "not used: 'host'" in shown.err


def test_drift_ends_with_3_and_names_the_feature(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["drift", "model.npz", "hot.csv"]) == 3
    shown = capsys.readouterr().out
    assert "Tune again" in shown
    assert "features shifted: heat by" in shown


def test_json_is_one_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["drift", "model.npz", "hot.csv", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["drifted"] is True
    assert told["rows"] == 200
    assert told["features"][0]["feature"] == "heat"
    assert told["features"][0]["shifted"] is True
    assert told["advice"].startswith("Tune again")
    assert run(["drift", "model.npz", "same.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reasons"] == []


def test_model_without_a_profile_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit_model(draw(0, 50).to_numpy(), nu=0.1, profile=None).save("old.npz")
    assert run(["drift", "old.npz", "same.csv", "--ignore", "host"]) == 1
    assert "Export it again" in capsys.readouterr().err
