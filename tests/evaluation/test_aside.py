"""Sessions that leave half of the rows aside never ask about them and are judged on them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.scene import write_sets

from svddtune.evaluation import plan as plans
from svddtune.evaluation.aside import (
    COUNTS,
    calibration_error,
    halves,
    labels_on_the_way,
    rows_aside,
    run_aside,
)
from svddtune.evaluation.compute import compute
from svddtune.evaluation.methods import METHODS
from svddtune.evaluation.sets import find_sets
from svddtune.evaluation.summary import point_at
from svddtune.evaluation.task import Task, task_of
from svddtune.numerics import as_labels, choose_cell, score
from svddtune.numerics.refined import fit_refined


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


def test_refined_detector_is_judged_on_rows_set_aside(task: Task) -> None:
    record = compute(plans.session(task.data, METHODS["refined"], 3), folder=task.folder)
    rows = rows_aside(task.y, task.seed)
    for count in COUNTS:
        labels = next(
            (one for one in labels_on_the_way(run_aside(task)) if (one != 0).sum() == count),
            run_aside(task).labels,
        )
        detector = fit_refined(task.refined_basis, task.views.raw, labels, seed=task.seed)
        assert detector is not None
        found = point_at(record, count, "refined")
        expected = score(task.y[rows], detector.predict(task.views.raw[rows]))
        assert found["kappa"] == pytest.approx(expected)
        assert found["labels"] == np.count_nonzero(labels)
        assert 0.0 <= found["calibration_error"] <= 1.0


def test_detectors_of_one_session_share_its_work() -> None:
    ours, theirs = METHODS["refined"], METHODS["default_aside"]
    for name in ("kind", "strategy", "initial", "scaling"):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize(
    ("probability", "outlier", "expected"),
    [
        ([0.0, 0.0, 1.0], [False, False, True], 0.0),
        ([0.0, 0.0, 1.0, 1.0], [True, False, True, True], 0.25),
        ([0.25, 0.25, 0.25, 0.25], [True, False, False, False], 0.0),
        ([0.9, 0.9], [False, False], 0.9),
    ],
)
def test_calibration_error_is_mean_distance_to_share_of_outliers(
    probability: list[float], outlier: list[bool], expected: float
) -> None:
    found = calibration_error(np.array(probability), np.array(outlier))
    assert found == pytest.approx(expected)
