"""Records: the values of one row of an export, and its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from svddtune.client.errors import InvalidInput


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""What `Record.field` returns where the record has no such field; null and "" are there."""


@dataclass(frozen=True, slots=True)
class Record:
    """One row of an export.

    `typed` is False where all values are text because the format has nothing else (CSV); `columns`
    is True where all rows have the same fields.
    """

    values: Mapping[str, Any]
    place: str
    typed: bool = True
    columns: bool = False

    def lacks_column(self, path: str) -> bool:
        """Return whether no row of this file can have a value at the path."""
        if not self.columns or path in self.values:
            return False
        parts = path.split(".")
        heads = (".".join(parts[:end]) for end in range(1, len(parts)))
        return not self.typed or not any(head in self.values for head in heads)

    def field(self, path: str) -> Any:
        """Return the value at a dotted path, `MISSING` where there is none.

        A field whose name is the whole path has priority; else the path is split at its dots,
        longest name first. In a list, a number counts from 0.
        """
        return _look_up(self.values, path)

    def scalar(self, path: str) -> Any:
        """Return the plain value at a path: text, number, boolean, time or None.

        A missing field is None.

        Raises
        ------
        InvalidInput
            TICKETS_INVALID where the path leads to an object or a list.
        """
        value = self.field(path)
        if value is MISSING:
            return None
        if isinstance(value, Mapping | list):
            what = "a list" if isinstance(value, list) else "an object"
            inner = f"{path}.0" if isinstance(value, list) else f"{path}.NAME"
            raise InvalidInput(
                f"{self.place}: field {path!r} is {what}, not a value; name a field inside it, "
                f"e.g. {inner!r}",
                reason="TICKETS_INVALID",
                metadata={"field": path, "place": self.place},
            )
        return value


def _look_up(values: Any, path: str) -> Any:
    if isinstance(values, Mapping):
        if path in values:
            return values[path]
        end = path.rfind(".")
        while end > 0:
            if path[:end] in values:
                found = _look_up(values[path[:end]], path[end + 1 :])
                if found is not MISSING:
                    return found
            end = path.rfind(".", 0, end)
        return MISSING
    if isinstance(values, list):
        head, _, rest = path.partition(".")
        if not head.isascii() or not head.isdigit() or int(head) >= len(values):
            return MISSING
        return _look_up(values[int(head)], rest) if rest else values[int(head)]
    return MISSING
