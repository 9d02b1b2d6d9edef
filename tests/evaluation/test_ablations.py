"""``svddtune bench ablations``: what it computes, and what it writes."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.evaluation.test_command import one_document

from svddtune.client.cli.app import run as run_command
from svddtune.evaluation.ablation import CHOICES, ablation, session_labels
from svddtune.evaluation.ablations import PRINTED, session
from svddtune.evaluation.sets import find_sets
from svddtune.evaluation.task import Task, task_of
from svddtune.numerics import draw_initial, run, score


def task(
    data: Path, *, queries: str = "lama", rule: str = "propagated", wrong: float = 0.0
) -> Task:
    (glass,) = find_sets(data, ["Glass"])
    return task_of(session(glass, queries, rule, wrong, 1), data)


@pytest.mark.parametrize(("queries", "rule"), [("lama", "propagated"), ("lama", "printed")])
def test_session_and_its_method_are_those_of_numerics(data: Path, queries: str, rule: str) -> None:
    of = task(data, queries=queries, rule=rule)
    result = run(of.X, of.y, seed=1, prep=of.prep, strategy="lama", tau_rule=rule)  # type: ignore[arg-type]
    np.testing.assert_array_equal(session_labels(of), result.labels)
    chosen = ablation(of)["choices"]
    assert tuple(chosen) == CHOICES
    assert chosen["method"] == {
        "gamma": result.final.gamma,
        "C": result.final.model.C,
        "kappa": float(score(of.y, result.final.predictions)),
    }
    first = run(of.X, of.y, seed=1, prep=of.prep, rule="first", tau_rule=rule)  # type: ignore[arg-type]
    assert chosen["first_cell"]["C"] == first.final.model.C


def test_mistakes_spare_the_initial_labels(data: Path) -> None:
    of = task(data, queries="random", wrong=0.49)
    labels = session_labels(of)
    wrong = np.flatnonzero(labels * of.y < 0)
    assert ablation(of)["wrong"] == len(wrong) > 5
    assert not set(draw_initial(of.y, 2, 2, 1).tolist()) & set(wrong.tolist())
    assert np.count_nonzero(labels) == 50


def test_gamma_is_the_default_while_a_class_has_no_label(data: Path) -> None:
    of = task(data)
    of = replace(of, y=np.ones_like(of.y))
    chosen = ablation(of)["choices"]
    assert {chosen[name]["gamma"] for name in CHOICES} == {of.prep.default_gamma}


def test_command_writes_differences_to_the_method(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    arguments = ["bench", "ablations", "--data", str(data), "--sets", "Glass", "--seeds", "2"]
    arguments += ["--jobs", "1", "--out", str(out), "--write-docs", str(docs), "--json"]
    assert run_command(arguments) == 0
    document = one_document(capsys.readouterr().out)
    assert document == json.loads((out / "ablations.json").read_text())
    with (out / "ablations.csv").open() as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 3 * 2 * 2 * len(CHOICES)
    kappas = {
        name: [
            float(one["kappa"]) for one in runs
            if (one["choice"], one["queries"], one["tau_rule"], one["wrong"])
            == (name, "lama", "propagated", "0.0")
        ]
        for name in CHOICES
    }  # fmt: skip
    shown = {
        one["change"]: one for one in document["outcomes"]
        if (one["queries"], one["wrong"]) == ("lama", 0.0)
    }  # fmt: skip
    for name in CHOICES:
        assert shown[name]["kappa"]["mean"] == pytest.approx(np.mean(kappas[name]))
        difference = np.mean(kappas[name]) - np.mean(kappas["method"])
        assert shown[name]["difference"]["mean"] == pytest.approx(difference)
    assert PRINTED in shown
    page = (docs / "evaluation.md").read_text()
    assert "svddtune bench ablations --data DIR --seeds 2" in page
    assert "Conclusion:" in page
    assert "{" not in page
