"""Reports on labelers, their agreement, and the effect of a withdrawal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from svddtune.client.shown import Shown
from svddtune.client.types import LabelCounts, LiveEvidence, Session


@dataclass(frozen=True, slots=True, repr=False)
class LabelerReport(Shown):
    """The work of one labeler in a session. A figure is NaN where it is not defined.

    Attributes
    ----------
    votes : LabelCounts
        Votes in force by verdict.
    asked, unasked, unused, retracted : int
        Answers to queries, given unasked, too late to count, and withdrawn later.
    median_answer_seconds : float
        Seconds from lease to answer.
    agreement : float
        On the `compared` observations on which others voted too: the share on which the labeler
        agrees with the majority of these others, ties as half.
    self_consistency : float
        Share of the `repeats` observations shown again that got the same answer.
    controls, controls_right, outlier_controls, outlier_controls_right : int
        Control items that it called inlier or outlier, and rightly so; of both those that are
        outliers.
    trust : float
        Probability that its answers are right, from the control items.
    """

    labeler: str
    votes: LabelCounts
    asked: int
    unasked: int
    unused: int
    retracted: int
    median_answer_seconds: float
    compared: int
    agreement: float
    repeats: int
    self_consistency: float
    withdrawn: bool
    last_answer_time: datetime | None
    controls: int = 0
    controls_right: int = 0
    outlier_controls: int = 0
    outlier_controls_right: int = 0
    trust: float = math.nan


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Shown):
    """How well labelers agree on the `observations` with two votes or more, UNSURE aside.

    `observed` is the share of pairs of votes that are equal; Cohen's kappa needs exactly two
    labelers; Fleiss' kappa is on the `fleiss_observations` with the most frequent number of votes;
    Krippendorff's alpha is nominal. NaN where one is not defined.
    """

    observations: int
    observed: float
    cohen_kappa: float
    fleiss_kappa: float
    fleiss_observations: int
    krippendorff_alpha: float


@dataclass(frozen=True, slots=True, repr=False)
class AgreementPair(Shown):
    """How the votes of two labelers, or of two sources, agree, UNSURE aside.

    Attributes
    ----------
    first, second : str
        Names of the labelers; or provenances, of which "" stands for labelers' own judgements.
    both_inlier, both_outlier : int
        Pairs of votes on the same observation that are the same.
    inlier_outlier, outlier_inlier : int
        Pairs that differ: the vote of the first, then that of the second.
    cohen_kappa : float
        NaN where it is not defined.
    """

    first: str
    second: str
    both_inlier: int
    both_outlier: int
    inlier_outlier: int
    outlier_inlier: int
    cohen_kappa: float

    @property
    def compared(self) -> int:
        """Number of pairs of votes."""
        return self.both_inlier + self.both_outlier + self.inlier_outlier + self.outlier_inlier

    @property
    def observed(self) -> float:
        """Share of the pairs that are the same."""
        return (self.both_inlier + self.both_outlier) / self.compared


@dataclass(frozen=True, slots=True, repr=False)
class WithdrawalEffect(Shown):
    """The effect of withdrawing or reinstating a labeler.

    `votes` become void, or count again; `labels_lost`, `_changed` and `_gained` are observations.
    `live_before` and `live_after` are the best cell, in a preview and where it can be judged.
    """

    votes: int
    labels_lost: int
    labels_changed: int
    labels_gained: int
    queries_reopened: int
    counts_before: LabelCounts
    counts_after: LabelCounts
    live_before: LiveEvidence | None
    live_after: LiveEvidence | None


@dataclass(frozen=True, slots=True)
class Reopening:
    """An observation that is asked about again.

    Attributes
    ----------
    session : Session
        The session afterwards.
    query : int
        Number of the query that asks.
    retracted_votes : int
        Number of votes that count no more.
    """

    session: Session
    query: int
    retracted_votes: int
