"""One LAMA session, and what its labels choose when a step of the method is left out or replaced.

The queries are those of the method, or random ones; the steps that choose gamma and C on the
labels are replaced afterwards. So the choices of a session are paired.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task
from svddtune.evaluation.variants import (
    Curve,
    balanced_alignment,
    global_alignment,
    unspread_alignment,
)
from svddtune.numerics import (
    CellFits,
    LabelArray,
    Strategy,
    best_gamma,
    choose_c,
    class_counts,
    draw_initial,
    fit_cells,
    local_alignment,
    query_rng,
    score,
    score_cells,
    suggest,
)
from svddtune.numerics.grid import TieRule
from svddtune.numerics.tau import TauRule

CHOICES = ("method", "global", "unspread", "balanced", "first_cell")
"""The method, and what is done instead: global alignment, no relabelling, y adjusted to the class
frequencies, the first of tied cells of C."""

_CANDIDATES = 100
_MISTAKES = 103  # a stream of random numbers apart from that of the queries


def ablation(task: Task) -> Record:
    """Label a session, then choose gamma and C in every way of `CHOICES`."""
    labels = session_labels(task)
    y, X = task.y, task.X

    @cache
    def fits(gamma: float) -> CellFits:
        return fit_cells(X, gamma=gamma)

    found: Record = {}
    for name in CHOICES:
        gamma = chosen_gamma(task, labels, name)
        cells = fits(gamma)
        scored = score_cells(cells, labels)
        rule: TieRule = "first" if name == "first_cell" else "plateau"
        cell = choose_c(
            labels,
            cells.predictions(),
            np.array([one.score for one in scored]),
            np.array([one.outliers for one in scored]),
            rule=rule,
        )
        found[name] = {
            "gamma": gamma,
            "C": scored[cell].C,
            "kappa": float(score(y, cells.predictions()[cell])),
        }
    return {"choices": found, "wrong": int(np.sum(labels * y < 0))}


def session_labels(task: Task) -> LabelArray:
    """The labels of a session: two true ones of each class, then answers that may be wrong."""
    X, y, seed, given = task.X, task.y, task.seed, task.given
    wrong = np.random.default_rng([_MISTAKES, seed]).random(len(y)) < float(given["wrong"])
    answers = np.where(wrong, -y, y).astype(np.int8)
    labels = np.zeros_like(y)
    initial = draw_initial(y, *task.initial(2), seed)
    labels[initial] = y[initial]
    while (rev := int(np.count_nonzero(labels))) < task.budget:
        suggestion = suggest(
            task.prep, X, labels, k=LOCALITY, strategy=cast(Strategy, given["strategy"]),
            sample=_CANDIDATES, rng=query_rng(seed, rev, rev - len(initial)), reserve=1,
            tau_rule=cast(TauRule, given["tau_rule"]),
        )  # fmt: skip
        row = suggestion.rows[0]
        labels[row] = answers[row]
    return labels


def chosen_gamma(task: Task, labels: LabelArray, choice: str) -> float:
    """Gamma of the largest alignment; the default while a class has no label."""
    X, prep = task.X, task.prep
    if min(class_counts(labels)) == 0:
        return prep.default_gamma
    curve: Curve
    match choice:
        case "global":
            curve = global_alignment(prep, X, labels)
        case "unspread":
            curve = unspread_alignment(prep, X, labels, k=LOCALITY)
        case "balanced":
            curve = balanced_alignment(prep, X, labels, k=LOCALITY)
        case _:
            curve = local_alignment(prep, X, labels, k=LOCALITY)
    return best_gamma(curve, prep.gamma_bounds)[0]
