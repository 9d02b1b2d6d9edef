"""What was sent to the server and has no Ack yet."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from svddtune.client.errors import Conflict, SvddtuneError
from svddtune.client.types import Ack, Query
from svddtune.v1 import oracle_pb2 as pb

# What makes an item the same one: its session, then "answer" and its answer id, or "skip" or
# "release" and the lease.
ItemKey = tuple[str, str, str]


@dataclass(slots=True)
class Item:
    """A message, sent or not, that has no Ack yet."""

    key: ItemKey
    message: pb.ConverseRequest
    future: Future[Ack]
    query: int = 0
    lease_id: str = ""


class Pending:
    """Items without an Ack, in the order in which they were added. Each gets a request id."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, Item] = OrderedDict()
        # Request ids.
        self._known: dict[ItemKey, str] = {}
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self._items)

    def add(
        self, key: ItemKey, message: pb.ConverseRequest, query: Query | None = None
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Add an item; return its message and the future of its Ack.

        The same item again gets the same message and future.

        Raises
        ------
        Conflict
            ANSWER_ID_REUSED: another item with this id is under way.
        """
        if key in self._known:
            known = self._items[self._known[key]]
            message.request_id = known.message.request_id
            if known.message == message:
                return known.message, known.future
            session, _, known_id = key
            raise Conflict(
                f"Answer id {known_id!r} is in use for another request in {session}: give each "
                f"request an id of its own",
                reason="ANSWER_ID_REUSED",
                metadata={"session": session, "answer_id": known_id},
            )
        future: Future[Ack] = Future()
        # So that nobody cancels it: a message cannot be taken back once it is sent.
        future.set_running_or_notify_cancel()
        number, lease_id = (query.number, query.lease_id) if query else (0, "")
        message.request_id = str(next(self._numbers))
        self._known[key] = message.request_id
        self._items[message.request_id] = Item(key, message, future, number, lease_id)
        return message, future

    def pop(self, request_id: str) -> Item | None:
        """Return and forget an item, None where there is none."""
        item = self._items.pop(request_id, None)
        if item is not None:
            del self._known[item.key]
        return item

    def concerns(self, session: str, query: int) -> bool:
        """Return whether an answer or a skip is about this query."""
        return any(item.key[0] == session and item.query == query for item in self._items.values())

    def releases(self, session: str, lease_id: str) -> bool:
        """Return whether a Release of this lease is under way."""
        return (session, "release", lease_id) in self._known

    def again(self) -> list[pb.ConverseRequest]:
        """Return all messages, to be sent again on a new stream."""
        return [item.message for item in self._items.values()]

    def fail(self, error: SvddtuneError, concerns: Callable[[str], bool] = lambda _: True) -> None:
        """End the items of the sessions that `concerns` names, with `error`."""
        failed = [number for number, item in self._items.items() if concerns(item.key[0])]
        for item in map(self.pop, failed):
            if item is not None:
                item.future.set_exception(error)
