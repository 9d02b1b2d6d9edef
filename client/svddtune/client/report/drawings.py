"""The pictures of a report, each with what it shows in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from svddtune.client import pictures
from svddtune.client.figures import HistoryPoint
from svddtune.client.phrases import figure, gamma_of
from svddtune.client.pictures.style import capital, metric_name, rule_name
from svddtune.client.report.contents import Contents
from svddtune.client.result import Result


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture that can be drawn on axes.

    `name` is unique among those of a session, and good for a file. `words` say what is seen, for
    those who do not see it.
    """

    name: str
    title: str
    words: str
    draw: Callable[[Any], Any]
    # In inches.
    height: float = 3.4

    @property
    def svg(self) -> str:
        """The picture as an element of a page, and as a file."""
        return pictures.svg(self.draw, self.name, height=self.height)

    @property
    def png(self) -> bytes:
        """The picture as a file."""
        return pictures.png(self.draw, height=self.height)


def drawn(contents: Contents) -> Iterator[Drawing]:
    """Yield the pictures of what a session has: none before its first ranking."""
    if (result := contents.result) is not None:
        yield from _of_result(result)
    points = contents.history
    if not _changes(points):
        return
    last = points[-1]
    yield Drawing(
        "history",
        "How the choice changed with the labels",
        f"Gamma and C over the number of labels, {points[0].labels} to {last.labels}. In the end "
        f"gamma is {figure(last.gamma, 3)} and C {figure(last.C, 3)}.",
        lambda axes: pictures.draw_history(axes, points),
    )
    metric = contents.session.config.metric
    known = [one for one in points if one.quality and math.isfinite(one.quality.value)]
    if _changes(known):
        first, final = (
            figure(one.quality.value, 3) for one in (known[0], known[-1]) if one.quality
        )
        yield Drawing(
            "score",
            "How the score changed with the labels",
            f"{capital(metric_name(metric))} on the labels with its interval, over the number of "
            f"labels: {first} with {known[0].labels} labels, {final} with {known[-1].labels}.",
            lambda axes: pictures.draw_quality(axes, points, metric),
        )


def _of_result(result: Result) -> Iterator[Drawing]:
    metric = metric_name(result.quality.metric)
    if result.alignment_curve:
        base = result.manifest.base_scaling
        elsewhere = "" if result.scaling == base else ", of another representation"
        peak = max(result.alignment_curve, key=lambda point: point.alignment)
        yield Drawing(
            "alignment",
            "Gamma: local alignment with the labels",
            f"Local alignment over gamma. It is largest, {figure(peak.alignment, 3)}, at gamma "
            f"{figure(peak.gamma, 3)}. The chosen gamma is "
            f"{gamma_of(result.gamma, result.scaling, 3)}{elsewhere}.",
            lambda axes: pictures.draw_alignment(axes, result),
        )
    known = [cell.score for cell in result.c_curve if math.isfinite(cell.score)]
    scored = math.isfinite(result.quality.value)
    if known and scored:
        yield Drawing(
            "costs",
            "C: score on the labels",
            f"{capital(metric)} on the labels over C, at the chosen gamma. It lies between "
            f"{figure(min(known), 3)} and {figure(max(known), 3)}. The chosen C is "
            f"{figure(result.C, 3)}.",
            lambda axes: pictures.draw_costs(axes, result),
        )
    if result.comparisons and scored:
        best = max(result.comparisons, key=lambda rule: _known(rule.score))
        yield Drawing(
            "comparisons",
            "Compared with rules that use no labels",
            f"{capital(metric)} on the same labels: {figure(result.quality.value, 2)} as tuned. "
            f"The best of {len(result.comparisons)} rules that use no labels, "
            f"{rule_name(best.name)}, has {figure(best.score, 2)}.",
            lambda axes: pictures.draw_comparisons(axes, result),
            max(3.4, 0.26 * (1 + len(result.comparisons))),
        )
    refined = result.refined
    if refined is not None and refined.comparison is not None:
        comparison = refined.comparison
        yield Drawing(
            "detectors",
            "The two detectors on held-out labels",
            f"{capital(metric)}: SVDD {figure(comparison.svdd.value, 2)}, refined detector "
            f"{figure(comparison.refined.value, 2)}, each with its interval.",
            lambda axes: pictures.draw_detectors(axes, result),
        )


def _changes(points: Sequence[HistoryPoint]) -> bool:
    """Whether there is a change to see: points at different numbers of labels."""
    return len({point.labels for point in points}) > 1


def _known(score: float) -> float:
    return score if math.isfinite(score) else -math.inf
