"""Quantities computed once per dataset, so that no later step is quadratic in N.

The neighbour table and the kernel means: r_i(gamma), the mean of row i of the kernel matrix, and
m(gamma), the grand mean. Both are smooth in log(gamma) and kept at Chebyshev nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.bandwidth import scott_gamma
from svddtune.numerics.chebyshev import interpolation_weights, log_gamma_nodes
from svddtune.numerics.checkpoint import checkpoint
from svddtune.numerics.extent import Extent, check_magnitude, extent
from svddtune.numerics.kernel import expanded_distances
from svddtune.numerics.mapped import Rows, complete
from svddtune.numerics.neighbors import distinct_rows, neighbor_lists, spread_lists
from svddtune.numerics.types import FloatArray, IndexArray

EXACT_LIMIT = 10_000
SAMPLE_SIZE = 4096

PART_S = 1.0
"""Intended duration of a part of a preparation, in seconds."""

# Seconds per pair of rows, without columns and for each column, on one core of 2024. They only
# decide where a preparation is split.
_MEANS_PAIR_S, _NEIGHBOURS_PAIR_S, _COLUMN_S = 8e-8, 1e-8, 1e-10
_SLACK = 1.2  # a part may be longer by this factor to avoid a tiny last part
_SUMS = "sums"  # name of the running sums where each row's come from all parts
_TILE = 192  # float32 tiles of this side stay in the second-level cache
_MARGIN = 2.0  # the nodes reach beyond the bounds by this factor


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything label-independent about a dataset, or about some of its rows alone.

    Attributes
    ----------
    nn : NDArray[np.int32], shape (n, K)
        NN_K of every prepared row, as positions among these; its first k columns are NN_k.
    gamma_bounds : tuple of float
        Least and largest gamma searched, in inverse squared distances.
    default_gamma : float
        gamma while the labels cannot choose one: Scott's rule on rows that are not extreme, clipped
        to the bounds.
    log_gamma : FloatArray, shape (Q,)
        Chebyshev nodes.
    row_means : FloatArray, shape (N, Q)
        r_i at the nodes; shape (0, Q) where some rows alone are prepared.
    grand_means : FloatArray, shape (Q,)
        m at the nodes; zeros likewise.
    sample_size : int or None
        Rows of the uniform sample that the means come from; None when they come from all rows.
    M : int
        Number of attributes.
    rows : IndexArray or None, shape (n,)
        Prepared rows, ascending: the others are no neighbours, and there are no means, which only
        the alignment uses. None for all.
    N : int
        Number of rows of the data.
    """

    nn: NDArray[np.int32]
    gamma_bounds: tuple[float, float]
    default_gamma: float
    log_gamma: FloatArray
    row_means: FloatArray
    grand_means: FloatArray
    sample_size: int | None
    M: int
    rows: IndexArray | None
    N: int

    @property
    def K(self) -> int:
        """Largest locality the neighbour table serves."""
        return int(self.nn.shape[1])

    def locality(self, k: int) -> int:
        """`k` capped at N, or ValueError where the neighbour table is too narrow for it."""
        if k < 1 or min(k, self.N) > self.K:
            raise ValueError(f"k is {k}, expected 1 to {self.K} (prepared neighbours)")
        return min(k, self.N)

    def near(self, rows: IndexArray, k: int) -> IndexArray:
        """Rows in NN_k of any of `rows`, shape (m,); one that is not prepared has itself alone."""
        rows = np.asarray(rows, dtype=np.int64)
        if self.rows is None:
            return self.nn[rows, :k].ravel()
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        lists = self.nn[at[self.rows[at] == rows], :k]
        return np.concatenate((rows, self.rows[lists.ravel()]))

    def weights_at(self, gamma: FloatArray) -> FloatArray:
        """Interpolation weights, shape (G, Q), at `gamma`, shape (G,)."""
        return interpolation_weights(self.log_gamma, np.log(gamma))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All fields as plain arrays, for storage elsewhere."""
        return {
            "nn": self.nn,
            "gamma_bounds": np.array(self.gamma_bounds),
            "default_gamma": np.array(self.default_gamma),
            "log_gamma": self.log_gamma,
            "row_means": self.row_means,
            "grand_means": self.grand_means,
            "sample_size": np.array(self.sample_size or 0, dtype=np.int64),
            "M": np.array(self.M, dtype=np.int64),
            "N": np.array(self.N, dtype=np.int64),
        } | ({} if self.rows is None else {"rows": self.rows})

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Preparation:
        """Inverse of `to_arrays`."""
        low, high = (float(bound) for bound in arrays["gamma_bounds"])
        return cls(
            nn=np.asarray(arrays["nn"], dtype=np.int32),
            gamma_bounds=(low, high),
            default_gamma=float(arrays["default_gamma"]),
            log_gamma=np.asarray(arrays["log_gamma"], dtype=np.float64),
            row_means=np.asarray(arrays["row_means"], dtype=np.float64),
            grand_means=np.asarray(arrays["grand_means"], dtype=np.float64),
            sample_size=int(arrays["sample_size"]) or None,
            M=int(arrays["M"]),
            rows=np.asarray(arrays["rows"], dtype=np.int64) if "rows" in arrays else None,
            N=int(arrays["N"]),
        )


def prepare(
    X: Rows,
    *,
    k: int,
    rows: IndexArray | None = None,
    gamma_bounds: tuple[float, float] | None = None,
    seed: int = 0,
    exact_limit: int = EXACT_LIMIT,
    sample_size: int = SAMPLE_SIZE,
) -> Preparation:
    """Compute neighbours and kernel means.

    Parameters
    ----------
    X : FloatArray or MappedRows, shape (N, M)
        Observations, finite.
    k : int
        Largest locality that will be asked for; capped at the number of prepared rows.
    rows : IndexArray, optional
        Rows to prepare, ascending; all by default.
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
    course = PreparationCourse.of(
        X,
        k=k,
        rows=rows,
        gamma_bounds=gamma_bounds,
        seed=seed,
        exact_limit=exact_limit,
        sample_size=sample_size,
    )
    outputs: dict[str, NDArray[Any]] = {}
    for part in range(len(course.parts)):
        outputs |= course.run(part, outputs)
    return course.join(outputs)


