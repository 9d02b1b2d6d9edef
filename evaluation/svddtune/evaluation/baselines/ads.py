"""ADS: choose the cell that tells pseudo-targets from pseudo-outliers best."""

from __future__ import annotations

from typing import Literal

import numpy as np

from svddtune.evaluation.baselines.lattice import Choice, Lattice, fit_lattice, take
from svddtune.evaluation.baselines.shifting import Shifted, shift
from svddtune.numerics.types import FloatArray

AdsGrid = Literal["default", "extended"]

GRIDS: dict[AdsGrid, tuple[FloatArray, FloatArray]] = {
    "default": (10.0 ** np.arange(-4.0, 5.0), np.array([0.01, 0.05])),
    "extended": (10.0 ** np.linspace(-0.1, 2.0, 20), np.linspace(0.001, 0.1, 20)),
}
"""gamma and C of ADS-default, 9 x 2, and of ADS-ext, 20 x 20."""


def ads_lattice(
    X: FloatArray, pseudo: Shifted, *, grid: AdsGrid = "extended", seed: int = 0
) -> Lattice:
    """Fit the grid to the real rows and classify real and pseudo rows.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    pseudo : Shifted
        From `shift`.
    grid : {"default", "extended"}
        Which of `GRIDS` is fitted.
    seed : int
        Draws the sub-sample where there is one.

    Returns
    -------
    Lattice
        Its other rows are the pseudo-targets, then the pseudo-outliers.
    """
    gammas, C = GRIDS[grid]
    return fit_lattice(
        X, gammas, C, others=np.concatenate((pseudo.targets, pseudo.outliers)), seed=seed
    )


def ads_choice(lattice: Lattice, pseudo: Shifted) -> Choice | None:
    """First cell with the least mean of false positive and false negative rate.

    Parameters
    ----------
    lattice : Lattice
        From `ads_lattice` of the same pseudo rows.
    pseudo : Shifted
        Pseudo rows that the lattice classified.

    Returns
    -------
    Choice or None
        Its score is 1 - the mean error rate. None where no cell is feasible or a kind of pseudo
        rows is missing.

    Notes
    -----
    Nothing asks a cell to reject a real row. Often the best one has a C above the smallest at
    which no row is outside, hence the many zeros in the paper's columns: they are the method's,
    not a degenerate cell's.

    Source: as `shift`.
    """
    if len(pseudo.targets) == 0 or len(pseudo.outliers) == 0:
        return None
    rejected = lattice.other_outside[:, :, : len(pseudo.targets)].mean(axis=2)
    accepted = 1.0 - lattice.other_outside[:, :, len(pseudo.targets) :].mean(axis=2)
    return take(lattice, 1.0 - 0.5 * (rejected + accepted))


def ads(
    X: FloatArray, *, grid: AdsGrid = "default", authors: bool = False, seed: int = 0
) -> Choice | None:
    """Choose gamma and C by self-adaptive data shifting, without labels.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    grid : {"default", "extended"}
        Which of `GRIDS` is fitted.
    authors : bool
        Pseudo rows as the LAMA authors' code makes them; see `shift`.
    seed : int
        Draws the sub-sample where there is one.

    Returns
    -------
    Choice or None
        None where it is undefined; see `ads_choice`.
    """
    if len(X) < 2:
        return None
    pseudo = shift(X, authors=authors)
    return ads_choice(ads_lattice(X, pseudo, grid=grid, seed=seed), pseudo)
