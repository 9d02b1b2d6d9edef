"""The curves that gamma and C were chosen by."""

from __future__ import annotations

import math
from typing import Any

from svddtune.client.pictures.shown import Shown
from svddtune.client.pictures.style import CHOSEN, CURVE, log_axis, metric_name, nothing

# From this ratio of the largest C to the smallest on, the axis is logarithmic.
_WIDE = 200.0


def draw_alignment(axes: Any, result: Shown) -> Any:
    """Draw the local alignment over gamma, and the chosen gamma; return the axes.

    The gamma of another representation is left out: it is in other units.
    """
    curve = sorted(result.alignment_curve, key=lambda point: point.gamma)
    base = result.manifest.base_scaling
    axes.set_title("Alignment over gamma" + (f" ({base})" if base else ""))
    if not curve:
        return nothing(axes, "This session has no alignment curve.")
    gammas = [point.gamma for point in curve]
    axes.plot(gammas, [point.alignment for point in curve], color=CURVE, lw=1.8)
    if result.scaling == base:
        axes.axvline(
            result.gamma, color=CHOSEN, lw=1.4, ls="--", label=f"chosen: {result.gamma:.3g}"
        )
        axes.legend(frameon=False, loc="best")
        gammas.append(result.gamma)
    log_axis(axes.xaxis, gammas)
    axes.set_xlabel("gamma")
    axes.set_ylabel("alignment")
    return axes


def draw_costs(axes: Any, result: Shown) -> Any:
    """Draw the score on the labels over C at the chosen gamma, and the chosen C; return the axes.

    The bar is the interval of the chosen detector's score.
    """
    cells = sorted(result.c_curve, key=lambda cell: cell.C)
    axes.set_title("Quality on the labels over C")
    if not cells:
        return nothing(axes, "This session has no curve over C.")
    costs = [cell.C for cell in cells]
    axes.plot(costs, [cell.score for cell in cells], "-o", color=CURVE, ms=4, lw=1.6)
    axes.axvline(result.C, color=CHOSEN, lw=1.4, ls="--", label=f"chosen: {result.C:.3g}")
    quality = result.quality
    if quality.interval is not None and math.isfinite(quality.value):
        low, high = quality.value - quality.interval.low, quality.interval.high - quality.value
        axes.errorbar(
            [result.C],
            [quality.value],
            yerr=[[max(low, 0)], [max(high, 0)]],
            color=CHOSEN,
            capsize=4,
            lw=1.4,
            label=f"{quality.interval.level:.0%} interval",
        )
    costs.append(result.C)
    if result.choice == "atlas" or max(costs) > _WIDE * min(costs):
        log_axis(axes.xaxis, costs)
    else:
        axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel("C")
    axes.set_ylabel(metric_name(quality.metric))
    axes.legend(frameon=False, loc="best")
    return axes
