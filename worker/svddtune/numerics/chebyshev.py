"""Interpolation on Chebyshev nodes in log(gamma).

Kernel means are entire functions of log(gamma), so a polynomial through Chebyshev nodes of the
first kind converges geometrically; the barycentric form evaluates it stably.
"""

from __future__ import annotations

import math

import numpy as np

from svddtune.numerics.types import FloatArray

_NODES_PER_E_FOLD = 4.25  # keeps the largest error of a kernel mean below 1e-6, see the tests


def log_gamma_nodes(gamma_min: float, gamma_max: float) -> FloatArray:
    """Chebyshev nodes over [log gamma_min, log gamma_max].

    Parameters
    ----------
    gamma_min, gamma_max : float
        Positive, in inverse squared distances.

    Returns
    -------
    FloatArray, shape (Q,)
        Ascending; Q grows with the width of the interval.
    """
    low, high = math.log(gamma_min), math.log(gamma_max)
    Q = 4 + math.ceil(_NODES_PER_E_FOLD * (high - low))
    angle = (2.0 * np.arange(Q) + 1.0) * (math.pi / (2.0 * Q))
    return np.asarray(0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle))


def interpolation_weights(nodes: FloatArray, log_gamma: FloatArray) -> FloatArray:
    """Weights W such that W @ (values at the nodes) interpolates.

    Parameters
    ----------
    nodes : FloatArray, shape (Q,)
        From `log_gamma_nodes`.
    log_gamma : FloatArray, shape (G,)
        Natural logarithms of the gammas to interpolate at.

    Returns
    -------
    FloatArray, shape (G, Q)
        Rows sum to 1.
    """
    Q = len(nodes)
    barycentric = np.sin((2.0 * np.arange(Q) + 1.0) * (math.pi / (2.0 * Q)))
    barycentric[1::2] *= -1.0
    gap = log_gamma[:, None] - nodes
    # On a node the weight is a unit vector; a tiny gap gives it up to rounding, without 0/0.
    gap[np.abs(gap) < 1e-14] = 1e-14
    W = barycentric / gap
    W /= W.sum(axis=1, keepdims=True)
    return np.asarray(W)
