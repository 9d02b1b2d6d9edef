"""Colours, names and axes that all pictures share.

The colours are those of Okabe and Ito, which people with a colour vision deficiency can tell apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

INLIER, OUTLIER, THIRD = "#0072B2", "#D55E00", "#009E73"
GREY, INK = "#8A9097", "#2B2F33"
CURVE, CHOSEN = INLIER, OUTLIER

_METRICS = {
    "cohen_kappa": "Cohen's kappa",
    "kappa": "Cohen's kappa",
    "mcc": "Matthews correlation",
    "f1": "F1",
    "balanced_accuracy": "balanced accuracy",
}
_RULES = {
    "sklearn_default": "OneClassSVM defaults",
    "scott": "Scott",
    "silverman": "Silverman",
    "dfn": "DFN",
    "mies": "MIES",
    "qms": "QMS",
}
_TICKS = 5
# Below this ratio of the ends, steps of 1, 2 and 5 leave too few ticks.
_NARROW = 4.0


def metric_name(metric: str) -> str:
    """Return the name of a metric for people."""
    return _METRICS.get(metric, metric.replace("_", " "))


def rule_name(rule: str) -> str:
    """Return the name of a label-free rule for people."""
    return _RULES.get(rule, rule.replace("_", " "))


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def style(ink: str = INK) -> dict[str, Any]:
    """Return matplotlib's settings for a picture whose text and axes have the colour `ink`."""
    return {
        "font.size": 9.5,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": GREY,
        "axes.labelcolor": ink,
        "text.color": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        # Ids in an SVG file are the same each time.
        "svg.hashsalt": "svddtune",
        "svg.fonttype": "none",
    }


def log_axis(axis: Any, values: Iterable[float]) -> None:
    """Make an axis logarithmic, with a few ticks in plain numbers.

    Matplotlib's own ticks of a short range have numbers such as 6x10^-1 that overlap.

    Parameters
    ----------
    axis : matplotlib Axis
        ``axes.xaxis`` or ``axes.yaxis``.
    values : iterable of float
        What is drawn; values that are not above 0 have no place and do not count.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    known = [value for value in values if math.isfinite(value) and value > 0]
    if not known:
        return
    low, high = min(known), max(known)
    room = max((high / low) ** 0.04, 1.05)
    low, high = low / room, high * room
    which = axis.axis_name
    getattr(axis.axes, f"set_{which}scale")("log")
    getattr(axis.axes, f"set_{which}lim")(low, high)
    axis.set_major_locator(FixedLocator(ticks(low, high)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))
    axis.set_minor_locator(NullLocator())


def ticks(low: float, high: float) -> list[float]:
    """Return up to five round numbers in [low, high], both above 0, for a logarithmic axis."""
    if high / low < _NARROW:
        from matplotlib.ticker import MaxNLocator

        even = MaxNLocator(_TICKS - 1).tick_values(low, high)
        return [float(value) for value in even if low <= value <= high]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = range(first, last + 1)
    for steps in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        found = [step * 10.0**power for power in decades for step in steps]
        found = [value for value in found if low <= value <= high]
        if len(found) <= _TICKS:
            return found
    # Every second decade, every third, and so on.
    return found[:: -(-len(found) // _TICKS)]


def nothing(axes: Any, text: str) -> Any:
    """Say in the middle of empty axes why there is no picture; return the axes."""
    axes.set_axis_off()
    axes.text(
        0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, wrap=True, color=GREY
    )
    return axes
