"""``svddtune bench large``: both detectors on large sets, from a start without labels."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.evaluation.scene import write_sets

from svddtune.client.cli.app import run
from svddtune.evaluation import large
from svddtune.evaluation.large import Large, LargeRun, Means
from svddtune.evaluation.large_session import both_after
from svddtune.evaluation.sets import BenchSet
from svddtune.evaluation.summary import Records

ROWS = 5200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of two columns with more outliers, far from its cloud, than a session has labels."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, 2))
    y = np.ones(ROWS, dtype=np.int8)
    y[:60] = -1
    X[:60] = [9.0, 9.0] + 0.1 * rng.standard_normal((60, 2))
    order = rng.permutation(ROWS)
    np.savez(folder / "far.npz", X=X[order], y=y[order])
    return folder


def test_both_classes_are_seen_after_the_first_answer_that_differs() -> None:
    y = np.array([1, 1, -1, 1, -1], dtype=np.int8)
    assert both_after(y, np.array([0, 1, 4, 2])) == 3
    assert both_after(y, np.array([2, 4, 0])) == 3
    assert both_after(y, np.array([0, 1, 3])) is None
    assert both_after(y, np.array([], dtype=np.int64)) is None


def records(of: Large, tuned: list[float], after: list[int | None]) -> Records:
    found: dict[str, dict[str, object]] = {}
    for seed, (kappa, answers) in enumerate(zip(tuned, after, strict=True)):
        found[large.session(of.sets[0], seed).key] = {
            "tuned": kappa, "refined": kappa + 0.125, "both_after": answers, "outliers": 3,
            "session_seconds": 2.0,
        }  # fmt: skip
        found[large.forest(of.sets[0], seed).key] = {"kappa": 0.9}
    return found


def test_means_count_sessions_that_saw_one_class() -> None:
    of = Large((BenchSet("a", "a.npz", "0", ROWS, 2, 8, False),), 2)
    found = large.by_set(of, records(of, [0.25, 0.75], [3, 9]))
    assert found == {"a": Means(0.5, 0.625, 9, 2.0, 0.9)}
    blind = records(of, [0.2, 0.0], [3, None])
    assert large.by_set(of, blind)["a"].both_after is None
    assert large.runs(of, blind)[1] == LargeRun("a", 1, 0.0, 0.125, None, 3, 2.0, 0.9)
    assert "1 of 2 sessions saw one class alone" in large.meaning(of, blind)
    assert "isolation forest on a (-0.675)" in large.meaning(of, blind)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.thorough
def test_command_prints_both_detectors(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    arguments = ["--data", str(folder), "--seeds", "1", "--jobs", "1", "--out", str(out)]
    assert run(["bench", "large", *arguments, "--json", "--write-docs", str(docs)]) == 0
    own = json.loads(capsys.readouterr().out)["per_set"]["far"]
    assert own["both_after"] <= 15
    assert own["refined"] > 0.8
    assert own["tuned"] > 0.5
    assert f"{own['refined']:.3f}" in (docs / "evaluation.md").read_text()
    assert (out / "large.csv").read_text().count("far") == 1


def test_small_sets_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_sets(tmp_path / "small")
    assert run(["bench", "large", "--data", str(data)]) == 2
    assert "no data set has more than 4096 rows" in capsys.readouterr().err
