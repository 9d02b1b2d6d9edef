"""Where a long computation can be stopped: the caller's check runs between its pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None] | None] = ContextVar("svddtune_check", default=None)


def checkpoint() -> None:
    """Run the check of the caller, where there is one; it raises to stop the computation."""
    check = _check.get()
    if check is not None:
        check()


@contextmanager
def checked_by(check: Callable[[], None]) -> Iterator[None]:
    """Let computations in the body run `check` between their pieces.

    A piece is one fit, or one block of rows. What `check` raises ends the computation and reaches
    the caller.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)
