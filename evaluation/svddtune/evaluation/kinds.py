"""Sessions that never ask about one kind of outlier, and what both detectors find of it.

The outliers of a set are split into clusters. One cluster at a time is kept from the session: none
of its rows is labelled at the start or asked about. What needs no label sees all rows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from sklearn.cluster import KMeans

from svddtune.evaluation.aside import run_among
from svddtune.evaluation.store import Record
from svddtune.evaluation.task import Task
from svddtune.numerics import (
    DEFAULT_STRATEGY,
    BoolArray,
    FloatArray,
    IndexArray,
    LabelArray,
    TuningResult,
    class_counts,
)
from svddtune.numerics.refined import fit_refined
from svddtune.numerics.types import OUTLIER

KINDS = 3
"""Clusters of the outliers."""
LEAST = 5
"""Outliers in a kind that is kept from a session, and outliers of all other kinds."""
LEAST_OUTLIERS = KINDS * LEAST
"""Outliers that a set needs."""


@dataclass(frozen=True, slots=True)
class Found:
    """What both detectors find among the rows that were not labelled, with one kind kept away.

    Attributes
    ----------
    kind : int
        Number of the cluster kept from the session.
    rows : int
        Outliers of this kind.
    labels : int
        Labels of the session.
    share : float
        Alarms that the tuned SVDD raises, as a share of the rows without label.
    own_share : float
        Those of the refined detector by its own limit.
    svdd, refined : float
        Recall of the kind kept away, with equally many alarms.
    own : float
        That of the refined detector by its own limit.
    known_svdd, known_refined : float or None
        Recall of the other outliers without label, with equally many alarms. None if there are
        none.
    """

    kind: int
    rows: int
    labels: int
    share: float
    own_share: float
    svdd: float
    refined: float
    own: float
    known_svdd: float | None
    known_refined: float | None


def unseen_kinds(task: Task) -> Record:
    """Keep each kind of outlier from a session of its own, and measure the recall of it."""
    rows = np.flatnonzero(task.y == OUTLIER)
    kinds = clusters(task.basis.X[rows])
    found = []
    for kind in range(KINDS):
        kept = rows[kinds == kind]
        if LEAST <= len(kept) <= len(rows) - LEAST:
            found.append(asdict(found_without(task, kind, kept)))
    return {"found": found}


def clusters(X: FloatArray) -> IndexArray:
    """Number of the cluster of each row, shape (n,), of at least `KINDS` rows, shape (n, M)."""
    return np.asarray(KMeans(KINDS, n_init=10, random_state=0).fit_predict(X), dtype=np.int64)


def recall(scores: FloatArray, wanted: BoolArray, alarms: int) -> float:
    """Expected share of the wanted rows among those with the largest scores.

    Parameters
    ----------
    scores : FloatArray, shape (n,)
        Larger for rows that are more likely outliers. Rows with the same score are in random
        order.
    wanted : BoolArray, shape (n,)
        At least one.
    alarms : int
        Rows that are taken, 0 to n.

    Returns
    -------
    float
        In [0, 1].
    """
    if alarms == 0:
        return 0.0
    limit = np.sort(scores)[-alarms]
    above, tied = scores > limit, scores == limit
    taken = (alarms - above.sum()) / tied.sum()
    return float(((above & wanted).sum() + taken * (tied & wanted).sum()) / wanted.sum())


def session_without(task: Task, kept: IndexArray) -> TuningResult:
    """Run the default session of a piece of work; it never asks about the rows `kept`."""
    known: LabelArray = task.y.copy()
    known[kept] = 0
    return run_among(
        task, known, strategy=DEFAULT_STRATEGY, budget=task.budget, initial=2, seed=task.seed
    )


def found_without(task: Task, kind: int, kept: IndexArray) -> Found:
    """Measure what both detectors find after a session without the rows `kept` of a kind."""
    result = session_without(task, kept)
    free = np.flatnonzero(result.labels == 0)
    # Ranked by its distances, the tuned SVDD's alarms are the rows outside its boundary.
    outside = task.atlas.outside(result.choices[-1].cell)[free]
    raw, alarms = task.views.raw, int(outside.sum())
    detector = fit_refined(task.refined_basis, raw, result.labels, seed=task.seed)
    scores = np.zeros(len(free)) if detector is None else detector.score(raw[free])
    unseen = np.isin(free, kept)
    others = (task.y[free] == OUTLIER) & ~unseen
    return Found(
        kind=kind,
        rows=len(kept),
        labels=sum(class_counts(result.labels)),
        share=float(outside.mean()),
        own_share=float((scores >= 0.5).mean()),
        svdd=float(outside[unseen].mean()),
        refined=recall(scores, unseen, alarms),
        own=float((scores[unseen] >= 0.5).mean()),
        known_svdd=float(outside[others].mean()) if others.any() else None,
        known_refined=recall(scores, others, alarms) if others.any() else None,
    )
