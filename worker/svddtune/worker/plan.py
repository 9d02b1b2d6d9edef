"""PLAN: the final gamma, its range of C, and the cells to fit."""

from typing import cast

import numpy as np

from svddtune import numerics
from svddtune.config import SessionConfig
from svddtune.jobs.v1 import jobs_pb2
from svddtune.numerics import Atlas, BeliefBasis, LabelArray, Preparation, Views
from svddtune.numerics.evidence import Criterion
from svddtune.numerics.grid import Spacing
from svddtune.numerics.scores import Metric
from svddtune.v1 import result_pb2
from svddtune.worker.rules import DEFAULT_NU
from svddtune.worker.scalings import scaling_kind
from svddtune.worker.votes import Labels

# FIT jobs that a grid is cut into: enough for a handful of workers, few enough that sharing the
# kernel matrix within a job still pays.
GRID_JOBS = 4

GAMMA_RULES = {
    "sklearn_default": numerics.sklearn_scale_gamma,
    "scott": numerics.scott_gamma,
    "silverman": numerics.silverman_gamma,
}


def plan_from_atlas(
    atlas: Atlas, basis: BeliefBasis, labels: Labels, config: SessionConfig
) -> jobs_pb2.GridPlan:
    """Choose the scaling, gamma and C together; the cells are fitted already."""
    choice = numerics.choose_cell(
        atlas,
        basis,
        labels.values,
        criterion=criterion(config),
        metric=metric_of(config),
        certainty=labels.certainty,
    )
    cells = atlas.C[atlas.column(choice.scaling, choice.gamma)]
    return jobs_pb2.GridPlan(
        choice=result_pb2.CHOICE_ATLAS,
        scaling=scaling_kind(choice.scaling),
        gamma=choice.gamma,
        c=float(atlas.C[numerics.final_cell(atlas, choice, labels.values)]),
        c_min=numerics.c_from_nu(1.0, atlas.N),
        c_max=float(cells[-1]),
        c_grid=cells.tolist(),
    )


def criterion(config: SessionConfig) -> Criterion:
    """Return the criterion by which a session's strategy chooses its cell."""
    disagreement = config.strategy == "disagreement" and not config.own_strategy
    return "labels" if disagreement else "evidence"


def metric_of(config: SessionConfig) -> Metric:
    """The metric of a config, which is one that the numerics know."""
    return cast(Metric, config.metric)


def metric_name(metric: str) -> str:
    """The name of a metric in the wire contract."""
    return f"METRIC_{metric.upper()}"


def plan_by_alignment(
    prep: Preparation,
    views: Views,
    labels: LabelArray,
    config: SessionConfig,
    *,
    with_rules: bool,
) -> jobs_pb2.GridPlan:
    """Choose gamma on the labels and lay out the grid of C at it, in the base representation.

    ``with_rules`` adds three label-free rules, where they were not evaluated for another session.
    """
    X, gamma, alignment = views.X, prep.default_gamma, 0.0
    if min(numerics.class_counts(labels)) > 0:
        local = numerics.local_alignment(prep, X, labels, k=config.k)
        gamma, alignment = numerics.best_gamma(local, prep.gamma_bounds)
    C_LB, C_UB = numerics.c_bounds(X, gamma=gamma)
    spacing: Spacing = "geometric" if config.c_spacing == "geometric" else "linear"
    grid = numerics.c_grid(C_LB, C_UB, steps=config.c_cells, spacing=spacing)
    plan = jobs_pb2.GridPlan(
        choice=result_pb2.CHOICE_ALIGNMENT,
        scaling=scaling_kind(views.base),
        gamma=gamma,
        alignment=alignment,
        c_min=C_LB,
        c_max=C_UB,
        c_grid=grid.tolist(),
    )
    for part in range(min(GRID_JOBS, len(grid))):
        # Cells near 1/N take longest; every job gets some of each kind.
        plan.fits.add(purpose="grid", gamma=gamma, c=grid[part::GRID_JOBS].tolist())
    default_c = numerics.c_from_nu(DEFAULT_NU, len(X))
    for name, rule in GAMMA_RULES.items() if with_rules else ():
        plan.fits.add(purpose=name, gamma=rule(X), c=[default_c])
    return plan


def fit_jobs(plan: jobs_pb2.GridPlan, session_id: str, attempt: int) -> list[jobs_pb2.Job]:
    """One FIT job for each part of a plan."""
    return [
        jobs_pb2.Job(
            fit=jobs_pb2.FitJob(
                session_id=session_id,
                attempt=attempt,
                index=index,
                gamma=part.gamma,
                c=part.c,
                # (A gamma is positive.)
                rule="" if part.gamma else part.purpose,
            )
        )
        for index, part in enumerate(plan.fits)
    ]


def grid_cells(
    plan: jobs_pb2.GridPlan, outputs: list[jobs_pb2.FitOutput]
) -> list[jobs_pb2.FittedCell]:
    """The fitted grid's cells in the order of C."""
    parts = [
        output.cells
        for part, output in zip(plan.fits, outputs, strict=True)
        if part.purpose == "grid"
    ]
    return [parts[i % len(parts)][i // len(parts)] for i in range(len(plan.c_grid))]


def atlas_cells(atlas: Atlas, scaling: str, gamma: float) -> list[jobs_pb2.FittedCell]:
    """The atlas's cells of one representation and gamma, in the order of C, without verdicts."""
    return [
        jobs_pb2.FittedCell(
            gamma=gamma,
            c=float(atlas.C[cell]),
            r2=float(atlas.R2[cell]),
            degenerate=bool(atlas.outliers[cell] == atlas.N),
            support_vector_count=int(atlas.support_vectors[cell]),
            outside_count=int(atlas.outliers[cell]),
        )
        for cell in atlas.column(scaling, gamma)
    ]


def predictions(cells: list[jobs_pb2.FittedCell], N: int) -> LabelArray:
    """+1 inside, -1 outside, shape (cells, N)."""
    bits = np.array([np.frombuffer(cell.outside, dtype=np.uint8) for cell in cells])
    outside = np.unpackbits(bits, axis=1, count=N)
    return numerics.as_labels(outside.astype(np.bool_))
