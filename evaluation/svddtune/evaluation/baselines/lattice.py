"""Fits over a lattice of gamma and C, and the predictions of its cells for any rows.

All cells at one gamma share the kernel matrix; every method that searches the same lattice
shares its fits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svddtune.numerics.label_free.curves import PRECISION
from svddtune.numerics.scores import Metric, score
from svddtune.numerics.solver import Problem, make_problem
from svddtune.numerics.svdd import Fits, classify, fit_all, nu_from_c
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray, LabelArray, as_labels

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Lattice:
    """Cells (gamma, C) fitted to the same rows.

    Attributes
    ----------
    gammas : FloatArray, shape (G,)
    C : FloatArray, shape (S,)
        The feasible ones of the values asked for.
    outside : BoolArray, shape (G, S, N)
        Fitted rows that each cell calls outliers.
    other_outside : BoolArray, shape (G, S, P)
        The same for other rows; P = 0 where there are none.
    free : IndexArray, shape (G, S)
        Rows strictly between the bounds, whose distance is the radius.
    """

    gammas: FloatArray
    C: FloatArray
    outside: BoolArray
    other_outside: BoolArray
    free: IndexArray

    def predictions(self) -> LabelArray:
        """+1 inside and -1 outside of the fitted rows, shape (G, S, N)."""
        return as_labels(self.outside)


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen cell and its score.

    Attributes
    ----------
    gamma, C : float
    score : float
        Of the criterion that chose it.
    predictions : LabelArray, shape (N,)
        +1 inside, -1 outside, of the fitted rows.
    free : int
        Rows strictly between the bounds; 0 where the authors' code would call every row an
        outlier.
    """

    gamma: float
    C: float
    score: float
    predictions: LabelArray
    free: int


def feasible(C: FloatArray, N: int) -> FloatArray:
    """The values of C that N rows allow, C >= 1/N, in their order."""
    return np.asarray(C[C >= (1.0 - _ROUNDING) / N])


def fit_lattice(
    X: FloatArray,
    gammas: FloatArray,
    C: FloatArray,
    *,
    others: FloatArray | None = None,
    seed: int = 0,
) -> Lattice:
    """Fit SVDD in every feasible cell.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    gammas : FloatArray, shape (G,)
        Positive.
    C : FloatArray, shape (S,)
        Values below 1/N are left out; values above 1 act as 1, where the bound cannot bind.
    others : FloatArray, shape (P, M), optional
        Rows to classify beside the fitted ones.
    seed : int
        Draws the sub-sample where there is one.

    Returns
    -------
    Lattice
    """
    N, P = len(X), 0 if others is None else len(others)
    C = feasible(np.asarray(C, dtype=np.float64), N)
    bounds, shape = np.minimum(C, 1.0), (len(gammas), len(C))
    outside = np.zeros((*shape, N), dtype=np.bool_)
    other_outside = np.zeros((*shape, P), dtype=np.bool_)
    free = np.zeros(shape, dtype=np.int64)
    if len(C):
        for g, gamma in enumerate(gammas):
            problem = make_problem(X, gamma=float(gamma), seed=seed)
            fits = _fit_row(problem, bounds, N)
            outside[g] = classify(problem, fits, X if problem.sampled else None)
            if others is not None and P:
                other_outside[g] = classify(problem, fits, others)
            upper = bounds[:, None] * (N / problem.n)
            between = (fits.alphas > PRECISION) & (fits.alphas < upper - PRECISION)
            free[g] = between.sum(axis=1)
    return Lattice(np.asarray(gammas, dtype=np.float64), C, outside, other_outside, free)


def _fit_row(problem: Problem, C: FloatArray, N: int) -> Fits:
    """Fit all C, shape (S,), at one gamma.

    The solution at the largest C is the solution at every smaller C that its alphas respect. At
    a large gamma that is most of the cells, and these are the slow ones.
    """
    top = fit_all(problem, C[[int(np.argmax(C))]], N)
    tighter = C * (N / problem.n) < top.alphas.max()
    rest = fit_all(problem, C[tighter], N) if tighter.any() else top
    source = np.where(tighter, np.cumsum(tighter) - 1, 0)
    models = tuple(
        rest.models[i] if own else replace(top.models[0], C=float(c), nu=nu_from_c(float(c), N))
        for c, own, i in zip(C, tighter, source, strict=True)
    )
    own = tighter[:, None]
    return Fits(
        models,
        np.where(own, rest.alphas[source], top.alphas[0]),
        np.where(own, rest.distance2[source], top.distance2[0]),
    )


def take(lattice: Lattice, scores: FloatArray) -> Choice | None:
    """First best cell, gamma by gamma and C by C, as in the authors' code.

    Parameters
    ----------
    lattice : Lattice
        From `fit_lattice`.
    scores : FloatArray, shape (G, S)
        Scores of the cells; the largest is the best.

    Returns
    -------
    Choice or None
        None where no cell is feasible.
    """
    if scores.size == 0:
        return None
    g, s = divmod(int(np.argmax(scores)), scores.shape[1])
    return Choice(
        gamma=float(lattice.gammas[g]),
        C=float(lattice.C[s]),
        score=float(scores[g, s]),
        predictions=lattice.predictions()[g, s],
        free=int(lattice.free[g, s]),
    )


def best_on_labels(
    lattice: Lattice, labels: LabelArray, *, metric: Metric = "kappa"
) -> Choice | None:
    """First cell with the best score on the labelled rows.

    Parameters
    ----------
    lattice : Lattice
        From `fit_lattice`.
    labels : LabelArray, shape (N,)
        Rows with 0 do not count. The truth of all rows gives the empirical upper bound.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Score of a classification on the labelled rows.

    Returns
    -------
    Choice or None
        None where no cell is feasible.
    """
    return take(lattice, score(labels, lattice.predictions(), metric))
