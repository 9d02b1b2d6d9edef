"""k-nearest, mutual and reverse neighbours.

NN_k(x) holds x itself first, even where duplicates exist, then the rows by distance, ties by
lower row index. RNN_k(x) = {l : x in NN_k(l)}, SNN_k(x) = NN_k(x) and RNN_k(x) in common.
NN_k is a prefix of NN_K for k <= K: one table serves every smaller k.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.checkpoint import checkpoint
from svddtune.numerics.kernel import pair_distances2
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray

_BLOCK = 1 << 21  # numbers held at once in a block of approximate distances
_GROUP = 16  # columns whose least distance stands for all of them in the threshold search


def distinct_rows(X: FloatArray) -> tuple[IndexArray, IndexArray]:
    """Group equal rows.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.

    Returns
    -------
    first : IndexArray, shape (G,)
        Lowest row of each group, ascending.
    group : IndexArray, shape (N,)
        Group of every row.
    """
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 and 0.0 are equal but differ in their bytes
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse]


def nearest(X: FloatArray, k: int) -> NDArray[np.int32]:
    """NN_k of every row.

    A matrix product gives approximate distances with a known error, which only shortlist the
    rows that can be among the k nearest. Distances from differences decide among those, so that
    the answer depends neither on the BLAS nor on its threads.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    k : int
        Neighbours a row, itself included; capped at N.

    Returns
    -------
    NDArray[np.int32], shape (N, min(k, N))
        The row itself first, then nearest first.

    Raises
    ------
    ValueError
        If `k` is below 1 or `X` has no rows.
    """
    if k < 1:
        raise ValueError(f"k is {k}, expected at least 1")
    if len(X) < 1:
        raise ValueError("X has no rows, expected at least 1")
    return spread_lists(X, neighbor_lists(X, k, 0, len(X)))


def neighbor_lists(X: FloatArray, k: int, begin: int, end: int) -> NDArray[np.int32]:
    """Nearest rows of some of the distinct rows: a part of `nearest`.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    k : int
        As for `nearest`.
    begin, end : int
        Which distinct rows, by their order in `distinct_rows`; those beyond the last are none.

    Returns
    -------
    NDArray[np.int32], shape (n, min(k, N))
        Nearest first. The same whatever the parts are.
    """
    N = len(X)
    k = min(k, N)
    first, group = distinct_rows(X)
    begin, end = min(begin, len(first)), min(end, len(first))
    # Equal rows share one list. At most k rows of a group can be anybody's neighbours.
    by_group = np.argsort(group, kind="stable")
    start = np.searchsorted(group[by_group], np.arange(len(first)))
    size = np.minimum(np.diff(np.append(start, N)), k)
    lists = np.empty((end - begin, k), dtype=np.int32)
    # (The median: extreme rows would draw a mean away from all others, and their digits with it.)
    Z = X[first] - np.median(X[first], axis=0)
    norm2 = np.square(Z).sum(axis=1)
    step = max(1, _BLOCK // len(first))
    for top in range(begin, end, step):
        checkpoint()
        bottom = min(top + step, end)
        center, member = _shortlist(Z, norm2, top, bottom, k)
        D2 = pair_distances2(X, first[top + center], first[member])
        repeat = size[member]
        ends = np.cumsum(repeat)
        offset = np.arange(ends[-1]) - np.repeat(ends - repeat, repeat)
        row = by_group[np.repeat(start[member], repeat) + offset]
        center, D2 = np.repeat(center, repeat), np.repeat(D2, repeat)
        order = np.lexsort((row, D2, center))
        heads = np.searchsorted(center[order], np.arange(bottom - top))
        lists[top - begin : bottom - begin] = row[order[heads[:, None] + np.arange(k)]]
    return lists


def spread_lists(X: FloatArray, lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """NN_k of every row from `neighbor_lists` of all distinct rows, shape (G, k)."""
    _, group = distinct_rows(X)
    return _self_first(lists[group], lists.shape[1])


def _shortlist(
    Z: FloatArray, norm2: FloatArray, begin: int, end: int, k: int
) -> tuple[IndexArray, IndexArray]:
    """Pairs (block row, group) that can be among the k nearest groups of that row.

    Z, shape (G, M), holds the groups' rows about a common centre, norm2 their squared norms.
    """
    # |computed - true| <= slack (|x|^2 + |z|^2) for the expanded form, generously.
    slack = 4.0 * (Z.shape[1] + 8) * np.finfo(np.float64).eps
    lower = Z[begin:end] @ (-2.0 * Z).T
    lower += (1.0 - slack) * norm2[begin:end, None]
    lower += (1.0 - slack) * norm2
    if lower.shape[1] <= k:
        limit = np.full(end - begin, np.inf)
    else:
        # k columns lie at or below the k-th smallest of the group minima. With a true squared
        # distance d2, |z|^2 <= 2 |x|^2 + 2 d2 turns that into a bound of the k-th smallest d2.
        full = lower.shape[1] // _GROUP
        if full > k:
            minima = lower[:, : full * _GROUP].reshape(len(lower), full, _GROUP).min(axis=2)
        else:
            minima = lower
        kth = np.maximum(np.partition(minima, k - 1, axis=1)[:, k - 1], 0.0)
        limit = (kth + 6.0 * slack * norm2[begin:end]) / (1.0 - 4.0 * slack)
    center, member = np.nonzero(lower <= limit[:, None])
    return center, member


def _self_first(lists: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """Move each row to the front of its own list, or put it there."""
    N = len(lists)
    own = np.arange(N, dtype=np.int32)
    hit = lists == own[:, None]
    position = np.where(hit.any(axis=1), hit.argmax(axis=1), k - 1)
    shifted = np.empty_like(lists)
    shifted[:, 0] = own
    column = np.arange(1, k)
    source = np.where(column[None, :] <= position[:, None], column - 1, column)
    shifted[:, 1:] = np.take_along_axis(lists, source, axis=1)
    return shifted


def mutual(nn: IndexArray, rows: IndexArray, k: int) -> BoolArray:
    """Tell which neighbours of `rows` have them as neighbours too.

    Parameters
    ----------
    nn : IndexArray, shape (N, K)
        From `nearest`, K >= k.
    rows : IndexArray, shape (n,)
        Rows to ask for, 0-based.
    k : int
        Locality.

    Returns
    -------
    BoolArray, shape (n, k)
        True at [a, b] where nn[rows[a], b] is in SNN_k(rows[a]).
    """
    theirs = nn[nn[rows, :k], :k]
    return np.asarray((theirs == np.asarray(rows)[:, None, None]).any(axis=2))


def reverse(nn: IndexArray, row: int, k: int) -> IndexArray:
    """RNN_k of one row, ascending.

    Parameters
    ----------
    nn : IndexArray, shape (N, K)
        From `nearest`, K >= k.
    row : int
        Row to ask for, 0-based.
    k : int
        Locality.

    Returns
    -------
    IndexArray
        Rows l with `row` in NN_k(l); at least the row itself.
    """
    return np.flatnonzero((nn[:, :k] == row).any(axis=1))
