"""Figures and findings as people read them, the same in a terminal and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svddtune.client.types import DetectorComparison, LiveEvidence, OutlierShare

_LEAST_GAIN = 0.005  # of kappa: less is shown as 0.00


def many(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def figure(value: float | None, digits: int = 4) -> str:
    """Return a figure as people read it; a dash where there is none."""
    return "-" if value is None or value != value else f"{value:.{digits}g}"


def gamma_of(gamma: float | None, scaling: str, digits: int = 4) -> str:
    """Return a gamma with the scaling that it belongs to, for example "0.4 (minmax)"."""
    shown = figure(gamma, digits)
    return f"{shown} ({scaling})" if scaling not in ("", "none") else shown


def evidence(live: LiveEvidence) -> str:
    """Return what is live after a label, in a line."""
    text = f"gamma {gamma_of(live.gamma, live.scaling, 3)}, C {figure(live.C, 3)}"
    quality = live.quality
    if quality.interval:
        low, high = figure(quality.interval.low, 2), figure(quality.interval.high, 2)
        text += f", {quality.metric} {figure(quality.value, 2)} [{low}, {high}]"
    return text


def estimated(share: OutlierShare) -> str:
    """Return the estimated share of outliers, with its interval and where it comes from."""
    low, high = f"{share.interval.low:.1%}", f"{share.interval.high:.1%}"
    source = "by audit" if share.method == "audit" else "from the labels"
    return f"{share.value:.1%} [{low}, {high}], estimated {source}"


def expected(gain: float) -> str:
    """Return what 10 further labels are expected to gain."""
    return f"less than {_LEAST_GAIN}" if gain < _LEAST_GAIN else f"about {gain:.2f}"


def compared(detectors: DetectorComparison) -> str:
    """Return how the tuned SVDD and the refined detector compare on held-out labels, in a line."""
    metric = detectors.svdd.metric
    text = (
        f"{metric} on held-out labels: SVDD {figure(detectors.svdd.value, 2)}, "
        f"refined {figure(detectors.refined.value, 2)}"
    )
    if detectors.better:
        name = {"svdd": "the SVDD", "refined": "the refined detector"}[detectors.better]
        return f"{text}; {name} is better"
    return f"{text}; {detectors.labels} labels do not tell which is better"
