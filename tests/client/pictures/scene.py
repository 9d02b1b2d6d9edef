"""Results whose pictures are difficult: wide and narrow ranges, and gaps."""

import math
from dataclasses import replace
from typing import Any

from svddtune.client.figures import HistoryPoint
from svddtune.client.result import (
    AlignmentPoint,
    Comparison,
    GridCell,
    Manifest,
    RefinedResult,
    Result,
)
from svddtune.client.types import DetectorComparison, Interval, LabelCounts, Quality

RULES = (
    *("sklearn_default", "scott", "silverman", "modified_mean_criterion", "vanishing"),
    *("max_distance", "self_adapting_data_shifting"),
)


def quality(value: float, low: float | None = None, kind: str = "queried") -> Quality:
    interval = None if low is None else Interval(low, min(value + 0.1, 1.0), 0.9)
    return Quality("kappa", value, interval, LabelCounts(20, 10, 1, 31), kind)


def result(
    gammas: tuple[float, float] = (1e-4, 1e4),
    costs: tuple[float, float] = (1e-3, 1.0),
    *,
    rules: int = 3,
    **changes: Any,
) -> Result:
    """A result with curves over these ranges."""
    low, high = gammas
    curve = [low * (high / low) ** (step / 30) for step in range(31)]
    grid = [costs[0] * (costs[1] / costs[0]) ** (step / 12) for step in range(13)]
    comparison = DetectorComparison(
        quality(0.71, 0.5, "held_out"),
        quality(0.74, 0.55, "held_out"),
        Interval(-0.05, 0.1, 0.9),
        "",
        30,
    )
    made = Result(
        name="sessions/s-1/results/1",
        scaling="minmax",
        gamma=math.sqrt(low * high),
        C=math.sqrt(costs[0] * costs[1]),
        nu=0.1,
        C_bounds=costs,
        quality=quality(0.82, 0.6),
        audit=None,
        choice="atlas",
        c_curve=tuple(GridCell(C, 0.1, 0.8 - C / 9, 5, 9, 0.5, False) for C in grid),
        alignment_curve=tuple(
            AlignmentPoint(gamma, math.sin(number / 9)) for number, gamma in enumerate(curve)
        ),
        comparisons=tuple(
            Comparison(name, 0.3, 0.5, 0.9 - 0.25 * place, 30)
            for place, name in enumerate(RULES[:rules])
        ),
        manifest=Manifest(
            versions={"svddtune": "1.2.3"},
            dataset_hash="abc",
            seed=0,
            last_event_id="1-0",
            labeled_rows=(),
            verdicts=(),
            query_rows=(),
            kernel_mean_sample=0,
            fit_sample=0,
            provenances={},
            base_scaling="minmax",
        ),
        notes=(),
        outside_count=7,
        support_vector_count=9,
        estimate_seconds=0.5,
        create_time=None,
        refined=RefinedResult(comparison, 8),
    )
    return replace(made, **changes)


def moments(count: int = 30, factor: float = 1.3) -> list[HistoryPoint]:
    """A history in which gamma and C change by a factor with each label."""
    return [
        HistoryPoint(
            labels=n + 5,
            counts=LabelCounts(n + 3, 2, 0, n + 5),
            time=None,
            gamma=0.01 * factor**n,
            C=1 / (n + 2),
            scaling="minmax" if n < count / 2 else "robust",
            quality=quality(0.5 + n / 100, 0.2) if n else None,
            expected=0.5,
            alignment=math.nan,
            outside_count=7,
            expected_gain=math.nan,
            advice="",
        )
        for n in range(count)
    ]
