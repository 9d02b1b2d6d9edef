"""Quality of a classification on labelled rows: +1 inlier, -1 outlier.

All scores follow from the four counts of the confusion matrix and accept arrays of them, so that
many classifications are scored at once. A score that is 0/0 counts as 0, since scores rank models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from svddtune.kappa import cohen_kappa
from svddtune.numerics.types import INLIER, OUTLIER, FloatArray, LabelArray

Metric = Literal["kappa", "mcc", "f1", "balanced_accuracy"]


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts, each of shape (...): outliers found and missed, inliers rejected and kept."""

    found: FloatArray
    missed: FloatArray
    rejected: FloatArray
    kept: FloatArray


def confusion(y: LabelArray, pred: LabelArray) -> Confusion:
    """Count agreement of `pred`, shape (..., n), with the true labels `y`, shape (n,).

    Rows with y = 0 do not count.
    """
    if pred.shape[-1:] != y.shape:
        raise ValueError(f"pred has shape {pred.shape}, expected (..., {len(y)})")
    outside = pred == OUTLIER
    truly_out = (y == OUTLIER).astype(np.float64)
    truly_in = (y == INLIER).astype(np.float64)
    found, rejected = outside @ truly_out, outside @ truly_in
    return Confusion(found, truly_out.sum() - found, rejected, truly_in.sum() - rejected)


def kappa(c: Confusion) -> FloatArray:
    """Cohen's kappa of truth and classification; 0 where it is 0/0."""
    return cohen_kappa(c.found, c.missed, c.rejected, c.kept, undefined=0.0)


def mcc(c: Confusion) -> FloatArray:
    """Matthews' correlation coefficient; 0 where it is 0/0."""
    norm2 = (c.found + c.missed) * (c.missed + c.kept)
    norm2 *= (c.found + c.rejected) * (c.rejected + c.kept)
    # Soft counts may leave a group empty only up to rounding, on either side of zero.
    return _ratio(c.found * c.kept - c.missed * c.rejected, np.sqrt(np.maximum(norm2, 0.0)))


def f1(c: Confusion) -> FloatArray:
    """F1 of the outlier class; 0 where it is 0/0."""
    return _ratio(2.0 * c.found, 2.0 * c.found + c.missed + c.rejected)


def balanced_accuracy(c: Confusion) -> FloatArray:
    """Mean recall of the classes that occur; 0 where none does."""
    outliers, inliers = c.found + c.missed, c.rejected + c.kept
    classes = (outliers > 0).astype(np.float64) + (inliers > 0)
    return _ratio(_ratio(c.found, outliers) + _ratio(c.kept, inliers), classes)


_SCORES: dict[str, tuple[Callable[[Confusion], FloatArray], float]] = {
    "kappa": (kappa, -1.0),
    "mcc": (mcc, -1.0),
    "f1": (f1, 0.0),
    "balanced_accuracy": (balanced_accuracy, 0.0),
}
METRICS: tuple[str, ...] = tuple(_SCORES)


def score(y: LabelArray, pred: LabelArray, metric: Metric = "kappa") -> FloatArray:
    """Score one or many classifications.

    Parameters
    ----------
    y : LabelArray, shape (n,)
        True labels; rows with 0 do not count.
    pred : LabelArray, shape (..., n)
        Classifications, +1 or -1.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Score to compute.

    Returns
    -------
    FloatArray, shape (...)
        kappa and mcc in [-1, 1], the others in [0, 1].
    """
    return score_counts(confusion(y, pred), metric)


def score_counts(c: Confusion, metric: Metric = "kappa") -> FloatArray:
    """Score from the counts, which need not be whole numbers; shape of the counts."""
    return _function(metric)(c)


def score_range(metric: Metric) -> tuple[float, float]:
    """Least and largest value of a score."""
    _function(metric)
    return _SCORES[metric][1], 1.0


