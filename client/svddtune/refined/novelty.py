"""Scores of how unusual a row is, from the dataset alone, without a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svddtune.refined.trees import Trees
from svddtune.representation import Representation

Array = NDArray[np.float64]

SAME2 = 1e-14
"""Share of twice the squared norm of a row up to which a reference row is the same row."""

_BLOCK = 1 << 17  # distances held at a time


@dataclass(frozen=True, eq=False)
class NeighborScore:
    """Distances to the nearest and the `k`-th nearest of some reference rows.

    Attributes
    ----------
    representation : Representation
        In which distances are taken.
    reference : array, shape (R, D)
        Rows of the dataset in it.
    k : int
        1 to R - 1.
    floor : float
        Positive; shorter distances count as this one, so that the logarithm is finite.
    """

    representation: Representation
    reference: Array
    k: int
    floor: float

    def __post_init__(self) -> None:
        if not 1 <= self.k < len(self.reference):
            raise ValueError(f"k is {self.k}, expected 1 to {len(self.reference) - 1}")
        if not 0.0 < self.floor < np.inf:
            raise ValueError(f"floor is {self.floor}, expected a positive number")

    def apply(self, raw: Array) -> Array:
        """Logarithms of the two distances, shape (n, 2), of raw rows, shape (n, M).

        A row at distance 0 from a reference row is taken for that row, which is no neighbour of
        itself. So a row of the dataset has the same scores whether it is a reference row or not.
        """
        distance = neighbor_distances(self.representation.apply(raw), self.reference, self.k)
        return np.asarray(np.log(np.maximum(distance, self.floor)))


def neighbor_distances(rows: Array, reference: Array, k: int) -> Array:
    """Distances to the nearest and to the k-th nearest reference row, shape (n, 2).

    Parameters
    ----------
    rows : array, shape (n, D)
        Rows.
    reference : array, shape (R, D)
        More than k rows.
    k : int
        At least 1.

    Returns
    -------
    array, shape (n, 2)
        One reference row at distance 0 is left out.
    """
    out = np.empty((len(rows), 2))
    norms2, doubled = np.square(reference).sum(axis=1), -2.0 * reference.T
    step = max(1, _BLOCK // len(reference))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        own2 = np.square(block).sum(axis=1)[:, None]
        D2 = block @ doubled
        D2 += norms2
        # Only the k + 1 nearest matter; what is added to all of a row does not change which.
        near2 = np.partition(D2, k, axis=1)[:, : k + 1] + own2
        near2.sort(axis=1)
        near2[near2 <= 2.0 * SAME2 * own2] = 0.0
        same = near2[:, 0] == 0.0
        nearest, farther = (
            np.where(same, near2[:, 1], near2[:, 0]),
            np.where(same, near2[:, k], near2[:, k - 1]),
        )
        out[start : start + step] = np.sqrt(np.column_stack((nearest, farther)))
    return out


@dataclass(frozen=True, eq=False)
class Novelty:
    """Label-free scores of raw rows: isolation forest, and neighbours in representations.

    Attributes
    ----------
    standard : Representation
        Rows as the isolation forest takes them.
    isolation : Trees
        Leaves hold path lengths, in units of the expected length.
    neighbors : tuple of NeighborScore
        One for each representation.
    """

    standard: Representation
    isolation: Trees
    neighbors: tuple[NeighborScore, ...]

    @property
    def count(self) -> int:
        """Scores of a row, S."""
        return 1 + 2 * len(self.neighbors)

    def apply(self, raw: Array) -> Array:
        """Scores of raw rows, shape (n, S); the larger, the more unusual.

        The first is the isolation forest's anomaly score in (0, 1] (Liu, Ting and Zhou 2008); then
        follow the logarithms of the distances of each `NeighborScore`.
        """
        isolation = np.exp2(-self.isolation.mean(self.standard.apply(raw)))
        return np.column_stack((isolation, *(one.apply(raw) for one in self.neighbors)))
