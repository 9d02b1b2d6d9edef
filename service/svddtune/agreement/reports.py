"""What each labeler did in a session."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TypedDict

from svddtune.agreement.pairs import PairAgreement, pair_agreements
from svddtune.agreement.votes import VoteLog
from svddtune.state.session import LabelCounts, LabelEvent, Verdict


@dataclass(frozen=True, slots=True)
class LabelerReport:
    """Figures about one labeler. ``tuning.proto`` defines them.

    For a withdrawn labeler, ``compared`` and ``agreement`` compare its void votes with the others'
    votes in force, and ``votes`` counts none of its votes.
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
    # By the clock of Redis; 0 if the labeler never answered.
    last_answer_ms: int
    # Control items that were called inlier or outlier, and rightly so; of both those that are
    # outliers.
    controls: int = 0
    controls_right: int = 0
    outlier_controls: int = 0
    outlier_controls_right: int = 0

    @property
    def trust(self) -> float:
        """Probability that an answer is right, by the control items; NaN without answers to them.

        The posterior mean with the prior Beta(4, 1): as if four of five had been right before.
        """
        right, wrong = _PRIOR
        if not self.controls:
            return math.nan
        return (right + self.controls_right) / (right + wrong + self.controls)


# Answers to control items that count as right and as wrong before the first one.
_PRIOR = (4, 1)


@dataclass(slots=True)
class _Tally:
    asked: int = 0
    unasked: int = 0
    unused: int = 0
    retracted: int = 0
    repeats: int = 0
    same: int = 0
    last_answer_ms: int = 0
    # Control item -> what the labeler said last.
    checked: dict[int, Verdict] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


class LabelerAccount:
    """Collects what labelers did from a log that is read in parts; keeps votes, not events."""

    def __init__(self, controls: Mapping[int, Verdict] | None = None) -> None:
        """``controls`` are the session's control items: row and what it is."""
        self._controls = controls or {}
        self._log = VoteLog()
        self._tallies: dict[str, _Tally] = {}

    def add(self, events: Iterable[LabelEvent]) -> None:
        """Take the next events into account, oldest first.

        Votes taken over from another session count as votes, but are no answers in this one.
        """
        for event in events:
            tally = self._tallies.setdefault(event.labeler, _Tally())
            # Count first: a repeated answer is compared with the vote before it.
            _count(tally, event, self._log.votes.get(event.row, {}))
            self._log.add(event)

    def votes_in_force(self) -> dict[int, dict[str, Verdict]]:
        """Return the votes that count, like the function `votes_in_force`."""
        return self._log.in_force()

    def pairs_of_labelers(self) -> list[PairAgreement]:
        """Return how each two labelers agree, from the votes in force."""
        return pair_agreements(self._log.in_force())

    def pairs_of_provenances(self) -> list[PairAgreement]:
        """Return how each two rules behind votes agree; "" is for votes without one."""
        provenances = self._log.provenances
        return pair_agreements(
            self._log.in_force(), lambda row, labeler: provenances.get((row, labeler), "")
        )

    def reports(self) -> list[LabelerReport]:
        """Return a report on each labeler in the log, sorted by name."""
        return _reports(self._log, self._tallies, self._controls)


def labeler_reports(
    events: Iterable[LabelEvent], controls: Mapping[int, Verdict] | None = None
) -> list[LabelerReport]:
    """Return a report on each labeler in the log, sorted by name.

    Parameters
    ----------
    events : iterable of LabelEvent
        Oldest first.
    controls : mapping, optional
        The session's control items: row and what it is. Default none.

    Returns
    -------
    list of LabelerReport
    """
    account = LabelerAccount(controls)
    account.add(events)
    return account.reports()


def _reports(
    log: VoteLog, tallies: Mapping[str, _Tally], controls: Mapping[int, Verdict]
) -> list[LabelerReport]:
    in_force = log.in_force()
    cast: dict[str, list[Verdict]] = {}
    for of_row in in_force.values():
        for name, verdict in of_row.items():
            cast.setdefault(name, []).append(verdict)
    matches = _matches(log.votes, in_force)
    return [
        LabelerReport(
            labeler=name,
            votes=LabelCounts(
                inlier=cast.get(name, []).count(Verdict.INLIER),
                outlier=cast.get(name, []).count(Verdict.OUTLIER),
                unsure=cast.get(name, []).count(Verdict.UNSURE),
            ),
            asked=tally.asked,
            unasked=tally.unasked,
            unused=tally.unused,
            retracted=tally.retracted,
            median_answer_seconds=median(tally.seconds) if tally.seconds else math.nan,
            compared=len(matches.get(name, [])),
            agreement=_mean(matches.get(name, [])),
            repeats=tally.repeats,
            self_consistency=tally.same / tally.repeats if tally.repeats else math.nan,
            withdrawn=name in log.withdrawn,
            last_answer_ms=tally.last_answer_ms,
            **_checks(tally.checked, controls),
        )
        for name, tally in sorted(tallies.items())
    ]


class _Checks(TypedDict):
    """Fields of a report that follow from control items."""

    controls: int
    controls_right: int
    outlier_controls: int
    outlier_controls_right: int


def _checks(said: Mapping[int, Verdict], controls: Mapping[int, Verdict]) -> _Checks:
    pairs = [
        (verdict, controls[row])
        for row, verdict in said.items()
        if row in controls and verdict != Verdict.UNSURE
    ]
    outliers = [pair for pair in pairs if pair[1] is Verdict.OUTLIER]
    return _Checks(
        controls=len(pairs),
        controls_right=sum(verdict is truth for verdict, truth in pairs),
        outlier_controls=len(outliers),
        outlier_controls_right=sum(verdict is truth for verdict, truth in outliers),
    )


def _count(tally: _Tally, event: LabelEvent, votes: Mapping[str, Verdict]) -> None:
    if event.kind == "RETRACTED":
        tally.retracted += 1
    if event.kind == "CHECKED":
        tally.checked[event.row] = event.verdict
    if event.kind not in ("LABELED", "UNUSED", "REPEATED", "CHECKED") or event.origin:
        return
    tally.last_answer_ms = event.time_ms
    if event.answer_seconds > 0:
        tally.seconds.append(event.answer_seconds)
    if event.kind == "UNUSED":
        tally.unused += 1
    elif event.kind == "LABELED":
        tally.asked += event.query > 0
        tally.unasked += event.query == 0
    elif event.kind == "REPEATED" and event.labeler in votes:
        tally.repeats += 1
        tally.same += votes[event.labeler] == event.verdict


def _matches(
    votes: Mapping[int, Mapping[str, Verdict]], in_force: Mapping[int, Mapping[str, Verdict]]
) -> dict[str, list[float]]:
    """Return 1 per row with the others' majority, 0 against it, 0.5 where they tie, by labeler."""
    matches: dict[str, list[float]] = {}
    for row, of_row in votes.items():
        counted = in_force.get(row, {})
        balance = sum(counted.values())
        decided = sum(verdict != Verdict.UNSURE for verdict in counted.values())
        for name, verdict in of_row.items():
            own = counted.get(name, Verdict.UNSURE)
            decided_by_others = decided - (own != Verdict.UNSURE)
            if verdict == Verdict.UNSURE or decided_by_others == 0:
                continue
            others = balance - own
            matches.setdefault(name, []).append(0.5 if others == 0 else float(others * verdict > 0))
    return matches


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan
