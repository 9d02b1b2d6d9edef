"""The label log as lines of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svddtune.client.report.words import instant, seconds
from svddtune.client.types import LabelEvent

# A report with more lines opens slowly and prints on too much paper.
_MOST = 5000

_KINDS = {
    "retracted": "taken back",
    "unused": "too late to count",
    "repeated": "shown again, no vote",
    "checked": "control item, no vote",
    "withdrawn": "labeler withdrawn",
    "reinstated": "labeler reinstated",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One event of the log, as text. `verdict` is a word of `Verdict`, or empty."""

    number: int
    time: str
    what: str
    observation: str
    verdict: str
    labeler: str
    confidence: str
    seconds: str
    basis: str


def lines(events: Sequence[LabelEvent]) -> list[Line]:
    """Return the first lines of the log, oldest first: those that a report shows."""
    return [_line(number, event) for number, event in enumerate(events[:_MOST], 1)]


def events_shown(events: Sequence[LabelEvent]) -> int:
    """Return how many events a report shows."""
    return min(len(events), _MOST)


def _line(number: int, event: LabelEvent) -> Line:
    return Line(
        number=number,
        time=instant(event.time),
        what=_what(event),
        observation=event.observation_id or "–",
        verdict=event.verdict.value if event.verdict else "",
        labeler=event.labeler,
        confidence="–" if event.confidence is None else f"{event.confidence:.0%}",
        seconds=seconds(event.answer_seconds),
        basis=", ".join(filter(None, (event.provenance, event.source_reference, event.origin))),
    )


def _what(event: LabelEvent) -> str:
    query = f"query {event.query}" if event.query else "not asked for"
    if event.kind == "labeled":
        return query
    if event.kind in ("withdrawn", "reinstated"):
        return _KINDS[event.kind]
    return f"{query}, {_KINDS.get(event.kind, event.kind)}"
