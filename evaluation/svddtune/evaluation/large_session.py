"""A session on a large set with rare outliers, from a start without labels to both detectors."""

from __future__ import annotations

import time

import numpy as np
from sklearn.ensemble import IsolationForest

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task
from svddtune.numerics import DEFAULT_STRATEGY, IndexArray, LabelArray, as_labels, run, score
from svddtune.numerics.refined import fit_refined
from svddtune.numerics.types import OUTLIER

MOST_JUDGED = 100_000
"""Rows that judge the refined detector; of more a uniform sample."""


def large_session(task: Task) -> Record:
    """Answer every query with the truth, and judge both detectors.

    The record has the kappas "tuned" and "refined" (0 where a class has no label), "both_after",
    the answers after which both classes had one (None where one has none), the number of labelled
    "outliers", and "session_seconds" of processor time.
    """
    started, raw = time.process_time(), task.views.raw
    result = run(
        task.views, task.y, budget=task.budget, k=LOCALITY, strategy=DEFAULT_STRATEGY,
        seed=task.seed, initial=(0, 0), atlas=task.atlas, basis=task.basis,
    )  # fmt: skip
    detector = fit_refined(task.refined_basis, raw, result.labels, seed=task.seed)
    refined = 0.0
    if detector is not None:
        rows = np.flatnonzero(result.labels == 0)
        if len(rows) > MOST_JUDGED:
            rng = np.random.default_rng(task.seed)
            rows = np.sort(rng.choice(rows, MOST_JUDGED, replace=False))
        refined = float(score(task.y[rows], detector.predict(raw[rows])))
    both = both_after(task.y, result.queries)
    return {
        "tuned": 0.0 if both is None else float(score(task.y, result.final.predictions)),
        "refined": refined,
        "both_after": both,
        "outliers": int(np.count_nonzero(result.labels == OUTLIER)),
        "session_seconds": time.process_time() - started,
    }


def both_after(y: LabelArray, queries: IndexArray) -> int | None:
    """Number of answers until both classes have been seen; None if one never is."""
    answers = y[queries]
    other = np.flatnonzero(answers != answers[:1])
    return int(other[0]) + 1 if len(other) else None


def isolation_forest(task: Task) -> Record:
    """Kappa of an isolation forest that is told the true share of outliers."""
    raw, outliers = task.views.raw, int(np.count_nonzero(task.y == OUTLIER))
    unusual = -IsolationForest(random_state=task.seed).fit(raw).score_samples(raw)
    limit = np.partition(unusual, -outliers)[-outliers]
    return {"kappa": float(score(task.y, as_labels(unusual >= limit)))}
