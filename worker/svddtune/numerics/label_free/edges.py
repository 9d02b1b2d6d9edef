"""Rows on the edge of the data, and the direction away from their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.neighbors import nearest
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray

EDGE_SHARE = 0.9
_BLOCK = 1 << 21
_NO_DIRECTION = 1e-12


@dataclass(frozen=True, slots=True)
class Outward:
    """Where the neighbours of each row are not.

    Attributes
    ----------
    near : IndexArray, shape (N, K)
        Nearest others, nearest first.
    direction : FloatArray, shape (N, M)
        Unit vectors n_i/|n_i| away from the neighbours; zero where there is none.
    edge : BoolArray, shape (N,)
        Rows on the edge of the data.
    distance : FloatArray, shape (N,)
        Mean distance to the neighbours.
    duplicated : BoolArray, shape (N,)
        Rows with an equal row among their neighbours.
    """

    near: IndexArray
    direction: FloatArray
    edge: BoolArray
    distance: FloatArray
    duplicated: BoolArray


def neighbor_count(N: int) -> int:
    """K = ceil(5 log10 N), at least 1 and at most N - 1."""
    return max(1, min(N - 1, int(np.ceil(round(5.0 * np.log10(N), 9)))))


def outward(X: FloatArray, *, K: int | None = None, share: float = EDGE_SHARE) -> Outward:
    """Find the direction away from the neighbours, and the rows on the edge.

    With unit vectors v_ij from neighbour j to row i and n_i = sum_j v_ij, a row is on the edge
    where v_ij . n_i >= 0 for at least `share` of its neighbours.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        N >= 2.
    K : int, optional
        Neighbours, `neighbor_count` by default.
    share : float
        Least share of neighbours on the inner side, in [0, 1].

    Returns
    -------
    Outward

    Notes
    -----
    An equal row has no direction: it is left out of the sum and of the share.
    """
    N, M = X.shape
    K = neighbor_count(N) if K is None else min(K, N - 1)
    near = nearest(X, K + 1)[:, 1:]
    direction = np.zeros((N, M))
    edge, duplicated = np.zeros(N, dtype=np.bool_), np.zeros(N, dtype=np.bool_)
    distance = np.zeros(N)
    step = max(1, _BLOCK // (K * M))
    for a in range(0, N, step):
        b = slice(a, min(a + step, N))
        v = X[b, None, :] - X[near[b]]
        d = np.sqrt(np.square(v).sum(axis=2))
        v /= np.where(d > 0.0, d, 1.0)[:, :, None]
        n = v.sum(axis=1)
        length = np.sqrt(np.square(n).sum(axis=1))
        known = (d > 0.0).sum(axis=1)
        defined = length > _NO_DIRECTION * K
        agree = ((np.einsum("bkm,bm->bk", v, n) >= 0.0) & (d > 0.0)).sum(axis=1)
        # Shares are ratios of small counts: rounding must not decide about equality.
        edge[b] = defined & (agree >= share * known - 1e-9)
        direction[b] = np.where(defined, 1.0 / np.where(defined, length, 1.0), 0.0)[:, None] * n
        distance[b], duplicated[b] = d.mean(axis=1), known < K
    return Outward(near, direction, edge, distance, duplicated)
