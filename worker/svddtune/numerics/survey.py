"""Large sets: rows that stand for all, and rows worth a question where outliers are rare.

If one row of 3,000 is an outlier, a uniform sample of some thousand rows holds one or none. So a
set of more than `panel.PANEL_ROWS` rows is surveyed: up to `SURVEY_ROWS` rows, drawn uniformly,
are scored without a label (isolation forest, nearest reference row in several representations, and
the mean of all scores). The panel is drawn from them in strata of their smallest rank by any score.
The most unusual rows are all in it. The others are drawn, usual rows with a smaller probability;
their weights keep sums over rows unbiased.

While a class has no label, the scores take turns. The most unusual row is asked about, but not near
rows with a label: the top of a score is often one group of similar inliers. Once both classes have
labels, every third query is a random row of all, and the others are rows whose class is least
certain, in the panel or among rows of the survey that a linear classifier finds uncertain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.linear_model import LogisticRegression

from svddtune.numerics.border import Border
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.panel import PANEL_ROWS, Panel
from svddtune.numerics.types import (
    INLIER,
    OUTLIER,
    BoolArray,
    FloatArray,
    IndexArray,
    LabelArray,
    labelled_rows,
)
from svddtune.sigmoid import sigmoid

SURVEY_ROWS = 100_000
"""Rows that are scored; of more a uniform sample."""
CERTAIN_ROWS = 1024
"""Most unusual rows of the survey, which are all in the panel."""
NOMINATED = 512
"""Rows of the survey outside of the panel among which the uncertain ones are looked for."""
LEAN_LABELS = 500
"""Labels of each class that the quick classifiers learn from; of more a sample."""
AVOIDANCE = 3.0
"""Powers of ten that a row must be more unusual to be asked about where a label is."""
REACH = 0.5
"""Distance within which a row is where a label is, in median distances of the panel's rows."""

SurveyRule = Literal["random", "uncertain", "cold_outlying", "cold_typical"]
TURNS: tuple[SurveyRule, ...] = ("random", "uncertain", "uncertain")
"""Rules of the queries once both classes have labels."""

_BLOCK = 8192
_REFERENCE = 300
_FARTHEST = 1e9  # features beyond are cut: their squares must fit in single precision
_BORDER_SLOPE = 2.0
_LINEAR_COST = 0.1


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of a large set without a label.

    Attributes
    ----------
    raw : FloatArray, shape (N, M)
        The set, in the units of its columns.
    describe : callable
        From raw rows, shape (n, M), to features, shape (n, D + S): D columns and S scores, all of
        them standardised. Greater scores are more unusual.
    columns : int
        D.
    rows : IndexArray, shape (n,)
        Surveyed rows, ascending.
    features : NDArray[np.float32], shape (n, D + S)
        Of the surveyed rows.
    panel : Panel
        Drawn from the surveyed rows.
    places : IndexArray, shape (P,)
        Positions of the panel's rows in `rows`.
    unusual : FloatArray, shape (T, P)
        For each score that takes turns: minus the decimal logarithm of the share of surveyed rows
        that are at least as unusual as a row of the panel.
    reach : float
        `REACH` median distances of rows of the panel, by their columns' features; positive.
    """

    raw: FloatArray
    describe: Callable[[FloatArray], FloatArray]
    columns: int
    rows: IndexArray
    features: NDArray[np.float32]
    panel: Panel
    places: IndexArray
    unusual: FloatArray
    reach: float

    def of_rows(self, rows: IndexArray) -> FloatArray:
        """Features of any rows of the set, shape (n, D + S)."""
        rows = np.asarray(rows, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        features = self.features[place].astype(np.float64)
        others = np.flatnonzero(self.rows[place] != rows)
        if len(others):
            features[others] = _features(self.describe, self.raw, rows[others])
        return features

    @property
    def of_panel(self) -> FloatArray:
        """Features of the panel's rows, shape (P, D + S)."""
        return self.features[self.places].astype(np.float64)


def survey(
    raw: FloatArray,
    describe: Callable[[FloatArray], FloatArray],
    *,
    columns: int,
    seed: int = 0,
) -> Survey | None:
    """Score a large set and draw its panel.

    Parameters
    ----------
    raw, describe, columns
        As in `Survey`.
    seed : int
        Draws the surveyed rows and the panel.

    Returns
    -------
    Survey or None
        None where all rows are in the panel: up to `PANEL_ROWS` rows.
    """
    N = len(raw)
    if N <= PANEL_ROWS:
        return None
    rng, rows = np.random.default_rng(seed), np.arange(N)
    if N > SURVEY_ROWS:
        rows = np.sort(rng.choice(N, SURVEY_ROWS, replace=False))
    features = _features(describe, raw, rows)
    scores = _turning_scores(features[:, columns:])
    shares = np.array([_shares(score) for score in scores])
    places, weights = _stratified(shares.min(axis=0), rng)
    known = features[places, :columns].astype(np.float64)
    some = known[rng.choice(len(known), _REFERENCE, replace=False)]
    distance = np.sqrt(squared_distances(some, some))
    typical = float(np.median(distance[np.triu_indices(len(some), 1)]))
    return Survey(
        raw=raw,
        describe=describe,
        columns=columns,
        rows=rows,
        features=features,
        panel=Panel(rows[places], weights),
        places=places,
        unusual=-np.log10(shares[:, places]),
        reach=REACH * typical if typical > 0.0 else 1.0,
    )


