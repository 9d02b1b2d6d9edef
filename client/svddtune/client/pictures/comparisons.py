"""The chosen detector beside rules that use no labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from svddtune.client.pictures.shown import Shown
from svddtune.client.pictures.style import CHOSEN, GREY, capital, metric_name, rule_name

_MANY = 6


def draw_comparisons(
    axes: Any, result: Shown, *, true_kappas: Mapping[str, float] | None = None
) -> Any:
    """Draw the scores of the chosen detector and of the label-free rules as bars; return the axes.

    Parameters
    ----------
    axes : matplotlib Axes
        Where to draw.
    result : Result
        What to draw.
    true_kappas : mapping of str to float, optional
        Cohen's kappa on all rows, where the truth is known: of "tuned", and of rules by name.
        Default the scores on the labels.
    """
    if true_kappas:
        scores = dict(true_kappas)
        axes.set_title("True Cohen's kappa, all rows")
    else:
        scores = {"tuned": result.quality.value}
        scores |= {rule.name: rule.score for rule in result.comparisons}
        axes.set_title(f"{capital(metric_name(result.quality.metric))} on the labels")
    known = [score if math.isfinite(score) else 0.0 for score in scores.values()]
    places = range(len(scores))
    bars = axes.barh(places, known, color=[CHOSEN] + [GREY] * (len(known) - 1), height=0.65)
    texts = [f"{score:.2f}" if math.isfinite(score) else "not known" for score in scores.values()]
    axes.bar_label(bars, labels=texts, padding=3)
    axes.set_yticks(list(places), [rule_name(name) for name in scores])
    axes.tick_params(axis="y", labelsize="small" if len(scores) > _MANY else "medium")
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=5)
    # Room for the numbers at the ends of the bars.
    if (low := min(known)) < 0:
        axes.axvline(0, color=GREY, lw=0.8)
    axes.set_xlim(low - 0.25 if low < 0 else 0.0, max(1.0, *known) + 0.15)
    return axes
