"""What a notebook shows of a labeler's state: plain values, all texts as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svddtune.client.phrases import compared, evidence, figure
from svddtune.client.terminal import messages
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.features import (
    columns_first,
    name_shown,
    shown_values,
    signed,
)
from svddtune.client.terminal.requests import Card, Notice
from svddtune.client.types import Query
from svddtune.text import on_one_line, printable

Picture = dict[str, object]

_MOST_FIELDS = 40
_MOST_FEATURES = 60
_LONGEST_TEXT = 4000
# Bars reach their end at this many robust standard deviations.
_FULL_BAR = 7.0


def picture_of(
    controller: LabelingController, turn: int, notice: Notice | None, address: str, labeler: str
) -> Picture:
    """Return what is shown now.

    Parameters
    ----------
    controller : LabelingController
        The state.
    turn : int
        Another number for each question shown; a press names the one that it is about.
    notice : Notice or None
        What happened last.
    address, labeler : str
        Where the service is and who labels.
    """
    status, card = controller.status, controller.card
    session = status.session
    budget = session.config.budget if session else 0
    live = session.live if session else None
    lines = [evidence(live), live.advice] if live else []
    lines += [compared(session.detectors)] if session and session.detectors else []
    return {
        "title": messages.title(session, labeler, address),
        "turn": turn,
        "question": _question(card, status.feature_names(card.query.session)) if card else None,
        "waiting": "" if card else messages.waiting(controller, address),
        "confirming": messages.confirmation(card) if card and controller.confirming else "",
        "labels": messages.labels(controller) if session else "",
        "share": min(1.0, status.counts.total / budget) if budget else 0.0,
        "left": messages.time_left(controller),
        "evidence": [printable(line) for line in lines],
        "note": _note(notice) if notice else "",
        "note_kind": notice.kind if notice else "",
        "connection": messages.connection(controller),
        "undo": bool(controller.history),
        "ended": [],
    }


def start(sentence: str) -> Picture:
    """Return what is shown before there is a session."""
    return {"turn": 0, "question": None, "waiting": sentence, "ended": []}


def end(before: Picture, lines: Sequence[str]) -> Picture:
    """Return what is shown once nothing more is asked."""
    return {
        **before,
        "question": None,
        "waiting": "",
        "confirming": "",
        "connection": "",
        "undo": False,
        "ended": [printable(line) for line in lines],
    }


def _note(notice: Notice) -> str:
    if notice.query is None:
        return notice.text
    query = notice.query
    return f"Query {query.number} ({on_one_line(query.observation_id)}): {notice.text}"


def _question(card: Card, names: Sequence[str]) -> Picture:
    query = card.query
    fields = list(query.display.items())
    features = _features(query, names)
    return {
        "observation": query.observation_id,
        "heading": messages.heading(card),
        "votes": messages.adjudication(query.adjudication) if query.adjudication else "",
        "fields": [[on_one_line(key), _text(text)] for key, text in fields[:_MOST_FIELDS]],
        "more_fields": max(0, len(fields) - _MOST_FIELDS),
        "features": features,
        "more_features": len(shown_values(query)) - len(features),
        "typical": "typical inlier" if query.reference_inliers else "typical row",
        "nearby": [
            {
                "verdict": near.verdict.value if near.verdict else "",
                "text": f"{on_one_line(near.observation_id)} "
                f"({figure(math.sqrt(near.distance2), 2)})",
            }
            for near in query.nearby
        ],
        "why": on_one_line(query.why),
    }


def _features(query: Query, names: Sequence[str]) -> list[Picture]:
    values = shown_values(query)
    unusual = {item.column: item for item in query.unusual}
    first = columns_first(query) if values else []
    rest = [column for column in values if column not in first]
    shown: list[Picture] = []
    for column in [*first, *rest][:_MOST_FEATURES]:
        item = unusual.get(column)
        known = item is not None and not math.isnan(item.deviation)
        shown.append(
            {
                "name": name_shown(query, names, column),
                "value": figure(values[column], 5),
                "typical": figure(item.typical, 5) if item else "",
                "deviation": signed(item.deviation) if item else "",
                # From -1 to 1.
                "bar": max(-1.0, min(1.0, item.deviation / _FULL_BAR)) if item and known else 0.0,
                "folded": column not in first,
            }
        )
    return shown


def _text(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= _LONGEST_TEXT else f"{shown[: _LONGEST_TEXT - 1]}…"
