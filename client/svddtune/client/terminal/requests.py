"""What the desk wants done, what lies on it, and what it has to say."""

from __future__ import annotations

from dataclasses import dataclass

from svddtune.client.types import Query, SkipMode, Verdict

# Orders: what is to be told to the service. `ticket` comes back with the news about it.


@dataclass(frozen=True, slots=True)
class Ask:
    """Fetch the next query."""


@dataclass(frozen=True, slots=True)
class Submit:
    """Answer a leased query."""

    ticket: int
    query: Query
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Relabel:
    """Give the verdict on an observation whose answer was taken back."""

    ticket: int
    query: Query
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Skip:
    """Pass on a leased query."""

    ticket: int
    query: Query
    mode: SkipMode


@dataclass(frozen=True, slots=True)
class Retract:
    """Take an answer back."""

    ticket: int
    query: Query
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Leave:
    """Give back what is held and end; nothing waits for an acknowledgement."""


Order = Ask | Submit | Relabel | Skip | Retract | Leave
Sent = Submit | Relabel | Skip | Retract


@dataclass(slots=True)
class Card:
    """A question on the desk. `leased` is False for one that is asked again after an undo."""

    query: Query
    leased: bool
    taken_back: Verdict | None = None
    shown_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """A question that was answered, and when."""

    query: Query
    verdict: Verdict
    at: float


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to read. `kind` is stored, lost, refused, undone, skipped or info."""

    kind: str
    text: str
    query: Query | None = None


# Why a question is gone, and what became of one that was passed on.
LOST = {
    "EXPIRED": "the time for it ran out; it goes to somebody else",
    "ANSWERED_BY_OTHER": "somebody else answered it",
    "SESSION_ENDED": "its session has ended",
    "": "it is with somebody else now, or the time for it ran out",
}
SKIPPED = {
    SkipMode.LATER: "skipped for later",
    SkipMode.OTHERS: "left to others",
    SkipMode.DROP: "dropped from the session",
}
