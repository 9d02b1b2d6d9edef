"""What all streams of a session sent and received: answers, and the certain lease periods.

Times are seconds of the machine's clock, which is Redis's too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from svddtune.v1 import oracle_pb2

# A lease lasts at most this many times SessionConfig.lease_seconds.
LONGEST = 4
ALL = -1
Item = (
    oracle_pb2.Answer
    | oracle_pb2.Skip
    | oracle_pb2.Extend
    | oracle_pb2.Release
    | oracle_pb2.Retract
)
Reply = oracle_pb2.Ack | oracle_pb2.Reject


@dataclass
class SentItem:
    """One item that was sent, and its reply: None if the stream broke off before."""

    item: Item
    session: str
    labeler: str
    sent_at: float
    reply: Reply | None = None


@dataclass
class LeasePeriod:
    """A holder surely had a query from an Assign until ``end``, unless the lease ended before."""

    lease_id: str
    query: int
    row: int
    labeler: str
    holder: str
    begin: float
    end: float
    # The earliest time at which the lease can have been given.
    given: float


@dataclass
class PossibleEnd:
    """A request that may end leases, at some time between ``begin`` and ``end``."""

    # A row, or ALL.
    row: int
    # The labeler or holder whose leases may end; empty for any.
    whose: str
    begin: float
    end: float = inf


@dataclass
class Transcript:
    """Everything that the streams of one session sent and received."""

    lease_seconds: float
    periods: list[LeasePeriod] = field(default_factory=list)
    possible_ends: list[PossibleEnd] = field(default_factory=list)
    # Lease id -> query, holder.
    leases: dict[str, tuple[int, str]] = field(default_factory=dict)
    # By answer id.
    answers: dict[str, list[SentItem]] = field(default_factory=lambda: defaultdict(list))

    def assigned(
        self, assign: oracle_pb2.Assign, labeler: str, holder: str, now: float
    ) -> LeasePeriod:
        """Record an Assign: a new lease, or one that came back with a resumed stream."""
        known = self.leases.setdefault(assign.lease_id, (assign.query, holder))
        assert known == (assign.query, holder), "a lease of two holders"
        expires = assign.lease_expire_time.ToMilliseconds() / 1000
        period = LeasePeriod(
            assign.lease_id,
            assign.query,
            assign.row,
            labeler,
            holder,
            begin=now,
            end=expires,
            given=expires - LONGEST * self.lease_seconds,
        )
        self.periods.append(period)
        return period

    def possible_end(self, row: int, whose: str, now: float) -> PossibleEnd:
        """Record that a request is sent that may end leases."""
        self.possible_ends.append(PossibleEnd(row, whose, now))
        return self.possible_ends[-1]

    def check_exclusive(self, at_once: int) -> int:
        """Check that no query was leased to more labelers than allowed, or twice to one labeler.

        Returns the number of leases compared.
        """
        by_query: dict[int, list[tuple[float, float, LeasePeriod]]] = defaultdict(list)
        for period, end in self._sure():
            by_query[period.query].append((period.begin, end, period))
        for spans in by_query.values():
            for begin, _, period in spans:
                others = {
                    other.lease_id: other
                    for other_begin, other_end, other in spans
                    if other_begin <= begin < other_end and other.lease_id != period.lease_id
                }
                names = {other.labeler for other in others.values()}
                assert len(others) < at_once, self._clash(period, others)
                assert period.labeler not in names, self._clash(period, others)
        return sum(map(len, by_query.values()))

    def check_returns(
        self, broken: Mapping[str, LeasePeriod], back: Collection[str], by: float
    ) -> int:
        """Check that the leases of a broken stream were back on the next one by a given time.

        Leases that had expired, or that a request may have ended, are left out. Returns the number
        of leases checked.
        """
        kept = [
            one.lease_id
            for one in broken.values()
            if one.end > by
            and not any(
                ending.row in (ALL, one.row) and ending.end >= one.given and ending.begin <= by
                for ending in self.possible_ends
                if ending.row != ALL or ending.whose == one.holder
            )
        ]
        assert not set(kept) - set(back), f"{set(kept) - set(back)} did not come back"
        return len(kept)

    def _clash(self, period: LeasePeriod, others: Mapping[str, LeasePeriod]) -> str:
        possible_ends = [str(ending) for ending in self.possible_ends if _concerns(ending, period)]
        return "\n".join(
            [str(period), "while", *map(str, others.values()), "possible ends", *possible_ends]
        )

    def _sure(self) -> Iterator[tuple[LeasePeriod, float]]:
        """Lease periods, each with the time until which nothing can have ended it."""
        possible_ends: dict[int, list[PossibleEnd]] = defaultdict(list)
        for ending in self.possible_ends:
            possible_ends[ending.row].append(ending)
        for period in self.periods:
            ends = [
                ending.begin
                for ending in possible_ends[period.row] + possible_ends[ALL]
                if _concerns(ending, period) and ending.end >= period.given
            ]
            end = min([period.end, *ends])
            if end > period.begin:
                yield period, end


def _concerns(ending: PossibleEnd, period: LeasePeriod) -> bool:
    return ending.row in (ALL, period.row) and ending.whose in ("", period.labeler, period.holder)
