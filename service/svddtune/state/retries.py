"""Attempts at a command: when another one is made, and on which connection.

redis-py asks such an object around every command, pipeline and connect. Every attempt after a
failed one is made on a new connection, and so asks again where the server is.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import redis.asyncio.retry
import redis.retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError,
    MasterDownError,
    ReadOnlyError,
    TimeoutError,
    TryAgainError,
)

from svddtune.state.observed import observer

T = TypeVar("T")

# The server is there, but is not the master (any more). What listens at its address now may be:
# connections that lead here are of no use, for reading either.
DEMOTED = (ReadOnlyError, MasterDownError, ClusterDownError)
# A slot of a Cluster is on its way to another master. (MOVED, which says where it is, counts as an
# AskError, too: clients of a Cluster deal with it themselves.)
_UNDER_WAY = (AskError, TryAgainError)
# LOADING counts as a ConnectionError.
_ERRORS = (ConnectionError, TimeoutError, *DEMOTED)
# All who wait for a server that comes back must not ask it at the same moment.
_BACKOFF = ExponentialWithJitterBackoff(cap=0.5, base=0.02)


class _Rule:
    """For how long attempts are made."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        # One call was patient in vain: until one succeeds, the others are told at once.
        self._away = False

    def begin(self) -> float:
        """The time after which no further attempt is made."""
        return time.monotonic() + (0 if self._away else self._patience_s)

    def succeeded(self) -> None:
        """The server answers."""
        self._away = False

    def pause(self, failures: int, last_start: float) -> float | None:
        """How long to wait for the next attempt; None where there is none."""
        pause_s: float = _BACKOFF.compute(failures)
        if time.monotonic() + pause_s > last_start:
            self._away = True
            return None
        return pause_s


class Retries(redis.retry.Retry):
    """Retries of a synchronous client, for at most ``patience_s`` after its first attempt.

    ``pool`` is set to the client's pool, all of whose connections share this object.
    """

    pool: Any = None

    def __init__(self, patience_s: float, *, cluster: bool = False) -> None:
        super().__init__(_BACKOFF, 0, (*_ERRORS, *_UNDER_WAY) if cluster else _ERRORS)
        self._rule = _Rule(patience_s)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Retries":
        # Connections copy what they are given.
        return self

    def call_with_retry(
        self,
        do: Callable[[], T],
        fail: Callable[[Exception], Any] | Callable[[Exception, int], Any],
        is_retryable: Callable[[Exception], bool] | None = None,
        with_failure_count: bool = False,
    ) -> T:
        """The result of ``do``, after attempts that failed; ``fail`` closes their connection."""
        last_start, failures = self._rule.begin(), 0
        while True:
            try:
                done = do()
            except self._supported_errors as error:
                if is_retryable and not is_retryable(error):
                    raise
                failures += 1
                observer().attempt_failed()
                fail(*((error, failures) if with_failure_count else (error,)))
                if isinstance(error, DEMOTED) and self.pool is not None:
                    self.pool.disconnect(inuse_connections=False)
                pause_s = self._rule.pause(failures, last_start)
                if pause_s is None:
                    raise
                time.sleep(pause_s)
            else:
                self._rule.succeeded()
                return done


class AsyncRetries(redis.asyncio.retry.Retry):
    """``Retries`` for an asynchronous client."""

    pool: Any = None

    def __init__(self, patience_s: float, *, cluster: bool = False) -> None:
        super().__init__(_BACKOFF, 0, (*_ERRORS, *_UNDER_WAY) if cluster else _ERRORS)
        self._rule = _Rule(patience_s)

    def __deepcopy__(self, memo: dict[int, Any]) -> "AsyncRetries":
        return self

    async def call_with_retry(
        self,
        do: Callable[[], Awaitable[T]],
        fail: Callable[[Exception], Any] | Callable[[Exception, int], Any],
        is_retryable: Callable[[Exception], bool] | None = None,
        with_failure_count: bool = False,
    ) -> T:
        """As in ``Retries``."""
        last_start, failures = self._rule.begin(), 0
        while True:
            try:
                done = await do()
            except self._supported_errors as error:
                if is_retryable and not is_retryable(error):
                    raise
                failures += 1
                observer().attempt_failed()
                await fail(*((error, failures) if with_failure_count else (error,)))
                if isinstance(error, DEMOTED) and self.pool is not None:
                    await forget_connections(self.pool)
                pause_s = self._rule.pause(failures, last_start)
                if pause_s is None:
                    raise
                await asyncio.sleep(pause_s)
            else:
                self._rule.succeeded()
                return done


async def forget_connections(pool: Any) -> None:
    """Use no connection of an asynchronous pool again that is open now.

    Those in use end their command first.
    """
    await pool.update_active_connections_for_reconnect()
    await pool.disconnect(inuse_connections=False)
