"""Curves for the pictures: LAMA over the locality, and alignment over gamma."""

from __future__ import annotations

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task
from svddtune.evaluation.variants import global_alignment
from svddtune.numerics import alignment_curve, coarse_grid, fit_cells, run, score


def neighbors(task: Task) -> Record:
    """True kappa and gamma of LAMA for every locality k."""
    X, y, prep, seed, budget = task.X, task.y, task.prep, task.seed, task.budget
    ks = list(range(1, min(int(task.given["most"]), len(y)) + 1))
    finals = [
        run(X, y, budget=budget, k=k, seed=seed, initial=task.initial(2), prep=prep).final
        for k in ks
    ]
    return {
        "k": ks,
        "kappa": [float(score(y, final.predictions)) for final in finals],
        "gamma": [final.gamma for final in finals],
    }


def alignments(task: Task) -> Record:
    """Local and global alignment over gamma on the same labels, beside the best true kappa."""
    X, y, prep, seed, budget = task.X, task.y, task.prep, task.seed, task.budget
    result = run(X, y, budget=budget, k=LOCALITY, seed=seed, initial=task.initial(2), prep=prep)
    gamma = coarse_grid(prep.gamma_bounds)
    curve = alignment_curve(prep, X, result.labels, k=LOCALITY, gamma=gamma)
    best = [
        score(y, fit_cells(X, gamma=value, steps=20, spacing="geometric").predictions()).max()
        for value in gamma.tolist()
    ]
    return {
        "gamma": gamma.tolist(),
        "local": curve.value.tolist(),
        "global": global_alignment(prep, X, result.labels)(gamma).tolist(),
        "best_kappa": [float(value) for value in best],
        "chosen": result.final.gamma,
    }
