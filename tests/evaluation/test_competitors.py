"""Competitors are what they are said to be, and are compared in pairs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.evaluation.scene import cloud, write_sets

from svddtune.client.cli.app import run
from svddtune.client.errors import NotInstalled
from svddtune.evaluation.competitors.detectors import (
    CLASSIFIERS,
    LABEL_FREE,
    classify,
    ecod,
    most_unusual,
)
from svddtune.evaluation.competitors.measure import COUNTS, PARTS
from svddtune.evaluation.competitors.needs import require
from svddtune.evaluation.competitors.queries import ACTIVE, Active, random_labels
from svddtune.evaluation.competitors.report import OURS, Competition, meaning, standings
from svddtune.evaluation.competitors.searches import (
    GAMMAS,
    NUS,
    SEARCHES,
    fit_trials,
)
from svddtune.evaluation.sets import BUILTIN, find_sets
from svddtune.numerics import draw_initial, score


def test_ecod_is_largest_sum_of_tail_surprises() -> None:
    X = np.round(np.random.default_rng(0).standard_gamma(1.0, (40, 3)), 1)
    X[:, 2] *= -1.0
    expected = []
    for row in X:
        left = -np.log([(X[:, j] <= row[j]).mean() for j in range(3)])
        right = -np.log([(X[:, j] >= row[j]).mean() for j in range(3)])
        skewed = right[0] + right[1] + left[2]
        expected.append(max(left.sum(), right.sum(), skewed))
    np.testing.assert_allclose(ecod(X, 0), expected)


def test_constant_column_does_not_change_ecod() -> None:
    X = np.random.default_rng(1).standard_normal((30, 2))
    with_constant = np.c_[X, np.full(30, 7.0)]
    np.testing.assert_allclose(ecod(with_constant, 0), ecod(X, 0))


@pytest.mark.parametrize("name", ["isolation_forest", "local_outlier_factor"])
def test_label_free_detector_finds_plain_outliers(name: str) -> None:
    X, y = cloud(80, 5, seed=1)
    X[y == -1] += 3.0
    found = most_unusual(LABEL_FREE[name](X, 0), 5)
    np.testing.assert_array_equal(found, y)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifier_decides_about_all_rows(name: str) -> None:
    X, y = cloud(80, 20, seed=2)
    X[y == -1] += 3.0
    labels = np.where(np.arange(80) % 2 == 0, y, 0).astype(np.int8)
    np.testing.assert_array_equal(classify(name, X, labels, 0), y)
    assert (classify(name, X, np.maximum(labels, 0), 0) == 1).all()


def test_search_returns_trial_with_best_kappa_on_labels() -> None:
    X, y = cloud(60, 10, seed=3)
    trials = fit_trials(X)
    labels = np.where(np.arange(60) % 3 == 0, y, 0).astype(np.int8)
    all_kappas = [trials.kappa(g, n, labels) for g in range(len(GAMMAS)) for n in range(len(NUS))]
    rows = labels != 0
    for name, search in SEARCHES.items():
        found = search(trials, labels, 0)
        reached = float(score(labels[rows], found[rows]))
        assert reached in all_kappas, name
        assert reached >= np.quantile(all_kappas, 0.8), name
        np.testing.assert_array_equal(search(trials, labels, 5), search(trials, labels, 5))


def test_random_labels_begin_with_given_rows_and_need_a_truth() -> None:
    _, y = cloud(60, 10, seed=4)
    known = np.where(np.arange(60) < 30, y, 0).astype(np.int8)
    first = draw_initial(known, 2, 2, 0)
    rows = random_labels(known, first, 20, seed=0)
    assert rows[:4].tolist() == first.tolist()
    assert len(set(rows.tolist())) == 20
    assert known[rows].all()
    assert len(random_labels(known, first, 50, seed=0)) == 30


@pytest.mark.parametrize("name", ACTIVE)
def test_strategy_of_scikit_activeml_asks_each_row_once(name: str) -> None:
    X, y = cloud(60, 10, seed=5)
    known = np.where(np.arange(60) < 30, y, 0).astype(np.int8)
    first = draw_initial(known, 2, 2, 0)
    session = Active(name, X, 0)
    rows = session.ask(known, first, 12)
    assert rows[:4].tolist() == first.tolist()
    assert len(set(rows.tolist())) == 12
    assert known[rows].all()
    labels = np.zeros_like(known)
    labels[rows] = known[rows]
    assert set(session.decide(labels).tolist()) <= {-1, 1}


def test_differences_are_paired_and_their_error_is_over_sets(tmp_path: Path) -> None:
    sets = tuple(find_sets(write_sets(tmp_path / "data")))
    of = Competition(sets, 2)
    gains = (0.1, 0.2, -0.1)
    records: dict[str, Any] = {}
    for unit, level, gain in zip(of.units(), (0.1, 0.5, 0.9), gains, strict=True):
        runs = [
            {
                part: {
                    str(count): {
                        OURS: level + noise,
                        "session refined": 0.97,
                        "random random_forest": level + noise + gain,
                        "none ecod": 0.01,
                    }
                    for count in COUNTS
                }
                for part in PARTS
            }
            for noise in (0.0, 0.05)
        ]
        records[unit.key] = {"runs": runs}
    found = standings(of, records)
    forest = next(one for one in found if one.detector == "random_forest")
    assert forest.difference == pytest.approx(np.mean(gains))
    assert forest.error == pytest.approx(np.std(gains, ddof=1) / np.sqrt(3))
    assert forest.better_on == 2
    text = meaning(found, 3)
    assert "largest mean kappa is the random forest (random)" in text
    assert "0.970 of the refined detector" in text
    assert "better than the tuned SVDD on 2 of 3 sets; 0 of 2 competitors" in text
    ours = next(one for one in found if one.detector == "svddtune")
    assert (ours.difference, ours.error, ours.better_on) == (0.0, 0.0, 0)


def test_missing_package_is_named_with_the_extra_that_brings_it() -> None:
    require("numpy")
    with pytest.raises(NotInstalled, match=r"nowhere_to_be_found.*evaluation\[competitors\]"):
        require("numpy", "nowhere_to_be_found")


@pytest.mark.slow
@pytest.mark.thorough
def test_command_compares_on_rows_set_aside_and_on_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    arguments = ["--data", BUILTIN, "--sets", "Iris", "--seeds", "1", "--jobs", "1", "--json"]
    places = ["--out", str(tmp_path / "out"), "--write-docs", str(docs)]
    assert run(["bench", "competitors", *arguments, *places]) == 0
    document = json.loads(capsys.readouterr().out)
    detectors = {(one["part"], one["detector"]) for one in document["standings"]}
    names = {*CLASSIFIERS, *LABEL_FREE, *SEARCHES, "svddtune", "own", "refined"}
    assert detectors == {(part, name) for part in PARTS for name in names}
    page = (docs / "evaluation.md").read_text()
    assert f"svddtune bench competitors --data {BUILTIN} --seeds 1" in page
    assert "true share of outliers" in page
