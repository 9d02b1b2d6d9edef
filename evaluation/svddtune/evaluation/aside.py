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
    BoolArray,
    FloatArray,
    IndexArray,
    LabelArray,
    Strategy,
    TuningResult,
    as_labels,
    class_counts,
    run,
    score,
)
from svddtune.numerics.refined import fit_refined
from svddtune.numerics.types import OUTLIER

COUNTS = (25, 50)
"""Labels after which the refined detector is judged."""
_BINS = 10
_ASIDE = 107
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
        "refined": refined_points(task, hidden, labels_on_the_way(result)),
        "points": [
            point(
                hidden, labels, choice.gamma, choice.C, as_labels(task.atlas.outside(choice.cell))
            )
            for labels, choice in zip(labels_on_the_way(result), result.choices, strict=True)
        ],
        "queries": result.queries.tolist(),
        "session_seconds": took,
    }


def refined_points(task: Task, hidden: LabelArray, on_the_way: list[LabelArray]) -> list[Record]:
    """Judge the refined detector after `COUNTS` labels, or after the last where there are fewer."""
    points, rows = [], np.flatnonzero(hidden)
    for count in COUNTS:
        labels = on_the_way[_place(on_the_way, count)]
        detector = fit_refined(task.refined_basis, task.views.raw, labels, seed=task.seed)
        if detector is None:
            continue
        raw = task.views.raw[rows]
        inliers, outliers = class_counts(labels)
        predictions = detector.predict(raw)
        points.append(
            {
                "labels": inliers + outliers,
                "outliers": outliers,
                "gamma": None,
                "C": None,
                "kappa": float(score(hidden[rows], predictions)),
                "label_kappa": None,
                "outside": int((predictions < 0).sum()),
                "calibration_error": calibration_error(
                    detector.probability(raw), hidden[rows] == OUTLIER
                ),
            }
        )
    return points


def calibration_error(probability: FloatArray, outlier: BoolArray) -> float:
    """Expected calibration error, in [0, 1].

    Parameters
    ----------
    probability : FloatArray, shape (n,)
        Of being an outlier.
    outlier : BoolArray, shape (n,)
        Truth.

    Returns
    -------
    float
        Mean over the rows of the distance between the mean probability and the share of outliers
        in their bin; ten bins of equal width.
    """
    bins = np.minimum((probability * _BINS).astype(np.int64), _BINS - 1)
    off = [
        abs(float((probability[bins == one] - outlier[bins == one]).sum())) for one in range(_BINS)
    ]
    return sum(off) / max(len(probability), 1)


def _place(on_the_way: list[LabelArray], count: int) -> int:
    """Where in a session there are so many labels, or its end."""
    return min(max(count - int(np.count_nonzero(on_the_way[0])), 0), len(on_the_way) - 1)


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
