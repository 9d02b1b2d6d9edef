"""The report of a dry run: tickets, verdicts, coverage, and why tickets have no verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from svddtune.client.json_values import jsonable
from svddtune.client.tickets.ledger import Ledger, Outcome
from svddtune.client.tickets.mapping import TicketMapping
from svddtune.client.tickets.ticket import VerdictStatus
from svddtune.client.types import Verdict

_Row = tuple[str, VerdictStatus, Verdict | None, float | None]


@dataclass(frozen=True, slots=True)
class ValueCount:
    """Tickets with one value: its meaning, their number, and how many of them match.

    `confidence` is the one that the mapping gives the verdict; None where it gives none.
    """

    value: str
    verdict_status: VerdictStatus
    verdict: Verdict | None
    confidence: float | None
    tickets: int
    matched: int


@dataclass(frozen=True, slots=True)
class Clash:
    """An observation on which tickets have different verdicts."""

    observation_id: str
    verdicts: tuple[tuple[str, Verdict], ...]


@dataclass(frozen=True, slots=True)
class Multiple:
    """A ticket that matches several observations."""

    ticket: str
    observation_ids: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A ticket's id or key that differs from an observation's in case, type or notation only."""

    ticket: str
    ticket_has: str
    observation_has: str
    place: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A ticket with an ambiguous time."""

    ticket: str
    why: str


@dataclass(frozen=True, slots=True)
class Some:
    """The first items of a list, and their total number."""

    count: int
    first: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts that tickets would give, before any is sent.

    Counts are exact; `unmatched`, `several`, `near_misses`, `clashes` and `doubts` hold the first
    few of each beside the count. `observations` is None where they are not known; `labelled` counts
    those with one verdict, inlier + outlier, and `covered` those that any ticket is about.
    """

    mapping: str
    mapping_version: str
    overrides: tuple[str, ...]
    records: int
    tickets: int
    values: tuple[ValueCount, ...]
    matched: int
    unmatched: Some
    unmatched_with_verdict: int
    several: Some
    near_misses: Some
    clashes: Some
    doubts: Some
    changed_verdicts: int
    absent_fields: tuple[str, ...]
    observations: int | None
    covered: int
    inliers: int
    outliers: int
    same_verdict_twice: int
    notes: tuple[str, ...] = ()

    @property
    def labelled(self) -> int:
        """Observations with one verdict."""
        return self.inliers + self.outliers

    @property
    def unmapped(self) -> dict[str, int]:
        """Tickets by value, for values that the mapping does not name."""
        return {
            row.value: row.tickets
            for row in self.values
            if row.verdict_status is VerdictStatus.UNMAPPED
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read before these labels are used, one sentence each."""
        return tuple(_warnings(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        document: dict[str, Any] = jsonable(self)
        document["labelled"] = self.labelled
        document["unmapped"] = self.unmapped
        document["warnings"] = list(self.warnings)
        return document


def make_report(
    ledger: Ledger,
    mapping: TicketMapping,
    *,
    observations: int | None,
    absent_fields: Sequence[str] = (),
    notes: Sequence[str] = (),
    examples: int = 20,
) -> Report:
    """Return the report on the current state of a ledger.

    Parameters
    ----------
    ledger : Ledger
        The tickets so far.
    mapping : TicketMapping
        How the tickets were read.
    observations : int, optional
        How many observations there are, where that is known.
    absent_fields : sequence of str
        Fields that the mapping needs and no record had.
    notes : sequence of str
        Remarks on how the records were read.
    examples : int
        How many of each fault are listed; 0 for all.
    """
    most = examples or None
    values: Counter[_Row] = Counter()
    matched_values: Counter[_Row] = Counter()
    unmatched: list[str] = []
    several: list[Multiple] = []
    near: list[NearMiss] = []
    doubts: list[Doubt] = []
    tickets = matched = unmatched_with_verdict = changed = 0
    for key, state in ledger.states():
        ticket = state.current
        tickets += 1
        changed += state.verdict_changed
        confidence = None if ticket.judgement is None else ticket.judgement.confidence
        row = (ticket.value, ticket.verdict_status, ticket.verdict, confidence)
        values[row] += 1
        if state.outcome is Outcome.MATCHED:
            matched += 1
            matched_values[row] += 1
        elif state.outcome is Outcome.SEVERAL:
            several.append(Multiple(key.text, state.matches, ticket.place))
        elif state.outcome is Outcome.TIME_UNKNOWN:
            doubts.append(Doubt(key.text, state.doubt))
        else:
            unmatched.append(key.text)
            unmatched_with_verdict += ticket.verdict is not None
        near += [
            NearMiss(key.text, str(mine), str(other), ticket.place)
            for mine, other in ledger.near_misses(ticket)
        ]
    clashes: list[Clash] = []
    covered = agreeing = 0
    labels: Counter[Verdict] = Counter()
    for name, decision in ledger.observations():
        covered += decision.claimed
        if decision.verdict is not None:
            labels[decision.verdict] += 1
            agreeing += len(decision.verdicts) > 1
        elif decision.clash:
            clashes.append(
                Clash(name, tuple((key.text, verdict) for key, verdict in decision.verdicts))
            )
    return Report(
        mapping=mapping.name,
        mapping_version=mapping.version,
        overrides=mapping.overrides,
        records=ledger.records,
        tickets=tickets,
        values=tuple(
            ValueCount(*row, count, matched_values[row]) for row, count in _ordered(values)
        ),
        matched=matched,
        unmatched=Some(len(unmatched), tuple(unmatched[:most])),
        unmatched_with_verdict=unmatched_with_verdict,
        several=Some(len(several), tuple(several[:most])),
        near_misses=Some(len(near), tuple(near[:most])),
        clashes=Some(len(clashes), tuple(clashes[:most])),
        doubts=Some(len(doubts), tuple(doubts[:most])),
        changed_verdicts=changed,
        absent_fields=tuple(absent_fields),
        observations=observations,
        covered=covered,
        inliers=labels[Verdict.INLIER],
        outliers=labels[Verdict.OUTLIER],
        same_verdict_twice=agreeing,
        notes=tuple(notes),
    )


_STATUSES = list(VerdictStatus)


def _ordered(
    values: Counter[_Row],
) -> list[tuple[_Row, int]]:
    return sorted(
        values.items(), key=lambda item: (_STATUSES.index(item[0][1]), -item[1], item[0][0])
    )


def _warnings(report: Report) -> Iterable[str]:
    if report.observations is not None:
        without = report.observations - report.labelled
        share = without / report.observations
        coverage = (
            f"; {without} of {report.observations} observations ({share:.1%}) have no verdict"
        )
    else:
        coverage = ""
    yield (
        "Tickets exist only for what an older rule raised as an alert, so their verdicts cover "
        f"what is already known{coverage}. No ticket does not mean inlier. Let people judge "
        "uniformly drawn observations too: create the session with --audit 30 (audit=30)."
    )
    if report.labelled and not (report.inliers and report.outliers):
        word = "inliers" if report.inliers else "outliers"
        yield f"All verdicts are {word}: people must label the other class."
    if report.unmapped:
        count = sum(report.unmapped.values())
        yield (
            f"Tickets with values that mapping {report.mapping} does not know: {count}; they "
            'abstain. Map them with --map "VALUE=inlier|outlier|abstain".'
        )
    if report.near_misses.count:
        yield (
            "Ids or keys that differ from an observation's only in case, type or notation: "
            f"{report.near_misses.count}; they are not joined. Write them the same way in both "
            "files, or read whole numbers as text with --numbers-as-text."
        )
    for field in report.absent_fields:
        yield f"No record has field {field!r}, which mapping {report.mapping} names."
    yield from report.notes
    if report.observations is None:
        yield (
            "The observations are not known, so coverage and near misses are not reported, and "
            "the session may refuse some ids. Give --observations FILE or --session."
        )
