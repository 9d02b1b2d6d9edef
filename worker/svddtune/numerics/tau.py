"""tau: how much the alignment must change when a row's label becomes known.

tau(x) = min(|a - a_in(x)|, |a - a_out(x)|) with a_in and a_out the alignment after x has been
added with that label, and with it the whole change: counts, relabelling, pairs and ybar.

Y'_c takes one value for each of the nine combinations of (y'_i, y'_j), so the three inner
products follow from nine counts, nine sums of Kc and one sum of Kc^2. A new label changes y'
inside NN_k(x) only; the sums are updated at the few edges that touch it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.alignment import LocalAlignment, alignment_of_sums, centred_kernel
from svddtune.numerics.kernel import pair_distances2
from svddtune.numerics.mask import in_mask, wanted_pool
from svddtune.numerics.neighbors import mutual
from svddtune.numerics.pools import relabel
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray, LabelArray

_CLASSES = 9
_VALUES = np.array([-1.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over masked pairs for V label states: count and K (V, 9), KK (V,)."""

    count: FloatArray
    K: FloatArray
    KK: FloatArray

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(self.count + other.count, self.K + other.K, self.KK + other.KK)

    def __sub__(self, other: _Sums) -> _Sums:
        return _Sums(self.count - other.count, self.K - other.K, self.KK - other.KK)

    def alignment(self, ybar: FloatArray) -> FloatArray:
        """Alignment of every state, shape (V,), given the mean of its y', shape (V,)."""
        centred = _VALUES - ybar[:, None]
        Yc = (centred[:, :, None] * centred[:, None, :]).reshape(-1, _CLASSES)
        KY, YY = (self.K * Yc).sum(axis=1), (self.count * np.square(Yc)).sum(axis=1)
        return alignment_of_sums(KY, self.KK, YY, self.count.sum(axis=1))


def tau(
    local: LocalAlignment, X: FloatArray, rows: IndexArray, *, k: int, gamma: float
) -> FloatArray:
    """Score unlabelled rows.

    Parameters
    ----------
    local : LocalAlignment
        Of the labels so far.
    X : FloatArray, shape (N, M)
    rows : IndexArray, shape (n,)
        Candidates, unlabelled.
    k : int
        Locality, at most the width of the neighbour table.
    gamma : float
        Usually the current gamma_opt.

    Returns
    -------
    FloatArray, shape (n,)
        Not negative.
    """
    prep, edges, pools = local.prep, local.edges, local.pools
    n, N = len(rows), prep.N
    weights = prep.weights_at(np.array([gamma]))[0]
    m = float(prep.grand_means @ weights)

    Kc = centred_kernel(edges.D2, local.pair_means @ weights, m, gamma)
    zero = np.zeros(len(edges.i), dtype=np.intp)
    y_i, y_j = pools.y[edges.i], pools.y[edges.j]
    base = _sum(zero, 1, Kc, y_i, y_j, local.mask)
    ybar = np.array([pools.y.sum(dtype=np.int64) / N])
    now = base.alignment(ybar)

    near = prep.nn[rows, :k]
    own_mutual = mutual(prep.nn, rows, k)
    own_i = np.repeat(rows, k)
    near_means = prep.row_means[near.ravel()] @ weights
    own_means = near_means + np.repeat(near_means[::k], k)  # a row is its own first neighbour
    own_Kc = centred_kernel(pair_distances2(X, own_i, near.ravel()), own_means, m, gamma)
    own_state = np.repeat(np.arange(n), k)
    state, edge = _touched(edges.i, edges.j, near, N)
    old = _sum(state, n, Kc[edge], y_i[edge], y_j[edge], local.mask[edge])

    change = np.full(n, np.inf)
    for label in (1, -1):
        gains = np.ones_like(own_mutual) if label == 1 else own_mutual
        more_in, more_out = (gains, 0) if label == 1 else (0, gains)
        y_near = relabel(pools.n_in[near] + more_in, pools.n_out[near] + more_out)
        new_i = _relabelled(edges.i[edge], y_i[edge], near[state], y_near[state])
        new_j = _relabelled(edges.j[edge], y_j[edge], near[state], y_near[state])
        new_mask = in_mask(edges.wanted[edge], new_j)
        new = _sum(state, n, Kc[edge], new_i, new_j, new_mask)
        own_wanted = wanted_pool(np.array(label), own_mutual).ravel()
        own_y_i, own_y_j = np.repeat(y_near[:, 0], k), y_near.ravel()
        own = _sum(own_state, n, own_Kc, own_y_i, own_y_j, in_mask(own_wanted, own_y_j))
        gained = (y_near.astype(np.int64) - pools.y[near]).sum(axis=1)
        after = (base + new + own - old).alignment(ybar + gained / N)
        change = np.minimum(change, np.abs(after - now))
    return change


def _sum(
    state: NDArray[np.intp], states: int, Kc: FloatArray, y_i: LabelArray, y_j: LabelArray,
    mask: BoolArray,
) -> _Sums:  # fmt: skip
    """Add up the masked entries of every state."""
    state, Kc = state[mask], Kc[mask]
    key = state * _CLASSES + 3 * (y_i[mask].astype(np.intp) + 1) + (y_j[mask] + 1)
    shape = (states, _CLASSES)
    return _Sums(
        np.bincount(key, minlength=states * _CLASSES).astype(np.float64).reshape(shape),
        np.bincount(key, Kc, minlength=states * _CLASSES).astype(np.float64).reshape(shape),
        np.bincount(state, np.square(Kc), minlength=states).astype(np.float64),
    )


def _touched(
    i: IndexArray, j: IndexArray, near: IndexArray, N: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the (candidate, edge) combinations with an end of the edge in NN_k(candidate)."""
    E = len(i)
    ends = np.concatenate((i, j))
    order = np.argsort(ends, kind="stable")
    edge_of_end = np.concatenate((np.arange(E), np.arange(E)))[order]
    first = np.searchsorted(ends[order], near.ravel(), side="left")
    count = np.searchsorted(ends[order], near.ravel(), side="right") - first
    stop = np.cumsum(count)
    position = np.arange(stop[-1]) + np.repeat(first - (stop - count), count)
    candidate = np.repeat(np.repeat(np.arange(len(near)), near.shape[1]), count)
    # An edge with both ends inside is found twice.
    both = np.unique(candidate * np.intp(max(E, 1)) + edge_of_end[position])
    return both // max(E, 1), both % max(E, 1)


def _relabelled(
    row: IndexArray, y: LabelArray, near: NDArray[Any], y_near: LabelArray
) -> LabelArray:
    """Give y' of `row` after the change: from `y_near` if the row is in `near`, else as before."""
    hit = near == row[:, None]
    column = hit.argmax(axis=1)
    changed = np.take_along_axis(y_near, column[:, None], axis=1)[:, 0]
    return np.where(hit.any(axis=1), changed, y)
