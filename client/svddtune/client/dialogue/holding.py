"""The queries of a labeler: held, offered, taken or lost."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from svddtune.client.types import Query

# Leases of which it is remembered why they were lost: as many as one labeler can hold at once.
_MOST_LOST = 1000
# A query's number is unique within its session only.
QueryKey = tuple[str, int]


class Holding:
    """Queries that are leased to one labeler, by session and number.

    A query is offered from its Assign until the caller takes it. It is held until it is settled or
    lost.
    """

    def __init__(self) -> None:
        self._held: OrderedDict[QueryKey, Query] = OrderedDict()
        self._waiting: deque[QueryKey] = deque()
        self._lost: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[QueryKey]:
        return iter(list(self._held))

    def __contains__(self, key: QueryKey) -> bool:
        return key in self._held

    @property
    def sessions(self) -> set[str]:
        """Sessions of which something is held."""
        return {session for session, _ in self._held}

    def lease_id(self, key: QueryKey) -> str:
        """Return the lease of a query, empty where it is not held."""
        held = self._held.get(key)
        return held.lease_id if held else ""

    def put(self, key: QueryKey, query: Query) -> None:
        """Store a query or its new lease without offering it."""
        self._held[key] = query

    def offer(self, key: QueryKey) -> None:
        """Offer a query that is held to the caller."""
        if key not in self._waiting:
            self._waiting.append(key)

    def take(self) -> Query | None:
        """Return the next query that is offered, None where there is none."""
        return self._held[self._waiting.popleft()] if self._waiting else None

    def taken(self) -> Iterator[tuple[QueryKey, Query]]:
        """Yield the held queries that were taken, oldest first."""
        waiting = set(self._waiting)
        return ((key, query) for key, query in self._held.items() if key not in waiting)

    def drop(self, key: QueryKey) -> None:
        """Forget a query."""
        if self._held.pop(key, None) is not None and key in self._waiting:
            self._waiting.remove(key)

    def lose(self, key: QueryKey, lease_id: str, reason: str) -> None:
        """Forget a query whose lease has ended, unless it was leased anew."""
        self._lost[lease_id] = reason
        if len(self._lost) > _MOST_LOST:
            self._lost.popitem(last=False)
        if self.lease_id(key) == lease_id:
            self.drop(key)

    def lose_session(self, session: str) -> None:
        """Forget all queries of a session that asks no more."""
        for key, query in list(self._held.items()):
            if key[0] == session:
                self.lose(key, query.lease_id, "SESSION_ENDED")

    def extend(self, extended: Mapping[str, datetime | None], lost: Collection[str]) -> None:
        """Apply an Ack: the new ends of leases, and those that are lost."""
        for key, query in list(self._held.items()) if extended or lost else ():
            if query.lease_id in lost:
                self.lose(key, query.lease_id, "LEASE_LOST")
            elif query.lease_id in extended:
                self._held[key] = replace(query, lease_expires=extended[query.lease_id])

    def lost_reason(self, lease_id: str) -> str:
        """Return why the labeler lost a lease; empty where that is not known."""
        return self._lost.get(lease_id, "")
