"""Labels spread over neighbourhoods: the inlier and the outlier pool (paper, "relabelling")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.neighbors import mutual
from svddtune.numerics.types import INLIER, OUTLIER, IndexArray, LabelArray


@dataclass(frozen=True, slots=True)
class Pools:
    """Counts of labelled neighbours and the labels they imply.

    Attributes
    ----------
    n_in : NDArray[np.int32], shape (N,)
        Labelled inliers l with the row in NN_k(l).
    n_out : NDArray[np.int32], shape (N,)
        Labelled outliers l with the row in SNN_k(l).
    y : LabelArray, shape (N,)
        y': +1 in the inlier pool, -1 in the outlier pool, 0 in neither.
    """

    n_in: NDArray[np.int32]
    n_out: NDArray[np.int32]
    y: LabelArray


def relabel(n_in: NDArray[Any], n_out: NDArray[Any]) -> LabelArray:
    """Turn counts into y'.

    Parameters
    ----------
    n_in, n_out : integer arrays of one shape
        Labelled inliers and outliers that speak for each row.

    Returns
    -------
    LabelArray, same shape
        +1 where n_in / (n_in + n_out) > 0.5, -1 where it is at most 0.5, 0 without any count.

    Notes
    -----
    Deviation: the paper asks for 0 < ratio in the outlier pool, which would drop an outlier that
    no inlier's neighbourhood touches; its own text and code keep it, and so does this.
    """
    pool = (n_in > n_out).astype(np.int8)
    pool -= (n_out >= n_in) & (n_out > 0)
    return pool


def spread(nn: IndexArray, labels: LabelArray, *, k: int) -> Pools:
    """Spread the oracle's labels over the neighbourhoods.

    Parameters
    ----------
    nn : IndexArray, shape (N, K)
        From `nearest`, K >= k.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    k : int
        Locality, at most K.

    Returns
    -------
    Pools
    """
    N = len(labels)
    inliers = np.flatnonzero(labels == INLIER)
    outliers = np.flatnonzero(labels == OUTLIER)
    near_outliers = nn[outliers, :k][mutual(nn, outliers, k)]
    n_in = np.bincount(nn[inliers, :k].ravel(), minlength=N).astype(np.int32)
    n_out = np.bincount(near_outliers, minlength=N).astype(np.int32)
    return Pools(n_in, n_out, relabel(n_in, n_out))
