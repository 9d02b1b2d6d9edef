"""A ticket's key as the source of a label."""

from __future__ import annotations

import hashlib

from svddtune.client.tickets.identity import Identity

_MOST_BYTES = 256


def source_reference(ticket: Identity | None) -> str:
    """Return the ticket's key; a longer one than a label can carry ends in its hash."""
    if ticket is None:
        return ""
    data = ticket.text.encode()
    if len(data) <= _MOST_BYTES:
        return ticket.text
    mark = f"...{hashlib.sha256(data).hexdigest()[:16]}"
    return data[: _MOST_BYTES - len(mark)].decode(errors="ignore") + mark
