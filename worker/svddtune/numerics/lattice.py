"""The lattice of cells (representation, gamma, C), and the fitting of an atlas over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.grid import MOST_OUTSIDE, fit_cells, fit_useful_cells
from svddtune.numerics.types import FloatArray
from svddtune.numerics.views import AUTO, AUTO_SCALINGS, Views

LATTICE_GAMMAS = 21
LATTICE_CELLS = 20
AUTO_GAMMAS = 15
"""Gammas of each representation with several of them."""
ATLAS_FIT_LIMIT = 5000
"""Rows up to which the cells are fitted to all: a lattice has hundreds of cells, and each would
take seconds above. The final model is fitted to all rows up to `solver.FIT_LIMIT`."""


@dataclass(frozen=True, slots=True)
class LatticePart:
    """A column of the lattice: the cells of one representation and gamma, fitted together.

    Attributes
    ----------
    scaling : str
        Kind of the representation.
    gamma : float
        Positive, in inverse squared distances of the representation.
    cells : int
        Values of C, geometric from C_LB to C_UB.
    most_outside : float
        Cells that have a larger share of the rows outside are left out.
    """

    scaling: str
    gamma: float
    cells: int = LATTICE_CELLS
    most_outside: float = 1.0


def lattice_gammas(gamma_bounds: tuple[float, float], *, count: int = LATTICE_GAMMAS) -> FloatArray:
    """Gammas of the lattice: geometric over the bounds, both included.

    Parameters
    ----------
    gamma_bounds : tuple of float
        Least and largest gamma, in inverse squared distances.
    count : int
        At least 2.

    Returns
    -------
    FloatArray, shape (count,)
        Ascending; for the bounds (0.1, 100) a step is a factor of about the square root of 2.

    Raises
    ------
    ValueError
        If the bounds are not positive and ascending, or `count` is below 2.
    """
    low, high = gamma_bounds
    if not 0.0 < low < high < np.inf or count < 2:
        raise ValueError(
            f"gamma_bounds are {gamma_bounds}, count is {count}, "
            "expected 0 < least < largest and at least 2"
        )
    return np.asarray(np.clip(np.geomspace(low, high, count), low, high))


def lattice_size(scaling: str) -> int:
    """Number of parts of the lattice; it does not depend on the data.

    Parameters
    ----------
    scaling : str
        `AUTO`, or the kind of the only representation.

    Returns
    -------
    int
    """
    return AUTO_GAMMAS * len(AUTO_SCALINGS) if scaling == AUTO else LATTICE_GAMMAS


def lattice_part(
    views: Views, index: int, gamma_bounds: tuple[float, float] | None = None
) -> LatticePart:
    """One part of the lattice, without a look at the rows in other representations.

    Parameters
    ----------
    views : Views
        The data.
    index : int
        From 0 to ``lattice_size(views.scaling) - 1``. Parts are in the order of the atlas's cells.
    gamma_bounds : tuple of float, optional
        Least and largest gamma in every representation; by default `default_gamma_bounds` of the
        rows in each.

    Returns
    -------
    LatticePart

    Raises
    ------
    ValueError
        If the bounds are not positive and ascending.
    """
    count = lattice_size(views.scaling) // len(views.kinds)
    kind = views.kinds[index // count]
    return _parts(views, kind, gamma_bounds, count, LATTICE_CELLS)[index % count]


def lattice_plan(
    views: Views,
    gamma_bounds: tuple[float, float] | None = None,
    *,
    count: int | None = None,
    cells: int = LATTICE_CELLS,
) -> tuple[LatticePart, ...]:
    """All parts of the lattice, in the order of the atlas's cells.

    Parameters
    ----------
    views, gamma_bounds
        As of `lattice_part`.
    count : int, optional
        Gammas of each representation, at least 2; by default `LATTICE_GAMMAS`, or `AUTO_GAMMAS`
        with `AUTO`.
    cells : int
        Values of C of each part.

    Returns
    -------
    tuple of LatticePart

    Raises
    ------
    ValueError
        If the bounds are not positive and ascending, or `count` is below 2.
    """
    count = lattice_size(views.scaling) // len(views.kinds) if count is None else count
    return tuple(
        part for kind in views.kinds for part in _parts(views, kind, gamma_bounds, count, cells)
    )


def _parts(
    views: Views, kind: str, gamma_bounds: tuple[float, float] | None, count: int, cells: int
) -> list[LatticePart]:
    """The parts of one representation."""
    # Cells above MOST_OUTSIDE are chosen only where there is no other; with several
    # representations there always is.
    most_outside = MOST_OUTSIDE if views.scaling == AUTO else 1.0
    gammas = lattice_gammas(gamma_bounds or views.gamma_bounds(kind), count=count)
    return [LatticePart(kind, float(gamma), cells, most_outside) for gamma in gammas]


def fit_atlas_part(data: FloatArray | Views, part: LatticePart, *, seed: int = 0) -> Atlas:
    """Fit the cells of one part; they share one kernel matrix.

    Parameters
    ----------
    data : Views, or FloatArray of shape (N, M)
        Observations, finite; an array's rows are taken as they are.
    part : LatticePart
        Of `lattice_plan`.
    seed : int
        Draws the sub-sample above `ATLAS_FIT_LIMIT` rows, where every cell is fitted to the
        sub-sample and classifies all rows.

    Returns
    -------
    Atlas
        Of this part alone, in the order of C. Cells that agree on every row are all kept:
        dropping them does not change the choice.
    """
    views = Views.of(data)
    rows = views.rows(part.scaling)
    if part.most_outside < 1.0:
        fits = fit_useful_cells(
            rows,
            gamma=part.gamma,
            steps=part.cells,
            most_outside=part.most_outside,
            seed=seed,
            limit=ATLAS_FIT_LIMIT,
        )
    else:
        fits = fit_cells(
            rows,
            gamma=part.gamma,
            steps=part.cells,
            spacing="geometric",
            seed=seed,
            limit=ATLAS_FIT_LIMIT,
        )
    return Atlas(
        scaling=np.full(len(fits.models), part.scaling),
        gamma=np.full(len(fits.models), part.gamma),
        C=fits.C,
        R2=np.array([model.R2 for model in fits.models]),
        support_vectors=np.array([len(model.rows) for model in fits.models], dtype=np.int32),
        packed=np.packbits(fits.outside, axis=1),
        N=len(views),
    )


def fit_atlas(
    data: FloatArray | Views,
    gamma_bounds: tuple[float, float] | None = None,
    *,
    count: int | None = None,
    cells: int = LATTICE_CELLS,
    seed: int = 0,
) -> Atlas:
    """Fit the whole lattice, one part after the other.

    Parameters
    ----------
    data, seed
        As of `fit_atlas_part`.
    gamma_bounds, count, cells
        As of `lattice_plan`.

    Returns
    -------
    Atlas

    Raises
    ------
    ValueError
        If the bounds are not positive and ascending, or `count` is below 2.
    """
    views = Views.of(data)
    plan = lattice_plan(views, gamma_bounds, count=count, cells=cells)
    return Atlas.from_parts([fit_atlas_part(views, part, seed=seed) for part in plan])
