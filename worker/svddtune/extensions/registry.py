"""Looks entry points up and loads them."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from svddtune import numerics
from svddtune.numerics import FitRepresentation, FloatArray, QueryStrategy, Strategy, Views

STRATEGIES = "svddtune.strategies"
"""Group of entry points that are query strategies."""
REPRESENTATIONS = "svddtune.representations"
"""Group of entry points that are representations."""

_OF = {STRATEGIES: "query strategy", REPRESENTATIONS: "representation"}
_BUILT_IN = {STRATEGIES: numerics.STRATEGIES, REPRESENTATIONS: numerics.REPRESENTATIONS}


class ExtensionMissing(ValueError):
    """No package that is installed here offers what was asked for; `reason` is stable."""

    def __init__(self, group: str, name: str, known: tuple[str, ...]) -> None:
        self.reason = f"{_OF[group].upper().replace(' ', '_')}_NOT_INSTALLED"
        self.message = (
            f"There is no {_OF[group]} {name!r} here; there are {', '.join(known)}. Install the "
            f"package that offers it as an entry point of the group {group!r}, for workers too"
        )
        super().__init__(self.message)


class ExtensionBroken(ValueError):
    """A package offers what was asked for, but it cannot be used; `reason` is stable."""

    def __init__(self, group: str, entry: EntryPoint, problem: str) -> None:
        self.reason = f"{_OF[group].upper().replace(' ', '_')}_BROKEN"
        self.message = f"The {_OF[group]} {entry.name!r} ({entry.value}) {problem}"
        super().__init__(self.message)


def installed(group: str) -> tuple[str, ...]:
    """Return the names in a group, those of svddtune first.

    Parameters
    ----------
    group : str
        `STRATEGIES` or `REPRESENTATIONS`.
    """
    return (*_BUILT_IN[group], *sorted(set(_entries(group)) - set(_BUILT_IN[group])))


def load_strategy(name: str) -> QueryStrategy:
    """Return a query strategy of another package.

    Parameters
    ----------
    name : str
        Of its entry point in the group `STRATEGIES`.

    Raises
    ------
    ExtensionMissing
        QUERY_STRATEGY_NOT_INSTALLED: no package here offers it.
    ExtensionBroken
        QUERY_STRATEGY_BROKEN: it cannot be imported, or is not callable.
    """
    found: QueryStrategy = _load(STRATEGIES, name)
    return found


def load_representation(name: str) -> FitRepresentation:
    """Return a representation of another package.

    Parameters
    ----------
    name : str
        Of its entry point in the group `REPRESENTATIONS`.

    Raises
    ------
    ExtensionMissing
        REPRESENTATION_NOT_INSTALLED: no package here offers it.
    ExtensionBroken
        REPRESENTATION_BROKEN: it cannot be imported, or is not callable.
    """
    found: FitRepresentation = _load(REPRESENTATIONS, name)
    return found


def strategy_named(name: str) -> Strategy | QueryStrategy:
    """Return the name of a strategy of svddtune as it is, and another package's strategy itself.

    Parameters
    ----------
    name : str
        One of `installed`.

    Raises
    ------
    ExtensionMissing, ExtensionBroken
        As `load_strategy`.
    """
    built_in = next((one for one in numerics.STRATEGIES if one == name), None)
    return built_in or load_strategy(name)


def views_named(rows: FloatArray, scaling: str) -> Views:
    """Return rows in the representations of a scaling, svddtune's or another package's.

    Parameters
    ----------
    rows : FloatArray, shape (N, M)
        In the units of the columns, finite.
    scaling : str
        "auto", or one of `installed`.

    Raises
    ------
    ExtensionMissing, ExtensionBroken
        As `load_representation`.
    """
    if scaling in (numerics.AUTO, *numerics.REPRESENTATIONS):
        return Views(rows, scaling)
    return Views(rows, scaling, own=load_representation(scaling))


@cache
def _entries(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group; reading the metadata of all packages takes time."""
    return {entry.name: entry for entry in entry_points(group=group)}


def _load(group: str, name: str) -> Any:
    entry = _entries(group).get(name)
    if entry is None:
        raise ExtensionMissing(group, name, installed(group))
    try:
        found = entry.load()
    except Exception as error:  # whatever a module of another package raises
        raise ExtensionBroken(
            group, entry, f"cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise ExtensionBroken(group, entry, f"is a {type(found).__name__}, which is not callable")
    return found
