"""Curves for the pictures: LAMA over the locality, and alignment over gamma."""

from __future__ import annotations

import numpy as np

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task
from svddtune.numerics import (
    FloatArray,
    LabelArray,
    Preparation,
    alignment_curve,
    coarse_grid,
    fit_cells,
    run,
    score,
)
from svddtune.numerics.alignment import aligned, centred_kernel
from svddtune.numerics.kernel import pair_distances2


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
