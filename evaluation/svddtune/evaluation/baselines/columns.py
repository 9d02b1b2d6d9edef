"""The paper's table: the choices of its methods on one dataset, by the authors' conventions.

Conventions: infeasible cells (C < 1/N) are skipped, the first best cell wins, gammas in the
outer loop and C in the inner one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.evaluation.baselines.ads import ads_choice, ads_lattice
from svddtune.evaluation.baselines.lattice import (
    Choice,
    Lattice,
    best_on_labels,
    fit_lattice,
    take,
)
from svddtune.evaluation.baselines.shifting import shift
from svddtune.numerics.label_free import dfn_gamma, qms
from svddtune.numerics.types import FloatArray, LabelArray

DFN_C = 0.05
"""C of DFN-Fix."""

SAMPLE_C = np.linspace(0.001, 0.1, 20)
"""C of DFN-Sample."""

SAMPLE_LABELS = 50


@dataclass(frozen=True, slots=True)
class Columns:
    """Choices that depend on no seed; None where a method is undefined ("--").

    Attributes
    ----------
    dfn_fix, qms, ads, ads_ext, upper_bound : Choice or None
    dfn_cells : Lattice or None
        Cells of DFN-Sample, to choose from by `best_on_labels` on `random_labels`. A sample
        without an outlier scores every cell 0, and the first, smallest C wins.
    """

    dfn_fix: Choice | None
    qms: Choice | None
    ads: Choice | None
    ads_ext: Choice | None
    upper_bound: Choice | None
    dfn_cells: Lattice | None


def fixed(X: FloatArray, *, gamma: float, C: float, seed: int = 0) -> Choice | None:
    """The cell of one gamma and C, scored 0; None where it is infeasible."""
    lattice = fit_lattice(X, np.array([gamma]), np.array([C]), seed=seed)
    return take(lattice, np.zeros((1, len(lattice.C))))


def random_labels(y: LabelArray, *, n: int = SAMPLE_LABELS, rng: np.random.Generator) -> LabelArray:
    """The labels of n rows drawn uniformly (of all, where there are fewer), 0 elsewhere."""
    labels = np.zeros_like(y)
    rows = rng.choice(len(y), min(n, len(y)), replace=False)
    labels[rows] = y[rows]
    return labels


def table_columns(X: FloatArray, y: LabelArray, *, seed: int = 0) -> Columns:
    """Run every method of the table that depends on no seed.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Min-max scaled, as the grids of the paper expect.
    y : LabelArray, shape (N,)
        Truth; only the empirical upper bound looks at it.
    seed : int
        Draws the sub-sample above `solver.FIT_LIMIT` rows.

    Returns
    -------
    Columns

    Notes
    -----
    DFN takes the authors' kernel, QMS their K, ADS their treatment of equal rows. ADS-ext and
    the empirical upper bound share their fits.
    """
    gamma = dfn_gamma(X, kernel="authors")
    found = qms(X, authors=True)
    usual = extended = None
    bound = None
    if len(X) > 1:
        pseudo = shift(X, authors=True)
        usual = ads_choice(ads_lattice(X, pseudo, grid="default", seed=seed), pseudo)
        lattice = ads_lattice(X, pseudo, grid="extended", seed=seed)
        extended, bound = ads_choice(lattice, pseudo), best_on_labels(lattice, y)
    return Columns(
        dfn_fix=None if gamma is None else fixed(X, gamma=gamma, C=DFN_C, seed=seed),
        qms=None if found is None else fixed(X, gamma=found.gamma, C=found.C, seed=seed),
        ads=usual,
        ads_ext=extended,
        upper_bound=bound,
        dfn_cells=(
            None if gamma is None else fit_lattice(X, np.array([gamma]), SAMPLE_C, seed=seed)
        ),
    )
