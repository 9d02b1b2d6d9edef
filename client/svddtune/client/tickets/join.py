"""Joins tickets to observations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from svddtune.client.tickets.identity import Identity
from svddtune.client.tickets.observations import KeyedObservation
from svddtune.client.tickets.ticket import Ticket


class Several(StrEnum):
    """The meaning of a ticket that matches several observations."""

    ABSTAIN = "abstain"
    """Nothing: which of them it is about cannot be told."""
    NEAREST = "nearest"
    """Its verdict is about the one nearest in time; nothing where two are equally near."""
    ALL = "all"
    """Its verdict is about all of them."""


class Join(Protocol):
    """Finds the observations of tickets; values and types must be equal."""

    def match(self, ticket: Ticket) -> list[str]:
        """Return the names of the observations the ticket matches."""
        ...

    def nearest(self, ticket: Ticket, names: Sequence[str]) -> list[str]:
        """Return the nearest match; none where there is no unique one."""
        ...

    def near_misses(self, ticket: Ticket) -> list[tuple[Identity, Identity]]:
        """Return pairs (the ticket's value, the observation's) that differ in case or type only."""
        ...


class IdJoin:
    """By the observation's id.

    Parameters
    ----------
    observations : iterable, optional
        Without them every id matches, since the existing observations are not known.
    """

    def __init__(self, observations: Iterable[KeyedObservation] | None) -> None:
        self._ids: set[Identity] | None = None
        self._alike: dict[str, list[Identity]] = {}
        if observations is not None:
            self._ids = {observation.id for observation in observations}
            self._alike = _by_likeness(self._ids)

    def match(self, ticket: Ticket) -> list[str]:
        """Return the ticket's ids that exist."""
        if self._ids is None:
            return [item.text for item in ticket.observation_ids if item.kind == "text"]
        return [item.text for item in ticket.observation_ids if item in self._ids]

    def nearest(self, ticket: Ticket, names: Sequence[str]) -> list[str]:
        """Return none: ids have no distance."""
        return []

    def near_misses(self, ticket: Ticket) -> list[tuple[Identity, Identity]]:
        """Return pairs of ids that differ in case, type or notation only."""
        if self._ids is None:  # the ids of a session are text
            texts = [(item, Identity(("text", item.text))) for item in ticket.observation_ids]
            return [(item, text) for item, text in texts if item != text]
        return [
            (item, other)
            for item in ticket.observation_ids
            if item not in self._ids
            for other in self._alike.get(item.alike, ())
        ]


class WindowJoin:
    """By a key and a time: the observation's time is in [ticket - before, ticket + after].

    The window includes both ends.
    """

    def __init__(
        self, observations: Iterable[KeyedObservation], *, before: timedelta, after: timedelta
    ) -> None:
        self._before = before
        self._after = after
        timed: dict[Identity, list[tuple[datetime, str]]] = defaultdict(list)
        for observation in observations:
            if observation.key is not None and observation.time is not None:
                timed[observation.key].append((observation.time, observation.name))
        self._rows = {key: sorted(rows) for key, rows in timed.items()}
        self._times = {key: [time for time, _ in rows] for key, rows in self._rows.items()}
        self._time_of = {name: time for rows in self._rows.values() for time, name in rows}
        self._alike = _by_likeness(self._rows)

    def match(self, ticket: Ticket) -> list[str]:
        """Return the observations with the ticket's key in its window, by time."""
        if ticket.join_key is None or ticket.observed is None:
            return []
        rows = self._rows.get(ticket.join_key)
        if rows is None:
            return []
        times = self._times[ticket.join_key]
        first = bisect_left(times, _shifted(ticket.observed, -self._before))
        last = bisect_right(times, _shifted(ticket.observed, self._after))
        return [name for _, name in rows[first:last]]

    def nearest(self, ticket: Ticket, names: Sequence[str]) -> list[str]:
        """Return the match nearest in time; none where two are equally near."""
        assert ticket.observed is not None
        distance = {name: abs(self._time_of[name] - ticket.observed) for name in names}
        least = min(distance.values())
        closest = [name for name in names if distance[name] == least]
        return closest if len(closest) == 1 else []

    def near_misses(self, ticket: Ticket) -> list[tuple[Identity, Identity]]:
        """Return pairs of keys that differ in case, type or notation only."""
        if ticket.join_key is None or ticket.join_key in self._rows:
            return []
        return [(ticket.join_key, other) for other in self._alike.get(ticket.join_key.alike, ())]


def _by_likeness(items: Iterable[Identity]) -> dict[str, list[Identity]]:
    alike: dict[str, list[Identity]] = defaultdict(list)
    for item in sorted(items):
        alike[item.alike].append(item)
    return dict(alike)


def _shifted(moment: datetime, by: timedelta) -> datetime:
    try:
        return moment + by
    except OverflowError:
        limit = datetime.max if by > timedelta() else datetime.min
        return limit.replace(tzinfo=moment.tzinfo)
