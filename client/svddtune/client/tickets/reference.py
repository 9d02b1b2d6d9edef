"""What a label says of where it comes from: a ticket's key, a mapping."""

from __future__ import annotations

import hashlib

from svddtune.client.tickets.identity import Identity

_MOST_BYTES = 256


def source_reference(ticket: Identity | None) -> str:
    """Return the ticket's key as a label can carry it."""
    return "" if ticket is None else shortened(ticket.text)


def shortened(text: str) -> str:
    """Return a text of at most 256 bytes; a longer one ends in its hash."""
    data = text.encode()
    if len(data) <= _MOST_BYTES:
        return text
    mark = f"...{hashlib.sha256(data).hexdigest()[:16]}"
    return data[: _MOST_BYTES - len(mark)].decode(errors="ignore") + mark
