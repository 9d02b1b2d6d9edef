"""A small labelled dataset with outliers on all sides."""

import numpy as np
from numpy.typing import NDArray

_rng = np.random.default_rng(4)
_outlying = _rng.permutation(np.arange(88) >= 80)
X: NDArray[np.float64] = (
    _rng.normal(size=(88, 3)) * np.where(_outlying, 5.0, 1.0)[:, None] * (1.0, 10.0, 0.1)
)
y: NDArray[np.int64] = np.where(_outlying, -1, 1)
NAMES = ["temperature", "pressure", "current"]
