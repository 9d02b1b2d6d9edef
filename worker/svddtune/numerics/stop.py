"""Stop rules: whether further labels are worth their price.

The rules look at how the live choice moved, not at its score, which is optimistic. Their limits
were chosen on the 16 benchmark sets, 5 seeds, 2 + 2 initial labels and a budget of 50: labels
saved and kappa lost against asking all 50, means over all sessions.

========================================= ====== ====== ========
Rule                                      Saved  Lost   Fired
========================================= ====== ====== ========
cell unchanged for 12 labels              14.8   0.008  76 %
cell unchanged for 20 labels              5.0    0.000  45 %
gamma within a factor 1.5 for 12 labels   20.6   0.013  89 %
gamma within a factor 1.5 for 20 labels   11.9   0.003  76 %
interval narrower than 0.4                6.1    0.007  39 %
interval narrower than 0.3                0.9    0.000  9 %
these three at their defaults             12.2   0.003  79 %
========================================= ====== ====== ========
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

StopRule = Literal["budget", "cell", "gamma", "interval", ""]

LEAST_PER_CLASS = 3
"""No rule but the budget holds before both classes have this many labels."""
CELL_LABELS = 20
GAMMA_LABELS = 20
GAMMA_FACTOR = 1.5
INTERVAL_WIDTH = 0.3
INTERVAL_LABELS = 20
"""Intervals of fewer labels are not trusted: resamples of a few rows vary too little."""

_ROUNDING = 1e-9
# (Advice is read after the end of a session too, so no sentence speaks of what is to come.)
_TO_JUDGE = "to tell whether more labels pay"


@dataclass(frozen=True, slots=True)
class Moment:
    """The live choice after some labels.

    Attributes
    ----------
    labels : int
        Labels it rests on.
    gamma, C : float
        Of the chosen cell.
    score : float
        On the labels; NaN while a class has no label.
    low, high : float
        Interval of `score`; NaN likewise.
    inliers, outliers : int or None
        Labels of each class; None where unknown. Then `LEAST_PER_CLASS` labels are asked for
        after the first moment with a score, a weaker condition.
    scaling : str
        Kind of the chosen cell's representation; empty where there is only one. Gammas of
        different representations cannot be compared.
    """

    labels: int
    gamma: float
    C: float
    score: float
    low: float
    high: float
    inliers: int | None = None
    outliers: int | None = None
    scaling: str = ""

    @property
    def cell(self) -> tuple[str, float, float]:
        """The chosen cell."""
        return self.scaling, self.gamma, self.C

    @property
    def judged(self) -> bool:
        """Whether both classes have a label."""
        return not math.isnan(self.score + self.low + self.high)


@dataclass(frozen=True, slots=True)
class Advice:
    """The result of the stop rules.

    Attributes
    ----------
    stop : bool
        Whether a rule holds.
    rule : {"budget", "cell", "gamma", "interval", ""}
        The first that holds, in this order; empty where none does.
    sentence : str
        For people, with the numbers it rests on.
    """

    stop: bool
    rule: StopRule
    sentence: str


def advise(
    history: Sequence[Moment],
    *,
    budget: int,
    cell_labels: int = CELL_LABELS,
    gamma_labels: int = GAMMA_LABELS,
    gamma_factor: float = GAMMA_FACTOR,
    interval_width: float = INTERVAL_WIDTH,
) -> Advice:
    """Judge whether a session may stop.

    Parameters
    ----------
    history : sequence of Moment
        Oldest first; the last is now. Moments may be missing.
    budget : int
        Labels in all.
    cell_labels, gamma_labels : int
        Labels for which the cell, or gamma, has to stay.
    gamma_factor : float
        Largest ratio of two gammas that count as the same, at least 1.
    interval_width : float
        Width below which an interval is narrow.

    Returns
    -------
    Advice
    """
    if not history:
        return Advice(False, "", "There is no label yet.")
    now = history[-1]
    if now.labels >= budget:
        return Advice(True, "budget", f"All {budget} labels of the budget are given.")
    if not now.judged:
        return Advice(False, "", _missing_class(now))
    missing = _too_few(history)
    if missing is not None:
        return Advice(False, "", missing)
    same_cell = unchanged_cell(history)
    if same_cell >= cell_labels:
        sentence = f"The best cell has not changed for the last {same_cell} labels."
        return Advice(True, "cell", sentence)
    same_gamma = steady_gamma(history, gamma_factor)
    if same_gamma >= gamma_labels:
        sentence = (
            f"gamma has stayed within a factor of {gamma_factor:g} for the last "
            f"{same_gamma} labels."
        )
        return Advice(True, "gamma", sentence)
    if narrow_interval(now, interval_width):
        sentence = (
            f"The score's interval, {now.low:.2f} to {now.high:.2f}, is narrower than "
            f"{interval_width:g}."
        )
        return Advice(True, "interval", sentence)
    return Advice(False, "", _still_moving(same_cell, cell_labels))


def unchanged_cell(history: Sequence[Moment]) -> int:
    """Labels given since the present cell was first the best without interruption."""
    now, since = history[-1], history[-1]
    for moment in reversed(history):
        if not moment.judged or moment.cell != now.cell:
            break
        since = moment
    return now.labels - since.labels


def steady_gamma(history: Sequence[Moment], factor: float) -> int:
    """Labels given since gamma began to stay within a factor, largest over least.

    A change of the representation ends it.
    """
    now, since = history[-1], history[-1]
    low = high = now.gamma
    for moment in reversed(history):
        low, high = min(low, moment.gamma), max(high, moment.gamma)
        same = moment.scaling == now.scaling and high <= low * factor * (1.0 + _ROUNDING)
        if not moment.judged or not same:
            break
        since = moment
    return now.labels - since.labels


def narrow_interval(moment: Moment, width: float) -> bool:
    """Whether the score's interval says something and is narrow.

    A width of 0 does not count: resamples of labels without a mistake have none either.
    """
    return moment.labels >= INTERVAL_LABELS and 0.0 < moment.high - moment.low <= width


def _missing_class(now: Moment) -> str:
    if now.labels == 0:
        return "There is no label yet."
    if now.outliers == 0:
        return f"No outlier is among the {_labels(now.labels)} so far; the choice needs one."
    if now.inliers == 0:
        return f"No inlier is among the {_labels(now.labels)} so far; the choice needs one."
    return f"The {_labels(now.labels)} so far are of one class; the choice needs both."


def _too_few(history: Sequence[Moment]) -> str | None:
    now = history[-1]
    for name, count in (("inlier", now.inliers), ("outlier", now.outliers)):
        if count is not None and count < LEAST_PER_CLASS:
            those = f"Only {count} {name}{'' if count == 1 else 's'}"
            verb = "is" if count == 1 else "are"
            return f"{those} {verb} labelled; {LEAST_PER_CLASS} are needed {_TO_JUDGE}."
    if now.inliers is None or now.outliers is None:
        first = next(moment for moment in history if moment.judged)
        enough = max(first.labels + LEAST_PER_CLASS - 1, 2 * LEAST_PER_CLASS)
        if now.labels < enough:
            return f"Only {_labels(now.labels)} so far; at least {enough} are needed {_TO_JUDGE}."
    return None


def _still_moving(labels: int, enough: int) -> str:
    since = "with the last label" if labels == 0 else f"{_labels(labels)} ago"
    stable = f"it counts as stable after {enough} labels without a change"
    return f"The best cell last changed {since}; {stable}."


def _labels(count: int) -> str:
    return "1 label" if count == 1 else f"{count} labels"
