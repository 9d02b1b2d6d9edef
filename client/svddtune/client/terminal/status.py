"""What the labeler's desk knows of the sessions and of the connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from svddtune.client.types import LabelCounts, Session


@dataclass(slots=True)
class Known:
    """How things are; `session_name` is that of the session in front."""

    sessions: Mapping[str, Session] = field(default_factory=dict)
    session_name: str = ""
    # Why nothing is asked, once the wait is long.
    waiting: str = ""
    connected: bool | None = None
    _counts: dict[str, LabelCounts] = field(default_factory=dict)
    _feature_names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def session(self) -> Session | None:
        """The session in front; None where nothing was heard of it."""
        return self.sessions.get(self.session_name)

    @property
    def counts(self) -> LabelCounts:
        """Labels in the session in front."""
        return self._counts.get(self.session_name, LabelCounts())

    def feature_names(self, session: str) -> tuple[str, ...]:
        """Names of a session's features; none where they are not known."""
        return self._feature_names.get(session, ())

    def told(self, *, connected: bool, sessions: Mapping[str, Session]) -> None:
        """Take in how things are. Before the first contact a connection is not lost."""
        if self.connected or connected:
            self.connected = connected
        for name, session in sessions.items():
            if self.sessions.get(name) is not session:
                self._counts[name] = session.counts
        self.sessions = sessions
        if not self.session_name and sessions:
            self.session_name = next(iter(sessions))

    def count(self, session: str, counts: LabelCounts) -> None:
        """Take in the labels of a session."""
        self._counts[session] = counts

    def name_features(self, session: str, names: tuple[str, ...]) -> None:
        """Take in the names of a session's features."""
        self._feature_names[session] = names
