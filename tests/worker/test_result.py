"""How a cell is chosen where kappa cannot, and how cells travel as bits."""

import numpy as np
import pytest
from tests.numerics.cases import blobs, partial_labels

from svddtune import numerics
from svddtune.state.session import SessionConfig
from svddtune.v1 import jobs_pb2
from svddtune.worker.plan import GRID_JOBS, fit_jobs, grid_cells, make_plan, predictions
from svddtune.worker.result import choose_without_classes
from svddtune.worker.step import rule_in_force

CONFIG = SessionConfig(k=5, c_cells=11)


@pytest.fixture(scope="module")
def plan() -> jobs_pb2.GridPlan:
    X, y = blobs(80, 3, seed=1)
    return make_plan(numerics.prepare(X, k=8), X, partial_labels(y, 20, 0), CONFIG)


def fitted(plan: jobs_pb2.GridPlan) -> list[jobs_pb2.FitOutput]:
    """Outputs that carry only C, so that their order shows."""
    return [
        jobs_pb2.FitOutput(cells=[jobs_pb2.FittedCell(c=c) for c in part.c]) for part in plan.fits
    ]


def test_plan_holds_every_cell_once_and_the_rules_beside_them(plan: jobs_pb2.GridPlan) -> None:
    cells = sorted(c for part in plan.fits if part.purpose == "grid" for c in part.c)
    assert cells == list(plan.c_grid)
    assert len(cells) == CONFIG.c_cells
    rules = [part.purpose for part in plan.fits if part.purpose != "grid"]
    assert rules == ["sklearn_default", "scott", "silverman"]


def test_cells_come_back_in_the_order_of_c(plan: jobs_pb2.GridPlan) -> None:
    assert [cell.c for cell in grid_cells(plan, fitted(plan))] == list(plan.c_grid)


def test_fit_jobs_name_their_part_and_attempt(plan: jobs_pb2.GridPlan) -> None:
    jobs = fit_jobs(plan, "p00-x", attempt=3)
    assert [job.fit.index for job in jobs] == list(range(GRID_JOBS + 3))
    assert {job.fit.attempt for job in jobs} == {3}


def test_bits_become_verdicts() -> None:
    outside = np.array([1, 0, 0, 1, 0, 0, 0, 0, 1, 0], dtype=bool)
    cell = jobs_pb2.FittedCell(outside=np.packbits(outside).tobytes())
    np.testing.assert_array_equal(predictions([cell], 10)[0], np.where(outside, -1, 1))


@pytest.mark.parametrize(
    ("labels", "chosen"),
    [
        ([0, 0, 0, 0], 2),  # nothing known: fewest outside
        ([1, 1, 0, 0], 2),  # only inliers: the same
        ([0, 0, 0, -1], 1),  # the outlier is outside up to cell 1
        ([0, 0, -1, -1], 0),  # both are outside in cell 0 only
        ([-1, 0, 0, 0], 2),  # outside in no cell: nothing contradicts less
    ],
)
def test_without_both_classes_the_largest_c_that_contradicts_least(
    labels: list[int], chosen: int
) -> None:
    predicted = np.array([[1, 1, -1, -1], [1, 1, 1, -1], [1, 1, 1, 1]], dtype=np.int8)
    assert choose_without_classes(np.array(labels, dtype=np.int8), predicted) == chosen


@pytest.mark.parametrize(
    ("strategy", "labels", "rule"),
    [
        ("random", [], "random"),
        ("lama", [], "cold_random"),
        ("lama", [-1], "cold_random"),
        ("lama", [1], "cold_outlying"),
        ("lama", [1, -1], "lama"),
    ],
)
def test_rule_in_force(strategy: str, labels: list[int], rule: str) -> None:
    assert rule_in_force(strategy, np.array(labels, dtype=np.int8)) == rule
