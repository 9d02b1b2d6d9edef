"""Pseudo-outliers and pseudo-targets that data shifting makes of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.label_free.edges import outward
from svddtune.numerics.types import FloatArray, IndexArray

_BLOCK = 1 << 21


@dataclass(frozen=True, slots=True)
class Shifted:
    """Pseudo rows: `outliers`, shape (E, M), `targets`, shape (T, M), and the edge rows, (E,)."""

    outliers: FloatArray
    targets: FloatArray
    edge: IndexArray


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
