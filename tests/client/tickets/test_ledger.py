from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from svddtune.client.tickets.identity import identity
from svddtune.client.tickets.join import IdJoin, Several
from svddtune.client.tickets.ledger import Ledger, Outcome
from svddtune.client.tickets.observations import KeyedObservation
from svddtune.client.tickets.ticket import Ticket, VerdictStatus
from svddtune.client.types import Judgement, Verdict

START = datetime(2024, 5, 1, tzinfo=UTC)
ROWS = ("r1", "r2", "r3")


@dataclass(frozen=True)
class Told:
    """One record, as a strategy draws it."""

    key: str
    verdict: Verdict | None
    rows: tuple[str, ...]
    changed: int | None
    doubt: bool = False
    confidence: float | None = None

    def ticket(self) -> Ticket:
        updated = None if self.changed is None else START + timedelta(minutes=self.changed)
        return Ticket(
            key=identity(self.key),
            verdict_status=VerdictStatus.VERDICT if self.verdict else VerdictStatus.OPEN,
            judgement=Judgement(self.verdict, self.confidence) if self.verdict else None,
            value="",
            place="",
            observation_ids=tuple(map(identity, self.rows)),
            updated=None if self.doubt else updated,
            order_doubt="ambiguous" if self.doubt else "",
        )


told = st.builds(
    Told,
    key=st.sampled_from(["T1", "T2", "T3"]),
    verdict=st.sampled_from([Verdict.INLIER, Verdict.OUTLIER, None]),
    rows=st.lists(st.sampled_from([*ROWS, "elsewhere"]), max_size=2, unique=True).map(tuple),
    changed=st.none() | st.integers(0, 3),
    doubt=st.sampled_from([False] * 5 + [True]),
)
histories = st.lists(told, max_size=10)


def by_definition(records: list[Told], several: Several) -> dict[str, Verdict | None]:
    """What the tickets say, told anew from all records at once."""
    tickets: dict[str, list[Told]] = defaultdict(list)
    for record in records:
        tickets[record.key].append(record)
    said: dict[str, set[Verdict]] = defaultdict(set)
    for history in tickets.values():
        last = history[-1]
        if len(history) > 1 and any(record.doubt for record in history):
            continue
        if all(record.changed is not None for record in history):
            last = max(enumerate(history), key=lambda item: (item[1].changed or 0, item[0]))[1]
        rows = [row for row in last.rows if row in ROWS]
        if len(rows) > 1 and several is not Several.ALL:
            continue
        for row in rows:
            if last.verdict is not None:
                said[row].add(last.verdict)
    return {
        row: next(iter(verdicts)) if len(verdicts) == 1 else None
        for row, verdicts in said.items()
        if verdicts
    }


def ledger(several: Several = Several.ABSTAIN) -> Ledger:
    return Ledger(IdJoin([KeyedObservation(identity(row)) for row in ROWS]), several)


def decided(ledger: Ledger) -> dict[str, Verdict | None]:
    return {
        name: decision.verdict
        for name, decision in ledger.observations()
        if decision.verdict is not None or decision.clash
    }


@given(records=histories, several=st.sampled_from(list(Several)))
def test_last_verdict_counts_and_contradictions_abstain_in_any_reading_order(
    records: list[Told], several: Several
) -> None:
    book = ledger(several)
    for count, record in enumerate(records, start=1):
        before = decided(book)
        book.add(record.ticket())
        after = decided(book)
        assert after == by_definition(records[:count], several)
        changed = {row for row in ROWS if before.get(row, 0) != after.get(row, 0)}
        assert changed <= set(book.take_changed())


@given(records=st.lists(told.filter(lambda t: t.changed is not None and not t.doubt), max_size=8))
def test_order_in_the_file_does_not_matter_with_distinct_update_times(
    records: list[Told],
) -> None:
    unique = list({(record.key, record.changed): record for record in records}.values())
    one, two = ledger(), ledger()
    one.extend(record.ticket() for record in unique)
    two.extend(record.ticket() for record in reversed(unique))
    assert decided(one) == decided(two)


def test_reopened_ticket_gives_no_verdict() -> None:
    book = ledger()
    book.add(Told("T1", Verdict.OUTLIER, ("r1",), 1).ticket())
    assert book.decision("r1").verdict is Verdict.OUTLIER
    book.add(Told("T1", None, ("r1",), 2).ticket())
    assert book.decision("r1").verdict is None
    assert book.decision("r1").claimed
    book.add(Told("T1", Verdict.INLIER, ("r2",), 3).ticket())  # and is about another row now
    assert not book.decision("r1").claimed
    assert book.decision("r2").verdict is Verdict.INLIER
    assert book.take_changed() == ["r1", "r2"]
    assert book.take_changed() == []


def test_source_is_the_first_ticket_by_key_in_any_order_of_records() -> None:
    book = ledger()
    book.add(Told("T2", Verdict.OUTLIER, ("r1",), 1).ticket())
    book.add(Told("T1", Verdict.OUTLIER, ("r1",), 1).ticket())
    decision = book.decision("r1")
    assert decision.ticket == identity("T1")
    assert len(decision.verdicts) == 2
    assert not decision.clash


def test_surest_of_tickets_that_agree_is_the_source() -> None:
    book = ledger()
    for key, confidence in (("T1", 0.7), ("T2", 0.9), ("T3", 0.9)):
        book.add(Told(key, Verdict.OUTLIER, ("r1",), 1, confidence=confidence).ticket())
    decision = book.decision("r1")
    assert decision.judgement == Judgement(Verdict.OUTLIER, 0.9)
    assert decision.ticket == identity("T2")
    book.add(Told("T4", Verdict.OUTLIER, ("r1",), 1).ticket())  # a verdict without reservation
    assert book.decision("r1").judgement == Judgement(Verdict.OUTLIER)
    assert book.decision("r1").ticket == identity("T4")


def test_each_ticket_has_its_outcome() -> None:
    book = ledger()
    book.add(Told("T1", Verdict.OUTLIER, ("r1", "r2"), 1).ticket())
    book.add(Told("T2", Verdict.OUTLIER, ("elsewhere",), 1).ticket())
    book.add(Told("T3", Verdict.OUTLIER, ("r1",), 1).ticket())
    book.add(Told("T4", Verdict.OUTLIER, ("r1",), 1, doubt=True).ticket())
    book.add(Told("T4", Verdict.OUTLIER, ("r1",), 2).ticket())
    assert [state.outcome for _, state in book.states()] == [
        Outcome.SEVERAL,
        Outcome.UNMATCHED,
        Outcome.MATCHED,
        Outcome.TIME_UNKNOWN,
    ]
