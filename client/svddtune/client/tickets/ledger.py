"""The verdicts of tickets on observations, updated record by record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from svddtune.client.tickets.identity import Identity
from svddtune.client.tickets.join import Join, Several
from svddtune.client.tickets.ticket import Ticket
from svddtune.client.types import Judgement, Verdict


class Outcome(StrEnum):
    """The outcome of a ticket."""

    MATCHED = "matched"
    """It is about one observation, or about all it matches."""
    UNMATCHED = "unmatched"
    """It matches none."""
    SEVERAL = "several"
    """It matches several, and so says nothing."""
    TIME_UNKNOWN = "time_unknown"
    """Its time, or the order of its records, cannot be told; it says nothing."""


@dataclass(slots=True)
class TicketState:
    """The state of a ticket after its records so far.

    The record with the newest update time counts. If the mapping names no update time, the last
    record in the file counts. If it names one and a record lacks it, or a time is ambiguous, and
    records differ, it cannot be decided which one is in force.
    """

    current: Ticket
    records: int = 1
    outcome: Outcome = Outcome.UNMATCHED
    matches: tuple[str, ...] = ()
    verdict_changed: bool = False
    order_doubt: str = ""
    order_missing: str = ""
    differs: bool = False
    _latest: Ticket | None = None
    _all_timed: bool = True

    @classmethod
    def of(cls, ticket: Ticket) -> TicketState:
        """Return the state after the first record."""
        state = cls(ticket)
        state._note(ticket)
        return state

    def add(self, ticket: Ticket) -> None:
        """Add a further record."""
        self.records += 1
        self.verdict_changed |= (ticket.verdict_status, ticket.judgement) != (
            self.current.verdict_status,
            self.current.judgement,
        )
        self.differs |= _said(ticket) != _said(self.current)
        self._note(ticket)
        self.current = self._latest if self._all_timed and self._latest else ticket

    @property
    def doubt(self) -> str:
        """Why the ticket's observation or verdict is ambiguous; "" where it is not."""
        order = self.order_doubt if self.records > 1 else ""
        return self.current.time_doubt or order or (self.order_missing if self.differs else "")

    def _note(self, ticket: Ticket) -> None:
        self.order_doubt = self.order_doubt or ticket.order_doubt
        self.order_missing = self.order_missing or ticket.order_missing
        if ticket.updated is None:
            self._all_timed = False
        elif self._latest is None or self._later(ticket):
            self._latest = ticket

    def _later(self, ticket: Ticket) -> bool:
        assert self._latest is not None
        assert self._latest.updated is not None
        assert ticket.updated is not None
        return ticket.updated >= self._latest.updated


def _said(ticket: Ticket) -> tuple[object, ...]:
    """Return the content of a record without its update time."""
    return (
        ticket.verdict_status,
        ticket.judgement,
        ticket.observation_ids,
        ticket.join_key,
        ticket.observed,
    )


def _sureness(judgement: Judgement) -> float:
    return math.inf if judgement.confidence is None else judgement.confidence


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict of the tickets on one observation.

    `judgement` is None where they give none or contradict each other; `ticket` is its source: of
    several that agree the surest one, and of equally sure ones the first by key. A verdict without
    a confidence is surer than one with it. `verdicts` holds every ticket with a verdict on the
    observation.
    """

    judgement: Judgement | None = None
    ticket: Identity | None = None
    verdicts: tuple[tuple[Identity, Verdict], ...] = ()
    claimed: bool = False

    @property
    def verdict(self) -> Verdict | None:
        """The verdict without its confidence."""
        return None if self.judgement is None else self.judgement.verdict

    @property
    def clash(self) -> bool:
        """Whether tickets have different verdicts on the observation."""
        return self.judgement is None and bool(self.verdicts)


class Ledger:
    """Merges the records of tickets, joins them and decides. Records are added in file order.

    Parameters
    ----------
    join : Join
    several : Several
        The meaning of a ticket that matches several observations.
    """

    def __init__(self, join: Join, several: Several = Several.ABSTAIN) -> None:
        self._join = join
        self._several = several
        self.records = 0
        self._states: dict[Identity, TicketState] = {}
        self._claims: dict[str, set[Identity]] = {}
        self._changed: dict[str, None] = {}

    def add(self, ticket: Ticket) -> None:
        """Add one record of a ticket."""
        self.records += 1
        state = self._states.get(ticket.key)
        if state is None:
            state = self._states[ticket.key] = TicketState.of(ticket)
        else:
            state.add(ticket)
            self._withdraw(ticket.key, state)
        self._place(ticket.key, state)

    def extend(self, tickets: Iterable[Ticket]) -> None:
        """Add many records."""
        for ticket in tickets:
            self.add(ticket)

    def states(self) -> Iterator[tuple[Identity, TicketState]]:
        """Yield all tickets, in the order of their first records."""
        yield from self._states.items()

    def observations(self) -> Iterator[tuple[str, Decision]]:
        """Yield the observations of tickets, each with its decision."""
        for name in self._claims:
            yield name, self.decision(name)

    def decision(self, name: str) -> Decision:
        """Return the decision of the tickets on an observation."""
        claims = self._claims.get(name)
        if not claims:
            return Decision()
        judged = [
            (key, judgement)
            for key in sorted(claims)
            if (judgement := self._states[key].current.judgement) is not None
        ]
        verdicts = tuple((key, judgement.verdict) for key, judgement in judged)
        if len({verdict for _, verdict in verdicts}) != 1:
            return Decision(verdicts=verdicts, claimed=True)
        ticket, judgement = max(judged, key=lambda item: _sureness(item[1]))
        return Decision(judgement, ticket, verdicts, claimed=True)

    def near_misses(self, ticket: Ticket) -> list[tuple[Identity, Identity]]:
        """Return pairs of values that differ in case, type or notation only."""
        return self._join.near_misses(ticket)

    def take_changed(self) -> list[str]:
        """Return the observations of the records added since the last call."""
        changed, self._changed = list(self._changed), {}
        return changed

    def _place(self, key: Identity, state: TicketState) -> None:
        ticket = state.current
        names = [] if state.doubt else self._join.match(ticket)
        state.matches = tuple(names)
        if len(names) > 1 and self._several is Several.NEAREST:
            names = self._join.nearest(ticket, names)
        elif len(names) > 1 and self._several is Several.ABSTAIN:
            names = []
        if state.doubt:
            state.outcome = Outcome.TIME_UNKNOWN
        elif names:
            state.outcome = Outcome.MATCHED
            state.matches = tuple(names)
        else:
            state.outcome = Outcome.SEVERAL if state.matches else Outcome.UNMATCHED
        for name in names:
            self._claims.setdefault(name, set()).add(key)
            self._changed[name] = None

    def _withdraw(self, key: Identity, state: TicketState) -> None:
        if state.outcome is Outcome.MATCHED:
            for name in state.matches:
                self._claims[name].discard(key)
                self._changed[name] = None
