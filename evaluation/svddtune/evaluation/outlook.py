"""How far the share of outliers and the expected gain that a session states are right.

The constants of both are fitted on the sessions of the other sets, and the set that was left out
judges them. The sets that are not the paper's take no part in any fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.stats import spearmanr

from svddtune.evaluation import page
from svddtune.evaluation.outlook_sessions import LAST
from svddtune.evaluation.report import Invocation, markdown
from svddtune.evaluation.sets import BenchSet, judged
from svddtune.evaluation.summary import Records
from svddtune.evaluation.units import Unit, atlas
from svddtune.numerics import (
    AHEAD,
    LEAST_LABELS,
    BelievedShare,
    BoolArray,
    FloatArray,
    IndexArray,
    expected_gain,
    stretched_share,
)
from svddtune.numerics.prospect import SLOPE
from svddtune.numerics.share import LEVEL, POWER, STRETCH, WIDTH

T = TypeVar("T")

COUNTS = (25, 50)
BINS = 5
_NORMAL = 1.6449  # half of the interval of level 0.9, in standard deviations
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Outlooks:
    """The sets and the number of repetitions."""

    sets: tuple[BenchSet, ...]
    seeds: int

    def units(self) -> list[Unit]:
        """The atlases, and a session for every set and seed."""
        sessions = [session(data, seed) for data in self.sets for seed in range(self.seeds)]
        return [*(atlas(data) for data in self.sets), *sessions]


def session(data: BenchSet, seed: int) -> Unit:
    """A session on one set."""
    return Unit(
        "outlook_session",
        data,
        (("seed", seed), ("scaling", "auto"), ("budget", LAST + AHEAD)),
        0.5 + 1e-3 * data.N,
        f"{data.name}: outlook, seed {seed}",
    )


@dataclass(frozen=True, slots=True)
class Cases:
    """One case for every session and number of labels; arrays of shape (cases,).

    Attributes
    ----------
    sets : IndexArray
        Which set it is of.
    labels, found, rows, outliers : IndexArray
        Labels, outliers among them, rows of the set, outliers among these.
    probability, deviation, possible : FloatArray
        What the model says, see `believed_share` and `possible_gain`.
    gain : FloatArray
        Rise of true kappa by the next labels.
    """

    sets: IndexArray
    labels: IndexArray
    found: IndexArray
    rows: IndexArray
    outliers: IndexArray
    probability: FloatArray
    deviation: FloatArray
    possible: FloatArray
    gain: FloatArray

    def __len__(self) -> int:
        """Number of cases."""
        return len(self.sets)

    def where(self, kept: BoolArray) -> Cases:
        """Return some of the cases."""
        return Cases(*(getattr(self, field.name)[kept] for field in fields(self)))

    @property
    def share(self) -> FloatArray:
        """The true share of outliers among all rows."""
        return np.asarray(self.outliers / self.rows)

    @property
    def odds(self) -> FloatArray:
        """Believed log-odds of the rows without a label."""
        believed = zip(self.probability.tolist(), self.deviation.tolist(), strict=True)
        return np.array([BelievedShare(p, deviation).odds for p, deviation in believed])

    @property
    def true_odds(self) -> FloatArray:
        """True log-odds of these rows, of at least half a row of each class."""
        unlabelled = self.rows - self.labels
        left = np.clip(self.outliers - self.found, 0.5, unlabelled - 0.5)
        return np.asarray(np.log(left / (unlabelled - left)))


def cases(sets: Sequence[BenchSet], seeds: int, records: Records) -> Cases:
    """Collect the cases of some sets."""
    found = [
        (
            place, point["labels"], point["found"], data.N, data.outliers, point["probability"],
            point["deviation"], point["possible"], point["gain"],
        )
        for place, data in enumerate(sets)
        for seed in range(seeds)
        for point in records[session(data, seed).key]["points"]
    ]  # fmt: skip
    columns = np.array(found, dtype=np.float64).reshape(-1, len(fields(Cases))).T
    return Cases(*(column.astype(np.int64) for column in columns[:5]), *columns[5:])


@dataclass(frozen=True, slots=True)
class Interval:
    """The constants of the interval, see `svddtune.numerics.share`."""

    stretch: float
    width: float
    power: float


PRODUCT = Interval(STRETCH, WIDTH, POWER)
"""What svddtune uses."""


def fit_interval(of: Cases, power: float) -> Interval:
    """Stretch by least squares, width as the `LEVEL` quantile of what it missed."""
    odds, truth = of.odds, of.true_odds
    stretch = float(odds @ truth / (odds @ odds))
    missed = np.abs(truth - stretch * odds) / of.deviation**power
    return Interval(stretch, float(np.quantile(missed, LEVEL)), power)


def fit_slope(of: Cases) -> float:
    """Least squares of the gain on the root of the possible gain, not below 0."""
    total = float(of.possible.sum())
    return max(float(np.sqrt(of.possible) @ of.gain) / total, 0.0) if total > 0.0 else 0.0


def intervals(of: Cases, by: Sequence[Interval]) -> FloatArray:
    """Value, low and high end of the share of every case, shape (cases, 3)."""
    return np.array(
        [
            stretched_share(
                BelievedShare(float(of.probability[at]), float(of.deviation[at])),
                found=float(of.found[at]),
                unlabelled=int(of.rows[at] - of.labels[at]),
                N=int(of.rows[at]),
                stretch=one.stretch,
                width=one.width,
                power=one.power,
            )
            for at, one in enumerate(by)
        ]
    ).reshape(-1, 3)


def held(of: Cases, found: FloatArray) -> BoolArray:
    """Whether the interval of every case contains the true share."""
    _, low, high = found.T
    return np.asarray((low <= of.share + 1e-12) & (of.share <= high + 1e-12))


def by_others(of: Cases, fit: Callable[[Cases], T]) -> list[T]:
    """What is fitted for every case on the cases of the other sets; on its own without others."""
    if len(np.unique(of.sets)) < 2:
        return [fit(of)] * len(of)
    fitted = {place: fit(of.where(of.sets != place)) for place in np.unique(of.sets).tolist()}
    return [fitted[place] for place in of.sets.tolist()]


def expected(of: Cases, slopes: Sequence[float]) -> FloatArray:
    """The expected gain of every case."""
    return np.array(
        [
            expected_gain(possible, slope=slope)
            for possible, slope in zip(of.possible.tolist(), slopes, strict=True)
        ]
    )


def curve(of: Cases) -> dict[int, float]:
    """Mean gain by the number of labels."""
    counts = np.unique(of.labels).tolist()
    return {count: float(of.gain[of.labels == count].mean()) for count in counts}


def curve_of_others(of: Cases) -> FloatArray:
    """For every case the mean gain of the other sets at the same number of labels."""
    fitted = by_others(of, curve)
    return np.array([one[count] for one, count in zip(fitted, of.labels.tolist(), strict=True)])


def explained(of: Cases, prediction: FloatArray) -> float:
    """Share of the variance of single gains that a prediction explains; may be negative."""
    left = float(np.square(of.gain - prediction).sum())
    return 1.0 - left / float(np.square(of.gain - of.gain.mean()).sum())


@dataclass(frozen=True, slots=True)
class Bin:
    """Cases with a similar expected gain: means, and the standard error of the actual one."""

    expected: float
    actual: float
    error: float
    cases: int


def binned(of: Cases, prediction: FloatArray, count: int = BINS) -> list[Bin]:
    """Cases in order of their expected gain, in parts of the same size."""
    order = np.argsort(prediction, kind="stable")
    return [
        Bin(
            float(prediction[part].mean()),
            float(of.gain[part].mean()),
            float(of.gain[part].std(ddof=1) / np.sqrt(len(part))) if len(part) > 1 else 0.0,
            len(part),
        )
        for part in np.array_split(order, count)
        if len(part)
    ]


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rank correlation, and its 90 % interval over resamples of the sets."""

    value: float
    low: float
    high: float


