"""What is computed once a dataset, so that no later step is quadratic in N.

The neighbour table and the kernel means: r_i(gamma), the mean of row i of the kernel matrix, and
m(gamma), the grand mean. Both are smooth in log(gamma) and kept at Chebyshev nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.chebyshev import interpolation_weights, log_gamma_nodes
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.neighbors import distinct_rows, nearest
from svddtune.numerics.types import FloatArray, IndexArray

EXACT_LIMIT = 10_000
SAMPLE_SIZE = 4096

_TILE = 192  # float32 tiles of this side stay in the second-level cache
_MARGIN = 2.0  # the nodes reach beyond the bounds by this factor
_BOUND_ROWS = 1000  # rows whose distances set the upper bound of gamma


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything label-independent about a dataset.

    Attributes
    ----------
    nn : NDArray[np.int32], shape (N, K)
        NN_K of every row; its first k columns are NN_k.
    gamma_bounds : tuple of float
        Least and largest gamma searched, in inverse squared distances.
    log_gamma : FloatArray, shape (Q,)
        Chebyshev nodes.
    row_means : FloatArray, shape (N, Q)
        r_i at the nodes.
    grand_means : FloatArray, shape (Q,)
        m at the nodes.
    sample_size : int or None
        Rows of the uniform sample that the means come from; None when they come from all rows.
    M : int
        Number of attributes.
    """

    nn: NDArray[np.int32]
    gamma_bounds: tuple[float, float]
    log_gamma: FloatArray
    row_means: FloatArray
    grand_means: FloatArray
    sample_size: int | None
    M: int

    @property
    def N(self) -> int:
        """Number of rows."""
        return int(self.nn.shape[0])

    @property
    def K(self) -> int:
        """Largest locality the neighbour table serves."""
        return int(self.nn.shape[1])

    def locality(self, k: int) -> int:
        """`k` capped at N, or ValueError where the neighbour table is too narrow for it."""
        if k < 1 or min(k, self.N) > self.K:
            raise ValueError(f"k is {k}, expected 1 to {self.K} (prepared neighbours)")
        return min(k, self.N)

    def weights_at(self, gamma: FloatArray) -> FloatArray:
        """Interpolation weights, shape (G, Q), at `gamma`, shape (G,)."""
        return interpolation_weights(self.log_gamma, np.log(gamma))

    def row_means_at(self, gamma: float, rows: IndexArray) -> FloatArray:
        """r_i at `gamma` for `rows`, shape (n,): mean kernel value of a row with all rows."""
        return np.asarray(self.row_means[rows] @ self.weights_at(np.array([gamma]))[0])

    def grand_mean_at(self, gamma: float) -> float:
        """Mean of the whole kernel matrix at `gamma`."""
        return float(self.grand_means @ self.weights_at(np.array([gamma]))[0])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All fields as plain arrays, for storage elsewhere."""
        return {
            "nn": self.nn,
            "gamma_bounds": np.array(self.gamma_bounds),
            "log_gamma": self.log_gamma,
            "row_means": self.row_means,
            "grand_means": self.grand_means,
            "sample_size": np.array(self.sample_size or 0, dtype=np.int64),
            "M": np.array(self.M, dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Preparation:
        """Inverse of `to_arrays`."""
        low, high = (float(bound) for bound in arrays["gamma_bounds"])
        return cls(
            nn=np.asarray(arrays["nn"], dtype=np.int32),
            gamma_bounds=(low, high),
            log_gamma=np.asarray(arrays["log_gamma"], dtype=np.float64),
            row_means=np.asarray(arrays["row_means"], dtype=np.float64),
            grand_means=np.asarray(arrays["grand_means"], dtype=np.float64),
            sample_size=int(arrays["sample_size"]) or None,
            M=int(arrays["M"]),
        )


def prepare(
    X: FloatArray,
    *,
    k: int,
    gamma_bounds: tuple[float, float] | None = None,
    seed: int = 0,
    exact_limit: int = EXACT_LIMIT,
    sample_size: int = SAMPLE_SIZE,
) -> Preparation:
    """Compute neighbours and kernel means.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
    k : int
        Largest locality that will be asked for; capped at N.
    gamma_bounds : tuple of float, optional
        Range of gamma, default `default_gamma_bounds`.
    seed : int
        Draws the sample where there is one.
    exact_limit : int
        Up to this many rows the kernel means come from all rows.
    sample_size : int
        Otherwise they come from a uniform sample of this many rows.

    Returns
    -------
    Preparation

    Notes
    -----
    Deviation: the paper centres with the N x N kernel matrix. The table has the same means to
    within 1e-5 up to `exact_limit` rows, and to within sampling error above.
    """
    N, M = X.shape
    if N < 1 or M < 1:
        raise ValueError(f"X has shape {X.shape}, expected at least one row and one column")
    if gamma_bounds is None:
        gamma_bounds = default_gamma_bounds(X, seed=seed)
    low, high = gamma_bounds
    if not 0.0 < low < high < np.inf:
        raise ValueError(f"gamma_bounds are {gamma_bounds}, expected 0 < least < largest")
    nodes = log_gamma_nodes(low / _MARGIN, high * _MARGIN)
    sample: IndexArray | None = None
    if max(exact_limit, sample_size) < N:
        sample = np.sort(np.random.default_rng(seed).choice(N, sample_size, replace=False))
    row_means = _kernel_means(X, np.exp(nodes), sample)
    return Preparation(
        nn=nearest(X, k),
        gamma_bounds=(float(low), float(high)),
        log_gamma=nodes,
        row_means=row_means,
        grand_means=row_means.mean(axis=0),
        sample_size=None if sample is None else len(sample),
        M=M,
    )


def default_gamma_bounds(X: FloatArray, *, seed: int = 0) -> tuple[float, float]:
    """Range of gamma that follows the scale of the squared distances.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
    seed : int
        Draws the rows whose median distance is taken where N is large.

    Returns
    -------
    tuple of float
        With s the largest column range: 0.1 / s^2 to 100 / s^2, the paper's [0.1, 100] for
        min-max scaled data. The upper bound rises to 5 / median squared distance where a few
        extreme values hold the bulk of the rows together. Multiplying X by c divides both by c^2.
    """
    width2 = float(np.square(np.ptp(X, axis=0)).max())
    if width2 == 0.0:
        return 0.1, 100.0
    rows = np.arange(len(X))
    if len(X) > _BOUND_ROWS:
        rows = np.random.default_rng(seed).choice(len(X), _BOUND_ROWS, replace=False)
    D2 = squared_distances(X[rows], X[rows])[np.triu_indices(len(rows), 1)]
    median = float(np.median(D2)) if len(D2) else 0.0
    # Beyond a ratio of 1e6 to the range the median is rounding noise or a mass of duplicates.
    upper = 100.0 / width2
    if median > 1e-6 * width2:
        upper = max(upper, 5.0 / median)
    return 0.1 / width2, upper


def _kernel_means(X: FloatArray, gammas: FloatArray, sample: IndexArray | None) -> FloatArray:
    """r_i at every gamma, shape (N, Q).

    Single precision keeps the means to about 1e-7 and makes the exponentials several times
    cheaper. Without a sample only the tiles on and above the diagonal are computed.
    """
    N = len(X)
    columns = X if sample is None else X[sample]
    scale = float(gammas[-1])
    ratio = (-gammas / scale).astype(np.float32)
    sums = np.zeros((len(gammas), N))
    buffer = np.empty(_TILE * _TILE, dtype=np.float32)
    for top in range(0, N, _TILE):
        rows = slice(top, min(top + _TILE, N))
        for left in range(0 if sample is not None else top, len(columns), _TILE):
            other = slice(left, min(left + _TILE, len(columns)))
            D2 = squared_distances(X[rows], columns[other])
            D2 *= scale  # dimensionless, so that single precision cannot overflow early
            tile = np.minimum(D2, 1e30).astype(np.float32)
            K = buffer[: tile.size].reshape(tile.shape)
            for q, factor in enumerate(ratio):
                np.exp(np.multiply(tile, factor, out=K), out=K)
                sums[q, rows] += K.sum(axis=1)
                if sample is None and left > top:
                    sums[q, other] += K.sum(axis=0)
    means = np.ascontiguousarray(sums.T) / len(columns)
    # Equal rows have equal means; the order of summation must not tell them apart.
    first, group = distinct_rows(X)
    return np.asarray(means[first[group]])
