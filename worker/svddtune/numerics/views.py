"""The rows of a dataset in each representation that the method uses."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from svddtune.numerics.extent import DRAWN
from svddtune.numerics.mapped import SAMPLED_ABOVE, MappedRows, Rows, complete
from svddtune.numerics.own import FitRepresentation, fit_own
from svddtune.numerics.preparation import default_gamma_bounds
from svddtune.numerics.representation import REPRESENTATIONS, fit_representation, measured
from svddtune.numerics.types import FloatArray
from svddtune.representation import Representation

AUTO = "auto"
"""The scaling with which the labels choose the representation too."""
AUTO_SCALINGS: tuple[str, ...] = ("minmax", "ranks", "standard", "whitened")
"""Representations that the cells of the atlas have with `AUTO`."""
BASE_SCALING = "minmax"
"""Representation of neighbours, alignment, "lama" and the label-free rules with `AUTO`."""
BELIEF_SCALING = "asinh"
"""Representation of the belief with `AUTO`."""


class Views:
    """A dataset's rows as they are and in every representation asked for, each made once.

    Parameters
    ----------
    raw : FloatArray, shape (N, M)
        Observations in the units of the columns, finite.
    scaling : str
        `AUTO`, or one of `REPRESENTATIONS`, which then is that of everything.
    own : FitRepresentation, optional
        Rule of another package; `scaling` is then the name of its representation.

    Attributes
    ----------
    raw, scaling
        As given.
    kinds : tuple of str
        Representations of the atlas's cells.
    base, belief : str
        Representation of neighbours and alignment, and of the belief.

    Raises
    ------
    ValueError
        If `scaling` is unknown.
    """

    def __init__(
        self, raw: FloatArray, scaling: str = AUTO, *, own: FitRepresentation | None = None
    ) -> None:
        if own is None and scaling != AUTO and scaling not in REPRESENTATIONS:
            raise ValueError(f"scaling is {scaling!r}, expected one of {(AUTO, *REPRESENTATIONS)}")
        several = scaling == AUTO and own is None
        self.raw, self.scaling, self._own = raw, scaling, own
        self.kinds: tuple[str, ...] = AUTO_SCALINGS if several else (scaling,)
        self.base = BASE_SCALING if several else scaling
        self.belief = BELIEF_SCALING if several else scaling
        self._representations: dict[str, Representation] = {}
        self._rows: dict[str, Rows] = {}
        self._gamma_bounds: dict[str, tuple[float, float]] = {}

    @classmethod
    def of(cls, data: FloatArray | Views) -> Views:
        """The views themselves, or those of an array whose rows are taken as they are."""
        return data if isinstance(data, Views) else cls(data, "none")

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def X(self) -> FloatArray:
        """All rows in the base representation, shape (N, M): a matrix however many they are."""
        rows = complete(self.rows(self.base))
        self._rows[self.base] = rows
        return rows

    def representation(self, kind: str) -> Representation:
        """The map from raw rows to those of a kind. Raises ValueError where it is unknown."""
        if kind not in self._representations:
            self._representations[kind] = (
                fit_representation(self._measured, kind)
                if self._own is None
                else fit_own(self._own, self.raw, kind)
            )
        return self._representations[kind]

    @cached_property
    def _measured(self) -> FloatArray:
        return measured(self.raw)

    def rows(self, kind: str) -> Rows:
        """All rows in a representation, shape (N, D); `raw` itself with "none".

        Those of the base and of the belief stay in memory; of the others, those asked for last.
        More than `SAMPLED_ABOVE` rows are mapped as they are asked for.
        """
        if kind == "none":
            return self.raw
        if kind not in self._rows:
            kept = (self.base, self.belief)
            if kind not in kept:
                self._rows = {name: rows for name, rows in self._rows.items() if name in kept}
            mapped = MappedRows(self.raw, self.representation(kind))
            self._rows[kind] = mapped if len(self) > SAMPLED_ABOVE else complete(mapped)
        return self._rows[kind]

    def gamma_bounds(self, kind: str) -> tuple[float, float]:
        """`default_gamma_bounds` of the rows in a representation, or of a sample of them."""
        if kind not in self._gamma_bounds:
            rows, N = self.rows(kind), len(self)
            if N > DRAWN:
                drawn = np.sort(np.random.default_rng(0).choice(N, DRAWN, replace=False))
                self._gamma_bounds[kind] = default_gamma_bounds(rows[drawn])
            else:
                self._gamma_bounds[kind] = default_gamma_bounds(complete(rows))
        return self._gamma_bounds[kind]
