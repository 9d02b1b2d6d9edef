"""Array types of the numerical core.

Shapes stand in the docstrings; dtype is part of the type. Values are checked where data enter
the program, so the functions of this package trust them to be finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
"""Real numbers, float64."""

LabelArray = NDArray[np.int8]
"""Labels: +1 inlier, -1 outlier, 0 unlabelled."""

IndexArray = NDArray[np.signedinteger[Any]]
"""Row indices, 0-based; neighbour tables are int32, rankings int64."""

BoolArray = NDArray[np.bool_]
"""Masks."""

INLIER = 1
OUTLIER = -1


def labelled_rows(labels: LabelArray) -> IndexArray:
    """Rows with a label, ascending."""
    # (NumPy finds few rows of many faster in a mask.)
    return np.flatnonzero(labels != 0)


def as_labels(outside: BoolArray) -> LabelArray:
    """Return -1 where a model has a row outside and +1 elsewhere; shape of `outside`."""
    return np.where(outside, np.int8(OUTLIER), np.int8(INLIER))
