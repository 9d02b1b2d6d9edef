"""What the rows that a model was fitted on were like, in few numbers: worker and client share it.

It tells which features of a row are unusual, and whether new rows are like those of the fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEVIATION_CAP = 99.0
"""Largest deviation reported; also that of a value that differs where all others are equal."""

POINTS = 33
"""Largest number of points of a sketch."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """A distribution by some of its points.

    Attributes
    ----------
    points : array, shape (K,)
        Values that occur, ascending; all of them if they are at most `POINTS`, else those at even
        steps of the share of values below, the least and the largest included.
    shares : array, shape (K,)
        Share of the values up to and including each point, ascending; the last one is 1.

    Raises
    ------
    ValueError
        If the parts do not fit together.
    """

    points: Array
    shares: Array

    def __post_init__(self) -> None:
        if self.points.ndim != 1 or self.points.shape != self.shares.shape or not len(self.points):
            raise ValueError(
                f"a sketch has points of shape {self.points.shape} and shares of shape "
                f"{self.shares.shape}, expected as many and at least one"
            )
        if not np.isfinite(self.points).all() or (np.diff(self.points) <= 0).any():
            raise ValueError("the points of a sketch do not ascend, or are not finite")
        if not (np.diff(self.shares, prepend=0.0) > 0).all() or abs(self.shares[-1] - 1) > 1e-9:
            raise ValueError("the shares of a sketch do not ascend from above 0 to 1")

    @classmethod
    def of(cls, values: Array) -> Sketch:
        """Sketch finite values, shape (n,), at least one."""
        ascending = np.sort(values)
        points = np.unique(ascending)
        if len(points) > POINTS:
            steps = np.linspace(0, len(ascending) - 1, POINTS).round().astype(np.int64)
            points = np.unique(ascending[steps])
        counts = np.searchsorted(ascending, points, side="right")
        return cls(points, counts / len(ascending))

    def shift(self, values: Array) -> float:
        """Largest difference between the shares of `values`, shape (n,), and those of the sketch.

        It is the Kolmogorov-Smirnov distance, in [0, 1], taken at the points of the sketch.
        """
        counts = np.searchsorted(np.sort(values), self.points, side="right")
        # Below the least point the sketch has no values.
        below = float((values < self.points[0]).mean())
        return max(below, float(np.abs(counts / len(values) - self.shares).max()))


@dataclass(frozen=True, eq=False)
class Profile:
    """The rows that a model was fitted on, and rows that it was not fitted on.

    Attributes
    ----------
    center, spread : array, shape (M,)
        Of each raw column: median, and a robust standard deviation, 0 for a constant column.
    columns : tuple of Sketch, length M
        The values of each raw column.
    count : int
        Rows that the columns were measured on, N.
    fresh_count : int
        Rows that were left out of a fit in turn and then judged by it. New rows of the same kind
        fare alike; the rows of the fit itself fare better, because it adapts to them.
    fresh_outside : float
        Share of these that were outside.
    fresh_gap2 : float
        Largest squared distance, as the kernel sees rows, of one of these to its nearest support
        vector.

    Raises
    ------
    ValueError
        If the parts do not fit together.
    """

    center: Array
    spread: Array
    columns: tuple[Sketch, ...]
    count: int
    fresh_count: int
    fresh_outside: float
    fresh_gap2: float

    def __post_init__(self) -> None:
        M = len(self.columns)
        if self.center.shape != (M,) or self.spread.shape != (M,):
            raise ValueError(
                f"a profile of {M} columns has centers of shape {self.center.shape} and spreads of "
                f"shape {self.spread.shape}"
            )
        if not np.isfinite(self.center).all() or not (self.spread >= 0).all():
            raise ValueError("a profile has a center or spread that is no finite number")
        if not 0 <= self.fresh_outside <= 1 or not self.fresh_gap2 >= 0:
            raise ValueError("a profile has shares or distances out of range")
        if self.count < 1 or self.fresh_count < 0:
            raise ValueError("a profile is of no rows")

    def deviations(self, raw: Array) -> Array:
        """Return how far raw values, shape (n, M), lie from the centre, see `deviations`."""
        return deviations(raw, self.center, self.spread)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All parts as plain arrays, for storage elsewhere; the names begin with ``profile_``."""
        return {
            "profile_center": self.center,
            "profile_spread": self.spread,
            "profile_sizes": np.array([len(one.points) for one in self.columns], dtype=np.int32),
            "profile_points": np.concatenate([np.empty(0), *(one.points for one in self.columns)]),
            "profile_shares": np.concatenate([np.empty(0), *(one.shares for one in self.columns)]),
            "profile_rows": np.array(
                [self.count, self.fresh_count, self.fresh_outside, self.fresh_gap2]
            ),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Profile | None:
        """Inverse of `to_arrays`; None where there is no profile among `arrays`.

        Raises
        ------
        ValueError
            If the arrays do not fit together.
        KeyError
            If some are missing.
        """
        if "profile_rows" not in arrays:
            return None
        ends = np.cumsum(np.asarray(arrays["profile_sizes"], dtype=np.int64))[:-1]
        points, shares = (
            np.split(np.asarray(arrays[name], dtype=np.float64), ends)
            for name in ("profile_points", "profile_shares")
        )
        count, fresh_count, outside, gap2 = np.asarray(arrays["profile_rows"], dtype=np.float64)
        return cls(
            center=np.asarray(arrays["profile_center"], dtype=np.float64),
            spread=np.asarray(arrays["profile_spread"], dtype=np.float64),
            columns=tuple(map(Sketch, points, shares)),
            count=int(count),
            fresh_count=int(fresh_count),
            fresh_outside=float(outside),
            fresh_gap2=float(gap2),
        )


def sketches(X: Array) -> tuple[Sketch, ...]:
    """Sketch every column of X, shape (n, M)."""
    columns: Iterable[Array] = X.T
    return tuple(Sketch.of(column) for column in columns)


def deviations(values: Array, center: Array, spread: Array) -> Array:
    """How far values lie from the centre, in units of the spread.

    Parameters
    ----------
    values : array, shape (n, M)
        Values in the units of the columns.
    center, spread : array, shape (M,)
        Of the columns; a spread is not negative.

    Returns
    -------
    array, shape (n, M)
        Signed, between -`DEVIATION_CAP` and `DEVIATION_CAP`; at the bounds where the spread is 0
        and the value is not the centre.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = (values - center) / spread
    # 0 / 0: the value is the centre.
    return np.clip(np.nan_to_num(ratio, nan=0.0), -DEVIATION_CAP, DEVIATION_CAP)


def most_unusual(deviation: Array, count: int) -> NDArray[np.int64]:
    """Columns with the largest deviations of each row.

    Parameters
    ----------
    deviation : array, shape (n, M)
        From `deviations`.
    count : int
        At most M are returned.

    Returns
    -------
    array, shape (n, min(count, M))
        Most unusual first, ties by lower column.
    """
    return np.argsort(-np.abs(deviation), axis=1, kind="stable")[:, :count]
