"""The state of a dialogue that its labeler may read, with streams or unary calls."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.types import LabelCounts, Query, Session


class DialogueView:
    """The state of a dialogue that its labeler may read. No property or method waits."""

    def __init__(self, dialogue: Dialogue, lock: AbstractContextManager[Any]) -> None:
        self.labeler = dialogue.labeler
        self._dialogue = dialogue
        self._lock = lock

    def __repr__(self) -> str:
        served = self.name or f"{len(self.sessions)} sessions"
        return (
            f"<{type(self).__name__} of {served} by {self.labeler!r}: {self.counts.total} labels>"
        )

    @property
    def name(self) -> str:
        """Resource name of the one session served; empty where there are several, or any."""
        return self._dialogue.served.only

    @property
    def sessions(self) -> Mapping[str, Session]:
        """All known sessions by name, in their last known state."""
        with self._lock:
            return self._dialogue.served.sessions

    @property
    def counts(self) -> LabelCounts:
        """Labels per class in the session of the newest message, by its last Ack or Progress."""
        with self._lock:
            return self._dialogue.served.counts()

    @property
    def finished(self) -> str:
        """Why nothing more is asked, e.g. BUDGET_SPENT; empty while queries may come."""
        with self._lock:
            return self._dialogue.finished

    @property
    def finished_sessions(self) -> Mapping[str, str]:
        """Why nothing more is asked, by name of session."""
        with self._lock:
            return self._dialogue.served.reasons

    @property
    def connected(self) -> bool:
        """False while the server is unreachable; answers are kept and sent later."""
        with self._lock:
            return self._dialogue.welcomed

    @property
    def resume_token(self) -> str:
        """The token with which a later dialogue gets the queries held now."""
        with self._lock:
            return self._dialogue.resume_token

    @property
    def per_query_s(self) -> tuple[float, ...]:
        """Seconds from each Answer to the Assign that came next."""
        with self._lock:
            return tuple(self._dialogue.per_query_s)

    def is_open(self, query: Query) -> bool:
        """Return whether `query` still waits for this labeler's answer.

        Parameters
        ----------
        query : Query
            A query of this dialogue.
        """
        with self._lock:
            return self._dialogue.is_open(query)

    def lost_reason(self, query: Query) -> str:
        """Return why `query` went away; empty while it did not, or where it was settled.

        Parameters
        ----------
        query : Query
            A query of this dialogue.

        Returns
        -------
        str
            EXPIRED, ANSWERED_BY_OTHER, SESSION_ENDED or LABELER_WITHDRAWN; LEASE_LOST where all
            that is known is that it went while the server was away.
        """
        with self._lock:
            return self._dialogue.lost_reason(query)
