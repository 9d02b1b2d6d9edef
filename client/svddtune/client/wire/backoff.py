"""Delays between attempts."""

from __future__ import annotations

import random


class Backoff:
    """Exponential delays with jitter, so that many clients do not return at once."""

    def __init__(self, *, first_s: float = 0.1, most_s: float = 5.0) -> None:
        self._first_s = first_s
        self._most_s = most_s
        self._attempt = 0

    def next_s(self, asked_s: float | None = None) -> float:
        """Return the next delay in seconds, at least the `asked_s` of the server."""
        ceiling = min(self._most_s, self._first_s * 2**self._attempt)
        self._attempt = min(self._attempt + 1, 16)
        return max(asked_s or 0.0, random.uniform(ceiling / 2, ceiling))

    def reset(self) -> None:
        """Start again from the first delay."""
        self._attempt = 0
