"""A map of the data in two dimensions: the first two principal components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from svddtune.numerics.types import FloatArray

CLIP = 10.0
"""Standardised values are pulled in to this many standard deviations, so that a single extreme
value does not decide the map."""

_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Plane:
    """A linear map from raw rows to two coordinates.

    Attributes
    ----------
    unit : FloatArray, shape (M,)
        Largest absolute value of each column, or 1; it keeps squares finite.
    center, scale : FloatArray, shape (M,)
        Mean and standard deviation of each column in these units; the scale of a constant column
        is infinite, so that it does not count.
    axes : FloatArray, shape (M, 2)
        Orthonormal, the direction of the larger variance first; zero where there is none. The
        largest entry of each is positive.
    explained : float
        Share of the variance of the standardised columns that both explain, in [0, 1].
    """

    unit: FloatArray
    center: FloatArray
    scale: FloatArray
    axes: FloatArray
    explained: float

    def places(self, rows: FloatArray) -> FloatArray:
        """Coordinates of raw rows, shape (n, M); shape (n, 2)."""
        return np.asarray(self._standardised(rows) @ self.axes)

    def _standardised(self, rows: FloatArray) -> FloatArray:
        return np.clip((rows / self.unit - self.center) / self.scale, -CLIP, CLIP)


def plane_of(rows: FloatArray) -> Plane:
    """Find the plane of the first two principal components of the standardised columns.

    Parameters
    ----------
    rows : FloatArray, shape (n, M)
        Raw rows, finite, at least one. The cost grows with the cube of the smaller of n and M.

    Returns
    -------
    Plane
    """
    unit = np.abs(rows).max(axis=0)
    unit[unit == 0.0] = 1.0
    scaled = rows / unit
    center, scale = scaled.mean(axis=0), scaled.std(axis=0)
    scale[scale <= _TINY] = np.inf
    whole = Plane(unit, center, scale, np.zeros((rows.shape[1], 2)), 0.0)
    Z = whole._standardised(rows)
    Z -= Z.mean(axis=0)
    n, M = Z.shape
    wide = n < M
    moments = Z @ Z.T if wide else Z.T @ Z
    total = float(np.trace(moments))
    if total <= 0.0:
        return whole
    size = len(moments)
    found = min(2, size)
    values, vectors = eigh(moments, subset_by_index=[size - found, size - 1])
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    axes = Z.T @ vectors if wide else vectors
    lengths = np.linalg.norm(axes, axis=0)
    real = values > _TINY * total
    axes = np.where(real, axes / np.where(lengths > 0.0, lengths, 1.0), 0.0)
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(found)])
    axes *= np.where(signs == 0.0, 1.0, signs)
    both = np.zeros((M, 2))
    both[:, :found] = axes
    return Plane(unit, center, scale, both, min(1.0, float(values.sum()) / total))
