"""Rows of a dataset in a representation, mapped when they are asked for and not kept.

A large dataset fits into memory once, not once for each representation. What the method does there
needs some thousand rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.types import FloatArray, IndexArray
from svddtune.representation import Representation

SAMPLED_ABOVE = 5000
"""Rows up to which all take part in everything. Of more, the cells of the atlas are fitted on a
sample and judge the panel at first, a session with an atlas prepares the panel alone, and rows are
mapped into representations as they are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class MappedRows:
    """A read-only matrix, shape (N, D), that maps the rows that it is indexed with.

    Attributes
    ----------
    raw : FloatArray, shape (N, M)
        Rows in the units of the columns.
    representation : Representation
        Map from M to D columns.
    """

    raw: FloatArray
    representation: Representation

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def shape(self) -> tuple[int, int]:
        """(N, D)."""
        return len(self.raw), self.representation.columns_out

    def __getitem__(self, rows: IndexArray | slice) -> FloatArray:
        """Rows by their numbers or by a range, shape (n, D)."""
        return self.representation.apply(self.raw[rows])


Rows = FloatArray | MappedRows
"""Rows of a dataset: a matrix, or one that is mapped as it is indexed."""


def complete(X: Rows) -> FloatArray:
    """All rows as a matrix in memory, shape (N, D)."""
    return X if isinstance(X, np.ndarray) else X[:]
