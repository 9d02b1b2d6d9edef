"""Alignments other than the method's, as functions of gamma: to compare and to illustrate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svddtune.numerics import FloatArray, IndexArray, LabelArray, Preparation, local_alignment
from svddtune.numerics.alignment import aligned, centred_kernel
from svddtune.numerics.kernel import pair_distances2
from svddtune.numerics.mask import in_mask

Curve = Callable[[FloatArray], FloatArray]
"""From gamma, shape (G,), to alignment, shape (G,)."""


def global_alignment(prep: Preparation, X: FloatArray, labels: LabelArray) -> Curve:
    """Align over all ordered pairs of labelled rows, centred over all rows as the local one."""
    i, j = _labelled_pairs(labels)
    return _over_pairs(prep, X, i, j, labels.astype(np.float64))


def unspread_alignment(prep: Preparation, X: FloatArray, labels: LabelArray, *, k: int) -> Curve:
    """Align as the method does, but without relabelling: y' is the oracle's labels."""
    edges = local_alignment(prep, X, labels, k=k).edges
    mask = in_mask(edges.wanted, labels[edges.j])
    return _over_pairs(prep, X, edges.i[mask], edges.j[mask], labels.astype(np.float64))


def balanced_alignment(prep: Preparation, X: FloatArray, labels: LabelArray, *, k: int) -> Curve:
    """Align as the method does, with y' of each class divided by the number of its rows.

    The authors adjust y to the class frequencies in their global alignment.
    """
    local = local_alignment(prep, X, labels, k=k)
    y, i, j = local.pools.y, local.edges.i[local.mask], local.edges.j[local.mask]
    share = np.where(y == 1, max(1, np.sum(y == 1)), max(1, np.sum(y == -1)))
    return _over_pairs(prep, X, i, j, y / share)


def plain_global_alignment(X: FloatArray, labels: LabelArray) -> Curve:
    """Align over all ordered pairs of labelled rows, without centring: no other row counts."""
    i, j = _labelled_pairs(labels)
    D2, Y = pair_distances2(X, i, j)[:, None], (labels[i] * labels[j]).astype(np.float64)
    return lambda gamma: aligned(np.exp(-gamma * D2), Y)


def _labelled_pairs(labels: LabelArray) -> tuple[IndexArray, IndexArray]:
    rows = np.flatnonzero(labels)
    return np.repeat(rows, len(rows)), np.tile(rows, len(rows))


def _over_pairs(
    prep: Preparation, X: FloatArray, i: IndexArray, j: IndexArray, y: FloatArray
) -> Curve:
    D2 = pair_distances2(X, i, j)[:, None]
    pair_means = prep.row_means[i] + prep.row_means[j]
    Yc = (y[i] - y.mean()) * (y[j] - y.mean())

    def curve(gamma: FloatArray) -> FloatArray:
        W = prep.weights_at(gamma).T
        return aligned(centred_kernel(D2, pair_means @ W, prep.grand_means @ W, gamma), Yc)

    return curve
