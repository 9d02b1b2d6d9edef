"""Small data with outliers in plain sight."""

import numpy as np

from svddtune.client.types import FloatArray, LabelArray


def blob(seed: int = 0, *, n: int = 60, outliers: int = 6) -> tuple[FloatArray, LabelArray]:
    """A normal cloud and some rows far from it; +1 and -1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.ones(n, dtype=np.int8)
    rows = rng.choice(n, outliers, replace=False)
    X[rows] += rng.choice([-6.0, 6.0], size=(outliers, 2))
    y[rows] = -1
    return X, y
