"""``svddtune bench paper --methods NAME`` for rules without labels and cross-validation."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from svddtune import numerics
from svddtune.client.cli.app import run
from svddtune.evaluation import plan
from svddtune.evaluation.baselines import RULES
from svddtune.evaluation.compute import compute
from svddtune.evaluation.methods import METHODS
from svddtune.evaluation.sets import find_sets, load
from svddtune.numerics import score

CHOSEN = ("qms", "cv", "extent", "counter_examples", "one_class")


def test_named_rules_are_measured_and_tabled(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["bench", "paper", "--data", str(data), "--out", str(out), "--seeds", "2"]
    arguments += ["--jobs", "1", "--no-service", "--sets", "Glass", "--methods", ",".join(CHOSEN)]
    assert run(arguments) == 0
    with (out / "runs.csv").open() as file:
        runs = list(csv.DictReader(file))
    assert sorted({one["method"] for one in runs}) == sorted(CHOSEN)
    assert [one["seed"] for one in runs if one["method"] == "cv"] == ["0", "1"]
    (glass,) = find_sets(data, ["Glass"])
    X, y = load(glass.path)
    means = json.loads((out / "result.json").read_text())["means"]
    for name in ("extent", "counter_examples", "one_class"):
        (own,) = [one for one in runs if one["method"] == name]
        choice = RULES[name].choose(X, np.random.default_rng(0))
        assert choice is not None
        assert (own["seed"], own["labels"]) == ("", "0")
        assert float(own["gamma"]) == choice.gamma
        assert means[name] == float(score(y, choice.predictions))
    page = (out / "evaluation.md").read_text()
    for name in CHOSEN[1:]:
        assert f"| {METHODS[name].title} (`{name}`) |" in page
        assert f"| {METHODS[name].about} |" in page


def test_lama_as_printed_takes_both_printed_conventions(data: Path, tmp_path: Path) -> None:
    (glass,) = find_sets(data, ["Glass"])
    record = compute(plan.session(glass, METHODS["lama_printed"], 4), folder=tmp_path)
    X, y = load(glass.path)
    result = numerics.run(X, y, seed=4, tau_rule="printed", rule="first")
    assert record["queries"] == result.queries.tolist()
    assert record["queries"] != numerics.run(X, y, seed=4).queries.tolist()
    assert record["points"][-1]["C"] == result.final.model.C


@pytest.mark.parametrize("name", RULES)
def test_rule_has_a_title_and_a_sentence(name: str) -> None:
    method = METHODS[name]
    assert (method.source, method.labels) == ("rule", 0)
    assert method.about.endswith(".")
    assert sum(method.title == one.title for one in METHODS.values()) == 1