@dataclass(frozen=True, slots=True)
class Step:
    """Rows `begin` to `end` of one of the two tables; for neighbours they are distinct rows."""

    table: Literal["means", "neighbors"]
    begin: int
    end: int
    seconds: float


@dataclass(frozen=True, eq=False)
class PreparationCourse:
    """A preparation cut into parts of about a second, to be run one after the other.

    The parts give the same preparation to the last bit as all in one, on any machines.

    Attributes
    ----------
    X : FloatArray, shape (n, M)
        The prepared rows.
    rows : IndexArray or None, shape (n,)
        Which they are; None for all.
    N : int
        Rows of the data.
    k : int
    gamma_bounds : tuple of float
    default_gamma : float
    log_gamma : FloatArray, shape (Q,)
    sample : IndexArray or None
        Rows that the kernel means come from; None for all.
    parts : tuple of tuple of Step
    """

    X: FloatArray
    rows: IndexArray | None
    N: int
    k: int
    gamma_bounds: tuple[float, float]
    default_gamma: float
    log_gamma: FloatArray
    sample: IndexArray | None
    parts: tuple[tuple[Step, ...], ...]

    @classmethod
    def of(
        cls,
        X: Rows,
        *,
        k: int,
        rows: IndexArray | None = None,
        gamma_bounds: tuple[float, float] | None = None,
        seed: int = 0,
        exact_limit: int = EXACT_LIMIT,
        sample_size: int = SAMPLE_SIZE,
        part_s: float = PART_S,
    ) -> PreparationCourse:
        """Plan a preparation; parameters as of `prepare`.

        ``part_s`` is the intended duration of a part, in seconds on one core of 2024; a part has at
        least one step.
        """
        of_data = len(X)
        X = complete(X) if rows is None else X[rows]
        N, M = X.shape
        if N < 1 or M < 1:
            raise ValueError(f"X has shape {X.shape}, expected at least one row and one column")
        if k < 1:
            raise ValueError(f"k is {k}, expected at least 1")
        check_magnitude(X)
        scales = extent(X, seed=seed)
        if gamma_bounds is None:
            gamma_bounds = _bounds(scales)
        low, high = gamma_bounds
        if not 0.0 < low < high < np.inf:
            raise ValueError(f"gamma_bounds are {gamma_bounds}, expected 0 < least < largest")
        sample: IndexArray | None = None
        if max(exact_limit, sample_size) < N:
            sample = np.sort(np.random.default_rng(seed).choice(N, sample_size, replace=False))
        return cls(
            X=X,
            rows=rows,
            N=of_data,
            k=k,
            gamma_bounds=(float(low), float(high)),
            default_gamma=float(np.clip(scott_gamma(X[scales.usual]), low, high)),
            log_gamma=log_gamma_nodes(low / _MARGIN, high * _MARGIN),
            sample=sample,
            parts=_parts(_steps(N, M, sample, part_s, means=rows is None), part_s),
        )

    def run(self, part: int, before: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Compute one part.

        Parameters
        ----------
        part : int
            Index in `parts`.
        before : mapping of str to array
            What the part before it gave (that of earlier ones may be in it too).

        Returns
        -------
        dict of str to array
        """
        gammas = np.exp(self.log_gamma)
        # About the origin, where the expanded form of distances is exact for all but far rows.
        Z = self.X - np.median(self.X, axis=0)
        sums = before.get(_SUMS)
        outputs: dict[str, NDArray[Any]] = {}
        for step in self.parts[part]:
            if step.table == "neighbors":
                lists = neighbor_lists(self.X, self.k, step.begin, step.end)
                outputs[f"{step.table} {step.begin}"] = lists
            elif self.sample is None:
                sums = _add_symmetric(Z, gammas, step.begin, step.end, sums)
                outputs[_SUMS] = sums
            else:
                outputs[f"{step.table} {step.begin}"] = _sums(
                    Z[step.begin : step.end], Z[self.sample], gammas
                )
        return outputs

    def join(self, outputs: Mapping[str, NDArray[Any]]) -> Preparation:
        """Join the outputs of all parts. Where names repeat, the later array counts."""
        steps = [step for part in self.parts for step in part]

        def joined(table: str, axis: int) -> NDArray[Any]:
            names = [f"{step.table} {step.begin}" for step in steps if step.table == table]
            return np.concatenate([outputs[name] for name in names], axis=axis)

        row_means, grand_means = np.empty((0, len(self.log_gamma))), np.zeros(len(self.log_gamma))
        if self.rows is None:
            sums = outputs[_SUMS] if self.sample is None else joined("means", 1)
            columns = len(self.X) if self.sample is None else len(self.sample)
            means = np.ascontiguousarray(sums.T) / columns
            # Equal rows have equal means; the order of summation must not tell them apart.
            first, group = distinct_rows(self.X)
            row_means = np.asarray(means[first[group]])
            grand_means = row_means.mean(axis=0)
        return Preparation(
            nn=spread_lists(self.X, joined("neighbors", 0)),
            gamma_bounds=self.gamma_bounds,
            default_gamma=self.default_gamma,
            log_gamma=self.log_gamma,
            row_means=row_means,
            grand_means=grand_means,
            sample_size=None if self.sample is None else len(self.sample),
            M=self.X.shape[1],
            rows=self.rows,
            N=self.N,
        )


def _steps(N: int, M: int, sample: IndexArray | None, part_s: float, *, means: bool) -> list[Step]:
    """All steps, in an order in which they may be run."""
    pair_s = _MEANS_PAIR_S + M * _COLUMN_S
    steps: list[Step] = []
    top = 0
    while means and top < N:
        # Without a sample a row's tiles reach from the diagonal to the right.
        columns = N - top if sample is None else len(sample)
        tiles = max(1, int(part_s / (pair_s * _TILE * columns)))
        end = min(top + tiles * _TILE, N)
        steps.append(Step("means", top, end, pair_s * (end - top) * columns))
        top = end
    pair_s = _NEIGHBOURS_PAIR_S + M * _COLUMN_S
    rows = max(1, int(part_s / (pair_s * N)))
    steps += [
        Step("neighbors", top, min(top + rows, N), pair_s * N * (min(top + rows, N) - top))
        for top in range(0, N, rows)
    ]
    return steps


def _parts(steps: list[Step], part_s: float) -> tuple[tuple[Step, ...], ...]:
    """Steps in their order, together as long as they take a part's time."""
    parts: list[list[Step]] = []
    seconds = np.inf
    for step in steps:
        if seconds + step.seconds > _SLACK * part_s:
            parts.append([])
            seconds = 0.0
        parts[-1].append(step)
        seconds += step.seconds
    return tuple(tuple(part) for part in parts)


def default_gamma_bounds(X: FloatArray, *, seed: int = 0) -> tuple[float, float]:
    """Range of gamma that follows the scale of the squared distances.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations, finite.
    seed : int
        Draws the rows whose median distance is taken where N is large.

    Returns
    -------
    tuple of float
        With s the largest column range: 0.1 / s^2 to 100 / s^2, the paper's [0.1, 100] for
        min-max scaled data. The upper bound rises to 5 / median squared distance where the bulk of
        the rows lies close together. Extreme rows have no part in s: see `extent`. Multiplying X
        by c divides both by c^2.
    """
    return _bounds(extent(X, seed=seed))


def _bounds(scales: Extent) -> tuple[float, float]:
    if scales.width2 == 0.0:
        return 0.1, 100.0
    upper = 100.0 / scales.width2
    if scales.median2 > 0.0:
        upper = max(upper, 5.0 / scales.median2)
    return 0.1 / scales.width2, upper


def _add_symmetric(
    X: FloatArray, gammas: FloatArray, begin: int, end: int, sums: FloatArray | None
) -> FloatArray:
    """Add to the sums of all rows, shape (Q, N), the tiles of rows `begin` to `end`.

    Only tiles on and above the diagonal are computed, and the order of addition is that of the
    rows: the sums of the rows before, None at the first, are taken up.
    """
    N = len(X)
    sums = np.zeros((len(gammas), N)) if sums is None else sums.copy()
    for top in range(begin, end, _TILE):
        checkpoint()
        rows = slice(top, min(top + _TILE, N))
        for left in range(top, N, _TILE):
            other = slice(left, min(left + _TILE, N))
            for q, K in enumerate(_tiles(X[rows], X[other], gammas)):
                sums[q, rows] += K.sum(axis=1)
                if left > top:
                    sums[q, other] += K.sum(axis=0)
    return sums


def _sums(X: FloatArray, columns: FloatArray, gammas: FloatArray) -> FloatArray:
    """Sums of the kernel values of each row with all columns, shape (Q, n)."""
    sums = np.zeros((len(gammas), len(X)))
    for top in range(0, len(X), _TILE):
        checkpoint()
        rows = slice(top, min(top + _TILE, len(X)))
        for left in range(0, len(columns), _TILE):
            for q, K in enumerate(_tiles(X[rows], columns[left : left + _TILE], gammas)):
                sums[q, rows] += K.sum(axis=1)
    return sums


def _tiles(X: FloatArray, Z: FloatArray, gammas: FloatArray) -> Iterator[NDArray[np.float32]]:
    """Kernel values of all pairs at every gamma; each tile holds until the next one.

    Single precision keeps the means to about 1e-7 and makes the exponentials several times
    cheaper.
    """
    scale = float(gammas[-1])
    D2 = expanded_distances(X, Z)
    D2 *= scale  # dimensionless, so that single precision cannot overflow early
    tile = np.minimum(D2, 1e30).astype(np.float32)
    K = np.empty_like(tile)
    for factor in (-gammas / scale).astype(np.float32):
        yield np.exp(np.multiply(tile, factor, out=K), out=K)
