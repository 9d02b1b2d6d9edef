"""Local kernel alignment and the gamma that maximises it.

Both matrices are centred over all N rows before they are masked:
Kc_ij = K_ij - r_i - r_j + m and Yc_ij = (y'_i - ybar)(y'_j - ybar), and
a(gamma) = <Kc, Yc> / sqrt(<Kc, Kc> <Yc, Yc>) over the masked entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.mask import Edges, labelled_edges, mask_pairs
from svddtune.numerics.pools import Pools, spread
from svddtune.numerics.preparation import Preparation
from svddtune.numerics.types import BoolArray, FloatArray, LabelArray

GAMMA_TOLERANCE = 0.01

_POINTS_PER_DECADE = 10
_ZOOM = 6  # points in each half of a refined cell, its ends included
_VANISHING = 1e-20  # mean square of centred entries below which they are rounding noise


@dataclass(frozen=True, slots=True)
class AlignmentCurve:
    """Alignment over a grid: gamma (G,), ascending, and value (G,), in [-1, 1]."""

    gamma: FloatArray
    value: FloatArray


@dataclass(frozen=True, slots=True)
class LocalAlignment:
    """The alignment as a function of gamma, for one state of the labels.

    Attributes
    ----------
    prep : Preparation
    pools : Pools
    edges : Edges
        All edges of labelled rows.
    mask : BoolArray, shape (E,)
        Edges that are pairs of the mask.
    pair_means : FloatArray, shape (E, Q)
        r_i + r_j of every edge at the Chebyshev nodes.
    """

    prep: Preparation
    pools: Pools
    edges: Edges
    mask: BoolArray
    pair_means: FloatArray

    def __call__(self, gamma: FloatArray) -> FloatArray:
        """Values at `gamma`, shape (G,)."""
        i, j = self.edges.i[self.mask], self.edges.j[self.mask]
        y, W = self.pools.y, self.prep.weights_at(gamma).T
        Kc = centred_kernel(
            self.edges.D2[self.mask][:, None],
            self.pair_means[self.mask] @ W,
            self.prep.grand_means @ W,
            gamma,
        )
        ybar = y.mean()
        return aligned(Kc, (y[i] - ybar) * (y[j] - ybar))


def local_alignment(
    prep: Preparation, X: FloatArray, labels: LabelArray, *, k: int
) -> LocalAlignment:
    """Collect what the alignment needs that does not depend on gamma.

    Parameters
    ----------
    prep : Preparation
        Of `X`.
    X : FloatArray, shape (N, M)
        Observations, finite.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    k : int
        Locality.

    Returns
    -------
    LocalAlignment

    Raises
    ------
    ValueError
        If not all rows are prepared, or `k` is out of range.
    """
    if prep.rows is not None:
        raise ValueError(f"{len(prep.rows)} of {prep.N} rows are prepared, expected all")
    k = prep.locality(k)
    pools = spread(prep.nn, labels, k=k)
    edges = labelled_edges(X, prep.nn, labels, k=k)
    pair_means = prep.row_means[edges.i] + prep.row_means[edges.j]
    return LocalAlignment(prep, pools, edges, mask_pairs(edges, pools.y), pair_means)


def alignment(
    prep: Preparation, X: FloatArray, labels: LabelArray, *, k: int, gamma: float
) -> float:
    """Local alignment at one gamma.

    Parameters
    ----------
    prep : Preparation
        Of `X`.
    X : FloatArray, shape (N, M)
        Observations, finite.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    k : int
        Locality, from 1 to the width of the neighbour table.
    gamma : float
        Inverse squared distance, positive.

    Returns
    -------
    float
        In [-1, 1]; 0 where there are no pairs or a centred matrix vanishes on them.

    Notes
    -----
    Deviation: the authors' code divides by the plain norms, which does not bound the value.
    Deviation: the paper's code symmetrises the mask; the formula as printed does not.
    """
    return float(local_alignment(prep, X, labels, k=k)(np.array([gamma]))[0])


def alignment_curve(
    prep: Preparation, X: FloatArray, labels: LabelArray, *, k: int, gamma: FloatArray | None = None
) -> AlignmentCurve:
    """Alignment over a grid of gamma, by default the coarse grid of the search.

    Parameters
    ----------
    prep : Preparation
        Of `X`.
    X : FloatArray, shape (N, M)
        Observations, finite.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    k : int
        Locality, from 1 to the width of the neighbour table.
    gamma : FloatArray, shape (G,), optional
        Inverse squared distances, positive; `coarse_grid` of the preparation's bounds by default.

    Returns
    -------
    AlignmentCurve
    """
    grid = coarse_grid(prep.gamma_bounds) if gamma is None else gamma
    return AlignmentCurve(grid, local_alignment(prep, X, labels, k=k)(grid))


def coarse_grid(bounds: tuple[float, float]) -> FloatArray:
    """Even grid in log(gamma) over `bounds`, ends included, shape (G,)."""
    low, high = np.log10(bounds)
    steps = max(4, int(np.ceil(_POINTS_PER_DECADE * (high - low))))
    grid = 10.0 ** np.linspace(low, high, steps + 1)
    return np.asarray(np.clip(grid, *bounds))


def best_gamma(
    curve: Callable[[FloatArray], FloatArray], bounds: tuple[float, float]
) -> tuple[float, float]:
    """Maximise an alignment over [gamma_min, gamma_max].

    Parameters
    ----------
    curve : callable
        From gamma, shape (G,), to alignment, shape (G,).
    bounds : tuple of float
        gamma_min and gamma_max, inverse squared distances, 0 < gamma_min < gamma_max.

    Returns
    -------
    gamma, value : float
        Located to a relative 1 %; the smallest gamma where several are equally good.

    Notes
    -----
    A coarse grid in log(gamma) first, since the curve can have several maxima, then ever finer
    grids inside the best cell: whole grids cost little more than single values here.
    """
    gamma = coarse_grid(bounds)
    while True:
        value = curve(gamma)
        best = int(np.argmax(value))
        low, high = gamma[max(best - 1, 0)], gamma[min(best + 1, len(gamma) - 1)]
        if high <= low * (1.0 + GAMMA_TOLERANCE):
            return float(gamma[best]), float(value[best])
        # The best point so far stays in the grid, so that the value never falls.
        below = np.geomspace(low, gamma[best], _ZOOM)[:-1] if best > 0 else gamma[:0]
        above = np.geomspace(gamma[best], high, _ZOOM)[1:] if best + 1 < len(gamma) else gamma[:0]
        gamma = np.concatenate((below, gamma[best : best + 1], above))


def centred_kernel(
    D2: FloatArray,
    pair_means: FloatArray,
    grand_mean: FloatArray | float,
    gamma: FloatArray | float,
) -> FloatArray:
    """Kc_ij = exp(-gamma D2_ij) - (r_i + r_j) + m, for broadcasting shapes."""
    return np.asarray(np.exp(-gamma * D2) - pair_means + grand_mean)


def aligned(Kc: FloatArray, Yc: FloatArray) -> FloatArray:
    """Alignment of centred entries.

    Parameters
    ----------
    Kc : FloatArray, shape (P, G)
        Entries of the centred kernel matrix for G values of gamma.
    Yc : FloatArray, shape (P,)
        Entries of the centred label matrix, for the same pairs.

    Returns
    -------
    FloatArray, shape (G,)
    """
    return alignment_of_sums(
        Yc @ Kc, np.square(Kc).sum(axis=0), np.asarray(np.square(Yc).sum()), len(Yc)
    )


def alignment_of_sums(
    KY: FloatArray, KK: FloatArray, YY: FloatArray, pairs: NDArray[Any] | int
) -> FloatArray:
    """<Kc, Yc> / sqrt(<Kc, Kc> <Yc, Yc>) in [-1, 1], 0 where a norm is only rounding noise."""
    least = _VANISHING * np.asarray(pairs)
    norm2 = np.where(np.minimum(KK, YY) > least, KK * YY, np.inf)
    return np.asarray(np.clip(KY / np.sqrt(norm2), -1.0, 1.0))
