"""Sessions that never ask about half of the rows, on which they are then judged.

Rows that were never asked about are a poor measure on their own: a good strategy asks about most
outliers. So half of the rows, stratified by class, is drawn before the session. What needs no
label sees all rows; initial labels and queries come from the other half.
"""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task, point
from svddtune.numerics import (
    IndexArray,
    LabelArray,
    Strategy,
    TuningResult,
    as_labels,
    class_counts,
    run,
)

_ASIDE = 103
"""Stream of random numbers of the draw, apart from those of queries and labelers."""


def rows_aside(y: LabelArray, seed: int) -> IndexArray:
    """Draw the rows that are set aside.

    Parameters
    ----------
    y : LabelArray, shape (N,)
        Truth.
    seed : int
        Of the repetition.

    Returns
    -------
    IndexArray
        Ascending; half of the rows of each class, rounded down.
    """
    rng = np.random.default_rng([_ASIDE, seed])
    drawn = []
    for label in (1, -1):
        rows = np.flatnonzero(y == label)
        drawn.append(rng.choice(rows, len(rows) // 2, replace=False))
    return np.sort(np.concatenate(drawn))


def halves(y: LabelArray, seed: int) -> tuple[LabelArray, LabelArray]:
    """Truth of the rows that a session may ask about, and of those set aside; 0 elsewhere."""
    aside = rows_aside(y, seed)
    known, hidden = y.copy(), np.zeros_like(y)
    known[aside], hidden[aside] = 0, y[aside]
    return known, hidden


def run_among(
    task: Task, known: LabelArray, *, strategy: str, budget: int, initial: int, seed: int
) -> TuningResult:
    """Run a session that asks only about some of the rows and chooses by the atlas.

    Parameters
    ----------
    task : Task
        Data and preparation of the set; what else it is given does not count.
    known : LabelArray, shape (N,)
        Truth of the rows that may be asked about; 0 elsewhere.
    strategy : str
        Strategy of `suggest`.
    budget : int
        Labels in all; fewer where no more rows may be asked about.
    initial : int
        Labels of each class before the first query, as far as there are so many.
    seed : int
        Of the repetition.
    """
    inliers, outliers = class_counts(known)
    return run(
        task.views, known, budget=min(budget, inliers + outliers), k=LOCALITY,
        strategy=cast(Strategy, strategy), seed=seed,
        initial=(min(initial, inliers), min(initial, outliers)), prep=task.prep, atlas=task.atlas,
        basis=task.basis, choice="atlas", exclude=np.flatnonzero(known == 0),
    )  # fmt: skip


def run_aside(task: Task) -> TuningResult:
    """Run the session of a piece of work on the half that may be asked about."""
    known, _ = halves(task.y, task.seed)
    given = task.given
    return run_among(
        task, known, strategy=str(given["strategy"]), budget=int(given["budget"]),
        initial=int(given["initial"]), seed=task.seed,
    )  # fmt: skip


def aside_session(task: Task) -> Record:
    """A session that chooses by the atlas, judged on the rows set aside after every label."""
    _, hidden = halves(task.y, task.seed)
    started = time.process_time()
    result = run_aside(task)
    took = time.process_time() - started
    return {
        "points": [
            point(
                hidden, labels, choice.gamma, choice.C, as_labels(task.atlas.outside(choice.cell))
            )
            for labels, choice in zip(labels_on_the_way(result), result.choices, strict=True)
        ],
        "queries": result.queries.tolist(),
        "session_seconds": took,
    }


def labels_on_the_way(result: TuningResult) -> list[LabelArray]:
    """The labels before each query of a session, and the last."""
    labels = result.labels.copy()
    labels[result.queries] = 0
    found = [labels]
    for row in result.queries.tolist():
        labels = labels.copy()
        labels[row] = result.labels[row]
        found.append(labels)
    return found
