"""Length scales of a dataset, from quantiles, so that a few extreme rows do not determine them.

All code that needs a length scale of the data uses these. On data without extreme values they equal
those of the plain range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.kernel import pair_distances2, squared_distances
from svddtune.numerics.neighbors import distinct_rows
from svddtune.numerics.types import BoolArray, FloatArray

REACH = 32.0
"""Rows farther than this many median distances from the centre are extreme and do not enter the
length scales."""
LARGEST = 1e100
"""Largest magnitude of a value. Far below the limit of a double, since squared distances, and gamma
as their inverse, must be doubles too."""
LEAST_WIDTH = 1e-100
"""Least range of the widest column, unless all rows are equal; for the same reason."""

DRAWN = 20_000
"""Rows among which distinct ones are looked for."""

_ROWS = 1000  # rows whose distances are looked at
_RESOLUTION = 1e-13  # of a value: smaller differences are rounding errors, not distances
_NEAR2 = 1e-9  # of the squared norms: below, the expanded form has lost digits


@dataclass(frozen=True, slots=True)
class Extent:
    """Squared length scales of the data.

    Attributes
    ----------
    median2 : float
        Median squared distance of distinct rows; 0 where all rows are equal.
    width2 : float
        Square of the largest column range of the usual rows; 0 likewise.
    usual : BoolArray, shape (N,)
        Rows that are not extreme.
    """

    median2: float
    width2: float
    usual: BoolArray


def extent(X: FloatArray, *, seed: int = 0) -> Extent:
    """Measure the data.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    seed : int
        Draws the rows whose distances are taken, 1000 among more distinct ones.

    Returns
    -------
    Extent
        Multiplying X by c multiplies the scales by c^2. Repeated rows count once.
    """
    rng = np.random.default_rng(seed)
    drawn = np.arange(len(X))
    if len(X) > DRAWN:
        drawn = np.sort(rng.choice(len(X), DRAWN, replace=False))
    rows = drawn[distinct_rows(X[drawn])[0]]
    if len(rows) > _ROWS:
        rows = rng.choice(rows, _ROWS, replace=False)
    Z = X[rows]
    i, j = np.triu_indices(len(Z), 1)
    D2 = squared_distances(Z, Z)[i, j]
    center = np.median(Z, axis=0)
    norms2 = np.square(Z - center).sum(axis=1)
    near = np.flatnonzero(_NEAR2 * (norms2[i] + norms2[j]) >= D2)
    D2[near] = pair_distances2(Z, i[near], j[near])
    resolution2 = np.square(_RESOLUTION * np.quantile(np.abs(Z), 0.9, axis=0)).sum()
    D2 = D2[resolution2 < D2]
    if len(D2) == 0:
        return Extent(0.0, _width2(X), np.ones(len(X), dtype=np.bool_))
    median2 = float(np.median(D2))
    usual = np.square(X - center).sum(axis=1) <= REACH**2 * median2
    return Extent(median2, _width2(X[usual]), usual)


def _width2(X: FloatArray) -> float:
    return float(np.square(np.ptp(X, axis=0)).max())


def varied_deviation(deviation: FloatArray) -> float:
    """`REACH` times the median of the deviations that are not 0, shape (n,); some are not.

    The robust substitute for the range of a column where most values are equal.
    """
    return REACH * float(np.median(deviation[deviation > 0.0]))


def check_magnitude(X: FloatArray) -> None:
    """Refuse data whose squared distances a double cannot hold.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        As the method sees it: scaled.

    Raises
    ------
    ValueError
        Names the value and its place, or the range.
    """
    row, column = np.unravel_index(np.argmax(np.abs(X)), X.shape)
    if abs(X[row, column]) > LARGEST:
        raise ValueError(
            f"X[{row}, {column}] is {X[row, column]}, expected a magnitude up to {LARGEST}"
        )
    widths = np.ptp(X, axis=0)
    widest = int(np.argmax(widths))
    if 0.0 < widths[widest] < LEAST_WIDTH:
        raise ValueError(
            f"the widest column of X, column {widest}, has the range {widths[widest]}, expected at "
            f"least {LEAST_WIDTH}"
        )
