"""The methods of the paper's table that are not sessions."""

from __future__ import annotations

from typing import Any

import numpy as np

from svddtune.evaluation.baselines import (
    SAMPLE_C,
    best_on_labels,
    fit_lattice,
    random_labels,
    table_columns,
)
from svddtune.evaluation.baselines.lattice import Choice
from svddtune.evaluation.store import Record
from svddtune.evaluation.task import Task, point
from svddtune.numerics import LabelArray
from svddtune.numerics.label_free import dfn_gamma


def columns(task: Task) -> Record:
    """The methods of the paper's table that depend on no seed."""
    X, y = task.X, task.y
    found = table_columns(X, y)
    names = ("dfn_fix", "qms", "ads", "ads_ext", "upper_bound")
    return {name: _choice(y, getattr(found, name)) for name in names}


def dfn_sample(task: Task) -> Record:
    """DFN with C chosen on random labels, for every seed."""
    X, y, given = task.X, task.y, task.given
    gamma = dfn_gamma(X, kernel="authors")
    cells = None if gamma is None else fit_lattice(X, np.array([gamma]), SAMPLE_C)
    runs = []
    for seed in range(int(given["seeds"])):
        labels = random_labels(y, n=int(given["labels"]), rng=np.random.default_rng(seed))
        choice = None if cells is None else best_on_labels(cells, labels)
        runs.append(_choice(y, choice, labels))
    return {"runs": runs}


def _choice(y: LabelArray, choice: Choice | None, labels: LabelArray | None = None) -> Any:
    if choice is None:
        return None
    known = np.zeros_like(y) if labels is None else labels
    chosen = point(y, known, choice.gamma, choice.C, choice.predictions)
    return chosen | {"free": choice.free}
