"""How well all labelers of a session agree."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from svddtune.agreement.coefficients import (
    Counts,
    fleiss_kappa,
    krippendorff_alpha,
    observed_agreement,
)
from svddtune.agreement.votes import VotesOfRow
from svddtune.kappa import cohen_kappa


@dataclass(frozen=True, slots=True)
class Agreement:
    """Figures on the observations with at least two votes that are not UNSURE.

    ``tuning.proto`` defines them. Undefined ones are NaN.
    """

    observations: int
    observed: float
    cohen_kappa: float
    fleiss_kappa: float
    fleiss_observations: int
    krippendorff_alpha: float


def agreement(votes: VotesOfRow) -> Agreement:
    """Compute how well labelers agree, from the votes in force.

    Parameters
    ----------
    votes : mapping
        Row -> labeler -> verdict, as from ``votes_in_force``.

    Returns
    -------
    Agreement
        Fleiss' kappa uses the observations with the most frequent number of votes; if several
        numbers are equally frequent, the largest.
    """
    decided = (
        {name: verdict for name, verdict in of_row.items() if verdict} for of_row in votes.values()
    )
    compared = [of_row for of_row in decided if len(of_row) >= 2]
    counts: Counts = np.array(
        [[sum(v > 0 for v in one.values()), sum(v < 0 for v in one.values())] for one in compared],
        dtype=np.int64,
    ).reshape(-1, 2)
    sizes = Counter(map(len, compared))
    most = max(sizes, key=lambda size: (sizes[size], size), default=0)
    return Agreement(
        observations=len(compared),
        observed=observed_agreement(counts),
        cohen_kappa=_between_two(compared),
        fleiss_kappa=fleiss_kappa(counts[counts.sum(axis=1) == most]),
        fleiss_observations=sizes[most],
        krippendorff_alpha=krippendorff_alpha(counts),
    )


def _between_two(compared: list[dict[str, int]]) -> float:
    names = sorted({name for of_row in compared for name in of_row})
    if len(names) != 2:
        return math.nan
    # Every row has at least two votes, so it has one of each labeler.
    votes = Counter((of_row[names[0]], of_row[names[1]]) for of_row in compared)
    return float(cohen_kappa(votes[1, 1], votes[1, -1], votes[-1, 1], votes[-1, -1]))
