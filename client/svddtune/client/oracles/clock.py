"""Clocks for simulated labelers: one that really waits, one that skips the waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class WallClock:
    """Real time since the first thing came from outside, for threads numbered from 0.

    It also tells when all of them wait for the outside.
    """

    def __init__(self, parties: int) -> None:
        self._changed = threading.Condition()
        self._running = set(range(parties))
        self._waiting = set[int]()
        self._began = False
        self._since = self._start = time.monotonic()
        self._stopped = False

    @property
    def now(self) -> float:
        """Seconds since the start; 0 before."""
        with self._changed:
            return time.monotonic() - self._start if self._began else 0.0

    def sleep(self, party: int, seconds: float) -> None:
        """Return after `seconds`, or at once where the clock was stopped."""
        del party
        with self._changed:
            self._changed.wait_for(lambda: self._stopped, seconds)

    @contextmanager
    def waiting(self, party: int) -> Iterator[None]:
        """Mark that a thread waits for something outside: what takes no time of its own."""
        with self._changed:
            self._running.discard(party)
            self._waiting.add(party)
            self._note()
        try:
            yield
        finally:
            with self._changed:
                self._waiting.discard(party)
                self._running.add(party)
                self._note()
                if not self._began:
                    self._began, self._start = True, self._since

    def leave(self, party: int) -> None:
        """Take no more part."""
        with self._changed:
            self._running.discard(party)
            self._note()

    def stop(self) -> None:
        """Let everybody who sleeps go on."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def stalled_s(self) -> float:
        """Real seconds for which all who take part have waited since something came; else 0."""
        with self._changed:
            stalled = self._began and self._waiting and not self._running
            return time.monotonic() - self._since if stalled else 0.0

    def _note(self) -> None:
        self._since = time.monotonic()
        self._changed.notify_all()


class VirtualClock(WallClock):
    """Time that passes only while nobody has anything to do, and then at once.

    Of all who sleep the one with the earliest end goes on, alone, once all others sleep too or
    have waited for the outside for `grace_s` real seconds in vain: the outside has nothing for
    them before somebody acts. Before anything came from outside at all, that wait has no limit.
    Equal ends go by number. So the order of what happens is that of real time.

    `settle_s` are real seconds given to the outside after each event, to do what it would have long
    done before the next one in real time.
    """

    def __init__(self, parties: int, *, grace_s: float = 0.5, settle_s: float = 0.0) -> None:
        super().__init__(parties)
        self._grace_s = max(grace_s, settle_s)
        self._settle_s = settle_s
        self._now = 0.0
        self._ends: dict[int, float] = {}

    @property
    def now(self) -> float:
        """Virtual seconds since the start."""
        with self._changed:
            return self._now

    def sleep(self, party: int, seconds: float) -> None:
        """Return when `seconds` have passed for everybody, or at once once stopped."""
        with self._changed:
            self._ends[party] = self._now + seconds
            self._running.discard(party)
            self._note()
            while party in self._ends:
                if self._stopped:
                    del self._ends[party]
                    self._running.add(party)
                elif not self._advance():
                    self._changed.wait(self._grace_left_s())

    def stalled_s(self) -> float:
        """Real seconds for which all who take part have waited since something came; else 0."""
        with self._changed:
            return 0.0 if self._ends else super().stalled_s()

    def _advance(self) -> bool:
        left_s = self._grace_left_s()
        if self._running or left_s is None or left_s > 0:
            return False
        party = min(self._ends, key=lambda p: (self._ends[p], p))
        self._now = self._ends.pop(party)
        self._running.add(party)
        self._note()
        return True

    def _grace_left_s(self) -> float | None:
        """Return how long to wait for those that wait; None until something changes."""
        if self._running or (self._waiting and not self._began):
            return None
        quiet_s = self._grace_s if self._waiting else self._settle_s
        return max(0.0, self._since + quiet_s - time.monotonic())
