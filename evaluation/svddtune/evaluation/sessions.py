"""Sessions of the paper's evaluation: choices on the way, audits, stop rules, cold starts."""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task, point
from svddtune.numerics import (
    IndexArray,
    LabelArray,
    Moment,
    Strategy,
    advise,
    as_labels,
    audit_score,
    class_counts,
    draw_audit,
    finish,
    run,
    score,
)
from svddtune.numerics.coldstart import cold_scores
from svddtune.numerics.grid import TieRule
from svddtune.numerics.stop import GAMMA_FACTOR, narrow_interval, steady_gamma, unchanged_cell
from svddtune.numerics.tau import TauRule

SESSION_STEP = 5
AUDIT_SIZES = (20, 50, 100)
AUDIT_DRAWS = 40
COLD_DRAWS = 40
STOP_LIMITS: dict[str, tuple[float, ...]] = {
    "cell": (8, 12, 16, 20, 25, 30),
    "gamma": (8, 12, 16, 20, 25, 30),
    "interval": (0.6, 0.5, 0.4, 0.3, 0.2),
}
"""Limits of each stop rule alone: labels with an unchanged cell or gamma; interval width."""


def session(task: Task) -> Record:
    """A session with gamma from the alignment, and its choices at earlier label counts."""
    X, y, prep, given = task.X, task.y, task.prep, task.given
    strategy, seed, budget = cast(Strategy, given["strategy"]), task.seed, task.budget
    initial = task.initial(int(given["initial"]))
    started = time.process_time()
    tau_rule: TauRule = "printed" if given["as_printed"] else "propagated"
    rule: TieRule = "first" if given["as_printed"] else "plateau"
    result = run(
        X, y, budget=budget, k=LOCALITY, strategy=strategy, seed=seed, initial=initial, prep=prep,
        rule=rule, tau_rule=tau_rule,
    )  # fmt: skip
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
        chosen = finish(prep, X, labels, k=LOCALITY, rule=rule, seed=seed)
        points.append(point(y, labels, chosen.gamma, chosen.model.C, chosen.predictions))
    final = result.final
    points.append(point(y, result.labels, final.gamma, final.model.C, final.predictions))
    return {"points": points, "queries": asked, "session_seconds": took}


def atlas_session(task: Task) -> Record:
    """A session that chooses by the atlas: its live choice after every label, and an audit."""
    y, prep, given = task.y, task.prep, task.given
    atlas, basis = task.atlas, task.basis
    strategy, seed, budget = cast(Strategy, given["strategy"]), task.seed, task.budget
    initial = task.initial(int(given["initial"]))
    started = time.process_time()
    result = run(
        task.views, y, budget=budget, k=LOCALITY, strategy=strategy, seed=seed, initial=initial,
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
        predictions = as_labels(atlas.outside(choice.cell))
        chosen = point(y, labels, choice.gamma, choice.C, predictions)
        points.append(chosen | {"scaling": choice.scaling})
        judged = choice.reason == "both_classes"
        low, high = choice.interval if judged else (np.nan, np.nan)
        value = choice.on_labels if judged else np.nan
        known = class_counts(labels)
        history.append(
            Moment(
                choice.labels,
                choice.gamma,
                choice.C,
                value,
                low,
                high,
                *known,
                scaling=choice.scaling,
            )
        )
    return {
        "points": points,
        "queries": result.queries.tolist(),
        "session_seconds": took,
        "stops": _stops(history, budget),
        "audit": _audit(y, predictions, seed),
    }


def _stops(history: list[Moment], budget: int) -> Record:
    """First position in `history` at which each stop rule holds alone, and of the advice."""
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
    y = task.y
    atlas, basis = task.atlas, task.basis
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