def correlation(of: Cases, prediction: FloatArray) -> Correlation:
    """Of the expected with the actual gain."""
    places = [np.flatnonzero(of.sets == place) for place in np.unique(of.sets)]
    rng, drawn = np.random.default_rng(0), []
    for _ in range(_RESAMPLES):
        rows = np.concatenate([places[one] for one in rng.integers(len(places), size=len(places))])
        drawn.append(_rank_correlation(prediction[rows], of.gain[rows]))
    low, high = np.quantile(drawn, (0.05, 0.95)).tolist()
    return Correlation(_rank_correlation(prediction, of.gain), low, high)


def _rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Of two columns; 0 where one is constant."""
    if np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return 0.0
    return float(spearmanr(first, second).statistic)


@dataclass(frozen=True, slots=True)
class Findings:
    """What the cases of the judged sets say, and those of the other sets.

    Attributes
    ----------
    within, beside : Cases
        Of the judged sets and of the other ones.
    rules : dict of str to (FloatArray, FloatArray)
        Name of a rule -> intervals of `within`, from the other judged sets, and of `beside`, from
        all judged ones.
    interval : Interval
        Fitted on all judged sets, with the product's power.
    slope : float
        Likewise.
    prediction : FloatArray
        Expected gain of `within`, from the other sets.
    """

    within: Cases
    beside: Cases
    rules: dict[str, tuple[FloatArray, FloatArray]]
    interval: Interval
    slope: float
    prediction: FloatArray


RULES = {
    "wider by the root of the deviation (svddtune)": POWER,
    "of one width": 0.0,
    "wider by the deviation": 1.0,
}
"""Title of an interval -> power of the deviation in its width."""
UNCORRECTED = "the model's own, uncorrected"


def findings(of: Outlooks, records: Records) -> Findings:
    """Fit the constants, and judge them on the sets that are left out."""
    inside = judged(of.sets)
    others = [data for data in of.sets if data not in inside]
    within, beside = cases(inside, of.seeds, records), cases(others, of.seeds, records)
    rules = {}
    for title, power in RULES.items():
        whole, fit = fit_interval(within, power), partial(fit_interval, power=power)
        rules[title] = (
            intervals(within, by_others(within, fit)),
            intervals(beside, [whole] * len(beside)),
        )
    own = Interval(1.0, _NORMAL, 1.0)
    rules[UNCORRECTED] = (
        intervals(within, [own] * len(within)),
        intervals(beside, [own] * len(beside)),
    )
    return Findings(
        within,
        beside,
        rules,
        fit_interval(within, POWER),
        fit_slope(within),
        expected(within, by_others(within, fit_slope)),
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of an interval after some labels: how often it holds the share, its width, the error."""

    held: float
    width: float
    error: float


