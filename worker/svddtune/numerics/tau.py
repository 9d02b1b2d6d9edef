"""tau: how much the alignment must change when a row's label becomes known.

tau(x) = min(|a - a_in(x)|, |a - a_out(x)|) with a_in and a_out the alignment after x has been
added with that label, and with it the whole change: counts, relabelling, pairs and ybar. As
printed in the paper, L'' is L' and x: the label of x is not spread, so y' changes at x alone.

Y'_c takes one value for each of the nine combinations of (y'_i, y'_j), so the three inner
products follow from nine counts, nine sums of Kc and one sum of Kc^2. A new label changes y'
inside NN_k(x) only; the sums are updated at the few edges that touch it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.alignment import LocalAlignment, alignment_of_sums, centred_kernel
from svddtune.numerics.kernel import pair_distances2
from svddtune.numerics.mask import in_mask, wanted_pool
from svddtune.numerics.neighbors import mutual
from svddtune.numerics.pools import relabel
from svddtune.numerics.types import (
    INLIER,
    OUTLIER,
    BoolArray,
    FloatArray,
    IndexArray,
    LabelArray,
)

TauRule = Literal["propagated", "printed"]
TAU_RULES: tuple[TauRule, ...] = ("propagated", "printed")

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


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Candidates and the edges that a label on them touches.

    Attributes
    ----------
    near : IndexArray, shape (n, k)
        NN_k of each candidate, itself first.
    is_mutual : BoolArray, shape (n, k)
        Which of them are in SNN_k.
    own_Kc : FloatArray, shape (n k,)
        Centred kernel of the edges that a candidate would start.
    state, edge : shape (T,)
        Combinations of a candidate and an existing edge with an end in its NN_k.
    """

    near: IndexArray
    is_mutual: BoolArray
    own_Kc: FloatArray
    state: NDArray[np.intp]
    edge: NDArray[np.intp]


def tau(
    local: LocalAlignment,
    X: FloatArray,
    rows: IndexArray,
    *,
    k: int,
    gamma: float,
    rule: TauRule = "propagated",
) -> FloatArray:
    """Score unlabelled rows.

    Parameters
    ----------
    local : LocalAlignment
        Of the labels so far.
    X : FloatArray, shape (N, M)
        Observations, finite.
    rows : IndexArray, shape (n,)
        Candidates, unlabelled.
    k : int
        Locality, at most the width of the neighbour table.
    gamma : float
        Usually the current gamma_opt.
    rule : {"propagated", "printed"}
        propagated: the label of a row is spread over its neighbourhood like any other. printed:
        y' takes the label at the row itself and stays as it is elsewhere.

    Returns
    -------
    FloatArray, shape (n,)
        Not negative.

    Raises
    ------
    ValueError
        If `rule` is unknown.

    Notes
    -----
    Deviation: the paper prints L'' = L' and x. Its text and code add x to the labels before these
    are spread, and so does the default.
    """
    if rule not in TAU_RULES:
        raise ValueError(f"rule is {rule!r}, expected one of {TAU_RULES}")
    prep, edges, y = local.prep, local.edges, local.pools.y
    weights = prep.weights_at(np.array([gamma]))[0]
    m = float(prep.grand_means @ weights)
    near = prep.nn[rows, :k]
    near_means = prep.row_means[near.ravel()] @ weights
    own_means = near_means + np.repeat(near_means[::k], k)  # a row is its own first neighbour
    own_D2 = pair_distances2(X, np.repeat(rows, k), near.ravel())
    candidates = _Candidates(
        near,
        mutual(prep.nn, rows, k),
        centred_kernel(own_D2, own_means, m, gamma),
        *_touched(edges.i, edges.j, near),
    )
    Kc = centred_kernel(edges.D2, local.pair_means @ weights, m, gamma)
    zero = np.zeros(len(Kc), dtype=np.intp)
    base = _sum(zero, 1, Kc, y[edges.i], y[edges.j], local.mask)
    now = base.alignment(np.array([y.mean()]))
    edge = candidates.edge
    old = _sum(
        candidates.state, len(rows), Kc[edge], y[edges.i[edge]], y[edges.j[edge]], local.mask[edge]
    )
    untouched = base - old
    a_in, a_out = (
        _after(label, local, candidates, Kc, untouched, rule) for label in (INLIER, OUTLIER)
    )
    return np.minimum(np.abs(now - a_in), np.abs(now - a_out))


def _after(
    label: int,
    local: LocalAlignment,
    candidates: _Candidates,
    Kc: FloatArray,
    untouched: _Sums,
    rule: TauRule,
) -> FloatArray:
    """Alignment after each candidate has got `label`, shape (n,)."""
    edges, pools, near = local.edges, local.pools, candidates.near
    n, k = near.shape
    if rule == "printed":
        y_near = pools.y[near]
        y_near[:, 0] = label
    else:
        more_in = np.int32(label == INLIER)
        more_out = candidates.is_mutual & (label == OUTLIER)
        y_near = relabel(pools.n_in[near] + more_in, pools.n_out[near] + more_out)

    state, edge = candidates.state, candidates.edge
    near_edge, y_edge = near[state], y_near[state]
    y_i = _relabelled(edges.i[edge], pools.y, near_edge, y_edge)
    y_j = _relabelled(edges.j[edge], pools.y, near_edge, y_edge)
    new = _sum(state, n, Kc[edge], y_i, y_j, in_mask(edges.wanted[edge], y_j))

    wanted = wanted_pool(np.array(label), candidates.is_mutual).ravel()
    own_j = y_near.ravel()
    own_i = np.repeat(y_near[:, 0], k)
    own_state = np.repeat(np.arange(n), k)
    own = _sum(own_state, n, candidates.own_Kc, own_i, own_j, in_mask(wanted, own_j))

    gained = (y_near.astype(np.int64) - pools.y[near]).sum(axis=1)
    return (untouched + new + own).alignment(pools.y.mean() + gained / local.prep.N)


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
    i: IndexArray, j: IndexArray, near: IndexArray
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the (candidate, edge) combinations with an end of the edge in NN_k(candidate)."""
    E = len(i)
    ends = np.concatenate((i, j))
    order = np.argsort(ends, kind="stable")
    edge_of_end = np.concatenate((np.arange(E), np.arange(E)))[order]
    first = np.searchsorted(ends[order], near.ravel(), side="left")
    count = np.searchsorted(ends[order], near.ravel(), side="right") - first
    stop = np.cumsum(count)
    position = np.arange(count.sum()) + np.repeat(first - (stop - count), count)
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
    return np.where(hit.any(axis=1), changed, y[row])
