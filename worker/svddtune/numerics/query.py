"""Which row to ask the oracle about next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from svddtune.numerics.alignment import best_gamma, local_alignment
from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import Belief, BeliefBasis, believe
from svddtune.numerics.coldstart import ColdRule, cold_rule, cold_scores
from svddtune.numerics.committee import disagreement, form_committee
from svddtune.numerics.evidence import (
    Criterion,
    Evidence,
    LiveChoice,
    check_panels,
    classes_seen,
    pick,
    prior_vote,
    weigh,
)
from svddtune.numerics.gain import knowledge_committee, knowledge_gains, rank_by_gain
from svddtune.numerics.kernel import pair_distances2
from svddtune.numerics.mapped import Rows, complete
from svddtune.numerics.mixed import border_distance, mixed_turns, take_turns
from svddtune.numerics.outlook import Outlook, Prospect, outlook_of
from svddtune.numerics.own import QueryStrategy, Situation, rank_by
from svddtune.numerics.preparation import Preparation
from svddtune.numerics.prospect import AHEAD
from svddtune.numerics.scores import Metric, class_counts
from svddtune.numerics.survey import SurveyRule, rank_cold, rank_warm
from svddtune.numerics.tau import TauRule, tau
from svddtune.numerics.types import INLIER, OUTLIER, BoolArray, FloatArray, IndexArray, LabelArray

Strategy = Literal["lama", "random", "disagreement", "knowledge_gradient", "mixed"]
Rule = (
    Literal["lama", "random", "disagreement", "knowledge_gradient", "uncertain", "own"]
    | Literal["cold_random"]
    | ColdRule
    | SurveyRule
)

STRATEGIES: tuple[Strategy, ...] = (
    "lama", "random", "disagreement", "knowledge_gradient", "mixed",
)  # fmt: skip
ATLAS_STRATEGIES: frozenset[Strategy] = frozenset(("disagreement", "knowledge_gradient", "mixed"))
DEFAULT_STRATEGY: Strategy = "mixed"
DISAGREEMENT_SHARPNESS = 20.0

_SCORE_DECIMALS = 12  # differences below are rounding, and must not break a tie
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A ranking of the rows to ask about next.

    Attributes
    ----------
    gamma : float
        Current gamma_opt, or the preparation's `default_gamma` while a class has no label; with
        an atlas strategy the gamma of `choice`.
    alignment : float or None
        Local alignment at `gamma`; None while a class has no label, and with an atlas strategy.
    rows : IndexArray, shape (n,)
        Rows to ask about, the method's own choice first; empty when no row is left.
    scores : FloatArray, shape (n,)
        Scores of `rows`: tau, or what their rules rank by, or 0 for rows drawn at random.
    turns : tuple of str
        Why rows were chosen; where there are several rules, they take turns over the places:
        "lama", "random", "disagreement", "knowledge_gradient", "uncertain" (near the border between
        the labelled classes), "own", or while a class has no label "cold_random", "cold_outlying"
        (far from its neighbours), "cold_entropy" (the cells disagree), "cold_typical" (near its
        neighbours).
    choice : LiveChoice or None
        With an atlas: the best cell so far, by the labels alone with "disagreement" and by all
        evidence otherwise.
    outlook : Outlook or None
        With an atlas and enough labels of both classes: the share of outliers, and the gain that
        the next labels are expected to bring.
    evidence : Evidence or None
        With an atlas: the scores of its cells.
    """

    gamma: float
    alignment: float | None
    rows: IndexArray
    scores: FloatArray
    turns: tuple[Rule, ...]
    choice: LiveChoice | None = None
    outlook: Outlook | None = None
    evidence: Evidence | None = None

    @property
    def rule(self) -> Rule:
        """Why the first row was chosen."""
        return self.turns[0]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Why each row was chosen, length n."""
        return tuple(self.turns[place % len(self.turns)] for place in range(len(self.rows)))


def suggest(
    prep: Preparation,
    X: Rows,
    labels: LabelArray,
    *,
    k: int,
    strategy: Strategy | QueryStrategy,
    sample: int,
    rng: np.random.Generator,
    exclude: IndexArray = _NO_ROWS,
    open_rows: IndexArray = _NO_ROWS,
    reserve: int = 16,
    atlas: Atlas | None = None,
    basis: BeliefBasis | None = None,
    metric: Metric = "kappa",
    tau_rule: TauRule = "propagated",
    certainty: FloatArray | None = None,
) -> Suggestion:
    """Rank the rows that are worth a label.

    Parameters
    ----------
    prep : Preparation
        Of `X`; with an atlas strategy that of some rows will do.
    X : FloatArray or MappedRows, shape (N, M)
        Observations, finite.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    k : int
        Locality.
    strategy : {"lama", "random", "disagreement", "knowledge_gradient", "mixed"} or QueryStrategy
        Which rule ranks the rows; see the notes. A `QueryStrategy` of another package ranks by
        itself.
    sample : int
        Candidates drawn uniformly from U, the rows that may be asked about; 0 for all of U. Only
        "lama" draws them.
    rng : np.random.Generator
        The only source of randomness.
    exclude : IndexArray
        Rows not to be asked about: leased to labelers, or dropped.
    open_rows : IndexArray
        Rows of open queries; not in U either. Their neighbours rank last.
    reserve : int
        Largest number of ranked rows.
    atlas : Atlas, optional
        Of the same data; "disagreement", "knowledge_gradient", "mixed" and other packages'
        strategies need it, the others only report the choice it makes.
    basis : BeliefBasis, optional
        Of the same data; needed with an atlas.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Of the evidence for the cells of the atlas; the gradient itself is always that of kappa.
    tau_rule : {"propagated", "printed"}
        Of "lama": as in `tau`.
    certainty : FloatArray, shape (N,), optional
        As in `believe`; the rules that need no atlas do not use it.

    Returns
    -------
    Suggestion

    Raises
    ------
    ValueError
        If `strategy` is unknown, lacks its atlas or a preparation of all rows, or returns no valid
        ranking, an atlas lacks its basis, `labels` or `atlas` has another number of rows than
        `prep`, or `sample`, `reserve` or `k` is out of range.

    Notes
    -----
    lama: the first row is exactly the method's: highest tau, ties by lower row index. The others
    follow by tau, except that rows in NN_k of an open or an already ranked row move behind, so
    that parallel labelers are not asked about the same spot.

    disagreement: the cells vote with weights exp(20 kappa on the labels); the row with the
    largest p (1 - p) is asked, ties at random. Others follow as with lama.

    knowledge_gradient: see `gain`. Every place assumes that open rows and the rows before it are
    measured. The atlas strategies rank the rows of the panel (all rows of most datasets), and
    draw from U when none of these is left. While a class has no label, two rules take turns over
    the places as they do over the queries (see `coldstart`), and the others follow as with lama.

    Of a set with a `survey` (`basis.survey`), all atlas strategies start as `survey` says, and
    "mixed" goes on as it says: no rule of the panel finds outliers that are rare.

    mixed: every fourth query, and every fourth place, is a row near the border between the labelled
    classes; the others are by the knowledge gradient. See `mixed`.

    Deviation: the paper starts from labels of both classes. Here "lama" without a labelled
    inlier draws uniform rows, since most rows are inliers; with inliers but no outlier it takes
    the candidate with the largest mean distance to its k - 1 other neighbours.
    """
    if not callable(strategy) and strategy not in STRATEGIES:
        raise ValueError(f"strategy is {strategy!r}, expected one of {STRATEGIES}")
    if labels.shape != (prep.N,):
        raise ValueError(f"labels have shape {labels.shape}, expected ({prep.N},)")
    if sample < 0 or reserve < 1:
        raise ValueError(f"sample is {sample}, reserve is {reserve}, expected >= 0 and >= 1")
    if atlas is not None and atlas.N != prep.N:
        raise ValueError(f"atlas has {atlas.N} rows, expected {prep.N}")
    k = prep.locality(k)
    open_rows = np.asarray(open_rows, dtype=np.int64)
    askable = labels == 0
    askable[np.asarray(exclude, dtype=np.int64)] = False
    askable[open_rows] = False
    state = None
    if atlas is not None:
        if basis is None:
            raise ValueError("basis is None, expected that of the atlas's data")
        check_panels(atlas, basis)
        state = _AtlasState(atlas, basis, prep, labels, open_rows, metric, certainty)
    if callable(strategy) or strategy in ATLAS_STRATEGIES:
        if state is None:
            raise ValueError(f"strategy is {strategy!r}, expected an atlas with it")
        if callable(strategy):
            own_choice = state.choice("evidence")
            ranked = rank_by(strategy, Situation(
                X=complete(X), labels=labels, excluded=np.asarray(exclude, dtype=np.int64),
                open_rows=open_rows, reserve=reserve, rng=rng, k=k, sample=sample, metric=metric,
                prep=prep, atlas=state.atlas, basis=state.basis,
            ))  # fmt: skip
            return Suggestion(
                own_choice.gamma, None, ranked.rows, ranked.scores, ("own",), own_choice,
                state.outlook(), state.evidence,
            )  # fmt: skip
        suggestion = state.suggest(strategy, askable, k=k, reserve=reserve, rng=rng)
        return replace(suggestion, outlook=state.outlook(), evidence=state.evidence)
    if prep.rows is not None:
        raise ValueError(f"strategy is {strategy!r}, expected a preparation of all rows with it")
    X = complete(X)
    U = np.flatnonzero(askable)
    choice, outlook, evidence = None, None, None
    if state is not None:
        choice, outlook, evidence = state.choice("evidence"), state.outlook(), state.evidence
    has_inlier = bool((labels == INLIER).any())
    local, value = None, None
    if has_inlier and (labels == OUTLIER).any():
        local = local_alignment(prep, X, labels, k=k)
        gamma, value = best_gamma(local, prep.gamma_bounds)
    else:
        gamma = prep.default_gamma
    rule: Rule = "lama" if local is not None else "cold_outlying"
    if strategy == "random" or not has_inlier:
        rule = "random" if strategy == "random" else "cold_random"
    if len(U) == 0:
        return Suggestion(gamma, value, U, np.empty(0), (rule,), choice, outlook, evidence)
    if strategy == "random" or not has_inlier:
        rows = rng.choice(U, min(reserve, len(U)), replace=False)
        return Suggestion(
            gamma, value, rows, np.zeros(len(rows)), (rule,), choice, outlook, evidence
        )
    rows = U if sample == 0 or sample >= len(U) else np.sort(rng.choice(U, sample, replace=False))
    if local is None:
        scores = _mean_neighbor_distance(prep, X, rows, k)
    else:
        scores = tau(local, X, rows, k=k, gamma=gamma, rule=tau_rule)
    by_rule = _in_medians(scores) if local is None else scores
    order = _ranked(prep, k, rows, (by_rule,), open_rows, reserve)
    return Suggestion(gamma, value, rows[order], scores[order], (rule,), choice, outlook, evidence)


class _AtlasState:
    """Belief and evidence of the atlas strategies, for one state of the labels."""

    def __init__(
        self,
        atlas: Atlas,
        basis: BeliefBasis,
        prep: Preparation,
        labels: LabelArray,
        open_rows: IndexArray,
        metric: Metric,
        certainty: FloatArray | None,
    ) -> None:
        self.atlas, self.basis, self.prep = atlas, basis, prep
        self.labels, self.open_rows, self.metric = labels, open_rows, metric
        self.belief: Belief = believe(
            basis, labels, open_rows=open_rows, vote=prior_vote(atlas, labels), certainty=certainty
        )
        self.evidence: Evidence = weigh(atlas, self.belief, labels, metric=metric)
        self._prospect: Prospect | None = None

    def choice(self, criterion: Criterion) -> LiveChoice:
        return pick(self.atlas, self.evidence, self.labels, criterion=criterion, metric=self.metric)

    def outlook(self) -> Outlook | None:
        """The outlook; it names a gain once `suggest` has ranked by the knowledge gradient."""
        return outlook_of(self.basis, self.belief, self.labels, self._prospect)

    def suggest(
        self,
        strategy: Strategy,
        askable: BoolArray,
        *,
        k: int,
        reserve: int,
        rng: np.random.Generator,
    ) -> Suggestion:
        choice = self.choice("labels" if strategy == "disagreement" else "evidence")
        candidates = np.flatnonzero(askable[self.basis.panel])
        both = classes_seen(self.labels) == "both_classes"
        if self.basis.survey is not None and askable.any() and (not both or strategy == "mixed"):
            return self._by_survey(choice, askable, reserve, rng)
        if len(candidates) == 0 or (both and len(self.atlas.voters) == 0):
            U = np.flatnonzero(askable)
            rows = rng.choice(U, min(reserve, len(U)), replace=False) if len(U) else U
            return Suggestion(choice.gamma, None, rows, np.zeros(len(rows)), ("random",), choice)
        turns: tuple[Rule, ...]
        if both and strategy == "mixed":
            turns = mixed_turns(self._asked)
            positions, scores = self._mix(turns, candidates, reserve, rng)
        elif both and strategy == "knowledge_gradient":
            turns = (strategy,)
            positions, scores = self._by_gain(candidates, reserve, rng)
        else:
            turns = ("disagreement",)
            if both:
                values = [disagreement(self.atlas, form_committee(
                    self.atlas, self.evidence.on_labels, sharpness=DISAGREEMENT_SHARPNESS
                ))]  # fmt: skip
            else:
                turns = cold = self._cold_turns()
                values = [cold_scores(rule, self.atlas, self.basis) for rule in cold]
            shuffled = rng.permutation(candidates)
            by_turn = [value[shuffled] for value in values]
            ranked_by = by_turn if both else [_in_medians(value) for value in by_turn]
            rows = self.basis.panel[shuffled]
            order = _ranked(self.prep, k, rows, ranked_by, self.open_rows, reserve)
            places = np.arange(len(order)) % len(turns)
            positions, scores = shuffled[order], np.array(by_turn)[places, order]
        return Suggestion(choice.gamma, None, self.basis.panel[positions], scores, turns, choice)

    def _by_survey(
        self,
        choice: LiveChoice,
        askable: BoolArray,
        reserve: int,
        rng: np.random.Generator,
    ) -> Suggestion:
        survey, belief = self.basis.survey, self.belief
        assert survey is not None
        if belief.lean is None or belief.lean_probability is None:
            ranked = rank_cold(
                survey, self.labels, self.open_rows, askable, reserve=reserve, rng=rng
            )
        else:
            ranked = rank_warm(
                survey, belief.lean, belief.lean_probability, askable,
                asked=self._asked, reserve=reserve, rng=rng,
            )  # fmt: skip
        return Suggestion(choice.gamma, None, ranked.rows, ranked.scores, ranked.rules, choice)

    def _by_gain(
        self, candidates: IndexArray, reserve: int, rng: np.random.Generator
    ) -> tuple[IndexArray, FloatArray]:
        committee = knowledge_committee(self.atlas, self.evidence)
        gains = knowledge_gains(self.atlas, self.basis, self.belief, committee)
        places, values = rank_by_gain(
            gains, self.basis, self.belief, candidates, reserve=reserve, rng=rng
        )
        # Fewer places than labels ahead say nothing about the gain of all these labels.
        enough = len(places) >= min(AHEAD, len(candidates))
        if self.metric == "kappa" and enough:
            self._prospect = Prospect(gains, places, self.evidence.expected[committee.cells])
        return places, values

    def _mix(
        self,
        turns: Sequence[Rule],
        candidates: IndexArray,
        reserve: int,
        rng: np.random.Generator,
    ) -> tuple[IndexArray, FloatArray]:
        by_gain, gains = self._by_gain(candidates, reserve, rng)
        drawn = rng.permutation(candidates)
        distance = border_distance(self.basis, self.labels)
        uncertain = drawn[np.argsort(np.round(distance[drawn], _SCORE_DECIMALS), kind="stable")]
        positions = take_turns(
            [uncertain if turn == "uncertain" else by_gain for turn in turns], reserve
        )
        gain_of = dict(zip(by_gain.tolist(), gains.tolist(), strict=True))
        scores = np.zeros(len(positions))
        for place, position in enumerate(positions.tolist()):
            rule = turns[place % len(turns)]
            scores[place] = -distance[position] if rule == "uncertain" else gain_of[position]
        return positions, scores

    @property
    def _asked(self) -> int:
        return sum(class_counts(self.labels)) + len(self.open_rows)

    def _cold_turns(self) -> tuple[ColdRule, ...]:
        """The rules of this place and the next, as if the row of this one were open."""
        asked = self._asked
        only_outliers = classes_seen(self.labels) == "no_inlier"
        both = [cold_rule(asked + place, only_outliers=only_outliers) for place in range(2)]
        return tuple(dict.fromkeys(both))


def _mean_neighbor_distance(
    prep: Preparation, X: FloatArray, rows: IndexArray, k: int
) -> FloatArray:
    if k == 1:
        return np.zeros(len(rows))
    i, j = np.repeat(rows, k - 1), prep.nn[rows, 1:k].ravel()
    distances = np.sqrt(pair_distances2(X, i, j)).reshape(len(rows), k - 1)
    return np.asarray(distances.mean(axis=1))


def _in_medians(distances: FloatArray) -> FloatArray:
    """Distances in units of their median, so that rounding does not depend on the data's unit."""
    typical = float(np.median(np.abs(distances))) if len(distances) else 0.0
    return distances / typical if typical > 0.0 else distances


def _ranked(
    prep: Preparation,
    k: int,
    rows: IndexArray,
    scores: Sequence[FloatArray],
    open_rows: IndexArray,
    reserve: int,
) -> IndexArray:
    """Positions in `rows`, best first, `scores` in turn; ties in the order of `rows`."""
    turns = [
        iter(np.argsort(-np.round(one, _SCORE_DECIMALS), kind="stable").tolist()) for one in scores
    ]
    crowded = set(prep.near(open_rows, k).tolist())
    seen: set[int] = set()
    front: list[int] = []
    behind: list[int] = []
    while len(front) < reserve and len(seen) < len(rows):
        for position in turns[len(front) % len(turns)]:
            if position in seen:
                continue
            seen.add(position)
            row = int(rows[position])
            if not front or row not in crowded:
                front.append(position)
                crowded.update(prep.near(np.array([row]), k).tolist())
                break
            behind.append(position)
    return np.array((front + behind)[:reserve], dtype=np.int64)
