"""A replay as a process: until the session ends, or as long as a file grows."""

from __future__ import annotations

import time
from collections.abc import Callable

from svddtune.client.errors import Unavailable
from svddtune.client.tickets.follow import Follower
from svddtune.client.tickets.oracle import TicketOracle
from svddtune.client.tickets.replay import Replay, Sent
from svddtune.client.tuning import Tuning


def serve(
    replay: Replay,
    oracle: TicketOracle,
    tuning: Tuning,
    *,
    unasked: bool,
    follower: Follower | None = None,
    interval_s: float = 1.0,
    on_change: Callable[[Sent], None] = lambda _: None,
) -> None:
    """Send what the tickets say; return once there is nothing more to do.

    Parameters
    ----------
    unasked : bool
        Whether all known verdicts are given at once; else queries are answered as they come, until
        the session asks no more.
    follower : Follower, optional
        A growing file whose records `oracle` takes in, looked at every `interval_s` seconds. What
        changes corrects and retracts earlier votes. Ends with the session.
    on_change : callable
        Told after each step that sent something.
    """
    replay.correct()
    if unasked:
        replay.label_all()
    on_change(replay.sent)
    looked = time.monotonic()
    while not unasked or follower is not None:
        if unasked and tuning.finished:
            return
        if unasked:
            time.sleep(interval_s)
        elif not _answer_next(replay, tuning, None if follower is None else interval_s):
            return
        if follower is not None and time.monotonic() - looked >= interval_s:
            changed = oracle.add(follower.poll())
            replay.correct(changed)
            if unasked and changed:
                replay.label_all()
            looked = time.monotonic()
        on_change(replay.sent)


def _answer_next(replay: Replay, tuning: Tuning, timeout_s: float | None) -> bool:
    """Answer the next query that comes in time; False where the session asks no more."""
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
