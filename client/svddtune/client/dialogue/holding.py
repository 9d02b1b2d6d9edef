"""The queries of a labeler: held, offered, taken or lost."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeVar

from svddtune.client.types import Query

_T = TypeVar("_T")
# The most queries that one labeler can hold at once.
_MOST = 1000
# A query's number is unique within its session only.
QueryKey = tuple[str, int]


class BoundedDict(Generic[_T]):
    """A mapping that keeps its newest keys only."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _T] = OrderedDict()

    def note(self, key: str, value: _T) -> None:
        """Keep `value` under `key`."""
        self._known[key] = value
        if len(self._known) > _MOST:
            self._known.popitem(last=False)

    def get(self, key: str) -> _T | None:
        """Return the value of `key`, None where there is none."""
        return self._known.get(key)

    def __contains__(self, key: str) -> bool:
        return key in self._known


class Holding:
    """Queries that are leased to one labeler, by session and number.

    A query is offered from its Assign until the caller takes it. It is held until it is settled or
    lost.
    """

    def __init__(self) -> None:
        self._held: OrderedDict[QueryKey, Query] = OrderedDict()
        self._waiting: deque[QueryKey] = deque()
        self._lost: BoundedDict[str] = BoundedDict()

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
        self._lost.note(lease_id, reason)
        if self.lease_id(key) == lease_id:
            self.drop(key)

    def lose_session(self, session: str) -> None:
        """Forget all queries of a session that asks no more."""
        for key, query in list(self._held.items()):
            if key[0] == session:
                self.lose(key, query.lease_id, "SESSION_ENDED")

    def extend(self, session: str, lost: Collection[str], expires: datetime | None) -> None:
        """Apply the Ack of an Extend for one session's leases, or for all ("")."""
        for key, query in list(self._held.items()):
            if query.lease_id in lost:
                self.lose(key, query.lease_id, "LEASE_LOST")
            elif expires is not None and session in ("", key[0]):
                self._held[key] = replace(query, lease_expires=expires)

    def lost_reason(self, lease_id: str) -> str:
        """Return why the labeler lost a lease; empty where that is not known."""
        return self._lost.get(lease_id) or ""
