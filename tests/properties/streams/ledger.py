"""What was said on all streams and what came back: answers, and who surely had which query when.

Moments are seconds of the machine's clock, which is Redis's too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from svddtune.v1 import oracle_pb2

# A lease is at most four times as long as the config says.
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
class Said:
    """One item as it was sent once, and what it was answered; None where the stream broke off."""

    item: Item
    session: str
    labeler: str
    sent: float
    reply: Reply | None = None


@dataclass
class Tenure:
    """From an Assign on a holder surely had a query, at the longest until ``end``."""

    lease_id: str
    query: int
    row: int
    labeler: str
    holder: str
    begin: float
    end: float
    # The lease was not given before.
    given: float


@dataclass
class Touch:
    """Something that may end leases between two moments."""

    # A row, or ALL.
    row: int
    # Whose leases: a labeler's, a holder's, or (``""``) anybody's.
    whose: str
    sent: float
    done: float = inf


@dataclass
class Account:
    """All of one session."""

    lease_s: float
    tenures: list[Tenure] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)
    # Lease id -> query, holder.
    leases: dict[str, tuple[int, str]] = field(default_factory=dict)
    # By answer id.
    said: dict[str, list[Said]] = field(default_factory=lambda: defaultdict(list))

    def assigned(self, assign: oracle_pb2.Assign, labeler: str, holder: str, now: float) -> Tenure:
        """A lease was given, or came back with a stream."""
        known = self.leases.setdefault(assign.lease_id, (assign.query, holder))
        assert known == (assign.query, holder), "a lease of two holders"
        expires = assign.lease_expire_time.ToMilliseconds() / 1000
        tenure = Tenure(
            assign.lease_id,
            assign.query,
            assign.row,
            labeler,
            holder,
            begin=now,
            end=expires,
            given=expires - LONGEST * self.lease_s,
        )
        self.tenures.append(tenure)
        return tenure

    def touching(self, row: int, whose: str, now: float) -> Touch:
        """Something begins that may end leases."""
        self.touches.append(Touch(row, whose, now))
        return self.touches[-1]

    def check_exclusive(self, at_once: int) -> int:
        """A query was never with more than so many labelers, nor twice with one.

        Returns how many leases were compared.
        """
        by_query: dict[int, list[tuple[float, float, Tenure]]] = defaultdict(list)
        for tenure, end in self._sure():
            by_query[tenure.query].append((tenure.begin, end, tenure))
        for spans in by_query.values():
            for begin, _, tenure in spans:
                others = {
                    other.lease_id: other
                    for other_begin, other_end, other in spans
                    if other_begin <= begin < other_end and other.lease_id != tenure.lease_id
                }
                names = {other.labeler for other in others.values()}
                assert len(others) < at_once, self._clash(tenure, others)
                assert tenure.labeler not in names, self._clash(tenure, others)
        return sum(map(len, by_query.values()))

    def check_returns(self, broken: Mapping[str, Tenure], back: Collection[str], by: float) -> int:
        """What a stream had when it broke off is back on the next one by a moment.

        Leases that have run out, or that somebody may have ended, are left out. Returns how many
        are not.
        """
        kept = [
            one.lease_id
            for one in broken.values()
            if one.end > by
            and not any(
                touch.row in (ALL, one.row) and touch.done >= one.given and touch.sent <= by
                for touch in self.touches
                if touch.row != ALL or touch.whose == one.holder
            )
        ]
        assert not set(kept) - set(back), f"{set(kept) - set(back)} did not come back"
        return len(kept)

    def _clash(self, tenure: Tenure, others: Mapping[str, Tenure]) -> str:
        touches = [str(touch) for touch in self.touches if _concerns(touch, tenure)]
        return "\n".join([str(tenure), "while", *map(str, others.values()), "touched", *touches])

    def _sure(self) -> Iterator[tuple[Tenure, float]]:
        """Tenures, each with the moment until which nothing can have ended it."""
        touches: dict[int, list[Touch]] = defaultdict(list)
        for touch in self.touches:
            touches[touch.row].append(touch)
        for tenure in self.tenures:
            ends = [
                touch.sent
                for touch in touches[tenure.row] + touches[ALL]
                if _concerns(touch, tenure) and touch.done >= tenure.given
            ]
            end = min([tenure.end, *ends])
            if end > tenure.begin:
                yield tenure, end


def _concerns(touch: Touch, tenure: Tenure) -> bool:
    return touch.row in (ALL, tenure.row) and touch.whose in ("", tenure.labeler, tenure.holder)
