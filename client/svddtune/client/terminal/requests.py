"""What the controller requests of the service, and the values of its state."""

from __future__ import annotations

from dataclasses import dataclass

from svddtune.client.types import Judgement, Query, SkipMode

# Requests to the service. The event about a request's outcome carries its `ticket`.


@dataclass(frozen=True, slots=True)
class FetchQuery:
    """Fetch the next query."""


@dataclass(frozen=True, slots=True)
class Submit:
    """Answer a leased query."""

    ticket: int
    query: Query
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Relabel:
    """Judge an observation whose answer was undone."""

    ticket: int
    query: Query
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Skip:
    """Pass on a leased query."""

    ticket: int
    query: Query
    mode: SkipMode


@dataclass(frozen=True, slots=True)
class Retract:
    """Withdraw an answer."""

    ticket: int
    query: Query
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Leave:
    """Give back what is held and end; all requests were acknowledged."""


Request = FetchQuery | Submit | Relabel | Skip | Retract | Leave
Sent = Submit | Relabel | Skip | Retract


@dataclass(slots=True)
class Card:
    """A question to answer. `leased` is False for one that is asked again after an undo."""

    query: Query
    leased: bool
    taken_back: Judgement | None = None
    shown_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that was answered, and when."""

    query: Query
    judgement: Judgement
    at: float


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to the labeler. `kind` is stored, lost, refused, undone, skipped or info."""

    kind: str
    text: str
    query: Query | None = None


def said(judgement: Judgement) -> str:
    """Return a judgement in words: "outlier", or "probably outlier"."""
    verdict = judgement.verdict.value
    return verdict if judgement.confidence is None else f"probably {verdict}"


# Why a question is gone, by reason; what became of a skipped one, by mode.
LOST = {
    "EXPIRED": "its time ran out; somebody else is asked",
    "ANSWERED_BY_OTHER": "somebody else answered it",
    "SESSION_ENDED": "its session has ended",
    "": "its time ran out, or it went to somebody else",
}
SKIPPED = {
    SkipMode.LATER: "skipped for later",
    SkipMode.OTHERS: "left to other labelers",
    SkipMode.DROP: "dropped from the session",
}
