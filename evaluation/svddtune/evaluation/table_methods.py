"""The methods that are not sessions: those of the paper's table, and others that it names."""

from __future__ import annotations

from typing import Any

import numpy as np

from svddtune.evaluation.baselines import (
    RULES,
    SAMPLE_C,
    best_on_labels,
    fit_lattice,
    fixed,
    labelled_choice,
    random_labels,
    table_columns,
)
from svddtune.evaluation.baselines.lattice import Choice
from svddtune.evaluation.store import Record
from svddtune.evaluation.task import Task, point
from svddtune.numerics import LabelArray, c_from_nu
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


def rule(task: Task) -> Record:
    """One rule without labels."""
    name = str(task.given["rule"])
    choice = RULES[name].choose(task.X, np.random.default_rng(0))
    return {name: _choice(task.y, choice)}


def cross_validation(task: Task) -> Record:
    """Gamma and C cross-validated on random labels, for every seed."""
    X, y, given = task.X, task.y, task.given
    runs = []
    for seed in range(int(given["seeds"])):
        rng = np.random.default_rng(seed)
        labels = random_labels(y, n=int(given["labels"]), rng=rng)
        found = labelled_choice(X, labels, rng=rng)
        choice = (
            None if found is None else fixed(X, gamma=found.gamma, C=c_from_nu(found.nu, len(X)))
        )
        runs.append(_choice(y, choice, labels))
    return {"runs": runs}


def _choice(y: LabelArray, choice: Choice | None, labels: LabelArray | None = None) -> Any:
    if choice is None:
        return None
    known = np.zeros_like(y) if labels is None else labels
    chosen = point(y, known, choice.gamma, choice.C, choice.predictions)
    return chosen | {"free": choice.free}
