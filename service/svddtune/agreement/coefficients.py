"""Agreement beyond chance of any number of labelers: Fleiss' kappa and Krippendorff's alpha.

The functions take a table of counts by nominal category. Both coefficients are NaN where they are
not defined: if there are no pairs of votes, or if all votes name one category, so that agreement by
chance is complete. Cohen's kappa of two labelers is in `svddtune.kappa`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.int64]


def _table(counts: ArrayLike) -> Counts:
    table = np.asarray(counts, dtype=np.int64)
    if table.ndim != 2 or (table < 0).any():
        raise ValueError(
            f"counts have shape {table.shape}, expected two axes and no negative count"
        )
    return table


def observed_agreement(counts: ArrayLike) -> float:
    """Return the share of equal pairs of votes.

    Parameters
    ----------
    counts : array, shape (n, q)
        Votes by subject and category.

    Returns
    -------
    float
        In [0, 1], over all pairs of votes on the same subject; NaN without pairs.
    """
    table = _table(counts)
    votes = table.sum(axis=1)
    pairs = int((votes * (votes - 1)).sum())
    return int((table * (table - 1)).sum()) / pairs if pairs else math.nan


def fleiss_kappa(counts: ArrayLike) -> float:
    """Return Fleiss' kappa of any number of labelers.

    Parameters
    ----------
    counts : array, shape (n, q)
        Votes by subject and category; every subject has the same number of votes.

    Returns
    -------
    float
        At most 1, or NaN.

    Raises
    ------
    ValueError
        If subjects have different numbers of votes.
    """
    table = _table(counts)
    votes = np.unique(table.sum(axis=1))
    if len(votes) > 1:
        raise ValueError(f"subjects have {votes.tolist()} votes, expected the same number on each")
    total = int(table.sum())
    chance = int(np.square(table.sum(axis=0)).sum())
    if len(votes) == 0 or votes[0] < 2 or chance == total * total:
        return math.nan
    by_chance = chance / (total * total)
    return (observed_agreement(table) - by_chance) / (1.0 - by_chance)


def krippendorff_alpha(counts: ArrayLike) -> float:
    """Return Krippendorff's alpha of any number of labelers, with missing votes.

    Parameters
    ----------
    counts : array, shape (n, q)
        Votes by subject and category. Subjects with fewer than two votes do not count, since they
        have no pair.

    Returns
    -------
    float
        At most 1, or NaN.
    """
    table = _table(counts)
    table = table[table.sum(axis=1) >= 2]
    n = int(table.sum())
    by_category = table.sum(axis=0)
    chance = n * n - int(np.square(by_category).sum())
    if chance == 0:
        return math.nan
    votes = table.sum(axis=1, keepdims=True)
    # Ordered pairs of each subject, weighted so that each vote counts once.
    disagreeing = float((table * (votes - table) / (votes - 1)).sum())
    return 1.0 - (n - 1) * disagreeing / chance
