"""A preview of what tickets would change in a session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from svddtune.client.json_values import jsonable
from svddtune.client.tickets.oracle import TicketOracle
from svddtune.client.types import LabelEvent, Session, Verdict


@dataclass(frozen=True, slots=True)
class Preview:
    """A session compared with the verdicts of tickets.

    `room` is what the budget leaves; `agreeing` and `differing` count votes of others on
    observations that have a verdict by tickets; `given` those that the labeler gave already.
    """

    session: str
    state: str
    observations: int
    budget: int
    labels: int
    verdicts: int
    agreeing: int
    differing: int
    given: int

    @property
    def room(self) -> int:
        """Labels that are left in the budget."""
        return max(0, self.budget - self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**jsonable(self), "room": self.room}


def preview(
    oracle: TicketOracle, session: Session, log: Iterable[LabelEvent], labeler: str
) -> Preview:
    """Return what `oracle` would mean to the session if `labeler` spoke for it."""
    votes: dict[tuple[str, str], Verdict | None] = {}
    for event in log:
        if event.kind in ("labeled", "retracted"):
            verdict = event.verdict if event.kind == "labeled" else None
            votes[event.observation_id, event.labeler] = verdict
        elif event.kind == "withdrawn":
            for key in [key for key in votes if key[1] == event.labeler]:
                votes[key] = None
    agreeing = differing = given = 0
    for (name, who), verdict in votes.items():
        known = oracle.decision(name).verdict
        if verdict is None or verdict is Verdict.UNSURE or known is None:
            continue
        if who == labeler:
            given += verdict is known
        else:
            agreeing += verdict is known
            differing += verdict is not known
    return Preview(
        session=session.name,
        state=session.state.value,
        observations=session.observation_count,
        budget=session.config.budget,
        labels=session.counts.total,
        verdicts=oracle.report(examples=1).labelled,
        agreeing=agreeing,
        differing=differing,
        given=given,
    )
