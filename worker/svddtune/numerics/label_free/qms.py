"""QMS: a change point of the neighbourhood distances gives nu, a closed formula gives gamma."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.kernel import pair_distances2
from svddtune.numerics.neighbors import nearest
from svddtune.numerics.types import FloatArray

_BLOCK = 1 << 21


@dataclass(frozen=True, slots=True)
class QmsParameters:
    """What QMS proposes: gamma, C and the outlier share nu = 1 / (N C)."""

    gamma: float
    C: float
    nu: float


def qms(X: FloatArray, *, share: float = 0.05, authors: bool = False) -> QmsParameters | None:
    """Choose gamma and C without labels.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    share : float
        f; the neighbourhood has K = ceil(f N) rows, at most N - 1.
    authors : bool
        Take K = floor(f N) + 1 as the LAMA authors' code does: one more where f N is whole.

    Returns
    -------
    QmsParameters or None
        None where the method is undefined: equal rows make the smallest distance 0, fewer than
        3 rows have no second difference, and all distances equal leave 0/0.

    Notes
    -----
    S_i is the mean distance of row i to its K nearest others. On the ascending S_(m), with first
    differences D_m = S_(m+1) - S_(m) and second differences D2_m, the change point is
    m* = argmax D2_m / sqrt(1 + D_m^2) and nu = (N - m*) / N. With q the row of the smallest
    nearest-neighbour distance delta_min (the first of several) and delta_max its mean distance
    to the others, gamma = -ln(delta_min/delta_max) / (delta_max^2 - delta_min^2).

    Source: Ghafoori et al., *Unsupervised parameter estimation for one-class support vector
    machines* (2016) and *Efficient unsupervised parameter estimation for one-class support
    vector machines* (2018), as described with the LAMA paper and in its public code.
    """
    N = len(X)
    if N < 3:
        return None
    # Rounding must not add a row: 0.05 * 100 is a little more than 5 in some shares.
    K = int(np.floor(share * N)) + 1 if authors else int(np.ceil(round(share * N, 9)))
    K = min(max(K, 1), N - 1)
    nearest_distance, S = _neighbor_distances(X, K)
    q = int(np.argmin(nearest_distance))
    low = float(nearest_distance[q])
    high = float(np.sqrt(np.square(X - X[q]).sum(axis=1)).sum() / (N - 1))
    if low == 0.0 or high <= low * (1.0 + 1e-12):
        return None
    first = np.diff(np.sort(S))
    curvature = np.diff(first) / np.sqrt(1.0 + first[:-1] ** 2)
    m = int(np.argmax(curvature)) + 1
    nu = (N - m) / N
    gamma = -np.log(low / high) / (high**2 - low**2)
    return QmsParameters(gamma=float(gamma), C=1.0 / (N * nu), nu=nu)


def _neighbor_distances(X: FloatArray, K: int) -> tuple[FloatArray, FloatArray]:
    """Distance to the nearest other row, and the mean distance to the K nearest, shape (N,)."""
    N = len(X)
    near = nearest(X, K + 1)[:, 1:]
    mean, first = np.empty(N), np.empty(N)
    step = max(1, _BLOCK // K)
    for a in range(0, N, step):
        block = near[a : a + step]
        rows = np.repeat(np.arange(a, a + len(block)), K)
        distances = np.sqrt(pair_distances2(X, rows, block.ravel())).reshape(block.shape)
        mean[a : a + step], first[a : a + step] = distances.mean(axis=1), distances[:, 0]
    return first, mean
