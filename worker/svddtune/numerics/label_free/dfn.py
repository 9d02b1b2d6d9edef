"""DFN: distance to the farthest and nearest neighbours."""

from __future__ import annotations

from typing import Literal

import numpy as np

from svddtune.numerics.alignment import best_gamma
from svddtune.numerics.kernel import pair_distances2, squared_distances
from svddtune.numerics.neighbors import nearest
from svddtune.numerics.preparation import default_gamma_bounds
from svddtune.numerics.types import FloatArray

AUTHORS_BOUNDS = (1e-3, 100.0)
"""The authors search (0, 100]; the objective is 0 at 0."""

_BLOCK = 1 << 22


def near_far(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Squared distances of every row to its nearest and its farthest other row.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        N >= 2.

    Returns
    -------
    near2, far2 : FloatArray, shape (N,)
    """
    N = len(X)
    near = nearest(X, 2)[:, 1]
    step = max(1, _BLOCK // N)
    far = np.concatenate(
        [squared_distances(X[a : a + step], X).argmax(axis=1) for a in range(0, N, step)]
    )
    rows = np.arange(N)
    return pair_distances2(X, rows, near), pair_distances2(X, rows, far)


def dfn_gamma(
    X: FloatArray,
    *,
    kernel: Literal["squared", "authors"] = "squared",
    bounds: tuple[float, float] | None = None,
) -> float | None:
    """Maximise the mean similarity to the nearest less that to the farthest neighbour.

    f(gamma) = 2 mean_i k(x_i, near_i) - 2 mean_i k(x_i, far_i).

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    kernel : {"squared", "authors"}
        squared: exp(-gamma d^2), the kernel that the SVDD uses. authors: exp(-gamma d), which
        the LAMA authors' code maximises before it hands the gamma to an SVDD with the square.
    bounds : tuple of float, optional
        Range of gamma; by default (0, 100] with the authors' kernel and `default_gamma_bounds`
        otherwise.

    Returns
    -------
    float or None
        None where every row's nearest other row is as far as its farthest, as with two rows or
        with equal ones: the objective is 0 everywhere.

    Raises
    ------
    ValueError
        If `kernel` is unknown.

    Notes
    -----
    Source: Xiao, Wang, Zhang, Xu, *Two methods of selecting Gaussian kernel parameters for
    one-class SVM and their application to fault detection* (2014), as described with the LAMA
    paper; ``"authors"`` follows the LAMA authors' public code.
    """
    if len(X) < 2:
        return None
    near, far = near_far(X)
    if bool((near >= far * (1.0 - 1e-12)).all()):
        return None
    if kernel == "authors":
        near, far = np.sqrt(near), np.sqrt(far)
    elif kernel != "squared":
        raise ValueError(f"kernel is {kernel!r}, expected 'squared' or 'authors'")
    if bounds is None:
        bounds = AUTHORS_BOUNDS if kernel == "authors" else default_gamma_bounds(X)

    def objective(gammas: FloatArray) -> FloatArray:
        spread = np.exp(-gammas[:, None] * near) - np.exp(-gammas[:, None] * far)
        return np.asarray(2.0 * spread.mean(axis=1))

    return best_gamma(objective, bounds)[0]
