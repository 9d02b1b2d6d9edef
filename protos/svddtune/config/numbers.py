"""Numbers by name, as settings hold them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


class Numbers(Mapping[str, float]):
    """An immutable mapping of names to numbers, in the order of the names.

    It has a hash, unlike a dict, so that settings that hold one have a hash too.
    """

    __slots__ = ("_values",)

    def __init__(self, given: Mapping[str, float] | Iterable[tuple[str, float]] = ()) -> None:
        self._values = dict(sorted(dict(given).items()))

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)

    def __str__(self) -> str:
        return ", ".join(f"{name}={number:g}" for name, number in self._values.items())

    def __deepcopy__(self, memo: Any) -> "Numbers":
        return self