def bootstrap_interval(
    y: LabelArray,
    pred: LabelArray,
    metric: Metric = "kappa",
    *,
    level: float = 0.9,
    rng: np.random.Generator,
    draws: int = 1000,
) -> tuple[float, float]:
    """Percentile interval of a score over resamples of the labelled rows.

    Parameters
    ----------
    y, pred : LabelArray, shape (n,)
        True labels, of which rows with 0 do not count, and the classification, +1 or -1.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Score to compute.
    level : float
        Share of resamples inside, in (0, 1).
    rng : np.random.Generator
        Draws the resamples.
    draws : int
        Number of resamples.

    Returns
    -------
    low, high : float
        The whole range of the score where no row is labelled.

    Raises
    ------
    ValueError
        If `level` is not in (0, 1), `metric` is unknown, or the arrays differ in length.

    Notes
    -----
    Resampling rows changes the four counts only, so these are drawn from their multinomial law.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}, expected a value in (0, 1)")
    function = _function(metric)
    c = confusion(y, pred)
    counts = np.array([c.found, c.missed, c.rejected, c.kept])
    n = int(counts.sum())
    if n == 0:
        return score_range(metric)
    drawn = rng.multinomial(n, counts / n, size=draws).astype(np.float64)
    values = function(Confusion(*drawn.T))
    low, high = np.quantile(values, (0.5 - level / 2.0, 0.5 + level / 2.0))
    return float(low), float(high)


def difference_interval(
    y: LabelArray,
    first: LabelArray,
    second: LabelArray,
    metric: Metric = "kappa",
    *,
    level: float = 0.9,
    rng: np.random.Generator,
    draws: int = 1000,
) -> tuple[float, float]:
    """Percentile interval of the difference of two scores over resamples of the labelled rows.

    Parameters
    ----------
    y, first, second : LabelArray, shape (n,)
        True labels and two classifications of the same rows, +1 or -1.
    metric, level, rng, draws
        As in `bootstrap_interval`.

    Returns
    -------
    low, high : float
        Of the score of `second` less that of `first`.

    Raises
    ------
    ValueError
        If `level` is not in (0, 1), `metric` is unknown, or there is no row.

    Notes
    -----
    Both classifications are scored on the same resamples, so that what they have in common does not
    widen the interval. Rows are of eight kinds, whose numbers are multinomial.
    """
    if not 0.0 < level < 1.0 or len(y) == 0:
        raise ValueError(f"level is {level} of {len(y)} rows, expected (0, 1) and at least 1")
    function = _function(metric)
    kind = 4 * (y == OUTLIER) + 2 * (first == OUTLIER) + (second == OUTLIER)
    share = np.bincount(kind, minlength=8) / len(y)
    drawn = rng.multinomial(len(y), share, size=draws).astype(np.float64).reshape(-1, 2, 2, 2)

    def scores(counts: NDArray[np.float64]) -> FloatArray:
        """Scores from counts by truth and verdict, shape (draws, 2, 2)."""
        return function(
            Confusion(counts[:, 1, 1], counts[:, 1, 0], counts[:, 0, 1], counts[:, 0, 0])
        )

    change = scores(drawn.sum(axis=2)) - scores(drawn.sum(axis=3))
    low, high = np.quantile(change, (0.5 - level / 2.0, 0.5 + level / 2.0))
    return float(low), float(high)


def class_counts(labels: LabelArray) -> tuple[int, int]:
    """Numbers of labelled inliers and outliers."""
    return int(np.count_nonzero(labels == INLIER)), int(np.count_nonzero(labels == OUTLIER))


def _function(metric: str) -> Callable[[Confusion], FloatArray]:
    if metric not in _SCORES:
        raise ValueError(f"metric is {metric!r}, expected one of {METRICS}")
    return _SCORES[metric][0]


def _ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> FloatArray:
    """Divide, with 0 for 0/0."""
    safe = np.where(denominator == 0.0, 1.0, denominator)
    return np.asarray(np.where(denominator == 0.0, 0.0, numerator / safe))
