"""Runs a replay until the session ends, or for as long as a file is followed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from svddtune.client.errors import Unavailable, WrongState
from svddtune.client.files.follow import Follower
from svddtune.client.tickets.oracle import TicketOracle
from svddtune.client.tickets.replay import Replay, Sent
from svddtune.client.tuning import Tuning

# Longest wait for a query, in seconds, after which `stop` is checked.
_HEED_STOP_S = 0.5


def serve(
    replay: Replay,
    oracle: TicketOracle,
    tuning: Tuning,
    *,
    unasked: bool,
    follower: Follower | None = None,
    interval_s: float = 1.0,
    stop: threading.Event | None = None,
    on_change: Callable[[Sent], None] = lambda _: None,
) -> str:
    """Send the verdicts of the tickets; return the reason for the end.

    That is "done", "stopped", or the reason for which the session ended, or SESSION_NOT_ACTIVE
    where it takes no labels at the moment.

    Parameters
    ----------
    replay : Replay
        Sends verdicts and corrects earlier ones.
    oracle : TicketOracle
        Knows the verdicts.
    tuning : Tuning
        The dialogue with the session.
    unasked : bool
        Whether all known verdicts are given at once; else queries are answered as they come, until
        the session asks no more.
    follower : Follower, optional
        A growing file whose records `oracle` takes in, looked at every `interval_s` seconds. What
        changes corrects and retracts earlier votes. Ends with the session, or by `stop`.
    stop : threading.Event, optional
        Ends the following of a file once what is being sent is acknowledged.
    on_change : callable
        Told after each step what was sent so far.
    interval_s : float
        Seconds between two looks at the file of `follower`; default 1.
    """
    stop = stop or threading.Event()
    steps = _steps(replay, oracle, tuning, unasked, follower, interval_s, stop)
    try:
        for _ in steps:
            on_change(replay.sent)
    except WrongState as error:
        if error.reason != "SESSION_NOT_ACTIVE":
            raise
        return tuning.finished or error.reason
    return tuning.finished or ("stopped" if stop.is_set() else "done")


def _steps(
    replay: Replay,
    oracle: TicketOracle,
    tuning: Tuning,
    unasked: bool,
    follower: Follower | None,
    interval_s: float,
    stop: threading.Event,
) -> Iterator[None]:
    """Do one step after the other until there is nothing more to do."""
    replay.correct()
    if unasked:
        replay.label_all()
    yield
    if follower is None:
        while not unasked and _answer_next(replay, tuning, None):
            yield
        return
    looked = time.monotonic()
    while not stop.is_set() and not (unasked and tuning.finished):
        due_s = interval_s - (time.monotonic() - looked)
        if unasked:
            stop.wait(due_s)
        elif not _answer_next(replay, tuning, max(0.0, min(due_s, _HEED_STOP_S))):
            return
        if time.monotonic() - looked >= interval_s:
            changed = oracle.add(follower.poll())
            replay.correct(changed)
            if unasked and changed:
                replay.label_all()
            looked = time.monotonic()
        yield


def _answer_next(replay: Replay, tuning: Tuning, timeout_s: float | None) -> bool:
    """Answer the next query within the time; return False where the session asks no more."""
    try:
        query = tuning.next_query(timeout_s=timeout_s)
    except Unavailable as error:
        if error.reason != "WAIT_TIMEOUT":
            raise
        return True
    if query is None:
        return False
    replay.answer(query)
    return True
