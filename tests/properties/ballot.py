"""A model of votes and labels by the contract in ``protos/svddtune/v1/``, in plain values."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

Counts = tuple[int, int, int]
"""Numbers of observations labelled inlier, outlier and unsure."""


@dataclass(frozen=True)
class Rules:
    """The part of a session's config that a ballot obeys."""

    overlap: int = 1
    adaptive: bool = False
    limit: int = 1
    repeat_every: int = 0
    adjudicators: tuple[str, ...] = ()


class Vote(NamedTuple):
    """A labeler's verdict on a row, and the query about the row at that time (0: none).

    The vote of an adjudicator on a conflict decides.
    """

    verdict: int
    query: int
    decides: bool = False


class Judgement(NamedTuple):
    """The label that follows from votes (None: none), the votes sought and the votes given.

    In a conflict the next vote must be an adjudicator's.
    """

    label: int | None
    wanted: int
    given: int
    conflict: bool = False


class Lease(NamedTuple):
    """The right of a holder to answer a query."""

    holder: str
    labeler: str


@dataclass
class Query:
    """A query about a row, or a repeat or control item for one labeler (``repeats``)."""

    n: int
    row: int
    predicted: int = 0
    repeats: bool = False
    control: bool = False
    open: bool = True
    # Seeks the vote of an adjudicator.
    conflict: bool = False
    leases: dict[str, Lease] = field(default_factory=dict)
    # Labelers that skipped it to others.
    skipped_by: set[str] = field(default_factory=set)


class Effect(NamedTuple):
    """As ``WithdrawalEffect`` in ``tuning.proto``."""

    votes: int
    lost: int
    changed: int
    gained: int
    reopened: int
    before: Counts
    after: Counts


class Ballot:
    """The votes and queries of one session."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        # Row -> labeler -> vote, in the order first given.
        self.votes: dict[int, dict[str, Vote]] = {}
        # Labelers whose votes do not count.
        self.void: frozenset[str] = frozenset()
        # Rows that nobody is to be asked about.
        self.dropped: set[int] = set()
        self.queries: dict[int, Query] = {}

    def open_queries(self) -> list[Query]:
        """All queries that seek votes."""
        return [one for one in self.queries.values() if one.open and not one.repeats]

    def query_on(self, row: int, answered: int = 0) -> Query | None:
        """The query that may seek votes on a row: the open one, else the latest with a vote.

        None if there was none, or if the row was dropped.
        """
        return None if row in self.dropped else self.queries.get(self.number_on(row, answered))

    def number_on(self, row: int, answered: int = 0) -> int:
        """The query number that a vote on a row stores, even if the row was dropped; 0 for none."""
        found = [one.n for one in self.open_queries() if one.row == row]
        assert len(found) <= 1, found
        latest = max((vote.query for vote in self.votes.get(row, {}).values()), default=0)
        return found[0] if found else max(latest, answered)

    def judge(
        self, row: int, query: Query | None, void: Collection[str] | None = None
    ) -> Judgement:
        """The label that follows from the votes on a row."""
        void = self.void if void is None else void
        cast = [vote.verdict for name, vote in self.votes.get(row, {}).items() if name not in void]
        decided = [
            vote.verdict
            for name, vote in self.votes.get(row, {}).items()
            if vote.decides and name not in void
        ]
        if decided:
            return Judgement(decided[-1], len(cast), len(cast))
        wanted = 1 if query is None else self.rules.overlap
        if self.rules.adaptive and query is not None:
            # The first vote stands if it equals the prediction, or if there was none.
            surprising = cast and (cast[0] == 0 or query.predicted not in (0, cast[0]))
            wanted = self.rules.overlap if surprising else 1
        tally = Counter(cast)
        if tally[1] != tally[-1]:
            return Judgement(1 if tally[1] > tally[-1] else -1, wanted, len(cast))
        if query is not None and wanted <= len(cast) < self.rules.limit:
            # A tie, or only unsure votes: seek one more.
            wanted = len(cast) + 1
        elif query is not None and cast and len(cast) >= wanted and self.rules.adjudicators:
            return Judgement(None, len(cast) + 1, len(cast), conflict=True)
        return Judgement(0 if cast and len(cast) >= wanted else None, wanted, len(cast))

    def labels(self) -> dict[int, int]:
        """Labels in force by row, UNSURE (0) included."""
        found = {row: self.judge(row, self.query_on(row)).label for row in self.votes}
        return {row: label for row, label in found.items() if label is not None}

    def counts(self) -> Counts:
        """Numbers of labels by kind."""
        return counted(Counter(self.labels().values()))

    def total(self) -> int:
        """The number of labels that the budget limits."""
        inlier, outlier, _ = self.counts()
        return inlier + outlier

    def awaiting(self) -> set[int]:
        """Labelled rows that still await a vote."""
        labels = self.labels()
        return {one.row for one in self.open_queries() if labels.get(one.row)}

    def unmet(self, query: Query) -> int:
        """Votes that a query seeks beyond those given and those of its leases."""
        _, wanted, given, _ = self.judge(query.row, query)
        return wanted - given - len(query.leases)

    def leases(self) -> dict[str, tuple[Query, Lease]]:
        """All leases by id."""
        return dict(self._leases())

    def _leases(self) -> Iterator[tuple[str, tuple[Query, Lease]]]:
        for query in self.queries.values():
            for lease_id, lease in query.leases.items():
                yield lease_id, (query, lease)

    def held(self, holder: str) -> list[str]:
        """The leases of a holder."""
        return [one for one, (_, lease) in self._leases() if lease.holder == holder]

    def rows_of(self, labeler: str) -> list[int]:
        """Rows that a labeler voted on."""
        return [row for row, votes in self.votes.items() if labeler in votes]

    def voiding(self, labeler: str, void: bool) -> Effect:
        """The effect of making a labeler's votes void, or of letting them count again."""
        before = self.counts()
        if (labeler in self.void) == void:
            return Effect(0, 0, 0, 0, 0, before, before)
        then, rows = self.void ^ {labeler}, self.rows_of(labeler)
        moves: Counter[str] = Counter()
        after = Counter(self.labels().values())
        for row in rows:
            query = self.query_on(row)
            old, new = self.judge(row, query), self.judge(row, query, then)
            moves["reopened"] += bool(query and not query.open and new.given < new.wanted)
            if old.label != new.label:
                kind = "lost" if new.label is None else "gained" if old.label is None else "changed"
                moves[kind] += 1
                after.subtract([] if old.label is None else [old.label])
                after.update([] if new.label is None else [new.label])
        return Effect(
            len(rows),
            moves["lost"],
            moves["changed"],
            moves["gained"],
            moves["reopened"],
            before,
            counted(after),
        )


def counted(tally: Counter[int]) -> Counts:
    """Counts in the order of `Counts`."""
    return tally[1], tally[-1], tally[0]
