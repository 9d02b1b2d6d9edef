"""Sentences of the report: what a state, a score or a figure means."""

from __future__ import annotations

import math
from datetime import datetime

from svddtune.client.phrases import figure
from svddtune.client.pictures.style import capital, metric_name
from svddtune.client.types import DetectorComparison, OutlierShare, Quality, Session, SessionState

_KINDS = {
    "queried": "It counts the observations that were asked about. These were chosen, not drawn at "
    "random, so the score is optimistic.",
    "audit": "It counts observations that were drawn uniformly and kept out of tuning, so it holds "
    "for all rows.",
    "held_out": "Each observation was judged by a detector that was made without its label.",
}
_STATES = {
    SessionState.PREPARING: "The session is being prepared; nothing has been asked yet.",
    SessionState.LABELING: "The session is running: it still asks for labels, and the figures may "
    "change.",
    SessionState.PAUSED: "The session is paused: it asks nothing until it is resumed.",
    SessionState.ESTIMATING: "The labels are complete; the result is being computed.",
    SessionState.COMPLETED: "Nothing more is asked, and the result is final.",
    SessionState.CANCELLED: "The session was cancelled, so its last labels have no result.",
    SessionState.FAILED: "The session failed, so its last labels have no result.",
    SessionState.UNKNOWN: "The session is in a state that this version does not know.",
}


def of_state(session: Session) -> str:
    """Return what the session is doing, and why it failed where it did."""
    text = _STATES[session.state]
    if session.failure_reason:
        text += f" {session.failure_message} [{session.failure_reason}]"
    return text


def of_kind(quality: Quality) -> str:
    """Return what kind of evidence a score is; empty where there is none."""
    return _KINDS.get(quality.kind, "") if math.isfinite(quality.value) else ""


def of_score(quality: Quality) -> str:
    """Return a score with its interval."""
    if not math.isfinite(quality.value):
        return "not known: it takes labels of both classes"
    text = figure(quality.value, 3)
    if (interval := quality.interval) is None:
        return f"{text}, without an interval"
    low, high = figure(interval.low, 3), figure(interval.high, 3)
    return f"{text}, {interval.level:.0%} interval {low} to {high}"


def of_metric(quality: Quality) -> str:
    """Return the name of a score's metric, as it begins a line."""
    return capital(metric_name(quality.metric))


def of_share(share: OutlierShare) -> str:
    """Return the estimated share of outliers, and where it comes from."""
    interval = share.interval
    source = {
        "audit": "from observations drawn uniformly",
        "belief": "from the labels' model of the data",
    }.get(share.method, share.method)
    return (
        f"{share.value:.1%}, {interval.level:.0%} interval {interval.low:.1%} to "
        f"{interval.high:.1%}, {source} ({share.labels} labels)"
    )


def of_detectors(comparison: DetectorComparison) -> str:
    """Return which detector is better on held-out labels, and how sure that is."""
    between = ""
    if (difference := comparison.difference) is not None:
        between = (
            f" The difference of their scores, refined less tuned, lies between "
            f"{figure(difference.low, 2)} and {figure(difference.high, 2)} "
            f"({difference.level:.0%} interval)."
        )
    if not comparison.better:
        return f"{comparison.labels} labels do not tell which of the two is better.{between}"
    name = {"svdd": "The tuned SVDD", "refined": "The refined detector"}[comparison.better]
    return f"{name} is better on {comparison.labels} held-out labels.{between}"


def in_column(score: float) -> str:
    """Return a score as it stands below others; a dash where it is not known."""
    return f"{score:.3f}" if math.isfinite(score) else "–"


def share(value: float, of: int) -> str:
    """Return a share and how many it was counted on; a dash where there are none."""
    return f"{value:.0%} of {of}" if math.isfinite(value) and of else "–"


def seconds(value: float) -> str:
    """Return seconds as people read them; a dash where they are not known."""
    return f"{value:.1f} s" if math.isfinite(value) and value > 0 else "–"


def instant(time: datetime | None) -> str:
    """Return an instant to the second, with its zone; a dash where there is none."""
    return "–" if time is None else time.strftime("%Y-%m-%d %H:%M:%S %Z")
