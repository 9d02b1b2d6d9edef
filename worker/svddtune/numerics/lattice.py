"""The lattice of cells (representation, gamma, C), and the fitting of an atlas over it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svddtune.numerics.atlas import Atlas, CellModels
from svddtune.numerics.grid import MOST_OUTSIDE, CellFits, fit_cells, fit_useful_cells
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.mapped import SAMPLED_ABOVE, complete
from svddtune.numerics.panel import panel_rows
from svddtune.numerics.svdd import beyond
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray
from svddtune.numerics.views import AUTO, AUTO_SCALINGS, Views

LATTICE_GAMMAS = 21
LATTICE_CELLS = 20
AUTO_GAMMAS = 15
"""Gammas of each representation with several of them."""
LATTICE_SAMPLE = 2048
"""Rows that the cells are fitted on above `SAMPLED_ABOVE`: a lattice has a thousand cells, and
time grows with the square of the rows. The final model is fitted to all rows up to
`solver.FIT_LIMIT`."""

_BLOCK = 1 << 21  # kernel values held at once


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


def fit_atlas_part(
    data: FloatArray | Views,
    part: LatticePart,
    *,
    panel: IndexArray | None = None,
    seed: int = 0,
) -> Atlas:
    """Fit the cells of one part; they share one kernel matrix.

    Parameters
    ----------
    data : Views, or FloatArray of shape (N, M)
        Observations, finite; an array's rows are taken as they are.
    part : LatticePart
        Of `lattice_plan`.
    panel : IndexArray, optional
        Rows that the atlas covers above `SAMPLED_ABOVE` rows, ascending; `panel_rows` by default.
    seed : int
        Draws the sample above `SAMPLED_ABOVE` rows.

    Returns
    -------
    Atlas
        Of this part alone, in the order of C. Cells that agree on every row are all kept:
        dropping them does not change the choice. Above `SAMPLED_ABOVE` rows every cell is fitted on
        a uniform sample of `LATTICE_SAMPLE` rows with nu kept, and the atlas covers the panel.
    """
    views = Views.of(data)
    rows, N = views.rows(part.scaling), len(views)
    if N <= SAMPLED_ABOVE:
        return _atlas_of(_fit(complete(rows), part), part, N)
    drawn = np.sort(np.random.default_rng(seed).choice(N, LATTICE_SAMPLE, replace=False))
    fits = _fit(rows[drawn], part)
    alphas = np.zeros((len(fits.models), len(drawn)))
    for cell, model in enumerate(fits.models):
        alphas[cell, model.rows] = model.alphas
    models = CellModels(
        rows=drawn,
        alphas=alphas,
        norms2=np.array([model.center_norm2 for model in fits.models]),
        degenerate=np.array([model.degenerate for model in fits.models]),
    )
    fitted = _atlas_of(fits, part, N)
    # nu is kept, so that C N is too.
    fitted = replace(fitted, C=fits.C * (len(drawn) / N), models=models)
    covered = panel_rows(N) if panel is None else panel
    outside = _CellJudge(fitted, models, views)(covered, np.arange(len(fitted)))
    return replace(fitted, packed=np.packbits(outside, axis=1), covered=covered)


def judged(atlas: Atlas, views: Views) -> Atlas:
    """Let an atlas make verdicts on rows that it does not cover.

    Parameters
    ----------
    atlas : Atlas
        Of `views`.
    views : Views
        The data.

    Returns
    -------
    Atlas
        The same where all rows are covered.
    """
    if atlas.models is None:
        return atlas
    return replace(atlas, judge=_CellJudge(atlas, atlas.models, views))


class _CellJudge:
    """Makes the verdicts of cells that were fitted on a sample."""

    def __init__(self, atlas: Atlas, models: CellModels, views: Views) -> None:
        self._scaling, self._gamma, self._R2 = atlas.scaling, atlas.gamma, atlas.R2
        self._models, self._views = models, views
        self._fitted: dict[str, FloatArray] = {}

    def __call__(self, rows: IndexArray, cells: IndexArray) -> BoolArray:
        outside = np.empty((len(cells), len(rows)), dtype=np.bool_)
        for kind in np.unique(self._scaling[cells]).tolist():
            of_kind = np.flatnonzero(self._scaling[cells] == kind)
            step = max(1, _BLOCK // len(self._models.rows))
            for start in range(0, len(rows), step):
                part = slice(start, start + step)
                D2 = squared_distances(self._views.rows(kind)[rows[part]], self._sample(kind))
                for gamma in np.unique(self._gamma[cells[of_kind]]):
                    at = of_kind[self._gamma[cells[of_kind]] == gamma]
                    outside[at, part] = self._beyond(np.exp(-gamma * D2), cells[at])
        return outside

    def _beyond(self, kernel: FloatArray, cells: IndexArray) -> BoolArray:
        models = self._models
        distance2 = 1.0 - 2.0 * (models.alphas[cells] @ kernel.T) + models.norms2[cells, None]
        return beyond(distance2, self._R2[cells, None], models.degenerate[cells, None])

    def _sample(self, kind: str) -> FloatArray:
        """The fitted rows in a representation; mapped once."""
        if kind not in self._fitted:
            self._fitted[kind] = self._views.rows(kind)[self._models.rows]
        return self._fitted[kind]


def _fit(rows: FloatArray, part: LatticePart) -> CellFits:
    if part.most_outside < 1.0:
        return fit_useful_cells(
            rows, gamma=part.gamma, steps=part.cells, most_outside=part.most_outside
        )
    return fit_cells(rows, gamma=part.gamma, steps=part.cells, spacing="geometric")


def _atlas_of(fits: CellFits, part: LatticePart, N: int) -> Atlas:
    return Atlas(
        scaling=np.full(len(fits.models), part.scaling),
        gamma=np.full(len(fits.models), part.gamma),
        C=fits.C,
        R2=np.array([model.R2 for model in fits.models]),
        support_vectors=np.array([len(model.rows) for model in fits.models], dtype=np.int32),
        packed=np.packbits(fits.outside, axis=1),
        N=N,
    )


def fit_atlas(
    data: FloatArray | Views,
    gamma_bounds: tuple[float, float] | None = None,
    *,
    count: int | None = None,
    cells: int = LATTICE_CELLS,
    panel: IndexArray | None = None,
    seed: int = 0,
) -> Atlas:
    """Fit the whole lattice, one part after the other.

    Parameters
    ----------
    data, panel, seed
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
    parts = [fit_atlas_part(views, part, panel=panel, seed=seed) for part in plan]
    return judged(Atlas.from_parts(parts), views)
