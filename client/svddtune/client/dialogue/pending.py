"""What was sent to the server and has no Ack yet."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from svddtune.client.errors import Conflict, SvddtuneError
from svddtune.client.types import Ack, Query
from svddtune.v1 import oracle_pb2 as pb

# Key of an item: its session and its answer id; for a skip the query's number.
ItemKey = tuple[str, str | int]


@dataclass(slots=True)
class Item:
    """A message, sent or not, that has no Ack yet."""

    message: pb.ConverseRequest
    future: Future[Ack]
    query: int = 0
    lease_id: str = ""
    resent: bool = False


class Pending:
    """Items without an Ack, in the order in which they were added."""

    def __init__(self) -> None:
        self._items: OrderedDict[ItemKey, Item] = OrderedDict()

    def __len__(self) -> int:
        return len(self._items)

    def add(self, key: ItemKey, message: pb.ConverseRequest, query: Query | None) -> Future[Ack]:
        """Add an item; return the future of its Ack. The same item again gets the same future.

        Raises
        ------
        Conflict
            ANSWER_ID_REUSED: another item with this id is under way.
        """
        known = self._items.get(key)
        if known is not None:
            if known.message == message:
                return known.future
            raise Conflict(
                f"Answer id {key[1]!r} is in use for another request in {key[0]}: give each "
                f"request an id of its own",
                reason="ANSWER_ID_REUSED",
                metadata={"session": key[0], "answer_id": str(key[1])},
            )
        future: Future[Ack] = Future()
        # So that nobody cancels it: a message cannot be taken back once it is sent.
        future.set_running_or_notify_cancel()
        number, lease_id = (query.number, query.lease_id) if query else (0, "")
        self._items[key] = Item(message, future, number, lease_id)
        return future

    def pop(self, key: ItemKey) -> Item | None:
        """Return and forget an item, None where there is none."""
        return self._items.pop(key, None)

    def concerns(self, session: str, query: int) -> bool:
        """Return whether an item is about this query."""
        return any(key[0] == session and item.query == query for key, item in self._items.items())

    def again(self) -> list[pb.ConverseRequest]:
        """Return all messages, to be sent again on a new stream."""
        for item in self._items.values():
            item.resent = True
        return [item.message for item in self._items.values()]

    def fail(self, error: SvddtuneError, concerns: Callable[[str], bool] = lambda _: True) -> None:
        """End the items of the sessions that `concerns` names, with `error`."""
        for key in [key for key in self._items if concerns(key[0])]:
            self._items.pop(key).future.set_exception(error)
