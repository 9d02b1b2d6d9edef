"""Edge rows, and the pseudo-outliers and pseudo-targets that data shifting makes of the rows."""

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


@dataclass(frozen=True, slots=True)
class Shifted:
    """Pseudo rows: `outliers`, shape (E, M), `targets`, shape (T, M), and the edge rows, (E,)."""

    outliers: FloatArray
    targets: FloatArray
    edge: IndexArray


def neighbour_count(N: int) -> int:
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
        Neighbours, `neighbour_count` by default.
    share : float

    Returns
    -------
    Outward

    Notes
    -----
    An equal row has no direction: it is left out of the sum and of the share.
    """
    N, M = X.shape
    K = neighbour_count(N) if K is None else min(K, N - 1)
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


def shift(X: FloatArray, *, K: int | None = None, authors: bool = False) -> Shifted:
    """Move edge rows out of the data and all rows into it.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        N >= 2.
    K : int, optional
        Neighbours, ceil(5 log10 N) by default.
    authors : bool
        A row with an equal row among its neighbours makes no pseudo row, as in the authors'
        code, where the unit vector of a zero difference is not a number.

    Returns
    -------
    Shifted
        Pseudo-outliers are edge rows moved along n_i/|n_i| by l, the mean over edge rows of
        their mean distance to the neighbours. Pseudo-targets are rows moved along -n_i/|n_i|,
        up the density, by the smallest positive projection of their neighbours on that
        direction; rows without one make none.

    Notes
    -----
    Source: Wang et al., *Hyperparameter selection of one-class support vector machine by
    self-adaptive data shifting* (2018), as described with the LAMA paper. Some public versions of
    SVDD.jl move the pseudo-targets along n_i/|n_i|, away from the density; the paper's columns
    agree with the direction here.
    """
    found = outward(X, K=K)
    usable = ~found.duplicated if authors else np.ones(len(X), dtype=np.bool_)
    edge = np.flatnonzero(found.edge & usable)
    length = found.distance[edge].mean() if len(edge) else 0.0
    outliers = X[edge] + length * found.direction[edge]
    inward = -found.direction
    step = max(1, _BLOCK // (found.near.shape[1] * X.shape[1]))
    amount = np.concatenate(
        [
            _least_positive(X, found.near, inward, a, min(a + step, len(X)))
            for a in range(0, len(X), step)
        ]
    )
    moved = np.isfinite(amount) & usable
    return Shifted(outliers, X[moved] + amount[moved, None] * inward[moved], edge)


def _least_positive(
    X: FloatArray, near: IndexArray, direction: FloatArray, a: int, b: int
) -> FloatArray:
    """Smallest positive projection of the neighbours on the direction, infinite where none is."""
    along = np.einsum("bkm,bm->bk", X[near[a:b]] - X[a:b, None, :], direction[a:b])
    return np.asarray(np.where(along > 0.0, along, np.inf).min(axis=1))
