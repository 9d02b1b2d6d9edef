"""What the next labels are expected to gain.

After `AHEAD` labels another cell may look best than does now. To first order the kappas of the
leading cells, less their weighted mean, then have moved by a normal vector whose covariance is what
those labels take away (`gain`). The mean of the largest kappa after such a move, less the largest
now, is the possible gain. The model is too sure of small gains and too hopeful of large ones. So
the expected gain is a measured slope times the root of the possible one.
"""

from __future__ import annotations

import math

import numpy as np

from svddtune.numerics.belief import Belief, BeliefBasis, covariance
from svddtune.numerics.gain import Gains
from svddtune.numerics.types import FloatArray, IndexArray

AHEAD = 10
"""Labels that the gain is expected of."""
SLOPE = 0.33
"""Expected gain of true kappa per root of the possible one, as `svddtune bench outlook` fits it."""

_DRAWS = 500


def possible_gain(
    gains: Gains, basis: BeliefBasis, belief: Belief, places: IndexArray, kappas: FloatArray
) -> float:
    """Mean rise of the committee's largest kappa by labels of some rows, by the model.

    Parameters
    ----------
    gains : Gains
        Of the committee.
    basis : BeliefBasis
        Of the data of the atlas.
    belief : Belief
        Given the labels so far.
    places : IndexArray, shape (n,)
        Positions in the panel of the rows to be labelled.
    kappas : FloatArray, shape (T,)
        Expected kappa of the committee's cells now.

    Returns
    -------
    float
        Not negative; 0 without rows.
    """
    if len(places) == 0:
        return 0.0
    Z = basis.X[basis.panel[places]]
    V, links = belief.root[:, places].astype(np.float64), gains.links[places]
    measured = covariance(Z, Z, length=basis.length) - V.T @ V + np.diag(gains.noise[places])
    moved = links.T @ np.linalg.solve(measured, links)
    size, direction = np.linalg.eigh(0.5 * (moved + moved.T))
    root = direction * np.sqrt(np.maximum(size, 0.0))
    # (A move and its opposite are equally likely; drawn in pairs, the mean of every cell stays.)
    drawn = np.random.default_rng(0).standard_normal((len(size), _DRAWS // 2))
    moves = root @ drawn
    later = np.concatenate((kappas[:, None] + moves, kappas[:, None] - moves), axis=1)
    return max(float(later.max(axis=0).mean() - kappas.max()), 0.0)


def expected_gain(possible: float, *, slope: float = SLOPE) -> float:
    """Rise of true kappa on all rows that labels with this possible gain are expected to bring.

    Parameters
    ----------
    possible : float
        From `possible_gain`, for the next `AHEAD` labels.
    slope : float
        Not negative.
    """
    return slope * math.sqrt(possible)
