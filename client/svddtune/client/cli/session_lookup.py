"""Finds the session of a command, and the labeler's name."""

from __future__ import annotations

import getpass
import re
from pathlib import Path

from svddtune.client.client import TuningClient
from svddtune.client.errors import UsageError
from svddtune.client.types import Session
from svddtune.text import on_one_line

ANY = "any"
_MANY = 5
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._@-]+")
_LONGEST = 64


def find_session(client: TuningClient, wanted: str) -> str:
    """Return the resource name of a session by its id, the start of its id, or its display name.

    Raises
    ------
    UsageError
        SESSION_NOT_FOUND where there is none, SESSION_AMBIGUOUS where there are several.
    """
    start = wanted.removeprefix("sessions/")
    found: list[Session] = []
    for session in client.list_sessions():
        id_ = session.name.removeprefix("sessions/")
        if id_ == start:
            return session.name
        if id_.startswith(start) or session.display_name == wanted:
            found.append(session)
    if not found:
        raise UsageError(
            f"There is no session {wanted!r} on {client.address}; list the sessions with: "
            f"svddtune sessions",
            reason="SESSION_NOT_FOUND",
            metadata={"session": wanted},
        )
    if len(found) > 1:
        raise UsageError(
            f"{wanted!r} matches {len(found)} sessions: {_some(found)}; give more of the id",
            reason="SESSION_AMBIGUOUS",
            metadata={"session": wanted},
        )
    return found[0].name


def find_source(wanted: str, server: str | None, tls_ca: Path | None) -> str:
    """Return the resource name of the session or result that ``--from`` stands for.

    Raises
    ------
    UsageError
        Without a server; else as `find_session`.
    """
    if server is None:
        raise UsageError(
            f"--from {wanted} names a session of a running service: give its --server",
            metadata={"option": "--from", "value": wanted},
        )
    if "/results/" in wanted:
        return wanted
    with TuningClient(server, tls_ca=tls_ca) as client:
        return find_session(client, wanted)


def default_labeler() -> str:
    """Return the user's name, with characters that labeler names cannot have replaced."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = ""
    return _NOT_IN_NAMES.sub("-", user)[:_LONGEST] or "labeler"


def checked_labeler(name: str) -> str:
    """Return the name if it is a valid labeler name.

    Raises
    ------
    UsageError
        For anything but letters, digits and ``._@-``, and for more than 64 of them.
    """
    if not name or len(name) > _LONGEST or _NOT_IN_NAMES.search(name):
        raise UsageError(
            f"--labeler {name!r}: use 1 to {_LONGEST} letters, digits and ._@-",
            metadata={"field": "labeler", "value": name},
        )
    return name


def _some(sessions: list[Session]) -> str:
    names = [
        session.name.removeprefix("sessions/")
        + (f" ({on_one_line(session.display_name)})" if session.display_name else "")
        for session in sessions[:_MANY]
    ]
    return ", ".join(names) + (", ..." if len(sessions) > _MANY else "")
