"""The events of a session, from what was announced before and the session as it is now."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any

from svddtune.client.types import Session, SessionState

_NAMESPACE = uuid.UUID("0c3c1a0f-9d5b-5c0e-8a57-3a3f6f1b8f60")


@dataclass(frozen=True, slots=True)
class Announced:
    """What was announced of a session.

    `revision` is that of the last result; `ended` the state in which the session ended without a
    further result, else ""; `stop` whether stopping is advised; `waiting` the figures of the
    session when it was found to wait for labelers, else "".
    """

    revision: int = 0
    ended: str = ""
    stop: bool = False
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An event; its id is the same whenever it is derived again."""

    id: str
    type: str
    data: dict[str, Any]


def is_waiting(session: Session) -> bool:
    """Return whether queries are ready, and nobody holds one or waits for one."""
    return (
        session.state is SessionState.LABELING
        and not session.ranking_pending
        and session.leased_count == 0
        and session.waiting_count == 0
    )


def news(session: Session, announced: Announced, *, waited: bool) -> tuple[list[Event], Announced]:
    """Return the events to announce now, oldest first, and what is announced with them.

    Parameters
    ----------
    session : Session
        As it is now.
    announced : Announced
        What was announced before.
    waited : bool
        Whether the session has waited for labelers for long enough to say so.
    """
    events: list[Event] = []
    live = session.live
    advised = live is not None and live.stop
    if live is not None and advised and not announced.stop:
        data = {"labels": live.labels, "advice": live.advice}
        events.append(_event(session, "session.stop_advised", str(live.labels), data))
    # Advice stands until evidence without it comes.
    announced = replace(announced, stop=advised or (announced.stop and live is None))
    figures = f"{session.counts.total}/{session.query_count}"
    if not is_waiting(session):
        announced = replace(announced, waiting="")
    elif waited and not announced.waiting:
        events.append(_event(session, "query.waiting", figures, {}))
        announced = replace(announced, waiting=figures)
    if session.state.ended:
        revision = _revision(session)
        for number in range(announced.revision + 1, revision + 1):
            data = {"reason": "COMPLETED", "result": f"{session.name}/results/{number}"}
            events.append(_event(session, "session.finished", str(number), data))
        announced = replace(announced, revision=revision)
        ended = "" if session.state is SessionState.COMPLETED else session.state.value.upper()
        if ended and ended != announced.ended:
            data = {
                "reason": session.failure_reason or ended,
                "message": session.failure_message,
                "result": "",
            }
            events.append(_event(session, "session.finished", f"{ended}/{revision}", data))
        announced = replace(announced, ended=ended)
    else:
        announced = replace(announced, ended="")
    return events, announced


def _event(session: Session, kind: str, key: str, data: dict[str, Any]) -> Event:
    about = {
        "session": session.name,
        "display_name": session.display_name,
        "state": session.state.value,
        "labels": session.counts.total,
        "queries": session.query_count,
    }
    name = uuid.uuid5(_NAMESPACE, f"{session.name}/{kind}/{key}")
    return Event(f"msg_{name.hex}", kind, about | data)


def _revision(session: Session) -> int:
    return int(session.latest_result.rpartition("/")[2]) if session.latest_result else 0