def coverage(of: Cases, found: FloatArray, count: int) -> Coverage:
    """Means over the cases with so many labels."""
    at = of.labels == count
    value, low, high = found[at].T
    return Coverage(
        float(held(of, found)[at].mean()),
        float((high - low).mean()),
        float(np.abs(value - of.share[at]).mean()),
    )


@dataclass(frozen=True, slots=True)
class Missed:
    """A set whose share most intervals miss: the share, and the mean estimate."""

    name: str
    share: float
    estimate: float


def missed(sets: Sequence[BenchSet], of: Cases, found: FloatArray) -> list[Missed]:
    """Sets whose share most intervals miss, over all numbers of labels."""
    inside = held(of, found)
    return [
        Missed(data.name, data.outliers / data.N, float(found[of.sets == at, 0].mean()))
        for at, data in enumerate(sets)
        if inside[of.sets == at].mean() < 0.5
    ]


def document(of: Outlooks, records: Records, invocation: Invocation) -> dict[str, Any]:
    """The document of --json."""
    found = findings(of, records)
    rank = correlation(found.within, found.prediction)

    def rule(some: Cases, values: FloatArray) -> dict[str, Any]:
        return {
            str(count): {"held": one.held, "width": one.width, "error": one.error}
            for count in COUNTS
            if (some.labels == count).any()
            for one in [coverage(some, values, count)]
        }

    return {
        **invocation.document(),
        "seeds": of.seeds,
        "sets": [data.name for data in judged(of.sets)],
        "constants": {
            "fitted": {"stretch": found.interval.stretch, "width": found.interval.width,
                       "slope": found.slope},
            "product": {"stretch": PRODUCT.stretch, "width": PRODUCT.width, "slope": SLOPE},
        },
        "share": {
            title: {"sets": rule(found.within, inside), "others": rule(found.beside, outside)}
            for title, (inside, outside) in found.rules.items()
        },
        "gain": {
            "bins": [
                {"expected": one.expected, "actual": one.actual, "error": one.error,
                 "cases": one.cases}
                for one in binned(found.within, found.prediction)
            ],
            "explained": explained(found.within, found.prediction),
            "explained_by_number_of_labels": explained(
                found.within, curve_of_others(found.within)
            ) if len(judged(of.sets)) > 1 else None,
            "rank_correlation": {"value": rank.value, "low": rank.low, "high": rank.high},
            "by_number_of_labels": {
                str(count): value for count, value in curve(found.within).items()
            },
            "deviation": float(found.within.gain.std()),
        },
    }  # fmt: skip


