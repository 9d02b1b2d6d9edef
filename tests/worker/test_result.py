"""Cells are chosen without both classes, and their predictions are packed as bits."""

import numpy as np
import pytest
from tests.numerics.cases import blobs, partial_labels

from svddtune import numerics
from svddtune.config import SessionConfig
from svddtune.jobs.v1 import jobs_pb2
from svddtune.numerics import Views
from svddtune.numerics.label_free import qms
from svddtune.state.session import ATLAS_PARTS, AUTO_ATLAS_PARTS, SAMPLED_ABOVE
from svddtune.worker import rules
from svddtune.worker.plan import (
    GRID_JOBS,
    atlas_cells,
    fit_jobs,
    grid_cells,
    plan_by_alignment,
    plan_from_atlas,
    predictions,
)
from svddtune.worker.rules import RULES, evaluate_rule, rule_sample, rule_verdicts
from svddtune.worker.votes import Labels

CONFIG = SessionConfig(k=5, c_cells=11, strategy="lama")


@pytest.fixture(scope="module")
def plan() -> jobs_pb2.GridPlan:
    X, y = blobs(80, 3, seed=1)
    labels = partial_labels(y, 20, 0)
    return plan_by_alignment(
        numerics.prepare(X, k=8), Views(X, "none"), labels, CONFIG, with_rules=True
    )


def fitted(plan: jobs_pb2.GridPlan) -> list[jobs_pb2.FitOutput]:
    """Outputs that carry only C, so that their order shows."""
    return [
        jobs_pb2.FitOutput(cells=[jobs_pb2.FittedCell(c=c) for c in part.c]) for part in plan.fits
    ]


def test_plan_has_every_cell_once_and_all_rules(plan: jobs_pb2.GridPlan) -> None:
    cells = sorted(c for part in plan.fits if part.purpose == "grid" for c in part.c)
    assert cells == list(plan.c_grid)
    assert len(cells) == CONFIG.c_cells
    rules = [part.purpose for part in plan.fits if part.purpose != "grid"]
    assert rules == ["sklearn_default", "scott", "silverman"]


def test_cells_of_fit_jobs_are_sorted_by_c(plan: jobs_pb2.GridPlan) -> None:
    assert [cell.c for cell in grid_cells(plan, fitted(plan))] == list(plan.c_grid)


def test_fit_jobs_name_their_part_and_attempt(plan: jobs_pb2.GridPlan) -> None:
    jobs = fit_jobs(plan, "p00-x", attempt=3)
    assert [job.fit.index for job in jobs] == list(range(GRID_JOBS + 3))
    assert {job.fit.attempt for job in jobs} == {3}


def test_packed_bits_give_predictions() -> None:
    outside = np.array([1, 0, 0, 1, 0, 0, 0, 0, 1, 0], dtype=bool)
    cell = jobs_pb2.FittedCell(outside=np.packbits(outside).tobytes())
    np.testing.assert_array_equal(predictions([cell], 10)[0], np.where(outside, -1, 1))


@pytest.fixture(scope="module")
def atlas() -> numerics.Atlas:
    X, _ = blobs(80, 3, seed=1)
    plan = numerics.lattice_plan(numerics.Views(X, "none"))
    return numerics.Atlas.from_parts([numerics.fit_atlas_part(X, part) for part in plan[::7]])


def test_plan_from_atlas_names_one_of_its_cells_without_fits(atlas: numerics.Atlas) -> None:
    X, y = blobs(80, 3, seed=1)
    labels = partial_labels(y, 20, 0)
    config = SessionConfig(strategy="knowledge_gradient")
    plan = plan_from_atlas(atlas, numerics.belief_basis(X), Labels(labels, None), config)
    assert not plan.fits
    cells = atlas_cells(atlas, "none", plan.gamma)
    assert [cell.c for cell in cells] == list(plan.c_grid)
    assert plan.c in plan.c_grid
    for cell in cells:
        model = numerics.fit(X, gamma=cell.gamma, C=cell.c)
        assert cell.outside_count == model.outside(X).sum()


@pytest.mark.parametrize("name", RULES)
def test_rule_on_few_rows_is_fitted_to_all(name: str) -> None:
    X, _ = blobs(80, 3, seed=1)
    gamma = numerics.HEURISTICS[name](X, rng=np.random.default_rng(0))
    output = evaluate_rule(X, name)
    if gamma is None:
        assert not output.cells
        return
    (cell,) = output.cells
    model = numerics.fit(X, gamma=gamma, C=numerics.c_from_nu(0.5, 80))
    assert (cell.gamma, cell.outside_count) == (gamma, model.outside(X).sum())
    np.testing.assert_array_equal(predictions([cell], 80)[0] == -1, model.outside(X))


def test_rule_on_many_rows_is_fitted_to_sample_and_classifies_all() -> None:
    X, _ = blobs(200, 3, seed=1)
    sample = rule_sample(200, limit=50)
    assert sample is not None
    assert len(set(sample.tolist())) == 50
    (cell,) = evaluate_rule(X, "qms", limit=50).cells
    found = qms(X[sample])
    assert found is not None
    assert cell.gamma == found.gamma
    model = numerics.fit(X[sample], gamma=found.gamma, C=numerics.c_from_nu(0.5, 50))
    np.testing.assert_array_equal(predictions([cell], 200)[0] == -1, model.outside(X))


def test_rule_on_large_data_gives_the_verdicts_of_its_fit_without_storing_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, _ = blobs(200, 3, seed=1)
    monkeypatch.setattr(rules, "SAMPLED_ABOVE", 100)
    monkeypatch.setattr(rules, "RULE_ROWS", 50)
    sample = rule_sample(200, limit=50)
    assert sample is not None
    monkeypatch.setattr(rules, "panel_rows", lambda N: np.arange(0, N, 2))
    (cell,) = evaluate_rule(X, "qms", limit=50).cells
    model = numerics.fit(X[sample], gamma=cell.gamma, C=numerics.c_from_nu(0.5, 50))
    assert cell.outside == b""
    assert cell.outside_count == 2 * model.outside(X[::2]).sum()
    rows = np.array([3, 150, 7])
    verdicts = rule_verdicts(cell, X, rows, limit=50)
    np.testing.assert_array_equal(verdicts == -1, model.outside(X[rows]))


def test_service_and_numerics_agree_above_how_many_rows_the_panel_is_prepared() -> None:
    assert numerics.SAMPLED_ABOVE == SAMPLED_ABOVE


def test_service_and_numerics_agree_on_the_number_of_parts_of_an_atlas() -> None:
    assert numerics.lattice_size("minmax") == ATLAS_PARTS
    assert numerics.lattice_size(numerics.AUTO) == AUTO_ATLAS_PARTS
