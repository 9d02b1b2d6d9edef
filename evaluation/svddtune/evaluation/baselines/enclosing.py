"""Rules that look where the boundary runs: at the edge of the data, or through its interior."""

from __future__ import annotations

import numpy as np

from svddtune.numerics.label_free.curves import edged_curve, outlier_share
from svddtune.numerics.label_free.dfn import near_far
from svddtune.numerics.label_free.support import normalised_distance
from svddtune.numerics.types import FloatArray


def extent_gamma(X: FloatArray, *, C: float | None = None) -> float | None:
    """Choose gamma so that the two most distant rows have the similarity delta = 1/(N(1 - nu) + 1).

    gamma = -ln(delta) / d_max^2 with d_max the largest distance of two rows.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    C : float, optional
        Sets the outlier share nu = 1/(N C), 0.05 by default.

    Returns
    -------
    float or None
        None where all rows are equal or there is one only, and at nu = 1, where delta is 1.

    Notes
    -----
    Source: Khazai, Homayouni, Safari, Mojaradi, *Anomaly detection in hyperspectral images based
    on an adaptive support vector method* (2011), sigma = d_max / sqrt(-ln delta) for the kernel
    exp(-d^2/sigma^2). The paper was not at hand: the formula is as later comparisons of bandwidth
    rules quote it.
    """
    if len(X) < 2 or not np.ptp(X, axis=0).any():
        return None
    delta = 1.0 / (len(X) * (1.0 - outlier_share(C, len(X))) + 1.0)
    return float(-np.log(delta) / near_far(X)[1].max()) if delta < 1.0 else None


def enclosing_gamma(
    X: FloatArray, *, rng: np.random.Generator, C: float | None = None
) -> float | None:
    """ADES: keep the boundary far from interior rows and near to edge rows, in the mean.

    Maximises (mean normalised distance of interior rows to the boundary) - (mean of edge rows).

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    rng : np.random.Generator
        Draws `FIT_ROWS` rows where there are more.
    C : float, optional
        Sets the outlier share nu = 1/(N C), 0.05 by default.

    Returns
    -------
    float or None
        The smallest gamma where several are equally good. None where the data are too few or all
        equal, or where all rows or none are on the edge.

    Notes
    -----
    Edge rows and the normalised distance are those of `mies_gamma`, which takes the largest
    distance of each kind where this rule takes the mean.

    Source: Anaissi et al., *Adaptive one-class support vector machine for damage detection in
    structural health monitoring* (2017), "appropriate distance to the enclosing surface". The
    paper was not at hand: the criterion follows its abstract.
    """
    found = edged_curve(X, rng, C)
    if found is None:
        return None
    curve, edge = found
    inward = normalised_distance(curve)
    criterion = inward[:, ~edge].mean(axis=1) - inward[:, edge].mean(axis=1)
    return float(curve.gammas[int(np.argmax(criterion))])


def edged_support_gamma(
    X: FloatArray, *, rng: np.random.Generator, C: float | None = None
) -> float | None:
    """ESV: the boundary whose support vectors lie on the edge of the data.

    Parameters
    ----------
    X, rng, C
        As in `enclosing_gamma`.

    Returns
    -------
    float or None
        The gamma with the largest share of edge rows among its support vectors; the largest gamma
        where several are equally good, since the boundary follows the data more closely there.
        None as in `enclosing_gamma`.

    Notes
    -----
    Source: Anaissi, Braytee, Naji, *Gaussian kernel parameter optimization in one-class support
    vector machines* (2018), "edged support vector". The paper was not at hand: the criterion
    follows its abstract, and edge rows are told apart as in `outward`.
    """
    found = edged_curve(X, rng, C)
    if found is None:
        return None
    curve, edge = found
    supports = curve.supports()
    share = (supports & edge).sum(axis=1) / supports.sum(axis=1)
    return float(curve.gammas[np.flatnonzero(share >= share.max())[-1]])
