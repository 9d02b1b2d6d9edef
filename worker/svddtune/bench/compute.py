"""What a piece of work does: a set and parameters in, a plain record out."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from svddtune.bench.sets import BenchSet, load
from svddtune.bench.store import Record
from svddtune.bench.units import Parameter, Unit
from svddtune.bench.units import atlas as atlas_of
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
from svddtune.numerics.stop import GAMMA_FACTOR, narrow_interval, steady_gamma, unchanged_cell

LOCALITY = 5
SESSION_STEP = 5
MOST_NEIGHBOURS = 30
AUDIT_SIZES = (20, 50, 100)
AUDIT_DRAWS = 40
COLD_DRAWS = 40
STOP_LIMITS: dict[str, tuple[float, ...]] = {
    "cell": (8, 12, 16, 20, 25, 30),
    "gamma": (8, 12, 16, 20, 25, 30),
    "interval": (0.6, 0.5, 0.4, 0.3, 0.2),
}
"""Rules to stop by, alone: labels for which the cell, or gamma, stays; width of the interval."""


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work with all it needs: the set, its rows, truth and preparation."""

    data: BenchSet
    X: FloatArray
    y: LabelArray
    prep: Preparation
    given: Mapping[str, Parameter]
    folder: Path


def compute(unit: Unit, *, folder: Path) -> Record:
    """Do a piece of work; its record says how long it took. Atlases are kept in `folder`."""
    X, y = load(unit.data.path)
    prep = _prepared(unit.data.path)
    started = time.process_time()
    record = KINDS[unit.kind](Task(unit.data, X, y, prep, dict(unit.parameters), folder))
    record["seconds"] = time.process_time() - started
    return record


@lru_cache(maxsize=4)
def _prepared(path: str) -> Preparation:
    return prepare(load(path)[0], k=MOST_NEIGHBOURS)


@lru_cache(maxsize=4)
def _atlas(data: BenchSet, folder: Path) -> Atlas:
    """The atlas of a set: made once, and kept in `folder` for all processes."""
    path = folder / f"{atlas_of(data).key}.npz"
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return Atlas.from_arrays(arrays)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    made = fit_atlas(load(data.path)[0], _prepared(data.path).gamma_bounds)
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.stem}.{os.getpid()}.partial")
    with partial.open("wb") as file:
        np.savez(file, allow_pickle=False, **made.to_arrays())
    partial.replace(path)
    return made


def atlas(task: Task) -> Record:
    """Fit the atlas, so that it is there when sessions begin."""
    made = _atlas(task.data, task.folder)
    kappas = score(
        task.y, np.array([made.outside(c) for c in range(len(made))]) * np.int8(-2) + np.int8(1)
    )
    return {"cells": len(made), "best_kappa": float(kappas.max())}


def session(task: Task) -> Record:
    """A session with gamma from the alignment, and what it would give at earlier counts."""
    X, y, prep, given = task.X, task.y, task.prep, task.given
    strategy, seed = cast(Strategy, given["strategy"]), int(given["seed"])
    budget = min(int(given["budget"]), len(y))
    initial = _initial(y, int(given["initial"]))
    started = time.process_time()
    result = run(
        X, y, budget=budget, k=LOCALITY, strategy=strategy, seed=seed, initial=initial, prep=prep
    )
    took = time.process_time() - started
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


def atlas_session(task: Task) -> Record:
    """A session that chooses by the atlas: its live choice after every label, and an audit."""
    X, y, prep, given = task.X, task.y, task.prep, task.given
    atlas, basis = _atlas(task.data, task.folder), belief_basis(X)
    strategy, seed = cast(Strategy, given["strategy"]), int(given["seed"])
    budget = min(int(given["budget"]), len(y))
    initial = _initial(y, int(given["initial"]))
    started = time.process_time()
    result = run(
        X, y, budget=budget, k=LOCALITY, strategy=strategy, seed=seed, initial=initial,
        prep=prep, atlas=atlas, basis=basis, choice="atlas",
    )  # fmt: skip
    took = time.process_time() - started
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
        known = class_counts(labels)
        history.append(Moment(choice.labels, choice.gamma, choice.C, value, low, high, *known))
    return {
        "points": points,
        "queries": result.queries.tolist(),
        "session_seconds": took,
        "stops": _stops(history, budget),
        "audit": _audit(y, predictions, seed),
    }


def _stops(history: list[Moment], budget: int) -> Record:
    """Where each stop rule is first to hold, as a position in `history`: alone, and the advice."""
    found: Record = {}
    advice = [advise(history[: end + 1], budget=budget) for end in range(len(history))]
    first = next((at for at, one in enumerate(advice) if one.stop), len(history) - 1)
    found["advice"] = {"point": first, "rule": advice[first].rule or "pool"}
    for family, limits in STOP_LIMITS.items():
        for limit in limits:
            point = next(
                (at for at in range(len(history)) if _holds(family, limit, history[: at + 1])),
                len(history) - 1,
            )
            found[f"{family} {limit:g}"] = {"point": point, "rule": family}
    return found


def _holds(family: str, limit: float, history: list[Moment]) -> bool:
    now = history[-1]
    if family == "interval":
        return now.judged and narrow_interval(now, limit)
    if family == "gamma":
        return steady_gamma(history, GAMMA_FACTOR) >= limit
    return unchanged_cell(history) >= limit


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


def cold_starts(task: Task) -> Record:
    """Answers until both classes are seen, by starting rule."""
    X, y = task.X, task.y
    atlas, basis = _atlas(task.data, task.folder), belief_basis(X)
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


def neighbours(task: Task) -> Record:
    """True kappa and gamma of LAMA for every locality k."""
    X, y, prep, given = task.X, task.y, task.prep, task.given
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


def alignments(task: Task) -> Record:
    """Local and global alignment over gamma on the same labels, beside the best true kappa."""
    X, y, prep, given = task.X, task.y, task.prep, task.given
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


KINDS: dict[str, Callable[[Task], Record]] = {
    "atlas": atlas,
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
