"""The tuned SVDD and the refined detector, on labels that neither was made with."""

from __future__ import annotations

import math
from typing import Any

from svddtune.client.pictures.shown import Shown
from svddtune.client.pictures.style import CHOSEN, CURVE, metric_name, nothing
from svddtune.client.types import Quality


def draw_detectors(axes: Any, result: Shown) -> Any:
    """Draw the held-out scores of both detectors with their intervals; return the axes."""
    axes.set_title("Detectors on held-out labels")
    comparison = None if result.refined is None else result.refined.comparison
    if comparison is None:
        return nothing(axes, "The labels do not suffice to compare the detectors.")
    _draw(axes, 0, comparison.svdd, CHOSEN, "o")
    _draw(axes, 1, comparison.refined, CURVE, "s")
    axes.set_yticks([0, 1], ["SVDD", "refined"])
    axes.set_ylim(1.6, -0.6)
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(metric_name(comparison.svdd.metric))
    return axes


def _draw(axes: Any, place: int, quality: Quality, colour: str, marker: str) -> None:
    if not math.isfinite(quality.value):
        return
    interval = quality.interval
    low, high = (interval.low, interval.high) if interval else (quality.value, quality.value)
    axes.errorbar(
        [quality.value],
        [place],
        xerr=[[max(quality.value - low, 0)], [max(high - quality.value, 0)]],
        fmt=marker,
        color=colour,
        capsize=4,
        lw=1.6,
        ms=7,
    )
    axes.annotate(
        f"{quality.value:.2f}",
        (quality.value, place),
        textcoords="offset points",
        xytext=(0, 9),
        ha="center",
    )
