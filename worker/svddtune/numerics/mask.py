"""Which ordered pairs of rows enter the local alignment.

Only labelled rows start pairs, so at most k pairs stand behind each label. A row i labelled
inlier contributes (i, j) for j in NN_k(i) with y'_j != 0. A row i labelled outlier contributes
(i, j) for j in SNN_k(i) with y'_j = -1, and for j in NN_k(i) without RNN_k(i) with y'_j = +1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.kernel import pair_distances2
from svddtune.numerics.neighbors import mutual
from svddtune.numerics.types import INLIER, BoolArray, FloatArray, IndexArray, LabelArray

ANY_POOL = 0


@dataclass(frozen=True, slots=True)
class Edges:
    """All pairs (i, j) with i labelled and j in NN_k(i); the mask is a subset of them.

    Attributes
    ----------
    i, j : IndexArray, shape (E,)
    wanted : LabelArray, shape (E,)
        y'_j with which the pair is in the mask: +1, -1, or `ANY_POOL` for either.
    D2 : FloatArray, shape (E,)
        Squared distances.
    """

    i: IndexArray
    j: IndexArray
    wanted: LabelArray
    D2: FloatArray


def wanted_pool(labels: NDArray[Any], is_mutual: BoolArray) -> LabelArray:
    """Pool that j must be in, for row labels and mutuality of one broadcast shape."""
    wanted = np.where(labels == INLIER, ANY_POOL, np.where(is_mutual, -1, 1))
    return wanted.astype(np.int8)


def in_mask(wanted: LabelArray, y_j: LabelArray) -> BoolArray:
    """Tell which edges are pairs of the mask, given y' of their second rows."""
    return np.asarray((y_j != 0) & ((wanted == ANY_POOL) | (wanted == y_j)))


def labelled_edges(X: FloatArray, nn: IndexArray, labels: LabelArray, *, k: int) -> Edges:
    """Edges of all labelled rows, in ascending order of i, nearest j first.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    nn : IndexArray, shape (N, K)
        From `nearest`, K >= k.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    k : int
        At most K.

    Returns
    -------
    Edges
        E = k times the number of labels.
    """
    rows = np.flatnonzero(labels)
    i, j = np.repeat(rows, k), nn[rows, :k].ravel()
    wanted = wanted_pool(labels[rows][:, None], mutual(nn, rows, k)).ravel()
    return Edges(i, j, wanted, pair_distances2(X, i, j))


def mask_pairs(edges: Edges, y: LabelArray) -> BoolArray:
    """Tell which edges are in the mask.

    Parameters
    ----------
    edges : Edges
        All edges of labelled rows.
    y : LabelArray, shape (N,)
        y' of all rows.

    Returns
    -------
    BoolArray, shape (E,)
    """
    return in_mask(edges.wanted, y[edges.j])
