"""Attribute scaling: one offset and scale per column, fitted once and applied to new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from svddtune.numerics.extent import varied_deviation
from svddtune.numerics.types import FloatArray

ScalingKind = Literal["none", "minmax", "robust"]

_SCALING_KINDS = ("none", "minmax", "robust")


@dataclass(frozen=True, slots=True)
class Scaling:
    """One affine map per column: (X - offset) / scale.

    Attributes
    ----------
    kind : {"none", "minmax", "robust"}
        How offset and scale were found.
    offset, scale : FloatArray, shape (M,)
        In the units of the columns; scale is positive.
    """

    kind: ScalingKind
    offset: FloatArray
    scale: FloatArray

    def apply(self, X: FloatArray) -> FloatArray:
        """Scale the rows of `X`.

        Parameters
        ----------
        X : FloatArray, shape (n, M)
            Rows in the units of the columns.

        Returns
        -------
        FloatArray, shape (n, M)
        """
        if X.ndim != 2 or X.shape[1] != len(self.offset):
            raise ValueError(f"X has shape {X.shape}, expected (n, {len(self.offset)})")
        if self.kind == "none":
            return np.array(X, dtype=np.float64)
        return (X - self.offset) / self.scale


def fit_scaling(X: FloatArray, kind: ScalingKind = "none") -> Scaling:
    """Find offset and scale of every column.

    Parameters
    ----------
    X : FloatArray, shape (N, M)
        Observations in the units of the columns, finite.
    kind : {"none", "minmax", "robust"}
        minmax: least value to 0, largest to 1, as in the paper's experiments. robust: median to
        0, distance between the quartiles to 1; where that distance is 0 the whole range is used,
        up to `extent.REACH` median deviations of the values that differ from the median.

    Returns
    -------
    Scaling
        A constant column gets scale 1, so that it becomes 0 and stays finite.

    Raises
    ------
    ValueError
        If `kind` is unknown or `X` has no rows.
    """
    if kind not in _SCALING_KINDS:
        raise ValueError(f"kind is {kind!r}, expected one of {_SCALING_KINDS}")
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}, expected (N, M) with N >= 1")
    width = X.max(axis=0) - X.min(axis=0)
    if kind == "none":
        offset, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    elif kind == "minmax":
        offset, scale = X.min(axis=0), width
    else:
        lower, offset, upper = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
        scale = np.where(upper > lower, upper - lower, width)
        for column in np.flatnonzero((upper == lower) & (width > 0.0)):
            reach = varied_deviation(np.abs(X[:, column] - offset[column]))
            scale[column] = min(width[column], reach)
    return Scaling(kind, offset, np.where(scale > 0.0, scale, 1.0))
