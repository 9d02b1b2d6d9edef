"""How the choice and its score changed with the labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from svddtune.client.pictures.shown import Point
from svddtune.client.pictures.style import CHOSEN, CURVE, GREY, log_axis, nothing

_NONE = "Nothing was chosen yet."


def draw_history(axes: Any, points: Iterable[Point]) -> Any:
    """Draw gamma and C over the number of labels; return the axes.

    A vertical line stands where the representation of the columns changed.
    """
    known = [point for point in _by_labels(points) if point.gamma > 0]
    axes.set_title("The choice over the labels")
    if not known:
        return nothing(axes, _NONE)
    labels = [point.labels for point in known]
    gammas, costs = [point.gamma for point in known], [point.C for point in known]
    axes.plot(
        labels, gammas, "-o", color=CURVE, ms=3.5, lw=1.5, drawstyle="steps-post", label="gamma"
    )
    if any(cost > 0 for cost in costs):
        shown = [cost if cost > 0 else math.nan for cost in costs]
        axes.plot(
            labels, shown, "--s", color=CHOSEN, ms=3.5, lw=1.5, drawstyle="steps-post", label="C"
        )
    changes = [after.labels for before, after in pairwise(known) if before.scaling != after.scaling]
    for number, change in enumerate(changes):
        label = "other representation" if number == 0 else None
        axes.axvline(change, color=GREY, lw=1, ls=":", label=label)
    log_axis(axes.yaxis, [*gammas, *costs])
    _label_axis(axes, labels)
    axes.legend(frameon=False, loc="best")
    return axes


def draw_quality(axes: Any, points: Iterable[Point], metric: str = "kappa") -> Any:
    """Draw the score on the labels and its interval over the number of labels; return the axes."""
    from svddtune.client.pictures.style import metric_name

    axes.set_title("The score over the labels")
    known = [
        (point.labels, point.quality)
        for point in _by_labels(points)
        if point.quality is not None and math.isfinite(point.quality.value)
    ]
    if not known:
        return nothing(axes, _NONE)
    labels = [count for count, _ in known]
    axes.plot(labels, [score.value for _, score in known], "-o", color=CURVE, ms=3.5, lw=1.6)
    spans = [(count, score.interval) for count, score in known if score.interval is not None]
    if spans:
        axes.fill_between(
            [count for count, _ in spans],
            [span.low for _, span in spans],
            [span.high for _, span in spans],
            color=CURVE,
            alpha=0.18,
            lw=0,
            label=f"{spans[-1][1].level:.0%} interval",
        )
        axes.legend(frameon=False, loc="best")
    _label_axis(axes, labels)
    axes.set_ylabel(metric_name(metric))
    return axes


def _by_labels(points: Iterable[Point]) -> list[Point]:
    """Return the points with more and more labels that led to the last one.

    Where labels were taken back, the points that rest on them are left out.
    """
    standing: list[Point] = []
    for point in reversed(list(points)):
        if not standing or point.labels < standing[-1].labels:
            standing.append(point)
    return standing[::-1]


def _label_axis(axes: Any, labels: Sequence[int]) -> None:
    axes.locator_params(axis="x", nbins=6, integer=True)
    if labels[0] == labels[-1]:
        axes.set_xlim(labels[0] - 1, labels[0] + 1)
    axes.set_xlabel("labels")
