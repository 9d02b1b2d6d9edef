"""Scripts: what is sent, what is expected, and the faults in between."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.frames import Json

SCRIPTS = Path(__file__).parent / "scripts"


class Failure(Exception):
    """The other side did something else than the script expects."""


@dataclass(frozen=True)
class Script:
    """One script.

    Attributes
    ----------
    summary : str
        One sentence on what it shows.
    steps : tuple of mappings
        The first key of a step is its action; see README.md.
    needs : tuple of str
        The abilities that a client must have for it.
    credit : int
        The number of queries that the client is told to hold at once.
    events : tuple of mappings
        What the client must print, in any order.
    session : mapping
        The SessionConfig of the session that the driver creates.
    """

    name: str
    summary: str
    steps: tuple[Mapping[str, Json], ...]
    needs: tuple[str, ...] = ()
    credit: int = 1
    events: tuple[Mapping[str, Json], ...] = ()
    session: Mapping[str, Json] = field(default_factory=dict)


def load(side: str) -> list[Script]:
    """Return all scripts for one side, by name.

    Parameters
    ----------
    side : str
        "clients" or "servers".
    """
    return [_read(file) for file in sorted((SCRIPTS / side).glob("*.json"))]


def _read(file: Path) -> Script:
    values = json.loads(file.read_text())
    for key in ("steps", "needs", "events"):
        values[key] = tuple(values.get(key, ()))
    return Script(name=file.stem, **values)


@dataclass
class Outcome:
    """What came of a script, or of a vector.

    Attributes
    ----------
    failure : str
        What was wrong; empty if it passed.
    skipped : str
        Why it was not played; empty if it was.
    transcript : list of str
        The frames in both directions, and what the client printed.
    seconds : float
        How long it took.
    vector : str
        The kind of vector; empty for a script.
    """

    name: str
    summary: str
    failure: str = ""
    skipped: str = ""
    transcript: list[str] = field(default_factory=list)
    seconds: float = 0.0
    vector: str = ""

    @property
    def word(self) -> str:
        """The outcome in one or two words."""
        return "failed" if self.failure else "not supported" if self.skipped else "passed"
