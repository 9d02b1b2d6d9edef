"""Clocks for simulated labelers: one of real time, one that skips waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Pause between two questions whether the outside has settled, in real seconds.
_LOOK_S = 0.01


class WallClock:
    """Real time since the first external event, for threads numbered from 0.

    It also tells whether all of them wait for external events.
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
        """Mark that a thread waits for an external event."""
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
        """Remove a thread from the clock."""
        with self._changed:
            self._running.discard(party)
            self._note()

    def stop(self) -> None:
        """Wake all sleeping threads."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    @property
    def waiters(self) -> int:
        """Number of threads that wait for external events."""
        with self._changed:
            return len(self._waiting)

    @property
    def all_wait(self) -> bool:
        """Whether all threads wait for external events."""
        with self._changed:
            return bool(self._waiting) and not self._running

    def _note(self) -> None:
        self._since = time.monotonic()
        self._changed.notify_all()


class VirtualClock(WallClock):
    """Virtual time: it advances at once while all threads sleep or wait.

    Once all threads sleep or wait for external events, and none is to come, the sleeper with the
    earliest end wakes, alone. Equal ends go by number. So events have the order of real time.

    Parameters
    ----------
    parties : int
        Number of threads.
    settled : callable
        Returns True where the outside has nothing for those who wait, and will have nothing before
        somebody acts. It is called without a lock while nobody acts, until it returns True. What it
        raises, `sleep` raises.
    """

    def __init__(self, parties: int, *, settled: Callable[[], bool]) -> None:
        super().__init__(parties)
        self._settled = settled
        self._now = 0.0
        self._ends: dict[int, float] = {}
        # Counts what changed: an answer of `settled` holds for the moment of the question alone.
        self._changes = 0

    @property
    def now(self) -> float:
        """Virtual seconds since the start."""
        with self._changed:
            return self._now

    def sleep(self, party: int, seconds: float) -> None:
        """Return when `seconds` of virtual time have passed, or at once after `stop`."""
        with self._changed:
            end = self._ends[party] = self._now + seconds
            self._running.discard(party)
            self._note()
            try:
                while not (self._stopped or self._may_go_on(party)):
                    pass
                if not self._stopped:
                    self._now = end
            finally:
                del self._ends[party]
                self._running.add(party)
                self._note()

    @property
    def all_wait(self) -> bool:
        """Whether all threads wait for external events."""
        with self._changed:
            return not self._ends and super().all_wait

    def _may_go_on(self, party: int) -> bool:
        """Wait for a change; return whether it is the turn of `party`."""
        if self._running or party != min(self._ends, key=lambda p: (self._ends[p], p)):
            self._changed.wait()
            return False
        changes = self._changes
        self._changed.release()
        try:
            settled = self._settled()
        finally:
            self._changed.acquire()
        if settled and changes == self._changes:
            return True
        if changes == self._changes:
            self._changed.wait(_LOOK_S)
        return False

    def _note(self) -> None:
        super()._note()
        self._changes += 1
