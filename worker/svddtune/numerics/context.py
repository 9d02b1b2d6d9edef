"""Context to judge a row by: labelled rows near it, and its unusual features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.extent import varied_deviation
from svddtune.numerics.kernel import pair_distances2, squared_distances
from svddtune.numerics.types import FloatArray, IndexArray

UNEVEN = 1000.0
"""Columns whose scales differ by a larger factor do not weigh alike in a distance."""

_MAD_TO_SIGMA = 1.4826  # a normal distribution's standard deviation over its MAD
_SPARE = 8  # candidates beyond those wanted, among which exact distances decide
_BLOCK = 1 << 22  # numbers held at once by the medians


@dataclass(frozen=True, slots=True)
class Spread:
    """Centre and scale of each column.

    Attributes
    ----------
    center : FloatArray, shape (M,)
        Medians.
    scale : FloatArray, shape (M,)
        1.4826 times the median absolute deviation; the standard deviation where that is 0, as it
        is where most values are equal, with extreme values pulled in to `extent.REACH` median
        deviations of those that differ; 0 for a constant column.
    """

    center: FloatArray
    scale: FloatArray


def spread_of(rows: FloatArray) -> Spread:
    """Robust centre and scale of every column.

    Parameters
    ----------
    rows : FloatArray, shape (n, M)
        At least one row.

    Returns
    -------
    Spread

    Raises
    ------
    ValueError
        If there are no rows.
    """
    n, M = rows.shape
    if n < 1:
        raise ValueError(f"rows have shape {rows.shape}, expected at least one row")
    center, scale = np.empty(M), np.empty(M)
    step = max(1, _BLOCK // n)
    for start in range(0, M, step):
        part = slice(start, start + step)
        # Columns in one piece each: medians along the last axis are much the faster ones.
        columns = np.ascontiguousarray(rows[:, part].T)
        center[part] = np.median(columns, axis=1)
        mad = np.median(np.abs(columns - center[part, None]), axis=1)
        scale[part] = _MAD_TO_SIGMA * mad
        flat = np.flatnonzero(mad == 0.0)
        # (By the range: the standard deviation of equal values need not come out as 0.)
        varied = flat[np.ptp(columns[flat], axis=1) > 0.0]
        for column in varied:
            deviation = columns[column] - center[start + column]
            reach = varied_deviation(np.abs(deviation))
            scale[start + column] = np.clip(deviation, -reach, reach).std()
    return Spread(center, scale)


def nearest_labelled(
    X: FloatArray, rows: IndexArray, labelled: IndexArray, count: int
) -> tuple[IndexArray, FloatArray]:
    """Labelled rows nearest to each of some rows.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Scaled.
    rows : IndexArray, shape (n,)
        None of them labelled.
    labelled : IndexArray, shape (L,)
        Without repetition.
    count : int
        At most L are returned.

    Returns
    -------
    neighbours : IndexArray, shape (n, min(count, L))
        Nearest first, ties by lower row.
    distance2 : FloatArray, shape (n, min(count, L))
        Squared distances, from differences.
    """
    rows = np.asarray(rows, dtype=np.int64)
    labelled = np.sort(labelled)
    candidates = np.broadcast_to(labelled, (len(rows), len(labelled)))
    if len(labelled) > count + _SPARE:
        near = squared_distances(X[rows], X[labelled])
        few = np.argpartition(near, count + _SPARE, axis=1)[:, : count + _SPARE]
        candidates = np.take_along_axis(candidates, np.sort(few, axis=1), axis=1)
    width = candidates.shape[1]
    distance2 = pair_distances2(X, np.repeat(rows, width), candidates.ravel())
    distance2 = distance2.reshape(len(rows), width)
    order = np.argsort(distance2, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(candidates, order, 1), np.take_along_axis(distance2, order, 1)


@dataclass(frozen=True, slots=True)
class UnevenColumns:
    """The columns of largest and least scale, and the quotient of these."""

    wide: int
    narrow: int
    ratio: float


def uneven_columns(X: FloatArray) -> UnevenColumns | None:
    """Tell columns whose scales differ so much that distances are those of the wide ones alone.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        As the method sees it: scaled.

    Returns
    -------
    UnevenColumns or None
        None up to a ratio of `UNEVEN`. Constant columns do not count.
    """
    scale = spread_of(X).scale
    varied = np.flatnonzero(scale > 0.0)
    if len(varied) == 0:
        return None
    wide = int(varied[np.argmax(scale[varied])])
    narrow = int(varied[np.argmin(scale[varied])])
    ratio = float(scale[wide] / scale[narrow])
    return UnevenColumns(wide, narrow, ratio) if ratio > UNEVEN else None