def share_table(of: Outlooks, found: Findings) -> str:
    """How often each interval holds the true share, how wide it is, and the error of the value."""
    counts = [count for count in COUNTS if (found.within.labels == count).any()]
    others = len(of.sets) - len(judged(of.sets))
    rows = []
    for title, (inside, outside) in found.rules.items():
        row = [title]
        for count in counts:
            one = coverage(found.within, inside, count)
            row += [f"{one.held:.0%}", f"{one.width:.3f}", f"{one.error:.3f}"]
        if others:
            row += [f"{coverage(found.beside, outside, count).held:.0%}" for count in counts]
        rows.append(row)
    head = ["interval"]
    for count in counts:
        head += [f"held, {count} labels", "width", "error of the value"]
    if others:
        head += [f"held on {others} other sets, {count}" for count in counts]
    return markdown(head, rows)


def gain_table(found: Findings) -> str:
    """Expected against actual gain, in parts of the cases."""
    rows = [
        [f"{one.expected:.3f}", f"{one.actual:+.3f} ± {one.error:.3f}", str(one.cases)]
        for one in binned(found.within, found.prediction)
    ]
    return markdown(["expected", "actual, mean", "cases"], rows)


def curve_table(found: Findings) -> str:
    """Mean gain of the next labels by the number of labels."""
    shown = curve(found.within)
    return markdown(
        ["labels", *map(str, shown)],
        [[f"gained by the next {AHEAD}", *(f"{value:+.3f}" for value in shown.values())]],
    )


def tables(of: Outlooks, records: Records) -> str:
    """The tables for the terminal."""
    found = findings(of, records)
    return "\n".join((share_table(of, found), gain_table(found), curve_table(found)))


def write(folder: Path, of: Outlooks, records: Records, invocation: Invocation) -> Path:
    """Write the part of evaluation.md in a folder."""
    found = findings(of, records)
    text = page.fill(
        "outlook",
        command=invocation.command,
        sets=len(judged(of.sets)),
        seeds=of.seeds,
        first=LEAST_LABELS,
        last=LAST,
        ahead=AHEAD,
        level=f"{LEVEL:.0%}",
        shares=share_table(of, found),
        missed=_missed(of, found),
        gains=gain_table(found),
        curve=curve_table(found),
        verdict=_verdict(found),
        stretch=f"{found.interval.stretch:.2f}",
        width=f"{found.interval.width:.2f}",
        slope=f"{found.slope:.3f}",
        product=f"{PRODUCT.stretch:g}, {PRODUCT.width:g} and {SLOPE:g}",
    )
    return page.write_part(folder, "outlook", text)


def _missed(of: Outlooks, found: Findings) -> str:
    inside = judged(of.sets)
    others = [data for data in of.sets if data not in inside]
    within, beside = found.rules[next(iter(RULES))]
    names = [
        f"{one.name} ({one.share:.1%}, estimated {one.estimate:.1%})"
        for one in (
            *missed(inside, found.within, within),
            *missed(others, found.beside, beside),
        )
    ]
    return ", ".join(names) or "none"


def _verdict(found: Findings) -> str:
    """What the figures say about the expected gain, in sentences."""
    rank = correlation(found.within, found.prediction)
    ours = explained(found.within, found.prediction)
    text = (
        f"The rank correlation of expected and actual gain is {rank.value:.2f} (90 % interval over "
        f"resamples of the sets: {rank.low:.2f} to {rank.high:.2f}). The expected gain explains "
        f"{ours:.1%} of the variance of single gains, whose standard deviation is "
        f"{found.within.gain.std():.3f}"
    )
    if len(np.unique(found.within.sets)) > 1:
        by_count = explained(found.within, curve_of_others(found.within))
        text += f"; the mean gain at the same number of labels explains {by_count:.1%}"
    if rank.low > 0.0:
        return (
            f"{text}. So the figure is about right on average and ranks moments of sessions, but "
            "says little about a single session."
        )
    return f"{text}. So the figure has no proven value for a session: read it as a mean."
