"""Fit the maps that make raw columns comparable: `svddtune.representation` applies them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri
from sklearn.utils.extmath import randomized_svd

from svddtune.numerics.extent import varied_deviation
from svddtune.numerics.types import FloatArray, IndexArray
from svddtune.representation import Representation

KNOTS = 129
"""Columns of more distinct values have knots at that many even steps of the share of rows below,
and at as many of the result: the tails of "normal" need more of them than the middle."""
FIT_ROWS = 100_000
"""Rows up to which all are measured; of more a uniform sample, with each column's extremes."""
LEAST_EIGENVALUE = 1e-3
"""Of the largest: directions of less variance are not stretched further by "whitened"."""
COMPONENTS = 256
"""Largest number of columns that "whitened" returns: those of largest variance."""

_DENSE_COLUMNS = 1000  # up to which all eigenvectors are computed


def fit_representation(X: FloatArray, kind: str = "none") -> Representation:
    """Measure the columns.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations in the units of the columns, finite.
    kind : str
        One of `REPRESENTATIONS`:

        - "none": rows as they are.
        - "minmax": least value to 0, largest to 1, as in the paper's experiments.
        - "robust": median to 0, distance between the quartiles to 1; where that distance is 0 the
          whole range is used, up to `extent.REACH` median deviations of the values that differ from
          the median.
        - "standard": mean to 0, standard deviation to 1.
        - "asinh": the inverse hyperbolic sine of (x - median) / median absolute deviation, with the
          standard deviation where that is 0: linear near the median, logarithmic far from it.
        - "ranks": the share of rows with a smaller value plus half the share with an equal one.
        - "normal": the quantile of the normal distribution at that share.
        - "whitened": principal components of the standardised columns, each divided by its standard
          deviation, but by no less than the root of `LEAST_EIGENVALUE` times the largest variance.

    Returns
    -------
    Representation
        A constant column becomes (x - its value) / 1. "ranks" and "normal" are exact where a column
        has at most `KNOTS` distinct values, else at its knots, and linear between. Beyond the range
        their slope is the range of the result divided by that of the column.

    Raises
    ------
    ValueError
        If `kind` is unknown or `X` has no rows.
    """
    if kind not in _FITTERS:
        raise ValueError(f"kind is {kind!r}, expected one of {REPRESENTATIONS}")
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}, expected (N, M) with N >= 1")
    return _FITTERS[kind](measured(X))


def measured(X: FloatArray) -> FloatArray:
    """The rows of X, shape (N, M), that representations are fitted to: all up to `FIT_ROWS`.

    Of more it is a uniform sample with each column's extremes, shape (n, M). The measured rows of
    measured rows are all of them.
    """
    N, M = X.shape
    if N <= FIT_ROWS + 2 * M:
        return X
    drawn = np.random.default_rng(0).choice(N, FIT_ROWS, replace=False)
    rows = np.unique(np.concatenate((drawn, X.argmin(axis=0), X.argmax(axis=0))))
    return np.asarray(X[rows])


def _none(X: FloatArray) -> Representation:
    return Representation.affine("none", np.zeros(X.shape[1]), np.ones(X.shape[1]))


def _minmax(X: FloatArray) -> Representation:
    width = X.max(axis=0) - X.min(axis=0)
    return Representation.affine("minmax", X.min(axis=0), _positive(width))


def _robust(X: FloatArray) -> Representation:
    width = X.max(axis=0) - X.min(axis=0)
    lower, offset, upper = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
    scale = np.where(upper > lower, upper - lower, width)
    for column in np.flatnonzero((upper == lower) & (width > 0.0)):
        reach = varied_deviation(np.abs(X[:, column] - offset[column]))
        scale[column] = min(width[column], reach)
    return Representation.affine("robust", offset, _positive(scale))


def _standard(X: FloatArray) -> Representation:
    # In units of about the largest value, so that squares cannot overflow. A power of 2 is exact.
    unit = np.ldexp(1.0, np.frexp(np.abs(X).max(axis=0))[1] - 1)
    Z = X / unit
    varied = Z.max(axis=0) > Z.min(axis=0)
    offset = np.where(varied, Z.mean(axis=0), Z[0]) * unit
    scale = np.where(varied, Z.std(axis=0), 0.0) * unit
    return Representation.affine("standard", offset, _positive(scale))


