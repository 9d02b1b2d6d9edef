"""A bounded cache of facts that never change."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Lru(Generic[Key, Value]):
    """The most recently used entries; together they weigh at most so much."""

    def __init__(self, most: int, weigh: Callable[[Value], int] = lambda _: 1) -> None:
        """By default every entry weighs 1."""
        self._most = most
        self._weigh = weigh
        self._weight = 0
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """The entry; None if it is not, or no longer, there."""
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def put(self, key: Key, value: Value) -> Value:
        """Remember an entry, unless it is too heavy, and return it."""
        self.drop(key)
        self._entries[key] = value
        self._weight += self._weigh(value)
        while self._weight > self._most:
            self.drop(next(iter(self._entries)))
        return value

    def drop(self, key: Key) -> None:
        """Forget an entry, if it is there."""
        value = self._entries.pop(key, None)
        if value is not None:
            self._weight -= self._weigh(value)
