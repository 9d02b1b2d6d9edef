"""Which row to ask the oracle about next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from svddtune.numerics.alignment import best_gamma, local_alignment
from svddtune.numerics.heuristics import scott_gamma
from svddtune.numerics.kernel import pair_distances2
from svddtune.numerics.preparation import Preparation
from svddtune.numerics.tau import tau
from svddtune.numerics.types import INLIER, OUTLIER, FloatArray, IndexArray, LabelArray

Strategy = Literal["lama", "random"]

STRATEGIES: tuple[Strategy, ...] = ("lama", "random")

_SCORE_DECIMALS = 12  # differences below are rounding, and must not break a tie
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A ranked answer to "what next?".

    Attributes
    ----------
    gamma : float
        Current gamma_opt, or `default_gamma` while a class has no label.
    alignment : float or None
        Local alignment at `gamma`; None while a class has no label.
    rows : IndexArray, shape (n,)
        Rows to ask about, the method's own choice first; empty when no row is left.
    scores : FloatArray, shape (n,)
        Scores of `rows`: tau, or the mean neighbour distance of a cold start, or 0 for rows
        drawn at random.
    """

    gamma: float
    alignment: float | None
    rows: IndexArray
    scores: FloatArray


def suggest(
    prep: Preparation,
    X: FloatArray,
    labels: LabelArray,
    *,
    k: int,
    strategy: Strategy,
    sample: int,
    rng: np.random.Generator,
    exclude: IndexArray = _NO_ROWS,
    open_rows: IndexArray = _NO_ROWS,
    reserve: int = 16,
) -> Suggestion:
    """Rank the rows that are worth a label.

    Parameters
    ----------
    prep : Preparation
    X : FloatArray, shape (N, M)
    labels : LabelArray, shape (N,)
    k : int
        Locality.
    strategy : {"lama", "random"}
    sample : int
        Candidates drawn uniformly from U, the rows that may be asked about; 0 for all of U.
    rng : np.random.Generator
        The only source of randomness.
    exclude : IndexArray
        Rows not to be asked about: leased to labelers, or dropped.
    open_rows : IndexArray
        Rows somebody is being asked about now; not in U either. Their neighbours rank last.
    reserve : int
        Largest number of ranked rows.

    Returns
    -------
    Suggestion

    Notes
    -----
    The first row is exactly the method's: highest tau, ties by lower row index. The others
    follow by tau, except that rows in NN_k of an open or an already ranked row move behind, so
    that parallel labelers are not asked about the same spot.

    Deviation: the paper starts from labels of both classes. Here "lama" without a labelled
    inlier draws uniform rows, since most rows are inliers; with inliers but no outlier it takes
    the candidate with the largest mean distance to its k - 1 other neighbours.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy is {strategy!r}, expected one of {STRATEGIES}")
    if labels.shape != (prep.N,):
        raise ValueError(f"labels have shape {labels.shape}, expected ({prep.N},)")
    if sample < 0 or reserve < 1:
        raise ValueError(f"sample is {sample}, reserve is {reserve}, expected >= 0 and >= 1")
    k = prep.locality(k)
    askable = labels == 0
    askable[np.asarray(exclude, dtype=np.int64)] = False
    askable[np.asarray(open_rows, dtype=np.int64)] = False
    U = np.flatnonzero(askable)

    has_inlier = bool((labels == INLIER).any())
    local, value = None, None
    if has_inlier and (labels == OUTLIER).any():
        local = local_alignment(prep, X, labels, k=k)
        gamma, value = best_gamma(local, prep.gamma_bounds)
    else:
        gamma = default_gamma(prep, X)
    if len(U) == 0:
        return Suggestion(gamma, value, U, np.empty(0))
    if strategy == "random" or not has_inlier:
        rows = rng.choice(U, min(reserve, len(U)), replace=False)
        return Suggestion(gamma, value, rows, np.zeros(len(rows)))
    rows = U if sample == 0 or sample >= len(U) else np.sort(rng.choice(U, sample, replace=False))
    if local is None:
        scores = _mean_neighbor_distance(prep, X, rows, k)
    else:
        scores = tau(local, X, rows, k=k, gamma=gamma)
    order = _ranked(prep.nn[:, :k], rows, scores, open_rows, reserve)
    return Suggestion(gamma, value, rows[order], scores[order])


def default_gamma(prep: Preparation, X: FloatArray) -> float:
    """Scott's rule clipped to the bounds: gamma while the labels cannot choose one."""
    return float(np.clip(scott_gamma(X), *prep.gamma_bounds))


def _mean_neighbor_distance(
    prep: Preparation, X: FloatArray, rows: IndexArray, k: int
) -> FloatArray:
    if k == 1:
        return np.zeros(len(rows))
    i, j = np.repeat(rows, k - 1), prep.nn[rows, 1:k].ravel()
    distances = np.sqrt(pair_distances2(X, i, j)).reshape(len(rows), k - 1)
    return np.asarray(distances.mean(axis=1))


def _ranked(
    nn: IndexArray, rows: IndexArray, scores: FloatArray, open_rows: IndexArray, reserve: int
) -> IndexArray:
    """Positions in `rows`, best first; `rows` is ascending, so a stable sort settles ties."""
    order = np.argsort(-np.round(scores, _SCORE_DECIMALS), kind="stable")
    crowded = set(nn[np.asarray(open_rows, dtype=np.int64)].ravel().tolist())
    front: list[int] = []
    behind: list[int] = []
    for position in order.tolist():
        row = int(rows[position])
        if front and row in crowded:
            behind.append(position)
            continue
        front.append(position)
        if len(front) == reserve:
            break
        crowded.update(nn[row].tolist())
    return np.array((front + behind)[:reserve], dtype=np.int64)
