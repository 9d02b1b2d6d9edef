"""Dawid and Skene's estimate: labels from several labelers' votes, weighed by their reliability.

Source: A. P. Dawid, A. M. Skene, *Maximum Likelihood Estimation of Observer Error-Rates Using the
EM Algorithm*, Applied Statistics 28 (1979), in crowd-kit's implementation.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from svddtune.numerics.types import INLIER, OUTLIER

ITERATIONS = 100
"""Steps of the EM algorithm at most."""

_UNDECIDED = 1e-6  # chances closer to each other say nothing


class DawidSkeneUnavailable(Exception):
    """crowd-kit is not installed."""


def dawid_skene(votes: Mapping[int, Mapping[str, int]]) -> dict[int, float]:
    """Estimate the probability of "outlier" of every row from all votes.

    Parameters
    ----------
    votes : mapping
        Row -> labeler -> +1, -1, or 0 for a vote that says nothing.

    Returns
    -------
    dict
        Row -> probability in [0, 1]; rows without a vote that says something, and those with even
        chances, are left out. It depends on the votes alone, not on their order.

    Raises
    ------
    DawidSkeneUnavailable
        Also where no row has two votes and the estimate is simply what was voted.

    Notes
    -----
    Each labeler has error rates of its own, and it takes many votes to know them. Of 100 rows with
    three votes each by five labelers, two right on 95 % and three on 60 %, it gets 92 % right, the
    majority 85 %. With 20 rows, or with labelers equally good, the majority is as good or better.
    It takes some tenths of a second.
    """
    try:
        # Heavy, and needed by few: not with the module.
        from crowdkit.aggregation import DawidSkene
        from pandas import DataFrame
    except ImportError as error:
        raise DawidSkeneUnavailable(
            'The aggregation "dawid_skene" needs crowd-kit where the workers run; install '
            'it with: pip install "svddtune[dawid-skene]"'
        ) from error
    decided = sorted(
        (row, labeler, verdict)
        for row, of_row in votes.items()
        for labeler, verdict in of_row.items()
        if verdict
    )
    if len(decided) == len({row for row, _, _ in decided}):
        return {row: float(verdict == OUTLIER) for row, _, verdict in decided}
    with warnings.catch_warnings():
        # It still calls pandas in ways that pandas is about to drop.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        frame = DataFrame(decided, columns=["task", "worker", "label"])
        chances = DawidSkene(n_iter=ITERATIONS).fit_predict_proba(frame)
    chances = chances.reindex(columns=[OUTLIER, INLIER], fill_value=0.0)
    return {
        int(row): float(outlier)
        for row, outlier, inlier in zip(chances.index, *chances.to_numpy().T, strict=True)
        if abs(inlier - outlier) > _UNDECIDED
    }
