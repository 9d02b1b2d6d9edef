"""What to ask about before both classes have a label.

Isolated outliers show by their distance to their neighbours, the others where the cells of the
atlas disagree: the two are asked in turn. With nothing but outliers so far, the most typical row.
"""

from __future__ import annotations

from typing import Literal

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import BeliefBasis
from svddtune.numerics.types import FloatArray

ColdRule = Literal["cold_outlying", "cold_entropy", "cold_typical"]


def cold_rule(asked: int, *, only_outliers: bool) -> ColdRule:
    """Name the rule in turn after `asked` labels and open questions."""
    if only_outliers:
        return "cold_typical"
    return "cold_outlying" if asked % 2 == 0 else "cold_entropy"


def cold_scores(rule: ColdRule, atlas: Atlas, basis: BeliefBasis) -> FloatArray:
    """Scores of the panel, shape (P,).

    Parameters
    ----------
    rule : {"cold_outlying", "cold_entropy", "cold_typical"}
    atlas : Atlas
    basis : BeliefBasis

    Returns
    -------
    FloatArray
        Distance to the tenth nearest other row, the same negative, or v (1 - v) with v the
        atlas's vote.
    """
    if rule == "cold_entropy":
        vote = atlas.panel_vote
        return vote * (1.0 - vote)
    return basis.isolation if rule == "cold_outlying" else -basis.isolation
