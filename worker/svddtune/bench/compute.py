"""What a piece of work does: a set and parameters in, a plain record out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np

from svddtune.bench.sets import load
from svddtune.bench.store import Record
from svddtune.bench.units import Parameter, Unit
from svddtune.numerics import (
    FloatArray,
    LabelArray,
    Preparation,
    Strategy,
    alignment_curve,
    class_counts,
    coarse_grid,
    finish,
    fit_cells,
    prepare,
    run,
    score,
)
from svddtune.numerics.alignment import aligned, centred_kernel
from svddtune.numerics.baselines import (
    SAMPLE_C,
    best_on_labels,
    dfn_gamma,
    fit_lattice,
    random_labels,
    table_columns,
)
from svddtune.numerics.baselines.lattice import Choice
from svddtune.numerics.kernel import pair_distances2

LOCALITY = 5
SESSION_STEP = 5
MOST_NEIGHBOURS = 30
Given = Mapping[str, Parameter]
Answer = Callable[[FloatArray, LabelArray, Preparation, Given], Record]


def compute(unit: Unit) -> Record:
    """Do a piece of work; its record says how long it took."""
    X, y = load(unit.data.path)
    prep = _prepared(unit.data.path)
    started = time.perf_counter()
    record = KINDS[unit.kind](X, y, prep, dict(unit.parameters))
    record["seconds"] = time.perf_counter() - started
    return record


@lru_cache(maxsize=4)
def _prepared(path: str) -> Preparation:
    return prepare(load(path)[0], k=MOST_NEIGHBOURS)


def session(X: FloatArray, y: LabelArray, prep: Preparation, given: Given) -> Record:
    """A session with gamma from the alignment, and what it would give at earlier counts."""
    strategy, seed = cast(Strategy, given["strategy"]), int(given["seed"])
    budget = min(int(given["budget"]), len(y))
    initial = _initial(y, int(given["initial"]))
    started = time.perf_counter()
    result = run(
        X, y, budget=budget, k=LOCALITY, strategy=strategy, seed=seed, initial=initial, prep=prep
    )
    took = time.perf_counter() - started
    asked = result.queries.tolist()
    start = result.labels.copy()
    start[result.queries] = 0
    points = []
    for count in range(sum(initial) + 1, budget):
        if count % SESSION_STEP:
            continue
        labels = start.copy()
        rows = result.queries[: count - sum(initial)]
        labels[rows] = y[rows]
        chosen = finish(prep, X, labels, k=LOCALITY, seed=seed)
        points.append(_point(y, labels, chosen.gamma, chosen.model.C, chosen.predictions))
    final = result.final
    points.append(_point(y, result.labels, final.gamma, final.model.C, final.predictions))
    return {"points": points, "queries": asked, "session_seconds": took}


def columns(X: FloatArray, y: LabelArray, prep: Preparation, given: Given) -> Record:
    """The methods of the paper's table that depend on no seed."""
    found = table_columns(X, y)
    names = ("dfn_fix", "qms", "ads", "ads_ext", "upper_bound")
    return {name: _choice(y, getattr(found, name)) for name in names}


def dfn_sample(X: FloatArray, y: LabelArray, prep: Preparation, given: Given) -> Record:
    """DFN with C chosen on random labels, for every seed."""
    gamma = dfn_gamma(X, kernel="authors")
    cells = None if gamma is None else fit_lattice(X, np.array([gamma]), SAMPLE_C)
    runs = []
    for seed in range(int(given["seeds"])):
        labels = random_labels(y, n=int(given["labels"]), rng=np.random.default_rng(seed))
        choice = None if cells is None else best_on_labels(cells, labels)
        runs.append(_choice(y, choice, labels))
    return {"runs": runs}


def neighbours(X: FloatArray, y: LabelArray, prep: Preparation, given: Given) -> Record:
    """True kappa and gamma of LAMA for every locality k."""
    seed, budget = int(given["seed"]), min(int(given["budget"]), len(y))
    ks = list(range(1, min(int(given["most"]), len(y)) + 1))
    finals = [
        run(X, y, budget=budget, k=k, seed=seed, initial=_initial(y, 2), prep=prep).final
        for k in ks
    ]
    return {
        "k": ks,
        "kappa": [float(score(y, final.predictions)) for final in finals],
        "gamma": [final.gamma for final in finals],
    }


def alignments(X: FloatArray, y: LabelArray, prep: Preparation, given: Given) -> Record:
    """Local and global alignment over gamma on the same labels, beside the best true kappa."""
    seed, budget = int(given["seed"]), min(int(given["budget"]), len(y))
    result = run(X, y, budget=budget, k=LOCALITY, seed=seed, initial=_initial(y, 2), prep=prep)
    gamma = coarse_grid(prep.gamma_bounds)
    curve = alignment_curve(prep, X, result.labels, k=LOCALITY, gamma=gamma)
    best = [
        score(y, fit_cells(X, gamma=value, steps=20, spacing="geometric").predictions()).max()
        for value in gamma.tolist()
    ]
    return {
        "gamma": gamma.tolist(),
        "local": curve.value.tolist(),
        "global": global_alignment(prep, X, result.labels, gamma).tolist(),
        "best_kappa": [float(value) for value in best],
        "chosen": result.final.gamma,
    }


def global_alignment(
    prep: Preparation, X: FloatArray, labels: LabelArray, gamma: FloatArray
) -> FloatArray:
    """Alignment over all ordered pairs of labelled rows, centred as the local one; shape (G,)."""
    rows = np.flatnonzero(labels)
    i, j = np.repeat(rows, len(rows)), np.tile(rows, len(rows))
    W = prep.weights_at(gamma).T
    Kc = centred_kernel(
        pair_distances2(X, i, j)[:, None],
        (prep.row_means[i] + prep.row_means[j]) @ W,
        prep.grand_means @ W,
        gamma,
    )
    centred = labels - labels.mean()
    return aligned(Kc, centred[i] * centred[j])


KINDS: dict[str, Answer] = {
    "session": session,
    "columns": columns,
    "dfn_sample": dfn_sample,
    "neighbours": neighbours,
    "alignments": alignments,
}


def _initial(y: LabelArray, each: int) -> tuple[int, int]:
    inliers, outliers = class_counts(y)
    return min(each, inliers), min(each, outliers)


def _point(
    y: LabelArray, labels: LabelArray, gamma: float, C: float, predictions: LabelArray
) -> Record:
    """A choice after some labels: its score on them and, for the record, on all rows."""
    inliers, outliers = class_counts(labels)
    return {
        "labels": inliers + outliers,
        "outliers": outliers,
        "gamma": gamma,
        "C": C,
        "kappa": float(score(y, predictions)),
        "label_kappa": float(score(labels, predictions)) if inliers and outliers else None,
        "outside": int((predictions < 0).sum()),
    }


def _choice(y: LabelArray, choice: Choice | None, labels: LabelArray | None = None) -> Any:
    if choice is None:
        return None
    known = np.zeros_like(y) if labels is None else labels
    point = _point(y, known, choice.gamma, choice.C, choice.predictions)
    return point | {"free": choice.free}
