"""Feasible range of C, the grid over it, and the choice of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from svddtune.numerics.scores import class_counts
from svddtune.numerics.solver import LATTICE_ERROR, Problem, make_problem
from svddtune.numerics.svdd import (
    SvddModel,
    at_bound,
    beyond,
    c_upper_bound,
    classify,
    duals_at,
    fit_all,
    fits_of,
)
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray, LabelArray, as_labels

Spacing = Literal["linear", "geometric"]
TieRule = Literal["plateau", "first"]
TIE_RULES: tuple[TieRule, ...] = ("plateau", "first")

MOST_OUTSIDE = 0.9
"""Cells that call a larger share of the rows outliers tell nothing apart: such a cell is chosen
only where there is no other. At C = 1/N every row is outside."""

_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Cell:
    """One (gamma, C) and how it does on the labelled rows.

    Attributes
    ----------
    gamma, C, nu, R2 : float
    outliers : int
        Rows of the data that are outside.
    score : float
        Quality on the labelled rows.
    """

    gamma: float
    C: float
    nu: float
    R2: float
    outliers: int
    score: float


@dataclass(frozen=True, slots=True)
class CellFits:
    """Fits of one gamma at several C.

    Attributes
    ----------
    gamma : float
    models : tuple of SvddModel, length S
        In the order of C.
    outside : BoolArray, shape (S, N)
        Rows of the data that each model calls outliers.
    """

    gamma: float
    models: tuple[SvddModel, ...]
    outside: BoolArray

    @property
    def C(self) -> FloatArray:
        """C of every cell, shape (S,)."""
        return np.array([model.C for model in self.models])

    def predictions(self) -> LabelArray:
        """+1 inside and -1 outside, shape (S, N)."""
        return as_labels(self.outside)


def c_bounds(
    X: FloatArray, *, gamma: float, gram: FloatArray | None = None, seed: int = 0
) -> tuple[float, float]:
    """C_LB = 1/N and C_UB, the smallest C at which no row is outside.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    gamma : float
        Inverse squared distance, positive.
    gram : FloatArray, shape (N, N), optional
        Kernel matrix at `gamma`.
    seed : int
        Draws the sub-sample where there is one.

    Returns
    -------
    C_LB, C_UB : float
    """
    return _c_bounds(make_problem(X, gamma=gamma, gram=gram, seed=seed), X)


def _c_bounds(problem: Problem, X: FloatArray) -> tuple[float, float]:
    hard_margin = fit_all(problem, np.array([1.0]), len(X)).models[0]
    return 1.0 / len(X), c_upper_bound(hard_margin, X)


def c_grid(C_LB: float, C_UB: float, *, steps: int = 20, spacing: Spacing = "linear") -> FloatArray:
    """Values of C from C_LB to C_UB, both included.

    Parameters
    ----------
    C_LB, C_UB : float
        0 < C_LB <= C_UB.
    steps : int
        At least 1; a single step is C_UB.
    spacing : {"linear", "geometric"}
        linear is the paper's.

    Returns
    -------
    FloatArray, shape (steps,)
        Ascending.

    Raises
    ------
    ValueError
        If the bounds are not positive and ascending, `steps` is below 1, or `spacing` is unknown.
    """
    if not 0.0 < C_LB <= C_UB:
        raise ValueError(f"C_LB is {C_LB}, C_UB is {C_UB}, expected 0 < C_LB <= C_UB")
    if steps < 1:
        raise ValueError(f"steps is {steps}, expected at least 1")
    if spacing not in ("linear", "geometric"):
        raise ValueError(f"spacing is {spacing!r}, expected 'linear' or 'geometric'")
    if steps == 1:
        return np.array([C_UB])
    between = np.linspace if spacing == "linear" else np.geomspace
    return np.asarray(np.clip(between(C_LB, C_UB, steps), C_LB, C_UB))


def fit_cells(
    X: FloatArray,
    *,
    gamma: float,
    steps: int = 20,
    spacing: Spacing = "linear",
    C: FloatArray | None = None,
    seed: int = 0,
) -> CellFits:
    """Fit a whole C grid at one gamma; the cells share one kernel matrix.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    gamma : float
        Inverse squared distance, positive.
    steps : int
        Number of values of C, at least 1.
    spacing : {"linear", "geometric"}
        Spacing of the values of C between C_LB and C_UB.
    C : FloatArray, shape (S,), optional
        Values of C instead of a grid over the feasible range.
    seed : int
        Draws the sub-sample where there is one.

    Returns
    -------
    CellFits
    """
    N = len(X)
    problem = make_problem(X, gamma=gamma, seed=seed)
    if C is None:
        C = c_grid(*_c_bounds(problem, X), steps=steps, spacing=spacing)
    fits = fit_all(problem, C, N)
    outside = classify(problem, fits, X if problem.sampled else None)
    return CellFits(float(gamma), fits.models, outside)


def fit_useful_cells(
    X: FloatArray,
    *,
    gamma: float,
    steps: int,
    most_outside: float,
    seed: int = 0,
) -> CellFits:
    """Fit a geometric C grid at one gamma from C_UB down, until too many rows are outside.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    gamma : float
        Inverse squared distance, positive.
    steps : int
        Values of C between C_LB and C_UB, at least 1.
    most_outside : float
        Largest share of the fitted rows that a cell may have outside, in [0, 1].
    seed
        As of `fit_cells`.

    Returns
    -------
    CellFits
        In the order of C; at least the cell at C_UB. The cells are those of `fit_cells` up to
        `solver.LATTICE_ERROR`. (The hard margin's solution, which gives C_UB, is the one at C_UB
        too.)
    """
    N = len(X)
    problem = make_problem(X, gamma=gamma, seed=seed, error=LATTICE_ERROR)
    duals = [duals_at(problem, 1.0, N)]
    hard = fits_of(problem, np.array([1.0]), N, np.array(duals)).models[0]
    C = c_grid(1.0 / N, c_upper_bound(hard, X), steps=steps, spacing="geometric")
    for value in C[-2::-1]:
        found = duals_at(problem, float(value), N)
        # A row outside has its dual at the bound: where few have, the distances need no look.
        if at_bound(found).mean() > most_outside:
            one = fits_of(problem, np.array([value]), N, found[None, :])
            model = one.models[0]
            if beyond(one.distance2, model.R2, model.degenerate).mean() > most_outside:
                break
        duals.append(found)
    fits = fits_of(problem, C[-len(duals) :], N, np.array(duals[::-1]))
    outside = classify(problem, fits, X if problem.sampled else None)
    return CellFits(float(gamma), fits.models, outside)


def tells_apart(outliers: IndexArray, N: int) -> BoolArray:
    """Cells that may be chosen, by the numbers of rows they call outliers, shape (S,).

    All of them where none calls at most `MOST_OUTSIDE` of the N rows outliers.
    """
    useful = np.asarray(outliers) <= MOST_OUTSIDE * N
    return useful if useful.any() else np.ones_like(useful)


def choose_c(
    labels: LabelArray,
    predictions: LabelArray,
    scores: FloatArray,
    outliers: IndexArray,
    *,
    rule: TieRule = "plateau",
) -> int:
    """Pick the cell of one gamma, whatever labels there are.

    Parameters
    ----------
    labels : LabelArray, shape (N,)
        The oracle's labels.
    predictions : LabelArray, shape (S, N)
        +1 inside and -1 outside, in the order of C. (Only those of labelled rows are looked at.)
    scores : FloatArray, shape (S,)
        On the labelled rows.
    outliers : IndexArray, shape (S,)
        Rows that each cell calls outliers.
    rule : {"plateau", "first"}
        As in `choose`.

    Returns
    -------
    int
        With labels of both classes the cell by `choose`. Otherwise no score tells cells apart: of
        those that contradict the fewest labels the one with the largest C, which calls the fewest
        rows outliers (none where no outlier is known). Never a cell that `tells_apart` leaves out.
    """
    useful = tells_apart(outliers, len(labels))
    if min(class_counts(labels)) > 0:
        return choose(np.where(useful, scores, -np.inf), rule=rule)
    labelled = labels != 0
    agreeing = (predictions[:, labelled] == labels[labelled]).sum(axis=1)
    agreeing = np.where(useful, agreeing, -1)
    return int(np.flatnonzero(agreeing == agreeing.max())[-1])


def choose(scores: FloatArray, *, rule: TieRule = "plateau") -> int:
    """Pick a cell by its score.

    Parameters
    ----------
    scores : FloatArray, shape (S,)
        In the order of C.
    rule : {"plateau", "first"}
        plateau: the middle of the longest run of best cells (the first such run, the lower
        middle). first: the first best cell, as in the authors' code.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If `rule` is unknown or there are no scores.

    Notes
    -----
    Deviation: the paper does not say which of several best cells it takes. Few labels make long
    plateaus, and their first cell is their most extreme one.
    """
    if rule not in TIE_RULES:
        raise ValueError(f"rule is {rule!r}, expected one of {TIE_RULES}")
    if len(scores) == 0:
        raise ValueError("scores are empty, expected at least one cell")
    best = scores >= scores.max() - _TIE
    if rule == "first":
        return int(np.argmax(best))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], best.astype(np.int8), [0]))))
    starts, stops = edges[::2], edges[1::2]
    run = int(np.argmax(stops - starts))
    return int(starts[run] + stops[run] - 1) // 2