def _asinh(X: FloatArray) -> Representation:
    # Columns in one piece each: medians along the last axis are much the faster ones.
    columns = np.ascontiguousarray(X.T)
    offset = np.median(columns, axis=1)
    deviation = np.median(np.abs(columns - offset[:, None]), axis=1)
    scale = np.where(deviation > 0.0, deviation, _standard(X).scale)
    return Representation.affine("asinh", offset, scale)


def _ranks(X: FloatArray) -> Representation:
    return _by_share("ranks", X, lambda share: share)


def _normal(X: FloatArray) -> Representation:
    return _by_share("normal", X, lambda share: np.asarray(ndtri(share)))


def _whitened(X: FloatArray) -> Representation:
    standard = _standard(X)
    variance, directions = _principal(standard.apply(X))
    # The sign of an eigenvector is arbitrary: its largest entry is positive here.
    largest = directions[np.argmax(np.abs(directions), axis=0), np.arange(directions.shape[1])]
    directions = directions * np.where(largest < 0.0, -1.0, 1.0)
    if variance[0] > 0.0:
        directions = directions / np.sqrt(np.maximum(variance, LEAST_EIGENVALUE * variance[0]))
    return Representation(
        "whitened", standard.offset, standard.scale, standard.knots, standard.values, directions
    )


_FITTERS: dict[str, Callable[[FloatArray], Representation]] = {
    "none": _none,
    "minmax": _minmax,
    "robust": _robust,
    "standard": _standard,
    "asinh": _asinh,
    "ranks": _ranks,
    "normal": _normal,
    "whitened": _whitened,
}
REPRESENTATIONS: tuple[str, ...] = tuple(_FITTERS)


def _positive(scale: FloatArray) -> FloatArray:
    return np.where(scale > 0.0, scale, 1.0)


def _principal(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest variances of centred rows, shape (D,), and their directions, shape (M, D)."""
    if Z.shape[1] > _DENSE_COLUMNS:
        _, singular, rows = randomized_svd(Z, COMPONENTS, random_state=0)
        return np.square(singular) / len(Z), np.asarray(rows.T)
    variance, directions = np.linalg.eigh(Z.T @ Z / len(Z))
    return variance[::-1][:COMPONENTS], directions[:, ::-1][:, :COMPONENTS]


def _by_share(
    kind: str, X: FloatArray, score: Callable[[FloatArray], FloatArray]
) -> Representation:
    """Map each column by a score of the share of rows below its values."""
    # One piece of memory each: columns are sorted.
    columns = np.ascontiguousarray(X.T)
    offset, knots, values = np.zeros(len(columns)), [], []
    for index, column in enumerate(columns):
        value, count = np.unique(column, return_counts=True)
        if len(value) == 1:
            offset[index] = value[0]
            knots.append(np.empty(0))
            values.append(np.empty(0))
            continue
        share = (np.cumsum(count) - 0.5 * count) / len(column)
        at = score(share)
        if len(value) > KNOTS:
            kept = np.union1d(_even_steps(share), _even_steps(at))
            value, at = value[kept], at[kept]
        # One range farther on either side: the last segments carry the slope beyond the range.
        # (At least the next number, where a sum would be rounded to the value itself.)
        width, height = value[-1] - value[0], at[-1] - at[0]
        low = min(value[0] - width, np.nextafter(value[0], -np.inf))
        high = max(value[-1] + width, np.nextafter(value[-1], np.inf))
        below, above = (height * (value[0] - low) / width, height * (high - value[-1]) / width)
        knots.append(np.concatenate(([low], value, [high])))
        values.append(np.concatenate(([at[0] - below], at, [at[-1] + above])))
    return Representation(kind, offset, np.ones(len(columns)), tuple(knots), tuple(values))


def _even_steps(ascending: FloatArray) -> IndexArray:
    """Positions of `KNOTS` values at even steps, the first and the last included."""
    steps = np.linspace(ascending[0], ascending[-1], KNOTS)
    return np.minimum(np.searchsorted(ascending, steps), len(ascending) - 1)
