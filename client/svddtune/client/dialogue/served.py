"""The sessions that one dialogue serves, in their last known state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from svddtune.client.errors import InvalidInput
from svddtune.client.types import LabelCounts, Session

_DELETED = "DELETED"


class Served:
    """Sessions named at the start, or any, with what is known of each.

    Attributes
    ----------
    named : tuple of str
        Resource names; none stands for any session, those created later included.
    """

    def __init__(self, named: Sequence[str]) -> None:
        self.named = tuple(dict.fromkeys(named))
        self._sessions: dict[str, Session] = {}
        self._counts: dict[str, LabelCounts] = {}
        self._finished: dict[str, str] = {}
        self._heard_last = self.only

    @property
    def only(self) -> str:
        """Name of the one session; empty where the dialogue serves several, or any."""
        return self.named[0] if len(self.named) == 1 else ""

    def name(self, session: str, *, guess: bool = False) -> str:
        """Return the name of the session meant; an empty name stands for the only one.

        Raises
        ------
        InvalidInput
            SESSION_AMBIGUOUS where several are possible. With `guess` the name is then empty.
        """
        if session or self.only or guess:
            return session or self.only
        raise InvalidInput(
            "Name the session: the dialogue serves "
            + (f"{len(self.named)} of them" if self.named else "any"),
            reason="SESSION_AMBIGUOUS",
        )

    def existing(self) -> tuple[str, ...]:
        """Return the sessions named, without those that were deleted."""
        return tuple(name for name in self.named if self._finished.get(name) != _DELETED)

    @property
    def sessions(self) -> Mapping[str, Session]:
        """All known sessions by name, without the deleted ones."""
        return MappingProxyType(dict(self._sessions))

    @property
    def last(self) -> Session | None:
        """The session of the newest message; None before the first message."""
        return self._sessions.get(self._heard_last)

    def get(self, session: str) -> Session | None:
        """Return one session, None where it is not known."""
        return self._sessions.get(session)

    def lease_seconds(self, session: str) -> float:
        """Return the length of the session's first leases, in seconds; 0 where it is not known."""
        known = self._sessions.get(session)
        return known.config.lease_seconds if known else 0.0

    def counts(self, session: str = "") -> LabelCounts:
        """Return the labels per class in `session`; default the session of the newest message."""
        return self._counts.get(session or self._heard_last, LabelCounts())

    @property
    def finished(self) -> str:
        """Why nothing more is asked: the newest reason, once all sessions named have one."""
        if not self.named or not all(name in self._finished for name in self.named):
            return ""
        return next(reason for name, reason in reversed(self._finished.items()) if self._is(name))

    @property
    def reasons(self) -> Mapping[str, str]:
        """Why nothing more is asked, by session, for the sessions that have finished."""
        return MappingProxyType(dict(self._finished))

    def see(self, session: Session) -> None:
        """Set the state of a session."""
        self._sessions[session.name] = session
        self.count(session.name, session.counts)
        if session.state.ended:
            self._finished.setdefault(session.name, session.state.name)

    def count(self, session: str, counts: LabelCounts) -> None:
        """Set the labels per class of a session."""
        self._counts[session] = counts
        self._heard_last = session

    def finish(self, session: str, reason: str) -> None:
        """Note that nothing more is asked in a session."""
        self._finished.pop(session, None)
        self._finished[session] = reason
        if reason == _DELETED:
            self._sessions.pop(session, None)
            self._counts.pop(session, None)

    def ask_again(self, session: str) -> None:
        """Note that a session asks again."""
        self._finished.pop(session, None)

    def _is(self, name: str) -> bool:
        return name in self.named
