"""Polling for effects of other processes that send no event."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], *, timeout_s: float = 30.0) -> None:
    """Return once the condition holds; fail the test after the timeout."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"condition did not hold within {timeout_s} s"
        time.sleep(0.005)
