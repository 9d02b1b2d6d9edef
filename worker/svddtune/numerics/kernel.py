"""The Gaussian kernel k(x, z) = exp(-gamma |x - z|^2) and the squared distances under it.

Notes
-----
Deviation: the paper prints the distance without the square. Its code, libsvm and every tool that
consumes gamma use the square, so the square holds here.
"""

from __future__ import annotations

import numpy as np

from svddtune.numerics.types import FloatArray, IndexArray

_CHUNK = 1 << 20  # numbers held at once by the difference form


def pair_distances2(X: FloatArray, i: IndexArray, j: IndexArray) -> FloatArray:
    """Squared distances of given pairs, from differences.

    Exact zero for equal rows, symmetric to the last bit, and independent of which other pairs
    are asked for: these are the distances that may decide a tie.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    i, j : IndexArray, shape (P,)
        First and second rows of the pairs.

    Returns
    -------
    FloatArray, shape (P,)
    """
    step = max(1, _CHUNK // max(1, X.shape[1]))
    if len(i) <= step:
        return np.asarray(np.square(X[i] - X[j]).sum(axis=1))
    parts = [
        np.square(X[i[a : a + step]] - X[j[a : a + step]]).sum(axis=1)
        for a in range(0, len(i), step)
    ]
    return np.concatenate(parts)


def squared_distances(X: FloatArray, Z: FloatArray) -> FloatArray:
    """Squared distances of all pairs, by |x|^2 + |z|^2 - 2 x.z.

    Fast, but with rounding errors near zero: not for ties.

    Parameters
    ----------
    X : FloatArray, shape (n, M)
        First rows of the pairs.
    Z : FloatArray, shape (m, M)
        Second rows of the pairs.

    Returns
    -------
    FloatArray, shape (n, m)
        Not negative.
    """
    if len(Z) == 0:
        return np.zeros((len(X), 0))
    # Distances do not change with a shift, the rounding errors of the expansion do: they grow with
    # the rows' own norms. (A mean would follow extreme rows away from all others.)
    center = np.median(Z, axis=0)
    return expanded_distances(X - center, Z - center)


def expanded_distances(X: FloatArray, Z: FloatArray) -> FloatArray:
    """`squared_distances` of rows that lie about the origin."""
    D2 = X @ (-2.0 * Z).T
    D2 += np.square(X).sum(axis=1)[:, None]
    D2 += np.square(Z).sum(axis=1)
    return np.maximum(D2, 0.0, out=D2)


def gram(X: FloatArray, Z: FloatArray | None = None, *, gamma: float) -> FloatArray:
    """Kernel matrix between the rows of `X` and those of `Z` (default: `X` itself).

    Parameters
    ----------
    X : FloatArray, shape (n, M)
        First rows of the pairs.
    Z : FloatArray, shape (m, M), optional
        Second rows of the pairs.
    gamma : float
        Inverse squared distance, positive.

    Returns
    -------
    FloatArray, shape (n, m)
        Entries in [0, 1]; the diagonal is exactly 1 when `Z` is omitted.
    """
    K = squared_distances(X, X if Z is None else Z)
    if Z is None:
        np.fill_diagonal(K, 0.0)
    K *= -gamma
    return np.exp(K, out=K)
