"""What is known of the sessions and of the connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from svddtune.client.types import LabelCounts, Session


@dataclass(slots=True)
class LabelingStatus:
    """The latest known state; `session_name` names the session of the current question."""

    sessions: Mapping[str, Session] = field(default_factory=dict)
    session_name: str = ""
    # Why nothing is asked, once the wait is long.
    waiting: str = ""
    connected: bool | None = None
    _counts: dict[str, LabelCounts] = field(default_factory=dict)
    _feature_names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def session(self) -> Session | None:
        """The session of the current question; None where nothing is known of it."""
        return self.sessions.get(self.session_name)

    @property
    def counts(self) -> LabelCounts:
        """Labels in the session of the current question."""
        return self._counts.get(self.session_name, LabelCounts())

    def feature_names(self, session: str) -> tuple[str, ...]:
        """Names of a session's features; none where they are not known."""
        return self._feature_names.get(session, ())

    def update(self, *, connected: bool, sessions: Mapping[str, Session]) -> None:
        """Update connection and sessions. Before the first contact the connection is not lost."""
        if self.connected or connected:
            self.connected = connected
        for name, session in sessions.items():
            if self.sessions.get(name) is not session:
                self._counts[name] = session.counts
        self.sessions = sessions
        if not self.session_name and sessions:
            self.session_name = next(iter(sessions))

    def set_counts(self, session: str, counts: LabelCounts) -> None:
        """Set the label counts of a session."""
        self._counts[session] = counts

    def set_feature_names(self, session: str, names: tuple[str, ...]) -> None:
        """Set the names of a session's features."""
        self._feature_names[session] = names
