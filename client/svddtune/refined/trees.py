"""Ensembles of binary decision trees as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BLOCK = 1 << 16  # pairs of a row and a tree that are followed at a time
_FEW = 0.7  # share of the pairs not at a leaf yet, below which the others are set aside


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees over rows of numbers; a row's value is the mean over the trees.

    From an inner node a row goes to `left` where its column `feature`, rounded to single precision,
    is at most `threshold`, and to `right` otherwise. (scikit-learn grows and evaluates its trees on
    rows in single precision too.)

    Attributes
    ----------
    feature : NDArray[np.int32], shape (n,)
        Column that a node looks at; -1 in a leaf.
    threshold : Array, shape (n,)
        Of the inner nodes.
    left, right : NDArray[np.int32], shape (n,)
        Nodes below, numbered over all trees; both greater than the node's own number. In a leaf
        they are the leaf.
    value : Array, shape (n,)
        Of the leaves.
    roots : NDArray[np.int32], shape (T,)
        First node of each tree.

    Raises
    ------
    ValueError
        If the arrays do not describe trees.
    """

    feature: NDArray[np.int32]
    threshold: Array
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Array
    roots: NDArray[np.int32]

    def __post_init__(self) -> None:
        n = len(self.feature)
        lengths = {len(self.threshold), len(self.left), len(self.right), len(self.value), n}
        if len(lengths) > 1 or len(self.roots) == 0:
            raise ValueError(f"nodes have arrays of {sorted(lengths)} entries, expected one length")
        numbers, inner = np.arange(n), self.feature >= 0
        for name, below in (("left", self.left), ("right", self.right)):
            # Every step leads to a greater number, so that every path ends.
            fits = np.where(inner, (below > numbers) & (below < n), below == numbers)
            if not fits.all():
                node = int(np.flatnonzero(~fits)[0])
                raise ValueError(f"{name} of node {node} is {below[node]}, which is not below it")
        if not ((self.roots >= 0) & (self.roots < n)).all():
            raise ValueError(f"roots are not nodes from 0 to {n - 1}")

    @property
    def columns(self) -> int:
        """Least number of columns that rows must have."""
        return int(self.feature.max(initial=-1)) + 1

    def mean(self, X: Array) -> Array:
        """Mean value over the trees.

        Parameters
        ----------
        X : array, shape (n, F)
            Rows; F at least `columns`.

        Returns
        -------
        array, shape (n,)
        """
        with np.errstate(over="ignore"):  # beyond single precision is beyond every threshold
            rows = X.astype(np.float32).astype(np.float64)
        out = np.empty(len(rows))
        step = max(1, _BLOCK // len(self.roots))
        for start in range(0, len(rows), step):
            out[start : start + step] = self._mean(rows[start : start + step])
        return out

    @cached_property
    def _steps(self) -> tuple[NDArray[np.intp], Array, NDArray[np.intp]]:
        """Column and threshold of every node, and where to go: right and left of each in turn.

        A leaf looks at any column and stays where it is.
        """
        threshold = np.where(self.feature >= 0, self.threshold, np.inf)
        below = np.column_stack((self.right, self.left)).ravel().astype(np.intp)
        return np.maximum(self.feature, 0).astype(np.intp), threshold, below

    def _mean(self, rows: Array) -> Array:
        feature, threshold, below = self._steps
        values, count = rows.ravel(), len(self.roots)
        first = np.repeat(np.arange(len(rows)) * rows.shape[1], count)
        leaf = node = np.tile(self.roots.astype(np.intp), len(rows))
        # Places of the pairs in `leaf` that are still followed; None for all.
        place: NDArray[np.intp] | None = None
        while True:
            goes_left = values.take(first + feature.take(node)) <= threshold.take(node)
            node = below.take(2 * node + goes_left)
            inner = self.feature.take(node) >= 0
            left = np.count_nonzero(inner)
            if 0 < left >= _FEW * len(node):
                continue
            if place is None:
                leaf = node
            else:
                leaf[place] = node
            if left == 0:
                break
            kept = np.flatnonzero(inner)
            place = kept if place is None else place.take(kept)
            node, first = node.take(kept), first.take(kept)
        return np.asarray(self.value.take(leaf).reshape(-1, count).mean(axis=1))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All fields by name."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Trees:
        """Inverse of `to_arrays`. Raises KeyError or ValueError where the arrays are damaged."""
        return cls(**{
            name: np.asarray(arrays[name], dtype=kind) for name, kind in _FIELDS.items()
        })  # fmt: skip


_FIELDS: dict[str, Any] = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "value": np.float64,
    "roots": np.int32,
}
