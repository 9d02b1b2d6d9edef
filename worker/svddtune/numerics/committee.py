"""The leading cells of the atlas, and the rows they disagree about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.types import FloatArray, IndexArray


@dataclass(frozen=True, slots=True)
class Committee:
    """Weighted cells.

    Attributes
    ----------
    cells : IndexArray, shape (T,)
        Some of the atlas's voters; none where no cell separates some rows from others.
    weights : FloatArray, shape (T,)
        Positive, sum 1.
    """

    cells: IndexArray
    weights: FloatArray


def form_committee(
    atlas: Atlas, value: FloatArray, *, sharpness: float, size: int | None = None
) -> Committee:
    """Weigh the voters by exp(sharpness * value).

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    value : FloatArray, shape (cells,)
        How good each cell seems.
    sharpness : float
        Not negative; 0 weighs all voters alike.
    size : int, optional
        Keep the heaviest; ties at the edge by lower cell. All by default.

    Returns
    -------
    Committee
    """
    voters = atlas.voters
    if len(voters) == 0:
        return Committee(voters, np.empty(0))
    weights = np.exp(sharpness * (value[voters] - value[voters].max()))
    heaviest = np.argsort(-weights, kind="stable")[:size]
    return Committee(voters[heaviest], weights[heaviest] / weights[heaviest].sum())


def disagreement(atlas: Atlas, committee: Committee) -> FloatArray:
    """Vote variance p (1 - p) of the panel's rows, shape (P,), p the share calling it outside."""
    weights = np.zeros(len(atlas))
    weights[committee.cells] = committee.weights
    p = (weights.astype(np.float32) @ atlas.panel).astype(np.float64)
    return np.asarray(np.maximum(p * (1.0 - p), 0.0))
