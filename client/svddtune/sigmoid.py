"""The logistic function, which the belief and the refined detector share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sigmoid(f: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(-f)), without overflow."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(f, -40.0, 40.0))))
