"""What a report tells, as the service has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from svddtune.client.client import TuningClient
from svddtune.client.errors import ProtocolError
from svddtune.client.figures import HistoryPoint
from svddtune.client.labelers import Agreement, LabelerReport
from svddtune.client.result import Result
from svddtune.client.types import Dataset, LabelEvent, Session
from svddtune.client.votes import LabelInForce, labels_in_force


@dataclass(frozen=True, slots=True)
class Contents:
    """A session with all that is said about it.

    `result` is the latest, None before the first. `history` is what was live after each label;
    empty where the service does not keep it. `made` is when this was fetched.
    """

    session: Session
    dataset: Dataset
    result: Result | None
    events: tuple[LabelEvent, ...]
    labels: tuple[LabelInForce, ...]
    labelers: tuple[LabelerReport, ...]
    agreement: Agreement
    history: tuple[HistoryPoint, ...]
    server_version: str
    made: datetime


def gather(client: TuningClient, session: str | Session) -> Contents:
    """Fetch what a report on a session tells.

    Parameters
    ----------
    client : TuningClient
        The client of the service that has the session.
    session : Session or str
        The session, or its resource name.

    Raises
    ------
    NotFound
        SESSION_NOT_FOUND.
    """
    found = client.get_session(session)
    events = tuple(client.labels(found))
    labelers, agreement = client.list_labelers(found)
    return Contents(
        session=found,
        dataset=client.get_dataset(found.dataset),
        result=client.result(found) if found.latest_result else None,
        events=events,
        labels=labels_in_force(events),
        labelers=labelers,
        agreement=agreement,
        history=_history(client, found),
        server_version=client.server_info().version,
        made=datetime.now(UTC),
    )


def _history(client: TuningClient, session: Session) -> tuple[HistoryPoint, ...]:
    try:
        return client.history(session)
    except ProtocolError:  # a service of before 0.2 does not know the call
        return ()
