"""Sessions that leave half of the rows aside never ask about them and are judged on them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.scene import write_sets

from svddtune.evaluation import plan as plans
from svddtune.evaluation.aside import halves, labels_on_the_way, rows_aside, run_aside
from svddtune.evaluation.compute import compute
from svddtune.evaluation.methods import METHODS
from svddtune.evaluation.sets import find_sets
from svddtune.evaluation.task import Task, task_of
from svddtune.numerics import as_labels, choose_cell, score


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("aside")
    data = find_sets(write_sets(folder / "data"), ["Glass"])[0]
    return task_of(plans.session(data, METHODS["default_aside"], 3), folder / "atlases")


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 2**32))
def test_half_of_each_class_is_set_aside(inliers: int, outliers: int, seed: int) -> None:
    y = np.repeat(np.array([1, -1], dtype=np.int8), (inliers, outliers))
    y = np.random.default_rng(seed).permutation(y)
    aside = rows_aside(y, seed)
    assert len(set(aside.tolist())) == len(aside)
    assert (y[aside] == 1).sum() == inliers // 2
    assert (y[aside] == -1).sum() == outliers // 2
    known, hidden = halves(y, seed)
    np.testing.assert_array_equal(known + hidden, y)
    np.testing.assert_array_equal(np.flatnonzero(hidden), aside)


def test_half_differs_between_seeds() -> None:
    y = np.repeat(np.array([1, -1], dtype=np.int8), (90, 10))
    assert rows_aside(y, 0).tolist() == rows_aside(y, 0).tolist()
    assert rows_aside(y, 0).tolist() != rows_aside(y, 1).tolist()


def test_session_has_no_label_among_rows_set_aside(task: Task) -> None:
    result = run_aside(task)
    aside = rows_aside(task.y, task.seed)
    assert not result.labels[aside].any()
    assert not set(result.queries.tolist()) & set(aside.tolist())
    # 30 rows may be asked about, fewer than the budget of 50: the session ends with all of them.
    assert np.count_nonzero(result.labels) == len(task.y) - len(aside)


def test_kappa_is_that_of_choice_on_rows_set_aside(task: Task, tmp_path: Path) -> None:
    record = compute(plans.session(task.data, METHODS["default_aside"], 3), folder=task.folder)
    _, hidden = halves(task.y, task.seed)
    result = run_aside(task)
    assert record["queries"] == result.queries.tolist()
    for labels, found in zip(labels_on_the_way(result), record["points"], strict=True):
        choice = choose_cell(task.atlas, task.basis, labels)
        outside = task.atlas.outside(choice.cell)
        rows = np.flatnonzero(hidden)
        assert found["labels"] == np.count_nonzero(labels)
        assert found["kappa"] == pytest.approx(score(hidden[rows], as_labels(outside)[rows]))
