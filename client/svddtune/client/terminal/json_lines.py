"""Labelling by programs: one JSON object a line."""

from __future__ import annotations

import json
import sys
from typing import Any

from svddtune.client.json_values import jsonable
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.renderer import Renderer
from svddtune.client.terminal.requests import Card, said


class JsonLinesRenderer(Renderer):
    """Writes ``{"event": "query", ...}`` for each question, and other events for all else."""

    def __init__(self) -> None:
        self._card: Card | None = None

    def render(self, controller: LabelingController, now: float) -> None:
        """Write what is new."""
        for one in controller.take_notices():
            number = one.query.number if one.query else None
            emit(one.kind, query=number, message=one.text)
        if controller.card is not self._card:
            self._card = controller.card
            if controller.card is not None:
                emit("query", **_question(controller, controller.card))


def emit(event: str, **values: Any) -> None:
    """Write one line."""
    line = json.dumps(jsonable({"event": event, **values}), allow_nan=False)
    print(line, file=sys.stdout, flush=True)


def _question(controller: LabelingController, card: Card) -> dict[str, Any]:
    query = card.query
    return {
        "session": query.session,
        "query": query.number,
        "observation_id": query.observation_id,
        "row": query.row,
        "features": query.features,
        "feature_names": list(
            query.names if query.columns else controller.status.feature_names(query.session)
        ),
        "columns": list(query.columns) or list(range(len(query.features))),
        "display": query.display,
        "why": query.why,
        "score": query.score,
        "nearby": query.nearby,
        "unusual": query.unusual,
        "reference_inliers": query.reference_inliers,
        "adjudication": query.adjudication,
        "taken_back": card.taken_back and said(card.taken_back),
        "labels": controller.status.counts,
        "budget": controller.status.session.config.budget if controller.status.session else None,
    }
