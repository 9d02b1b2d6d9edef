"""Verdicts that other systems post, as labels of a session."""

from __future__ import annotations

import uuid
from typing import Any

from svddtune.client.aio import AsyncTuningClient
from svddtune.client.errors import InvalidInput
from svddtune.client.files.records import Record
from svddtune.client.tickets.identity import shortened, source_reference
from svddtune.client.tickets.mapping import TicketMapping
from svddtune.client.tickets.ticket import Ticket, TicketReader
from svddtune.client.types import BatchOutcome, Label

_NAMESPACE = uuid.UUID("9a0d4b53-1d0c-5a39-9a7e-6a6d0f2b7c11")


class Verdicts:
    """Labels one session by the records of tickets, as they are posted.

    The id of an answer follows from session, ticket, its update time, observation and verdict, so
    that a record that is posted again has one effect.

    Parameters
    ----------
    client : AsyncTuningClient
    session : str
        Resource name.
    mapping : TicketMapping
        The meaning of the records; it names the field with the observation's id.
    labeler : str
        Whose votes they are.
    """

    def __init__(
        self, client: AsyncTuningClient, session: str, mapping: TicketMapping, labeler: str
    ) -> None:
        self._client = client
        self._session = session
        self._reader = TicketReader(mapping, by_window=False)
        self._provenance = shortened(mapping.provenance)
        self._labeler = labeler

    async def give(self, content: Any) -> dict[str, Any]:
        """Give the verdicts of a record, or of a list of records; return what became of them.

        Raises
        ------
        InvalidInput
            TICKETS_INVALID and others of a record that cannot be read; nothing is sent.
        Unavailable
            The service is away.
        """
        records = content if isinstance(content, list) else [content]
        if not all(isinstance(record, dict) for record in records):
            raise InvalidInput(
                "The body is neither an object nor a list of objects", reason="TICKETS_INVALID"
            )
        tickets = [self._reader.read(Record(one, f"[{i}]")) for i, one in enumerate(records)]
        labels: dict[str, Label] = {}
        ids: dict[str, str] = {}
        for ticket in tickets:
            names = {one.text for one in ticket.observation_ids if one.kind == "text"}
            # A ticket about several observations says nothing, as in a replay.
            if ticket.judgement is not None and len(names) == 1:
                (name,) = names
                judgement = ticket.judgement
                reference = source_reference(ticket.key)
                labels[name] = Label(name, judgement.verdict, reference, judgement.confidence)
                ids[name] = self._answer_id(ticket, name)
        if not labels:
            return {"records": len(records), "applied": 0, "refused": []}
        outcome = await self._send(list(labels.values()), ids, replace=False)
        applied, refused = outcome.applied, list(outcome.refused)
        earlier = [one for one in refused if one.error.reason == "ALREADY_ANSWERED"]
        if earlier:  # by this labeler
            changed = [labels[one.observation_id] for one in earlier]
            outcome = await self._send(changed, ids, replace=True)
            applied += outcome.applied
            refused = [one for one in refused if one not in earlier] + list(outcome.refused)
        return {
            "records": len(records),
            "applied": applied,
            "refused": [
                {
                    "observation_id": one.observation_id,
                    "reason": one.error.reason,
                    "message": one.error.message,
                }
                for one in refused
            ],
        }

    async def _send(
        self, labels: list[Label], ids: dict[str, str], *, replace: bool
    ) -> BatchOutcome:
        return await self._client.label_all(
            self._session,
            labels,
            labeler=self._labeler,
            provenance=self._provenance,
            replace=replace,
            answer_ids=ids,
        )

    def _answer_id(self, ticket: Ticket, name: str) -> str:
        moment = "" if ticket.updated is None else ticket.updated.isoformat()
        parts = (self._session, *ticket.key, moment, name, repr(ticket.judgement))
        return str(uuid.uuid5(_NAMESPACE, "\0".join(parts)))
