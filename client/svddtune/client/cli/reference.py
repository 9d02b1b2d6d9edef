"""What label-free settings decide about every row: to set beside the tuned model.

The service scores them on the labels only. Where the whole truth is known the command line shows
how they fare on all rows, and for that it solves the one-class problem itself, small and plain.
"""

from __future__ import annotations

import numpy as np

from svddtune.client.types import FloatArray, LabelArray

MAX_ROWS = 4000
_TOLERANCE = 1e-6


def one_class_labels(Z: FloatArray, *, gamma: float, nu: float) -> LabelArray:
    """Return +1 or -1 per scaled row for a Gaussian one-class SVM with `gamma` and `nu`.

    Minimises a'Ka / 2 with 0 <= a <= 1/(nu N) and sum(a) = 1 by sequential minimal optimisation
    on the most violating pair; rows on the boundary are inliers.
    """
    n = len(Z)
    squares = np.einsum("ij,ij->i", Z, Z)
    squared = np.maximum(squares[:, None] + squares[None, :] - 2 * Z @ Z.T, 0.0)
    K = np.exp(-gamma * squared)
    cap = 1 / (nu * n)
    alpha = np.zeros(n)
    full = min(n, int(nu * n))
    alpha[:full] = cap
    if full < n:
        alpha[full] = 1 - cap * full
    gradient = K @ alpha
    for _ in range(200 * n):
        up = np.where(alpha < cap * (1 - 1e-12), gradient, np.inf)
        down = np.where(alpha > cap * 1e-12, gradient, -np.inf)
        i, j = int(np.argmin(up)), int(np.argmax(down))
        gap = down[j] - up[i]
        if gap < _TOLERANCE:
            break
        curvature = max(2 - 2 * K[i, j], 1e-12)
        step = min(gap / curvature, cap - alpha[i], alpha[j])
        alpha[i] += step
        alpha[j] -= step
        gradient += step * (K[:, i] - K[:, j])
    free = (alpha > cap * 1e-9) & (alpha < cap * (1 - 1e-9))
    offset = float(gradient[free].min()) if free.any() else float(gradient[alpha > 0].max())
    return np.where(gradient >= offset - 2 * _TOLERANCE, 1, -1).astype(np.int8)
