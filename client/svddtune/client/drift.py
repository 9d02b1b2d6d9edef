"""Compares new rows with those that a model was fitted on, and says whether to tune again.

Three questions are asked: are more or fewer rows outside than of rows that the fit had not seen,
are rows far from every support vector, and did the values of a feature move? Differences that are
certain but small are reported and raise no alarm. The limits are those of tests with one false
alarm in a thousand. What is expected is itself an estimate, so sets of rows of the same kind give
some more: up to 3 in 100 where they were simulated, and less than 1 in 100 in the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from svddtune.client.shown import Shown
from svddtune.profile import Profile

if TYPE_CHECKING:
    from svddtune.client.model import SvddModel

FALSE_ALARMS = 0.001
"""Nominal share of sets of rows of the same kind for which a question gives an alarm."""

LEAST_SHIFT = 0.1
"""Shifts of a feature below this raise no alarm, however certain they are."""

LEAST_DIFFERENCE = 0.02
"""Differences of the share outside below this raise no alarm, however certain they are."""

_Z_ALARM = 3.2905  # two-sided normal quantile of FALSE_ALARMS
_Z_SHOWN = 1.9600
_NAMED = 5
_FEW_ROWS_SHIFT = 0.5


@dataclass(frozen=True, slots=True, repr=False)
class FeatureShift(Shown):
    """How the values of a feature moved.

    Attributes
    ----------
    feature : str
        Its name; the number of its column, from 0, where columns have no names.
    shift : float
        Kolmogorov-Smirnov distance of new and old values, in [0, 1], at the points that the model
        keeps.
    shifted : bool
        Whether that is an alarm.
    typical, new_typical : float
        Medians of the old and the new values, raw.
    """

    feature: str
    shift: float
    shifted: bool
    typical: float
    new_typical: float


@dataclass(frozen=True, slots=True, repr=False)
class Drift(Shown):
    """Whether new rows are of the kind that a model was fitted on.

    Attributes
    ----------
    drifted : bool
        Whether there is an alarm: the model should be tuned again, with labels of new rows.
    reasons : tuple of str
        A sentence for each alarm.
    rows : int
        New rows, n.
    outside_share : float
        Share of them outside.
    outside_interval : tuple of float
        Its 95 % interval by Wilson.
    expected_share : float or None
        Share outside of rows of the dataset that were left out of a fit; None where the dataset was
        too small for that.
    far_count : int or None
        Rows farther from every support vector than any of those left out; None as above.
    features : tuple of FeatureShift
        Those that moved most first.
    least_shift : float
        Shift of a feature from which on it is an alarm; the fewer rows, the larger.
    """

    drifted: bool
    reasons: tuple[str, ...]
    rows: int
    outside_share: float
    outside_interval: tuple[float, float]
    expected_share: float | None
    far_count: int | None
    features: tuple[FeatureShift, ...]
    least_shift: float

    @property
    def advice(self) -> str:
        """A sentence on whether to tune again."""
        if self.drifted:
            return "Tune again, with labels of new rows: they differ from those of the model."
        text = f"No drift found: the {self.rows} rows are like those of the model."
        if self.least_shift > _FEW_ROWS_SHIFT:
            text += (
                f" They are few: a feature would have to shift by {self.least_shift:.2f} (of at "
                "most 1) to be noticed."
            )
        return text


def drift_of(model: SvddModel, X: Any) -> Drift:
    """Compare new rows with those that `model` was fitted on.

    Parameters
    ----------
    model : SvddModel
        With a profile, as models of this release have.
    X : array-like or frame (n, M)
        New raw rows, n >= 1.

    Returns
    -------
    Drift

    Raises
    ------
    InvalidInput
        PROFILE_MISSING where the model was written without a profile; otherwise as
        `SvddModel.scaled`.
    """
    profile = model.known_profile()
    rows = model.rows(X)
    outside = int((model.decision(rows) < 0).sum())
    far = int((model.gap2(rows) > profile.fresh_gap2 * (1 + 1e-9)).sum())
    features, least = _features(model, profile, rows)
    return _judged(profile, len(rows), outside, far, features, least)


def _judged(
    profile: Profile,
    n: int,
    outside: int,
    far: int,
    features: tuple[FeatureShift, ...],
    least: float,
) -> Drift:
    share, known = outside / n, profile.fresh_count > 0
    reasons = []
    if known and _shares_differ(outside, n, profile):
        reasons.append(
            f"{share:.1%} of the rows are outside, but {profile.fresh_outside:.1%} were expected."
        )
    if known and _log_chance_of_extremes(far, n, profile.fresh_count) < log(FALSE_ALARMS):
        reasons.append(
            f"{far} of {n} rows are farther from every support vector than any row that the fit "
            "had not seen."
        )
    shifted = [one for one in features if one.shifted]
    if shifted:
        named = ", ".join(f"{one.feature} by {one.shift:.2f}" for one in shifted[:_NAMED])
        more = len(shifted) - _NAMED
        reasons.append(
            f"{len(shifted)} of {len(features)} features shifted: {named}"
            + (f" and {more} more." if more > 0 else ".")
        )
    return Drift(
        drifted=bool(reasons),
        reasons=tuple(reasons),
        rows=n,
        outside_share=share,
        outside_interval=_wilson(share, n, _Z_SHOWN),
        expected_share=profile.fresh_outside if known else None,
        far_count=far if known else None,
        features=features,
        least_shift=least,
    )


def _features(
    model: SvddModel, profile: Profile, rows: Any
) -> tuple[tuple[FeatureShift, ...], float]:
    n, M = rows.shape
    # By the first term of Kolmogorov's distribution, for M features together.
    certain = sqrt(0.5 * log(2 * M / FALSE_ALARMS) * (1 / n + 1 / profile.count))
    least = max(LEAST_SHIFT, certain)
    names = model.feature_names or tuple(map(str, range(M)))
    found = []
    for j, sketch in enumerate(profile.columns):
        shift = sketch.shift(rows[:, j])
        found.append(
            FeatureShift(
                feature=names[j],
                shift=shift,
                shifted=shift >= least,
                typical=float(profile.center[j]),
                new_typical=float(np.median(rows[:, j])),
            )
        )
    return tuple(sorted(found, key=lambda one: -one.shift)), least


def _shares_differ(outside: int, n: int, profile: Profile) -> bool:
    """Whether the shares differ, by Newcombe's interval for the difference of two shares."""
    share, expected = outside / n, profile.fresh_outside
    if abs(share - expected) < LEAST_DIFFERENCE:
        return False
    low, high = _wilson(share, n, _Z_ALARM)
    low0, high0 = _wilson(expected, profile.fresh_count, _Z_ALARM)
    error = sqrt(
        (share - low) ** 2 + (high0 - expected) ** 2
        if share > expected
        else (high - share) ** 2 + (expected - low0) ** 2
    )
    return abs(share - expected) > error


def _wilson(share: float, n: int, z: float) -> tuple[float, float]:
    """Wilson's interval for a share of n rows."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def _log_chance_of_extremes(count: int, n: int, known: int) -> float:
    """Logarithm of the chance that the `count` largest of n + known like values are of the n."""

    def log_choose(total: int, taken: int) -> float:
        return lgamma(total + 1) - lgamma(taken + 1) - lgamma(total - taken + 1)

    return log_choose(n, count) - log_choose(n + known, count)
