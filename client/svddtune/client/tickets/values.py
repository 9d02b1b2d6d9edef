"""Tables from the values of products to their meanings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from svddtune.client.files.numbers import exact_number
from svddtune.client.tickets.identity import Identity, identity

Meaning = TypeVar("Meaning")
Key = tuple[Identity, ...]


class Unmapped:
    """The type of `UNMAPPED`."""

    def __repr__(self) -> str:
        return "UNMAPPED"


UNMAPPED = Unmapped()
"""What `ValueTable.find` returns for a value that nobody gave a meaning."""


class ValueTable(Generic[Meaning]):
    """Looks up the meaning of a value, or of several fields' values together.

    A row may name the first fields only: a value is looked up whole, then without its last field,
    and so on. Numbers equal numbers, exactly and however they are written, and text equals text;
    where the format has nothing but text (CSV) a number equals its own text alone.

    Parameters
    ----------
    rows : iterable of (key, meaning)
        Later rows replace earlier ones.
    """

    def __init__(self, rows: Iterable[tuple[Key, Meaning]], *, case_sensitive: bool) -> None:
        self._case_sensitive = case_sensitive
        self._typed: dict[Key, Meaning] = {}
        for key, meaning in rows:
            self._typed[tuple(map(self._normal, key))] = meaning
        self._untyped = {
            tuple(part.text for part in key): meaning for key, meaning in self._typed.items()
        }

    def find(self, parts: Sequence[Any], *, typed: bool) -> Meaning | Unmapped:
        """Return what the plain values of the fields mean together, `UNMAPPED` where unknown."""
        if not typed:
            texts = tuple(self._cased(str(part)) for part in parts)
            for end in range(len(texts), 0, -1):
                if texts[:end] in self._untyped:
                    return self._untyped[texts[:end]]
            return UNMAPPED
        key = tuple(self._normal(identity(part)) for part in parts)
        for end in range(len(key), 0, -1):
            if key[:end] in self._typed:
                return self._typed[key[:end]]
        return UNMAPPED

    def conflicts(self) -> list[tuple[Key, Key]]:
        """Return pairs of values with different meanings that differ in case or type alone."""
        seen: dict[tuple[str, ...], Key] = {}
        pairs = []
        for key, meaning in self._typed.items():
            folded = tuple(part.text.casefold() for part in key)
            other = seen.setdefault(folded, key)
            if self._typed[other] != meaning:
                pairs.append((other, key))
        return pairs

    def items(self) -> Iterable[tuple[Key, Meaning]]:
        """Return the rows in force."""
        return self._typed.items()

    def _normal(self, part: Identity) -> Identity:
        if part.kind == "number":
            # 2 and 2.0 are one number; NaN and infinities have no such form.
            return Identity(("number", exact_number(part.text) or part.text))
        return Identity((part.kind, self._cased(part.text)))

    def _cased(self, text: str) -> str:
        return text if self._case_sensitive else text.casefold()


def shown(parts: Sequence[Any]) -> str:
    """Return the values of several fields as they are written in reports and on command lines."""
    return "/".join("" if part is None else str(part) for part in parts)
