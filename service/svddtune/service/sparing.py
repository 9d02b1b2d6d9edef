"""Lines of the log that anybody can cause: so many a second, and the rest is counted."""

import asyncio
import logging
from contextvars import Context

# The time for which lines are counted together.
PERIOD_S = 1.0


class Sparing:
    """Writes the first lines of each second at once, and one that counts the others after it."""

    def __init__(self, log: logging.Logger, event: str, *, most: int = 1) -> None:
        """``most`` lines are written at once. Use it on one event loop."""
        self._log = log
        self._event = event
        self._most = most
        self._written = 0
        self._count = 0
        self._latest: dict[str, object] = {}

    def note(self, **about: object) -> None:
        """Write a line now, or count it for the next one; ``count`` says for how many it stands."""
        self._count += 1
        self._latest = about
        if self._written < self._most:
            self._write()

    def _write(self) -> None:
        if not self._written:
            # (A line that comes later is not of the call that runs now.)
            asyncio.get_running_loop().call_later(PERIOD_S, self._renew, context=Context())
        self._written += 1
        self._log.warning(self._event, extra={**self._latest, "count": self._count})
        self._count = 0

    def _renew(self) -> None:
        self._written = 0
        if self._count:
            self._write()
