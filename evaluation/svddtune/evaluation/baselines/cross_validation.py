"""Cross-validation: on the rows of one class alone, and on labels of both classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.label_free.curves import FIT_ROWS, draw, gamma_grid, undefined
from svddtune.numerics.scores import Metric, class_counts, score
from svddtune.numerics.solver import make_problem
from svddtune.numerics.svdd import c_from_nu, classify, fit_all
from svddtune.numerics.types import (
    BoolArray,
    FloatArray,
    IndexArray,
    LabelArray,
    as_labels,
)

FOLDS = 5
GAMMAS = 13
NUS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Outlier shares that are tried with every gamma."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """gamma and outlier share nu of a cell, and its score."""

    gamma: float
    nu: float
    score: float


def folds(n: int, *, rng: np.random.Generator) -> list[IndexArray]:
    """Split n positions at random into at most `FOLDS` parts of nearly equal size."""
    return [np.sort(part) for part in np.array_split(rng.permutation(n), min(FOLDS, n))]


def one_class_choice(X: FloatArray, *, rng: np.random.Generator) -> Parameters | None:
    """Reject few held-out rows with a radius near 1: least sqrt(e^2 + (1 - R)^2).

    e is the share of held-out rows outside and R the mean radius over the folds. As gamma grows,
    R rises to 1 and e with it.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite, all taken for inliers.
    rng : np.random.Generator
        Draws `FIT_ROWS` rows where there are more, and the folds.

    Returns
    -------
    Parameters or None
        Its score is 1 less the criterion; the first of `GAMMAS` values over
        `default_gamma_bounds` and of `NUS` where several are equally good. None where the data
        are too few or all equal.

    Notes
    -----
    Source: Theissler and Dear, *Autonomously determining the parameters for SVDD with RBF kernel
    from a one-class training set* (2013). Only its abstract was at hand: that a training set of one
    class suffices. The criterion is from memory of the paper.
    """
    if undefined(X):
        return None
    rows = draw(X, FIT_ROWS, rng)
    gammas = gamma_grid(X, GAMMAS)
    rejected, radius = np.zeros((GAMMAS, len(NUS))), np.zeros((GAMMAS, len(NUS)))
    parts = folds(len(rows), rng=rng)
    for part in parts:
        kept = np.setdiff1d(np.arange(len(rows)), part)
        for g, gamma in enumerate(gammas.tolist()):
            outside, R2 = _held_out(rows[kept], rows[part], gamma)
            rejected[g] += outside.sum(axis=1) / len(rows)
            radius[g] += np.sqrt(R2) / len(parts)
    return _best(gammas, 1.0 - np.hypot(rejected, 1.0 - radius))


def labelled_choice(
    X: FloatArray, labels: LabelArray, *, rng: np.random.Generator, metric: Metric = "kappa"
) -> Parameters | None:
    """Cross-validate gamma and nu on labelled rows.

    Every cell is fitted, without labels as ever, to all rows but the held-out labelled ones, which
    it then classifies. All held-out classifications together give the score.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    labels : LabelArray, shape (N,)
        Rows with 0 take no part.
    rng : np.random.Generator
        Draws `FIT_ROWS` unlabelled rows where there are more, and the folds of each class.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Score of the held-out classifications.

    Returns
    -------
    Parameters or None
        The first of `GAMMAS` values over `default_gamma_bounds` and of `NUS` where several are
        equally good; without an outlier among the labels that is the first of all. None with fewer
        than two labelled inliers, or where the data are too few or all equal.

    Notes
    -----
    Source: Tax and Duin, *Support vector data description* (2004), Tran, Li, Duan, *Evolving
    training model method for one-class SVM* (2003/2004), and Theissler and Dear (2013) name
    cross-validation, as described with the LAMA paper. The grid and the folds are ours. A row that
    is outside when it is held out need not be so once it is fitted: at a small nu the final model
    may have no row outside, although the score is good.
    """
    if undefined(X) or class_counts(labels)[0] < 2:
        return None
    inliers, outliers = np.flatnonzero(labels == 1), np.flatnonzero(labels == -1)
    known, others = np.flatnonzero(labels), np.flatnonzero(labels == 0)
    if len(others) > FIT_ROWS:
        others = rng.choice(others, FIT_ROWS, replace=False)
    count = min(FOLDS, len(inliers))
    parts_in = np.array_split(rng.permutation(inliers), count)
    parts_out = np.array_split(rng.permutation(outliers), count)
    gammas = gamma_grid(X, GAMMAS)
    predicted = np.zeros((GAMMAS, len(NUS), len(X)), dtype=np.int8)
    for own_in, own_out in zip(parts_in, parts_out, strict=True):
        held = np.concatenate((own_in, own_out))
        trained = np.setdiff1d(np.concatenate((known, others)), held)
        for g, gamma in enumerate(gammas.tolist()):
            predicted[g][:, held] = as_labels(_held_out(X[trained], X[held], gamma)[0])
    return _best(gammas, score(labels[known], predicted[:, :, known], metric))


def _held_out(trained: FloatArray, held: FloatArray, gamma: float) -> tuple[BoolArray, FloatArray]:
    """Held-out rows outside, shape (nus, n), and R^2, shape (nus,), of fits to other rows."""
    n = len(trained)
    problem = make_problem(trained, gamma=gamma)
    C = np.array([c_from_nu(nu, n) for nu in NUS])
    fits = fit_all(problem, C, n)
    return classify(problem, fits, held), np.array([model.R2 for model in fits.models])


def _best(gammas: FloatArray, scores: FloatArray) -> Parameters:
    g, s = divmod(int(np.argmax(scores)), scores.shape[1])
    return Parameters(float(gammas[g]), NUS[s], float(scores[g, s]))
