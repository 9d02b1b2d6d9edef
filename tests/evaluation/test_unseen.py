"""``svddtune bench unseen``: recall of outliers of a kind that no label has."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.scene import write_sets

from svddtune.client.cli.app import run
from svddtune.evaluation import kinds, unseen
from svddtune.evaluation.compute import compute
from svddtune.evaluation.sets import find_sets
from svddtune.evaluation.task import Task, task_of
from svddtune.numerics import fit
from svddtune.numerics.types import OUTLIER

CENTERS = ((0.1, 0.1), (0.9, 0.1), (0.5, 0.95))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set with three clusters of six outliers around a cloud."""
    folder = tmp_path_factory.mktemp("unseen")
    rng = np.random.default_rng(0)
    inliers = 0.5 + 0.1 * rng.standard_normal((72, 2))
    outliers = [center + 0.02 * rng.standard_normal((6, 2)) for center in CENTERS]
    y = np.repeat(np.array([1, -1], dtype=np.int8), (72, 18))
    np.savez(folder / "Corners.npz", X=np.concatenate((inliers, *outliers)), y=y)
    return folder


@pytest.fixture(scope="module")
def task(folder: Path) -> Task:
    return task_of(unseen.session(find_sets(folder)[0], 0), folder / "atlases")


@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6).filter(
        lambda rows: any(wanted for _, wanted in rows)
    ),
    st.data(),
)
def test_recall_is_mean_over_all_orders_of_tied_rows(
    rows: list[tuple[int, bool]], data: st.DataObject
) -> None:
    scores = np.array([float(score) for score, _ in rows])
    wanted = np.array([one for _, one in rows])
    alarms = data.draw(st.integers(0, len(rows)))
    found = [
        wanted[sorted(order, key=lambda row: -scores[row])[:alarms]].sum() / wanted.sum()
        for order in permutations(range(len(rows)))
    ]
    assert kinds.recall(scores, wanted, alarms) == pytest.approx(np.mean(found))


def test_clusters_are_the_kinds_of_outliers(task: Task) -> None:
    found = kinds.clusters(task.basis.X[task.y == OUTLIER])
    assert sorted(set(found.tolist())) == [0, 1, 2]
    assert all(len(set(group.tolist())) == 1 for group in np.split(found, 3))


def test_session_has_no_label_of_kind_kept_away(task: Task) -> None:
    kept = np.flatnonzero(task.y == OUTLIER)[:6]
    labels = kinds.session_without(task, kept).labels
    assert not labels[kept].any()
    assert np.count_nonzero(labels) == task.budget
    assert (labels[task.y == OUTLIER] == OUTLIER).any()


def test_recall_of_svdd_is_that_of_its_distances(task: Task) -> None:
    kept = np.flatnonzero(task.y == OUTLIER)[:6]
    result = kinds.session_without(task, kept)
    choice, free = result.choices[-1], np.flatnonzero(result.labels == 0)
    X = task.views.rows(choice.scaling)
    distance2 = fit(X, gamma=choice.gamma, C=choice.C).distance2(X)[free]
    alarms = int(task.atlas.outside(choice.cell)[free].sum())
    assert alarms > 0
    found = kinds.found_without(task, 0, kept)
    assert found.share == pytest.approx(alarms / len(free))
    assert found.svdd == pytest.approx(kinds.recall(distance2, np.isin(free, kept), alarms))


def test_each_kind_is_kept_from_one_session(task: Task, folder: Path) -> None:
    unit = unseen.session(task.data, 0)
    found = compute(unit, folder=folder / "atlases")["found"]
    assert [one["kind"] for one in found] == [0, 1, 2]
    assert [one["rows"] for one in found] == [6, 6, 6]
    assert all(one["labels"] == 50 for one in found)


def test_command_prints_recall_of_both_detectors(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    arguments = ["--data", str(folder), "--seeds", "1", "--jobs", "1", "--out", str(out)]
    assert run(["bench", "unseen", *arguments, "--json", "--write-docs", str(docs)]) == 0
    document = json.loads(capsys.readouterr().out)
    mean, own = document["means"]["judged"], document["sets"]["Corners"]
    assert mean == own
    assert own["sessions"] == 3
    assert own["ratio"] == pytest.approx(own["refined"] / own["svdd"])
    assert 0.0 < own["share"] < 1.0
    page = (docs / "evaluation.md").read_text()
    assert "<!-- bench unseen -->" in page
    assert f"{own['refined']:.3f}" in page
    assert (out / "unseen.csv").read_text().count("Corners") == 3


def test_sets_with_few_outliers_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_sets(tmp_path / "few")
    assert run(["bench", "unseen", "--data", str(data)]) == 2
    assert "has 15 outliers" in capsys.readouterr().err
