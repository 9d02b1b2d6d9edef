"""Queries before both classes have a label.

Two rules take turns. One asks about rows far from their neighbours, which finds isolated outliers;
the other about rows on which the cells of the atlas disagree, which finds the rest. If all labels
so far are outliers, the most typical row is asked about.
"""

from __future__ import annotations

from typing import Literal

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import BeliefBasis
from svddtune.numerics.types import FloatArray

ColdRule = Literal["cold_outlying", "cold_entropy", "cold_typical"]


def cold_rule(asked: int, *, only_outliers: bool) -> ColdRule:
    """Name the rule that is next after `asked` labels and open queries."""
    if only_outliers:
        return "cold_typical"
    return "cold_outlying" if asked % 2 == 0 else "cold_entropy"


def cold_scores(rule: ColdRule, atlas: Atlas, basis: BeliefBasis) -> FloatArray:
    """Scores of the panel, shape (P,).

    Parameters
    ----------
    rule : {"cold_outlying", "cold_entropy", "cold_typical"}
        From `cold_rule`.
    atlas : Atlas
        Fitted cells.
    basis : BeliefBasis
        Of the data of the atlas.

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
