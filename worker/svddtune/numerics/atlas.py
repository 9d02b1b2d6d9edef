"""The atlas: all cells of a lattice, fitted once per dataset; one bit per row and cell.

A cell is a representation of the columns (`scaling`), a gamma and a C; see `lattice`.

SVDD is unsupervised: which rows a cell calls outliers does not depend on the labels. With the
answers of all cells at hand, a label updates the evidence for every cell by table look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.numerics.panel import Panel, uniform_panel
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray

MAX_SHARE = 0.6
"""Cells calling a larger share of the rows outliers have no vote (they may still be chosen)."""

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
_BITS_SET = _BITS.sum(axis=1, dtype=np.uint8)
_FEW_ROWS = 200


@dataclass(frozen=True, slots=True, eq=False)
class CellModels:
    """What tells which cells have a row outside, where the cells were fitted on a sample.

    Attributes
    ----------
    rows : IndexArray, shape (n,)
        Rows of the data that the cells were fitted on, ascending.
    alphas : FloatArray, shape (cells, n)
        Weights of these rows; the sum of each cell's is 1.
    norms2 : FloatArray, shape (cells,)
        alpha^T K alpha of each cell.
    degenerate : BoolArray, shape (cells,)
        Cells that have every row outside.
    """

    rows: IndexArray
    alphas: FloatArray
    norms2: FloatArray
    degenerate: BoolArray


Judge = Callable[[IndexArray, IndexArray], BoolArray]
"""From rows, shape (n,), and cells, shape (c,), to which cells have which rows outside, (c, n)."""


class _Judged:
    """Verdicts on the covered rows of an atlas, and on those that were asked for since."""

    def __init__(self, N: int, covered: IndexArray, packed: NDArray[np.uint8]) -> None:
        # Position of each row among the bits; -1 for none.
        self.position = np.full(N, -1, dtype=np.int32)
        self.position[covered] = np.arange(len(covered))
        self.packed = packed
        self._bytes = packed.shape[1]

    def put(self, rows: IndexArray, outside: BoolArray) -> None:
        """Keep the verdicts, shape (cells, n), on rows that have none yet."""
        added = np.packbits(outside, axis=1)
        end = self._bytes + added.shape[1]
        if end > self.packed.shape[1]:
            grown = np.zeros((len(self.packed), 2 * end), dtype=np.uint8)
            grown[:, : self._bytes] = self.packed[:, : self._bytes]
            self.packed = grown
        self.packed[:, self._bytes : end] = added
        self.position[rows] = 8 * self._bytes + np.arange(len(rows))
        self._bytes = end


@dataclass(frozen=True, eq=False)
class Atlas:
    """Fitted cells, ascending in scaling (by name), then in gamma, then in C.

    Attributes
    ----------
    scaling : NDArray[np.str_], shape (cells,)
        Kind of the representation that each cell was fitted in.
    gamma, C : FloatArray, shape (cells,)
        Of every cell; gamma in inverse squared distances of its representation.
    R2 : FloatArray, shape (cells,)
        Squared radius in feature space.
    support_vectors : NDArray[np.int32], shape (cells,)
        Numbers of rows with a positive alpha.
    packed : NDArray[np.uint8], shape (cells, ceil(n / 8))
        Bit x of row c is set where cell c calls covered row x an outlier; first row in the highest
        bit.
    N : int
        Rows of the data.
    covered : IndexArray or None, shape (n,)
        Rows that `packed` tells of: the panel; None for all.
    models : CellModels or None
        What makes verdicts on the other rows; None where all are covered.
    judge : Judge or None
        Makes these verdicts: see `lattice.judged`.
    drawn : Panel or None
        Rows that stand for all in sums over rows; None for `uniform_panel`. It is that of the
        belief that the cells are weighed against, and no part of what is stored.
    """

    scaling: NDArray[np.str_]
    gamma: FloatArray
    C: FloatArray
    R2: FloatArray
    support_vectors: NDArray[np.int32]
    packed: NDArray[np.uint8]
    N: int
    covered: IndexArray | None = None
    models: CellModels | None = None
    judge: Judge | None = None
    drawn: Panel | None = None

    def __len__(self) -> int:
        return len(self.gamma)

    def gammas(self, scaling: str) -> FloatArray:
        """Distinct gammas of the cells of a representation, shape (G,), ascending."""
        return np.unique(self.gamma[self.scaling == scaling])

    def column(self, scaling: str, gamma: float) -> IndexArray:
        """Cells of one representation and gamma, in the order of C."""
        return np.flatnonzero((self.scaling == scaling) & (self.gamma == gamma))

    @cached_property
    def outliers(self) -> IndexArray:
        """Rows that each cell calls outliers, shape (cells,).

        Where not all rows are covered, the number is estimated from the panel.
        """
        if self.covered is None:
            return np.asarray(_BITS_SET[self.packed].sum(axis=1, dtype=np.int64))
        share = self.panel_sizes / self.sample.weights.sum()
        return np.asarray(np.round(share * self.N), dtype=np.int64)

    @cached_property
    def sample(self) -> Panel:
        """The panel's rows and weights."""
        if self.drawn is not None:
            return self.drawn
        covered = self.covered
        return uniform_panel(self.N) if covered is None else Panel(covered, np.ones(len(covered)))

    @cached_property
    def panel(self) -> NDArray[np.float32]:
        """1 where a cell calls a row of the panel an outlier, shape (cells, P)."""
        rows = self.sample.rows
        covered = np.arange(self.N) if self.covered is None else self.covered
        if np.array_equal(rows, covered):
            return np.unpackbits(self.packed, axis=1, count=len(rows)).astype(np.float32)
        return self.outside_at(rows).astype(np.float32)

    @cached_property
    def panel_sizes(self) -> FloatArray:
        """Weights of the panel's rows that each cell calls outliers, shape (cells,)."""
        return np.asarray(self.panel @ self.sample.weights)

    @cached_property
    def voters(self) -> IndexArray:
        """Cells that call some rows, but at most `MAX_SHARE` of them, outliers."""
        sizes = self.panel_sizes
        return np.flatnonzero((sizes > 0) & (sizes <= MAX_SHARE * self.sample.weights.sum()))

    def outside(self, cell: int) -> BoolArray:
        """Rows that one cell calls outliers, shape (N,)."""
        if self.covered is not None:
            return np.asarray(self._verdicts(np.arange(self.N), np.array([cell]))[0])
        return np.unpackbits(self.packed[cell], count=self.N).astype(np.bool_)

    def outside_at(self, rows: IndexArray) -> BoolArray:
        """Whether each cell calls each of `rows` an outlier, shape (cells, n)."""
        at, packed = self._held(rows)
        shift = (7 - (at & 7)).astype(np.uint8)
        return ((packed[:, at >> 3] >> shift) & 1).astype(np.bool_)

    def calls(self, cell: int, rows: IndexArray) -> BoolArray:
        """Whether one cell calls each of `rows` an outlier, shape (n,)."""
        at, packed = self._held(rows)
        shift = (7 - (at & 7)).astype(np.uint8)
        return np.asarray((packed[cell, at >> 3] >> shift) & 1, dtype=np.bool_)

    def _held(self, rows: IndexArray) -> tuple[IndexArray, NDArray[np.uint8]]:
        """Positions of rows among the bits, and the bits; verdicts that are missing are made."""
        rows = np.asarray(rows, dtype=np.int64)
        if self.covered is None:
            return rows, self.packed
        known = self._judged
        missing = np.unique(rows[known.position[rows] < 0])
        if len(missing):
            known.put(missing, self._verdicts(missing, np.arange(len(self))))
        return known.position[rows].astype(np.int64), known.packed

    def _verdicts(self, rows: IndexArray, cells: IndexArray) -> BoolArray:
        if self.judge is None:
            raise ValueError("the atlas covers some rows alone; expected one from `judged`")
        return self.judge(rows, cells)

    @cached_property
    def _judged(self) -> _Judged:
        covered = np.arange(self.N) if self.covered is None else self.covered
        return _Judged(self.N, covered, self.packed)

    def count_outside(self, rows: IndexArray) -> FloatArray:
        """How many of `rows`, each named once, each cell calls outliers, shape (cells,).

        The cost does not grow with the rows beyond one per byte.
        """
        at, packed = self._held(rows)
        marked, held = _marked(at, packed.shape[1])
        cells = packed[:, held]
        return np.asarray(_BITS_SET[cells & marked[held]].sum(axis=1, dtype=np.float64))

    def sum_outside(self, rows: IndexArray, weights: FloatArray) -> FloatArray:
        """Sum the weights of those of `rows` that each cell calls outliers.

        Parameters
        ----------
        rows : IndexArray, shape (n,)
            Each named once.
        weights : FloatArray, shape (n,)
            Of the rows.

        Returns
        -------
        FloatArray, shape (cells,)

        Notes
        -----
        For few rows a product is faster; otherwise every byte of a cell is looked up in a table of
        the sums of its 256 values.
        """
        if len(rows) <= _FEW_ROWS:
            return np.asarray(self.outside_at(rows) @ weights)
        at, packed = self._held(rows)
        marked, held = _marked(at, packed.shape[1])
        by_bit = np.zeros((len(marked), 8))
        by_bit[at >> 3, at & 7] = weights
        table = by_bit[held] @ _BITS.T
        return np.asarray(table[np.arange(table.shape[0]), packed[:, held]].sum(axis=1))

    def vote(self, rows: IndexArray) -> FloatArray:
        """Share of the `voters` that call each of `rows` an outlier, shape (n,); 0 without any."""
        if len(self.voters) == 0:
            return np.zeros(len(rows))
        return np.asarray(self.outside_at(rows)[self.voters].mean(axis=0))

    @cached_property
    def panel_vote(self) -> FloatArray:
        """`vote` of the rows of the panel, shape (P,)."""
        return self.vote(self.sample.rows)

    def on(self, panel: Panel) -> Atlas:
        """The same cells, weighed on another panel."""
        return replace(self, drawn=panel)

    def of_cells(self, cells: IndexArray) -> Atlas:
        """The atlas of some of the cells alone, in their order here."""
        models = self.models
        return replace(
            self,
            scaling=self.scaling[cells],
            gamma=self.gamma[cells],
            C=self.C[cells],
            R2=self.R2[cells],
            support_vectors=self.support_vectors[cells],
            packed=self.packed[cells],
            models=models
            and CellModels(
                models.rows, models.alphas[cells], models.norms2[cells], models.degenerate[cells]
            ),
            judge=None,
        )

    @classmethod
    def from_parts(cls, parts: Sequence[Atlas]) -> Atlas:
        """Join atlases of the same data, each of one scaling and gamma, in any order.

        Parts that cover some rows alone cover the same ones, and were fitted on the same sample.
        """
        if len({part.N for part in parts}) != 1:
            raise ValueError(f"parts have N {sorted({p.N for p in parts})}, expected one value")
        parts = sorted(parts, key=lambda part: (str(part.scaling[0]), float(part.gamma[0])))
        models = [part.models for part in parts if part.models is not None]
        return cls(
            scaling=np.concatenate([part.scaling for part in parts]),
            gamma=np.concatenate([part.gamma for part in parts]),
            C=np.concatenate([part.C for part in parts]),
            R2=np.concatenate([part.R2 for part in parts]),
            support_vectors=np.concatenate([part.support_vectors for part in parts]),
            packed=np.concatenate([part.packed for part in parts]),
            N=parts[0].N,
            covered=parts[0].covered,
            models=CellModels(
                rows=models[0].rows,
                alphas=np.concatenate([one.alphas for one in models]),
                norms2=np.concatenate([one.norms2 for one in models]),
                degenerate=np.concatenate([one.degenerate for one in models]),
            )
            if models
            else None,
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All fields but `judge` as plain arrays, for storage elsewhere."""
        arrays: dict[str, NDArray[Any]] = {
            "scaling": self.scaling,
            "gamma": self.gamma,
            "C": self.C,
            "R2": self.R2,
            "support_vectors": self.support_vectors,
            "packed": self.packed,
            "N": np.array(self.N, dtype=np.int64),
        }
        if self.covered is not None and self.models is not None:
            arrays |= {
                "covered": self.covered.astype(np.int64),
                "fit_rows": self.models.rows.astype(np.int64),
                "alphas": self.models.alphas,
                "norms2": self.models.norms2,
                "degenerate": self.models.degenerate,
            }
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Atlas:
        """Inverse of `to_arrays`; `lattice.judged` adds what makes verdicts on other rows."""
        sampled = "covered" in arrays
        return cls(
            scaling=np.asarray(arrays["scaling"], dtype=np.str_),
            gamma=np.asarray(arrays["gamma"], dtype=np.float64),
            C=np.asarray(arrays["C"], dtype=np.float64),
            R2=np.asarray(arrays["R2"], dtype=np.float64),
            support_vectors=np.asarray(arrays["support_vectors"], dtype=np.int32),
            packed=np.asarray(arrays["packed"], dtype=np.uint8),
            N=int(arrays["N"]),
            covered=np.asarray(arrays["covered"], dtype=np.int64) if sampled else None,
            models=CellModels(
                rows=np.asarray(arrays["fit_rows"], dtype=np.int64),
                alphas=np.asarray(arrays["alphas"], dtype=np.float64),
                norms2=np.asarray(arrays["norms2"], dtype=np.float64),
                degenerate=np.asarray(arrays["degenerate"], dtype=np.bool_),
            )
            if sampled
            else None,
        )


def _marked(at: IndexArray, size: int) -> tuple[NDArray[np.uint8], IndexArray | slice]:
    """Positions as bits of `size` bytes, and the bytes that hold some; all where most do."""
    mask = np.zeros(8 * size, dtype=np.bool_)
    mask[at] = True
    marked = np.packbits(mask)
    held = np.flatnonzero(marked)
    return marked, held if 2 * len(held) < len(marked) else slice(None)
