"""The desk for programs: a JSON object a line."""

from __future__ import annotations

import json
import sys
from typing import Any

from svddtune.client.json_values import jsonable
from svddtune.client.terminal.controller import Desk
from svddtune.client.terminal.renderer import Shown
from svddtune.client.terminal.requests import Card


class JsonLines(Shown):
    """Writes ``{"event": "query", ...}`` for each question; what else happens has other events."""

    def __init__(self) -> None:
        self._card: Card | None = None

    def show(self, desk: Desk, now: float) -> None:
        """Write what is new."""
        for one in desk.heard():
            number = one.query.number if one.query else None
            emit(one.kind, query=number, message=one.text)
        if desk.card is not self._card:
            self._card = desk.card
            if desk.card is not None:
                emit("query", **_question(desk, desk.card))


def emit(event: str, **values: Any) -> None:
    """Write one line."""
    line = json.dumps(jsonable({"event": event, **values}), allow_nan=False)
    print(line, file=sys.stdout, flush=True)


def _question(desk: Desk, card: Card) -> dict[str, Any]:
    query = card.query
    return {
        "session": query.session,
        "query": query.number,
        "observation_id": query.observation_id,
        "row": query.row,
        "features": query.features,
        "feature_names": list(desk.known.feature_names(query.session)),
        "display": query.display,
        "why": query.why,
        "score": query.score,
        "nearby": query.nearby,
        "unusual": query.unusual,
        "reference_inliers": query.reference_inliers,
        "taken_back": card.taken_back,
        "labels": desk.known.counts,
        "budget": desk.known.session.config.budget if desk.known.session else None,
    }
