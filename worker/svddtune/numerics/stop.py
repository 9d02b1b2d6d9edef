"""When more labels gain little: rules over the history of the best cell, each with a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

UNCHANGED_LABELS = 10
STABLE_LABELS = 20
STABLE_FACTOR = 1.5
NARROW_WIDTH = 0.3
LEAST_LABELS = 15
"""No rule but the budget holds before this many labels of both classes."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The best cell after some label.

    Attributes
    ----------
    labels : int
        Labels it rests on.
    gamma, C : float
    score, low, high : float
        On the labels, with its interval; NaN while a class has no label.
    """

    labels: int
    gamma: float
    C: float
    score: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether to go on.

    Attributes
    ----------
    stop : bool
    rule : {"budget", "cell", "gamma", "interval", ""}
        The rule that holds; empty where none does.
    sentence : str
        For people.
    """

    stop: bool
    rule: str
    sentence: str


def advise(history: Sequence[Moment], *, budget: int) -> Advice:
    """Judge the last moment of a session by all before it.

    Parameters
    ----------
    history : sequence of Moment
        Oldest first, labels ascending; at least one.
    budget : int
        Labels in all.

    Returns
    -------
    Advice

    Notes
    -----
    The rules, in the order in which they are tried: the budget is spent; the best cell has been
    the same for `UNCHANGED_LABELS` labels; gamma has stayed within a factor `STABLE_FACTOR` for
    `STABLE_LABELS` labels; the interval is narrower than `NARROW_WIDTH`.
    """
    last = history[-1]
    if last.labels >= budget:
        return Advice(True, "budget", f"All {budget} labels of the budget are given.")
    if math.isnan(last.score):
        return Advice(
            False, "", "Labels of both classes are needed before the score can be judged."
        )
    unchanged = labels_since(history, lambda one: (one.gamma, one.C) == (last.gamma, last.C))
    if last.labels >= LEAST_LABELS:
        stable = labels_since(
            history, lambda one: max(one.gamma / last.gamma, last.gamma / one.gamma)
            <= STABLE_FACTOR,
        )  # fmt: skip
        if unchanged >= UNCHANGED_LABELS:
            text = f"The best gamma and C have not changed for the last {unchanged} labels."
            return Advice(True, "cell", text)
        if stable >= STABLE_LABELS:
            text = f"gamma has stayed within a factor {STABLE_FACTOR} for {stable} labels."
            return Advice(True, "gamma", text)
        if last.high - last.low < NARROW_WIDTH:
            text = f"The interval of the score is only {last.high - last.low:.2f} wide."
            return Advice(True, "interval", text)
    moved = f"{unchanged} labels ago" if unchanged else "with the last label"
    return Advice(False, "", f"The best gamma and C changed {moved}; more labels may move them.")


def labels_since(history: Sequence[Moment], holds: Callable[[Moment], bool]) -> int:
    """Labels given while a condition has held without a break, up to the last moment."""
    first = history[-1]
    for moment in reversed(history):
        if math.isnan(moment.score) or not holds(moment):
            break
        first = moment
    return history[-1].labels - first.labels
