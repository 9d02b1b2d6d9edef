"""A memory of the newest things only."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

_T = TypeVar("_T")
# As many as one labeler can hold at once.
_MOST = 1000


class Memory(Generic[_T]):
    """What was noted under the newest keys; older ones are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _T] = OrderedDict()

    def note(self, key: str, value: _T) -> None:
        """Keep `value` under `key`."""
        self._known[key] = value
        if len(self._known) > _MOST:
            self._known.popitem(last=False)

    def get(self, key: str) -> _T | None:
        """Return what was noted under `key`, None where nothing was."""
        return self._known.get(key)

    def __contains__(self, key: str) -> bool:
        return key in self._known