def _features(
    describe: Callable[[FloatArray], FloatArray], raw: FloatArray, rows: IndexArray
) -> NDArray[np.float32]:
    """Features of rows of a set, some thousand rows at a time: their computation takes memory."""
    parts = [describe(raw[rows[a : a + _BLOCK]]) for a in range(0, max(len(rows), 1), _BLOCK)]
    made = np.concatenate(parts)
    return np.clip(made, -_FARTHEST, _FARTHEST, out=made).astype(np.float32)


def _turning_scores(scores: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The isolation score, the distances to the nearest reference rows, and the mean of all.

    The scores are in the order of `svddtune.refined.Novelty`.
    """
    return [scores[:, 0], *scores[:, 1::2].T, scores.mean(axis=1)]


def _shares(score: NDArray[np.float32]) -> FloatArray:
    """Share of rows that are at least as unusual as each, ties in the order of rows."""
    share = np.empty(len(score))
    share[np.argsort(-score, kind="stable")] = np.arange(1, len(score) + 1) / len(score)
    return share


def _stratified(rank: FloatArray, rng: np.random.Generator) -> tuple[IndexArray, FloatArray]:
    """Positions of `PANEL_ROWS` rows, ascending, and their weights of mean 1.

    The `CERTAIN_ROWS` of least rank are one stratum. The next ones have as many rows, twice as
    many, and so on; an equal number is drawn from each.
    """
    order, N = np.argsort(rank, kind="stable"), len(rank)
    edges, size = [CERTAIN_ROWS], CERTAIN_ROWS
    while edges[-1] + 1.5 * size < N:
        edges.append(edges[-1] + size)
        size *= 2
    edges.append(N)
    drawn, weights = [order[:CERTAIN_ROWS]], [np.ones(CERTAIN_ROWS)]
    left = PANEL_ROWS - CERTAIN_ROWS
    for index, (begin, end) in enumerate(pairwise(edges)):
        count = min(end - begin, left // (len(edges) - 1 - index))
        left -= count
        drawn.append(rng.choice(order[begin:end], count, replace=False))
        weights.append(np.full(count, (end - begin) / count))
    positions, weight = np.concatenate(drawn), np.concatenate(weights)
    ascending = np.argsort(positions)
    return positions[ascending], weight[ascending] * (len(weight) / weight.sum())


def lean_rows(labels: LabelArray) -> IndexArray:
    """Labelled rows that `Lean` learns from, ascending: up to `LEAN_LABELS` of each class."""
    rng, drawn = np.random.default_rng(0), []
    for label in (INLIER, OUTLIER):
        rows = np.flatnonzero(labels == label)
        if len(rows) > LEAN_LABELS:
            rows = rng.choice(rows, LEAN_LABELS, replace=False)
        drawn.append(rows)
    return np.sort(np.concatenate(drawn))


@dataclass(frozen=True, eq=False)
class Lean:
    """Classifiers of the labels that take milliseconds; they see features.

    Attributes
    ----------
    linear : LogisticRegression
    border : Border
    """

    linear: LogisticRegression
    border: Border

    @classmethod
    def fit(cls, features: FloatArray, labels: LabelArray) -> Lean:
        """Fit to labels of both classes, which weigh alike; features of shape (n, F)."""
        linear = LogisticRegression(C=_LINEAR_COST, class_weight="balanced", max_iter=500)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            linear.fit(features, labels == OUTLIER)
        return cls(linear, Border.fit(features, labels))

    def margin(self, features: NDArray[np.floating]) -> FloatArray:
        """Log-odds of "outlier" by the linear classifier alone, shape (n,): it is the quickest."""
        weights = self.linear.coef_[0].astype(features.dtype)
        return np.asarray(features @ weights, dtype=np.float64) + float(self.linear.intercept_[0])

    def probability(self, features: FloatArray) -> FloatArray:
        """How much speaks for "outlier", shape (n,), in (0, 1); outliers have 0.5 or more."""
        by_border = sigmoid(_BORDER_SLOPE * self.border.beyond(features))
        return np.asarray((by_border + sigmoid(self.margin(features))) / 2.0)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows to ask about, best first, with the score and the rule of each."""

    rows: IndexArray
    scores: FloatArray
    rules: tuple[SurveyRule, ...]


def rank_cold(
    of: Survey,
    labels: LabelArray,
    open_rows: IndexArray,
    askable: BoolArray,
    *,
    reserve: int,
    rng: np.random.Generator,
) -> Ranked:
    """Rank rows while a class has no label.

    Parameters
    ----------
    of : Survey
        Of the set.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    open_rows : IndexArray
        Rows of open queries.
    askable : BoolArray, shape (N,)
        Rows that may be asked about; at least one.
    reserve : int
        Largest number of places.
    rng : np.random.Generator
        Draws the random rows.

    Returns
    -------
    Ranked
        Each score has a place in turn, then a random row. If all labels are outliers, the most
        typical rows. Every place assumes that the rows before it have labels.
    """
    known = np.union1d(labelled_rows(labels), open_rows).astype(np.int64)
    free, panel = askable[of.panel.rows], of.of_panel
    if (labels == OUTLIER).any():
        by = np.where(free, of.unusual[-1], np.inf)
        rule, avoided = "cold_typical", np.zeros(len(by))
    else:
        rule = "cold_outlying"
        avoided = _nearness(of, panel, of.of_rows(known)) if len(known) else np.zeros(len(panel))
    rows: list[int] = []
    scores: list[float] = []
    rules: list[SurveyRule] = []
    taken = ~askable
    turns = len(of.unusual) + 1
    for place in range(min(reserve, int(np.count_nonzero(askable)))):
        turn = (len(known) + place) % turns
        position = -1
        if rule == "cold_typical":
            position = int(np.argmin(by))
            value = -float(of.unusual[-1][position]) if free[position] else 0.0
            by[position] = np.inf
        elif turn < len(of.unusual):
            worth = np.where(free, of.unusual[turn] - AVOIDANCE * avoided, -np.inf)
            position, value = int(np.argmax(worth)), float(worth.max())
        if position < 0 or not free[position]:
            rows.append(_random_row(taken, rng))
            scores.append(0.0)
            rules.append("random")
        else:
            rows.append(int(of.panel.rows[position]))
            scores.append(value)
            rules.append("cold_typical" if rule == "cold_typical" else "cold_outlying")
        taken[rows[-1]] = True
        free = free & ~taken[of.panel.rows]
        if rule == "cold_outlying" and position >= 0:
            near = _nearness(of, panel, panel[[position]])
            avoided = np.maximum(avoided, near)
    return Ranked(np.array(rows, dtype=np.int64), np.array(scores), tuple(rules))


def _nearness(of: Survey, panel: FloatArray, known: FloatArray) -> FloatArray:
    """1 where a row of the panel is at one of `known`, near 0 beyond the reach; shape (P,)."""
    D2 = squared_distances(panel[:, : of.columns], known[:, : of.columns])
    return np.asarray(np.exp(-D2.min(axis=1) / of.reach**2))


def rank_warm(
    of: Survey,
    lean: Lean,
    probability: FloatArray,
    askable: BoolArray,
    *,
    asked: int,
    reserve: int,
    rng: np.random.Generator,
) -> Ranked:
    """Rank rows once both classes have labels.

    Parameters
    ----------
    of : Survey
        Of the set.
    lean : Lean
        Of the labels.
    probability : FloatArray, shape (P,)
        Its probabilities of the panel's rows.
    askable : BoolArray, shape (N,)
        Rows that may be asked about; at least one.
    asked : int
        Labels and open queries so far.
    reserve : int
        Largest number of places.
    rng : np.random.Generator
        Draws the random rows and settles ties.

    Returns
    -------
    Ranked
        By the rules of `TURNS`.
    """
    outside = np.ones(len(of.rows), dtype=np.bool_)
    outside[of.places] = False
    others = np.flatnonzero(outside & askable[of.rows])
    if len(others) > NOMINATED:
        # (The rows that are left out cost less than a copy of the others.)
        unsure = np.abs(lean.margin(of.features)[others])
        others = np.sort(others[np.argpartition(unsure, NOMINATED)[:NOMINATED]])
    inside = np.flatnonzero(askable[of.panel.rows])
    rows = np.concatenate((of.panel.rows[inside], of.rows[others]))
    more = lean.probability(of.features[others].astype(np.float64)) if len(others) else np.empty(0)
    doubt = -np.abs(np.concatenate((probability[inside], more)) - 0.5)
    shuffled = rng.permutation(len(rows))
    order = iter(shuffled[np.argsort(-np.round(doubt[shuffled], 12), kind="stable")].tolist())
    taken, places, scores = ~askable, [], []
    rules: list[SurveyRule] = []
    for place in range(min(reserve, int(np.count_nonzero(askable)))):
        rule = TURNS[(asked + place) % len(TURNS)]
        found = None
        if rule == "uncertain":
            found = next((one for one in order if not taken[rows[one]]), None)
        if found is None:
            rule = "random"
        places.append(_random_row(taken, rng) if found is None else int(rows[found]))
        scores.append(0.0 if found is None else float(doubt[found]))
        rules.append(rule)
        taken[places[-1]] = True
    return Ranked(np.array(places, dtype=np.int64), np.array(scores), tuple(rules))


def _random_row(taken: BoolArray, rng: np.random.Generator) -> int:
    """A random row of those that are not taken; at least one is not.

    Few rows of many are taken, so these are listed, and not the others.
    """
    listed = np.flatnonzero(taken)
    place = int(rng.integers(len(taken) - len(listed)))
    free_before = listed - np.arange(len(listed))
    return place + int(np.searchsorted(free_before, place, side="right"))
