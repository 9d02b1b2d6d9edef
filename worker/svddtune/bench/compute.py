"""What a piece of work does: a set and parameters in, a plain record out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np

from svddtune.bench.sets import load
from svddtune.bench.store import Record
from svddtune.bench.units import Parameter, Unit
from svddtune.numerics import (
    Atlas,
    FloatArray,
    IndexArray,
    LabelArray,
    Moment,
    Preparation,
    Strategy,
    advise,
    alignment_curve,
    audit_score,
    belief_basis,
    class_counts,
    coarse_grid,
    default_gamma_bounds,
    draw_audit,
    finish,
    fit_cells,
    prepare,
    run,
    score,
)
from svddtune.numerics.alignment import aligned, centred_kernel
from svddtune.numerics.atlas import fit_atlas
from svddtune.numerics.baselines import (
    SAMPLE_C,
    best_on_labels,
    dfn_gamma,
    fit_lattice,
    random_labels,
    table_columns,
)
from svddtune.numerics.baselines.lattice import Choice
from svddtune.numerics.coldstart import cold_scores
from svddtune.numerics.kernel import pair_distances2

LOCALITY = 5
SESSION_STEP = 5
MOST_NEIGHBOURS = 30
AUDIT_SIZES = (20, 50, 100)
AUDIT_DRAWS = 40
COLD_DRAWS = 40
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


_atlases: dict[str, Atlas] = {}


def _atlas(X: FloatArray) -> Atlas:
    """The atlas of a set, kept for the next piece of work on it."""
    key = hashlib.sha256(X.tobytes()).hexdigest()
    if key not in _atlases:
        if len(_atlases) >= 4:
            _atlases.pop(next(iter(_atlases)))
        _atlases[key] = fit_atlas(X, default_gamma_bounds(X))
    return _atlases[key]


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


def atlas_session(X: FloatArray, y: LabelArray, prep: Preparation, given: Given) -> Record:
    """A session that chooses by the atlas: its live choice after every label, and an audit."""
    atlas, basis = _atlas(X), belief_basis(X)
    strategy, seed = cast(Strategy, given["strategy"]), int(given["seed"])
    budget = min(int(given["budget"]), len(y))
    initial = _initial(y, int(given["initial"]))
    started = time.perf_counter()
    result = run(
        X, y, budget=budget, k=LOCALITY, strategy=strategy, seed=seed, initial=initial,
        prep=prep, atlas=atlas, basis=basis,
    )  # fmt: skip
    took = time.perf_counter() - started
    labels = result.labels.copy()
    labels[result.queries] = 0
    points, history = [], []
    for asked, choice in enumerate(result.choices):
        if asked:
            row = result.queries[asked - 1]
            labels[row] = y[row]
        predictions = np.where(atlas.outside(choice.cell), np.int8(-1), np.int8(1))
        points.append(_point(y, labels, choice.gamma, choice.C, predictions))
        judged = choice.reason == "both_classes"
        low, high = choice.interval if judged else (np.nan, np.nan)
        value = choice.on_labels if judged else np.nan
        history.append(Moment(choice.labels, choice.gamma, choice.C, value, low, high))
    return {
        "points": points,
        "queries": result.queries.tolist(),
        "session_seconds": took,
        "stop": _stop(history, budget),
        "audit": _audit(y, predictions, seed),
    }


def _stop(history: list[Moment], budget: int) -> Record:
    """Where the advice is first to stop."""
    for end in range(1, len(history) + 1):
        advice = advise(history[:end], budget=budget)
        if advice.stop:
            return {"labels": history[end - 1].labels, "point": end - 1, "rule": advice.rule}
    return {"labels": history[-1].labels, "point": len(history) - 1, "rule": "pool"}


def _audit(y: LabelArray, predictions: LabelArray, seed: int) -> Record:
    """How often the interval of an audit holds the true score, and the audit's mean error."""
    true = float(score(y, predictions))
    share = float(np.mean(predictions < 0))
    found: Record = {}
    for n in AUDIT_SIZES:
        if n > len(y):
            continue
        scores = []
        for draw in range(AUDIT_DRAWS):
            rows = draw_audit(len(y), n, seed=1000 * seed + draw, exclude=np.empty(0, np.int64))
            scores.append(
                audit_score(
                    y[rows], predictions[rows], share_outside=share, N=len(y),
                    rng=np.random.default_rng(draw),
                )
            )  # fmt: skip
        found[str(n)] = {
            "covered": float(np.mean([s.low <= true <= s.high for s in scores])),
            "error": float(np.mean([s.value - true for s in scores])),
            "width": float(np.mean([s.high - s.low for s in scores])),
        }
    return found


def cold_starts(X: FloatArray, y: LabelArray, prep: Preparation, given: Given) -> Record:
    """Answers until both classes are seen, by starting rule."""
    atlas, basis = _atlas(X), belief_basis(X)
    far = np.argsort(-cold_scores("cold_outlying", atlas, basis), kind="stable")
    contested = np.argsort(-cold_scores("cold_entropy", atlas, basis), kind="stable")
    drawn = [
        _until_both(y, np.random.default_rng(seed).permutation(len(y)))
        for seed in range(COLD_DRAWS)
    ]
    return {
        "random": float(np.mean(drawn)),
        "far from neighbours": _until_both(y, basis.panel[far]),
        "cells disagree": _until_both(y, basis.panel[contested]),
        "in turn": _until_both(y, basis.panel[_in_turn(far, contested)]),
    }


def _in_turn(first: IndexArray, second: IndexArray) -> IndexArray:
    """Both orders in turn, each row once."""
    merged = np.stack((first, second), axis=1).ravel()
    _, at = np.unique(merged, return_index=True)
    return np.asarray(merged[np.sort(at)])


def _until_both(y: LabelArray, order: IndexArray) -> int:
    seen = y[order]
    return int(max(np.argmax(seen == 1), np.argmax(seen == -1))) + 1


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
    "atlas_session": atlas_session,
    "cold_starts": cold_starts,
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
