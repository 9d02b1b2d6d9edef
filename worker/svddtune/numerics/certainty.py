"""How certain labels are: from the votes on each row, and from how often votes differ.

A vote is right with probability 1 - e, independently of the others, where e is the labeler's own
figure if it gave one and the session's rate of wrong votes otherwise. Before any vote both classes
are equally likely, so the votes of a row add their log-odds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from svddtune.numerics.types import FloatArray

MOST_NOISE = 0.45
"""Largest rate of wrong votes that is estimated: at 0.5 votes say nothing."""
PRIOR_NOISE = 0.1
"""Mean of the exponential prior of the rate, about what studies of human labelers report."""

_GRID = np.linspace(0.0, MOST_NOISE, 91)
_LEAST_WRONG = 1e-12  # a vote is never beyond doubt where another contradicts it


def label_certainty(label: int, signs: Sequence[int], wrong: Sequence[float]) -> float:
    """Probability that a label is right, given the votes on its row.

    Parameters
    ----------
    label : int
        The label in force, +1 or -1.
    signs : sequence of int
        The votes: +1 inlier, -1 outlier, 0 unsure.
    wrong : sequence of float
        Probability of each vote that it is wrong, in [0, 0.5].

    Returns
    -------
    float
        In [0.5, 1]; 1 where most votes that cannot be wrong agree with the label, and 0.5 where
        the votes speak against the label or not at all.
    """
    balance, certain = 0.0, 0
    for sign, e in zip(signs, wrong, strict=True):
        if e <= 0.0:
            certain += sign
        else:
            balance += sign * float(np.log((1.0 - e) / e))
    if certain:
        return 1.0 if certain * label > 0 else 0.5
    return max(0.5, float(1.0 / (1.0 + np.exp(-label * balance))))


def estimate_noise(rows: Iterable[Sequence[int]]) -> float:
    """Estimate the rate of wrong votes from the rows that have several.

    Parameters
    ----------
    rows : iterable of sequence of int
        Votes on each row: +1, -1, or 0 for a vote that says nothing.

    Returns
    -------
    float
        In [0, `MOST_NOISE`]: mean of the posterior under an exponential prior with mean
        `PRIOR_NOISE`; the prior's mean where no row has two votes.

    Notes
    -----
    A row with a votes for one class and b for the other has the likelihood
    e^a (1 - e)^b + e^b (1 - e)^a; rows with one vote say nothing about e.
    """
    log = -_GRID / PRIOR_NOISE
    right, wrong = np.log1p(-_GRID), np.log(np.maximum(_GRID, _LEAST_WRONG))
    for votes in rows:
        a, b = sum(vote > 0 for vote in votes), sum(vote < 0 for vote in votes)
        if a + b > 1:
            log = log + np.logaddexp(a * wrong + b * right, b * wrong + a * right)
    weight: FloatArray = np.exp(log - log.max())
    return float(_GRID @ weight / weight.sum())
