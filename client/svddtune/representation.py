"""How raw columns become what the kernel sees: parameters, applied by worker and client alike.

A representation maps every column by itself and may then mix the columns:

1. A column with knots is mapped piecewise linearly: through the points (knot, value), and beyond
   the first and the last knot along the line of the segment that ends there. So a value far outside
   the fitted range stays far outside.
2. A column without knots becomes (x - offset) / scale, and with the kind "asinh" the inverse
   hyperbolic sine of that.
3. A value beyond `FARTHEST` becomes that.
4. With a rotation, shape (M, D), the row of M mapped columns is multiplied by it from the right.

NaN in a column stays NaN (and spreads over the row where there is a rotation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FARTHEST = 1e100
"""Largest magnitude that a column is mapped to, before the rotation."""


@dataclass(frozen=True, eq=False)
class Representation:
    """One fitted map of rows.

    Attributes
    ----------
    kind : str
        How it was fitted, for example "minmax". "none" leaves rows as they are.
    offset, scale : array, shape (M,)
        Of the columns without knots, in the units of the columns; a scale is positive.
    knots : tuple of array, length M
        Ascending values of each column, in its units: none, or at least two.
    values : tuple of array, length M
        What the knots become; as many, not descending.
    rotation : array or None, shape (M, D)
        Columns of the result; None where the mapped columns are the result.

    Raises
    ------
    ValueError
        If the parts do not fit together, or a number is not finite.
    """

    kind: str
    offset: Array
    scale: Array
    knots: tuple[Array, ...]
    values: tuple[Array, ...]
    rotation: Array | None = None

    def __post_init__(self) -> None:
        M = len(self.offset)
        if not len(self.scale) == len(self.knots) == len(self.values) == M:
            raise ValueError(
                f"offset, scale, knots and values have {M}, {len(self.scale)}, {len(self.knots)} "
                f"and {len(self.values)} columns, expected the same number"
            )
        if not (np.isfinite(self.offset).all() and np.isfinite(self.scale).all()):
            raise ValueError("offset and scale hold NaN or infinity, expected finite numbers")
        if not (self.scale > 0.0).all():
            raise ValueError(f"scale is {self.scale.min()} in a column, expected positive numbers")
        for column, (knots, values) in enumerate(zip(self.knots, self.values, strict=True)):
            _check_knots(column, knots, values)
        if self.rotation is None:
            return
        if self.rotation.ndim != 2 or len(self.rotation) != M:
            raise ValueError(f"rotation has shape {self.rotation.shape}, expected ({M}, D)")
        if not np.isfinite(self.rotation).all():
            raise ValueError("rotation holds NaN or infinity, expected finite numbers")

    @classmethod
    def affine(cls, kind: str, offset: Array, scale: Array) -> Representation:
        """One (x - offset) / scale for each column; a representation without knots."""
        nothing = (np.empty(0),) * len(offset)
        return cls(kind, offset, scale, nothing, nothing)

    @property
    def columns_in(self) -> int:
        """Columns of the rows that `apply` takes, M."""
        return len(self.offset)

    @property
    def columns_out(self) -> int:
        """Columns of the rows that `apply` returns, D."""
        return self.columns_in if self.rotation is None else self.rotation.shape[1]

    def apply(self, raw: Array) -> Array:
        """Map rows.

        Parameters
        ----------
        raw : array, shape (n, M)
            Rows in the units of the columns.

        Returns
        -------
        array, shape (n, D)
            A new array.

        Raises
        ------
        ValueError
            If `raw` does not have M columns.
        """
        if raw.ndim != 2 or raw.shape[1] != self.columns_in:
            raise ValueError(f"X has shape {raw.shape}, expected (n, {self.columns_in})")
        if self.kind == "none":
            return np.array(raw, dtype=np.float64)
        with np.errstate(over="ignore"):
            mapped = (raw - self.offset) / self.scale
        if self.kind == "asinh":
            np.arcsinh(mapped, out=mapped)
        for column, (knots, values) in enumerate(zip(self.knots, self.values, strict=True)):
            if len(knots):
                mapped[:, column] = _piecewise(raw[:, column], knots, values)
        # So that squared distances of rows far outside stay doubles: they are outliers either way.
        np.clip(mapped, -FARTHEST, FARTHEST, out=mapped)
        return mapped if self.rotation is None else np.asarray(mapped @ self.rotation)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All fields but the kind as plain arrays, for storage elsewhere.

        Returns
        -------
        dict of str to array
            ``offset`` and ``scale``, shape (M,); ``knot_counts``, shape (M,), int32; ``knots`` and
            ``values``, those of all columns one after the other; ``rotation``, shape (M, D), where
            there is one.
        """
        arrays: dict[str, NDArray[Any]] = {
            "offset": self.offset,
            "scale": self.scale,
            "knot_counts": np.array([len(knots) for knots in self.knots], dtype=np.int32),
            "knots": np.concatenate((np.empty(0), *self.knots)),
            "values": np.concatenate((np.empty(0), *self.values)),
        }
        if self.rotation is not None:
            arrays["rotation"] = self.rotation
        return arrays

    @classmethod
    def from_arrays(cls, kind: str, arrays: Mapping[str, NDArray[Any]]) -> Representation:
        """Inverse of `to_arrays`.

        Parameters
        ----------
        kind : str
            See the attributes.
        arrays : mapping of str to array
            From `to_arrays`; other names are ignored.

        Returns
        -------
        Representation

        Raises
        ------
        ValueError
            If the arrays do not fit together.
        KeyError
            If one is missing.
        """
        counts = np.asarray(arrays["knot_counts"], dtype=np.int64)
        knots, values = (np.asarray(arrays[name], dtype=np.float64) for name in ("knots", "values"))
        if (counts < 0).any() or not counts.sum() == len(knots) == len(values):
            raise ValueError(
                f"knot_counts add up to {counts.sum()}, expected {len(knots)} knots and "
                f"{len(values)} values"
            )
        ends = np.cumsum(counts)[:-1]
        rotation = arrays.get("rotation")
        return cls(
            kind=kind,
            offset=np.asarray(arrays["offset"], dtype=np.float64),
            scale=np.asarray(arrays["scale"], dtype=np.float64),
            knots=tuple(np.split(knots, ends)) if len(counts) else (),
            values=tuple(np.split(values, ends)) if len(counts) else (),
            rotation=None if rotation is None else np.asarray(rotation, dtype=np.float64),
        )


def _check_knots(column: int, knots: Array, values: Array) -> None:
    if len(knots) != len(values) or len(knots) == 1:
        raise ValueError(
            f"column {column} has {len(knots)} knots and {len(values)} values, expected as many, "
            "and none or at least two"
        )
    if not (np.isfinite(knots).all() and np.isfinite(values).all()):
        raise ValueError(f"column {column} has a knot or value that is not finite")
    if (knots[1:] <= knots[:-1]).any() or (values[1:] < values[:-1]).any():
        raise ValueError(f"column {column} has knots or values that do not ascend")


def _piecewise(x: Array, knots: Array, values: Array) -> Array:
    mapped = np.interp(x, knots, values)
    for beyond, end, inner in ((x < knots[0], 0, 1), (x > knots[-1], -1, -2)):
        if beyond.any():
            slope = (values[end] - values[inner]) / (knots[end] - knots[inner])
            mapped[beyond] = values[end] + (x[beyond] - knots[end]) * slope
    return np.asarray(mapped, dtype=np.float64)
