"""How each two labelers, or each two sources of votes, agree: counts of pairs of votes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from svddtune.agreement.votes import VotesOfRow
from svddtune.kappa import cohen_kappa


@dataclass(slots=True)
class PairAgreement:
    """Pairs of votes of two labelers or sources; ``tuning.proto`` defines the counts."""

    first: str
    second: str
    both_inlier: int = 0
    both_outlier: int = 0
    inlier_outlier: int = 0
    outlier_inlier: int = 0

    @property
    def cohen_kappa(self) -> float:
        """Agreement beyond chance; NaN where it is not defined, and within one source."""
        if self.first == self.second:
            return math.nan
        return float(
            cohen_kappa(
                self.both_inlier, self.inlier_outlier, self.outlier_inlier, self.both_outlier
            )
        )


def pair_agreements(
    votes: VotesOfRow, group: Callable[[int, str], str] = lambda _, labeler: labeler
) -> list[PairAgreement]:
    """Count how pairs of votes on the same row agree.

    Parameters
    ----------
    votes : mapping
        Row -> labeler -> verdict, as from ``votes_in_force``.
    group : callable
        Who is compared: from the row and the labeler of a vote to a name. Default: the labelers.

    Returns
    -------
    list of PairAgreement
        Those with a row in common, sorted by name. UNSURE does not count.
    """
    found: dict[tuple[str, str], PairAgreement] = {}
    for row, of_row in votes.items():
        decided = sorted(
            (group(row, name), name, verdict) for name, verdict in of_row.items() if verdict
        )
        for (first, _, one), (second, _, other) in combinations(decided, 2):
            pair = found.setdefault((first, second), PairAgreement(first, second))
            if one == other:
                pair.both_inlier += one > 0
                pair.both_outlier += one < 0
            else:
                pair.inlier_outlier += one > 0
                pair.outlier_inlier += one < 0
    return [found[names] for names in sorted(found)]
