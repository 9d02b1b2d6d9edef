"""The share of outliers among all rows, with an interval.

The labels' model of the data (`belief`) gives every unlabelled row a probability q. Their mean p
lies too near one half: the prior and the queries' preference for contested rows both draw it there.
Its posterior deviation is too small, because the model does not know of this. So the log-odds of p
are stretched, and the interval is as wide as the stretched log-odds missed the truth on benchmark
sets, more where the model is less certain:

    share = (outliers among the labelled rows + unlabelled rows * sigmoid(STRETCH logit p)) / N,
    half of the interval, in log-odds = WIDTH * deviation^POWER.

Audited rows are drawn uniformly and need no such correction; where there are enough, they decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from svddtune.numerics.belief import Belief, BeliefBasis
from svddtune.numerics.types import INLIER, OUTLIER, LabelArray

ShareMethod = Literal["belief", "audit"]

STRETCH = 2.08
"""Factor of the log-odds of the mean belief, as `svddtune bench outlook` fits it."""
WIDTH = 1.55
"""Half of the belief's interval in log-odds, per root of the deviation; likewise."""
POWER = 0.5
"""Of the deviation, in the width of the interval."""
LEVEL = 0.9
AUDITED_ROWS = 20
"""Answers from which on the audit decides; with fewer its interval says little."""

_LEAST = 1e-6  # of a probability
_ROWS = 256


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """The estimated share of outliers among all rows.

    Attributes
    ----------
    value : float
        In [low, high].
    low, high : float
        Interval of level `LEVEL`, in [0, 1].
    method : {"belief", "audit"}
        From the labels' model of the data, or from rows drawn uniformly (unbiased).
    labels : int
        Labels it rests on.
    """

    value: float
    low: float
    high: float
    method: ShareMethod
    labels: int


@dataclass(frozen=True, slots=True)
class BelievedShare:
    """What the belief says about the rows without a label, before any correction.

    Attributes
    ----------
    probability : float
        Mean probability of "outlier"; in [0, 1].
    deviation : float
        Posterior standard deviation of the log-odds of this mean, to first order.
    """

    probability: float
    deviation: float

    @property
    def odds(self) -> float:
        """Log-odds of the mean probability."""
        p = min(max(self.probability, _LEAST), 1.0 - _LEAST)
        return math.log(p / (1.0 - p))


def believed_share(basis: BeliefBasis, belief: Belief, labels: LabelArray) -> BelievedShare:
    """Return the mean belief of the panel's rows without a label, and its deviation.

    Parameters
    ----------
    basis : BeliefBasis
        Of the data.
    belief : Belief
        Given the labels.
    labels : LabelArray, shape (N,)
        The oracle's labels.

    Returns
    -------
    BelievedShare
        Of all rows of the panel, with a deviation of 0, where each has a label.
    """
    q, at, weights = belief.probability, basis.quadrature, basis.weights
    unlabelled = labels[basis.panel] == 0
    count = float(weights[unlabelled].sum())
    if count == 0.0:
        return BelievedShare(float((weights * q).mean()), 0.0)
    p = float((weights * q)[unlabelled].sum()) / count
    # The mean moves by sum_x slope_x f_x / count. Its variance is a double sum, one over every so
    # many rows of the panel, the other over the quadrature rows: a ranking has no time for more.
    slope = np.where(unlabelled, weights * q * (1.0 - q), 0.0).astype(np.float32)
    every = slice(None, None, max(1, len(q) // _ROWS))
    some, others = _scaled(slope[every], len(q)), _scaled(slope[at], len(q))
    V = belief.root
    prior = float(some @ (basis.kernel[every] @ others))
    variance = max(prior - float((V[:, every] @ some) @ (V[:, at] @ others)), 0.0)
    spread = max(p * (1.0 - p), _LEAST)
    return BelievedShare(p, math.sqrt(variance) / count / spread)


def _scaled(values: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
    """Values at some rows, as weights of a sum over so many rows."""
    return values * np.float32(rows / len(values))


def stretched_share(
    believed: BelievedShare,
    *,
    found: float,
    unlabelled: int,
    N: int,
    stretch: float = STRETCH,
    width: float = WIDTH,
    power: float = POWER,
) -> tuple[float, float, float]:
    """Value, low and high end of the share of outliers among all rows.

    Parameters
    ----------
    believed : BelievedShare
        Of the rows without a label.
    found : float
        Outliers among the labelled rows.
    unlabelled, N : int
        Rows without a label, and all rows.
    stretch, width, power : float
        Not negative; see `STRETCH`, `WIDTH` and `POWER`.

    Returns
    -------
    value, low, high : float
        The interval is wider by half a row at each end, because a share is a number of rows / N; it
        contradicts no label.
    """
    odds, half = stretch * believed.odds, width * believed.deviation**power

    def share(odds: float, rows: float = 0.0) -> float:
        among = unlabelled / (1.0 + math.exp(-odds)) + rows
        return (found + min(max(among, 0.0), unlabelled)) / N

    return share(odds), share(odds - half, -0.5), share(odds + half, 0.5)


def share_by_belief(basis: BeliefBasis, belief: Belief, labels: LabelArray) -> ShareEstimate:
    """Estimate the share of outliers from the labels' model of the data.

    Parameters
    ----------
    basis : BeliefBasis
        Of the data.
    belief : Belief
        Given the labels.
    labels : LabelArray, shape (N,)
        The oracle's labels, of both classes: the interval is measured on such sessions.

    Returns
    -------
    ShareEstimate
    """
    N, known = len(labels), int(np.count_nonzero(labels))
    value, low, high = stretched_share(
        believed_share(basis, belief, labels),
        found=float(belief.labelled.sum()),
        unlabelled=N - known,
        N=N,
    )
    return ShareEstimate(value, low, high, "belief", known)


def share_by_audit(audited: LabelArray, initial: LabelArray, *, N: int) -> ShareEstimate:
    """Estimate the share of outliers from audited rows.

    Parameters
    ----------
    audited : LabelArray, shape (n,)
        Answers for rows that `draw_audit` drew; 0 where there is none, which does not count.
    initial : LabelArray, shape (m,)
        Labels of the rows that the draw left out.
    N : int
        Rows of the data.

    Returns
    -------
    ShareEstimate
        The interval is that of Clopper and Pearson for the rows drawn from; it holds the truth at
        least as often as its level says, and contradicts no answer.

    Raises
    ------
    ValueError
        If no audited row has an answer.
    """
    outliers = int((audited == OUTLIER).sum())
    n = outliers + int((audited == INLIER).sum())
    if n == 0:
        raise ValueError("audited has no answer, expected at least one +1 or -1")
    tail, drawn_from = (1.0 - LEVEL) / 2.0, N - len(initial)
    least = float(beta.ppf(tail, outliers, n - outliers + 1)) if outliers else 0.0
    most = float(beta.ppf(1.0 - tail, outliers + 1, n - outliers)) if outliers < n else 1.0
    others = int((initial == OUTLIER).sum())

    def share(p: float) -> float:
        rows = min(max(drawn_from * p, outliers), drawn_from - (n - outliers))
        return (others + rows) / N

    known = n + int(np.count_nonzero(initial))
    return ShareEstimate(share(outliers / n), share(least), share(most), "audit", known)
