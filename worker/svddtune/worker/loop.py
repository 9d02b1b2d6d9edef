"""The loop: claim a job, do it while its claim is renewed, commit, until stopped."""

import contextlib
import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from structlog.contextvars import bound_contextvars

from svddtune.extensions import ExtensionBroken, ExtensionMissing
from svddtune.numerics import DawidSkeneUnavailable, StrategyFault, checked_by
from svddtune.process import traces
from svddtune.state.errors import ClaimLost, Damaged, NotFound, StoreUnavailable
from svddtune.state.queue import BULK_TURN_S, Claim, JobQueue
from svddtune.worker.keeper import JobUnwanted, Keeper
from svddtune.worker.limits import Limits, Meter, OverLimit, memory_message
from svddtune.worker.step import Steps

log = logging.getLogger(__name__)

# How often a bulk job looks for urgent ones between its pieces. A look takes a round trip.
LOOK_EVERY_S = 0.02


class Meters(Protocol):
    """Counts jobs."""

    def job_ended(self, kind: str, outcome: str, seconds: float) -> None:
        """A job of a kind has ended so, after so long.

        ``outcome`` is done, unwanted, lost (another worker has taken it over), interrupted (Redis
        was away), failed (it is tried again) or given up.
        """


def _counted(
    work: Callable[["WorkerLoop", Claim, Keeper], str],
) -> Callable[["WorkerLoop", Claim, Keeper], str]:
    """Count how the jobs end that this works on."""

    @wraps(work)
    def counted(self: "WorkerLoop", claim: Claim, keeper: Keeper) -> str:
        began, outcome = time.perf_counter(), "interrupted"
        try:
            # All lines of the log that the job causes name it.
            with (
                bound_contextvars(**_event(claim)),
                traces.span(f"Job {claim.kind}", claim.trace, **_event(claim)) as trace,
            ):
                # What comes of the job follows from its span.
                outcome = work(self, replace(claim, trace=trace or claim.trace), keeper)
        finally:
            if self.meters is not None:
                self.meters.job_ended(claim.kind, outcome, time.perf_counter() - began)
        return outcome

    return counted


class WorkerLoop:
    """Runs jobs one at a time until stopped.

    A bulk job lets urgent ones go first between its pieces, so that a labeler waits for one fit
    and not for a whole job.
    """

    def __init__(
        self,
        queue: JobQueue,
        steps: Steps,
        limits: Limits | None = None,
        meters: Meters | None = None,
        *,
        alive_file: Path | None = None,
    ) -> None:
        self.meters = meters
        self._queue = queue
        self._steps = steps
        self._alive_file = alive_file
        self._limits = limits or Limits()
        self._stopping = threading.Event()
        # Set once ``run`` is over.
        self.ended = threading.Event()

    def stop(self) -> None:
        """Let ``run`` return after its current job."""
        self._stopping.set()

    def run(self, description: Mapping[str, object]) -> None:
        """Work until stopped, then sign out. Redis may be unavailable for a while."""
        keeper = Keeper(self._queue, description, alive_file=self._alive_file)
        pause, stray = 0.1, False
        while not self._stopping.is_set():
            try:
                if stray:
                    self._queue.give_back()
                    stray = False
                claim = self._queue.take()
                # A job claimed while the worker was being stopped goes back with the sign-out.
                if claim is not None and not self._stopping.is_set():
                    self._work(claim, keeper)
                pause = 0.1
            except StoreUnavailable as error:
                log.warning("%s; trying again in %.1f s", error.message, pause)
                # A lost reply may have delivered a job.
                stray = True
                self._stopping.wait(pause * random.uniform(0.5, 1.0))
                pause = min(pause * 2, 5.0)
        keeper.stop()
        with contextlib.suppress(StoreUnavailable):
            self._queue.sign_out()
        self.ended.set()

    @_counted
    def _work(self, claim: Claim, keeper: Keeper) -> str:
        """Do a job, as far as that can be done: how it ended."""
        started = time.monotonic()
        event = _event(claim)
        log.debug("begun", extra=event)
        try:
            with keeper.keeping(claim):
                try:
                    with checked_by(self._between_pieces(claim, keeper)):
                        self._steps.run(claim)
                except JobUnwanted:
                    self._steps.drop(claim)
                    log.info("stopped: nobody needs the job any more", extra=event)
                    return "unwanted"
            took_ms = round(1000 * (time.monotonic() - started), 1)
            log.debug("done", extra=event | {"ms": took_ms})
            return "done"
        except ClaimLost:
            log.warning("result refused: another worker has taken over the job", extra=event)
            return "lost"
        except StoreUnavailable as error:
            # The job did not cause this, so it goes back without counting an error.
            log.warning("job interrupted: %s", error.reason, extra=event)
            raise
        except (Damaged, NotFound) as error:
            return self._give_up(claim, error.reason, error.message, final=True)
        except DawidSkeneUnavailable as error:
            return self._give_up(claim, "DAWID_SKENE_UNAVAILABLE", f"{error}.", final=True)
        except (ExtensionMissing, ExtensionBroken) as error:
            return self._give_up(claim, error.reason, f"{error.message}.", final=True)
        except StrategyFault as error:
            return self._give_up(claim, "QUERY_STRATEGY_BROKEN", f"{error}.", final=True)
        except OverLimit as error:
            # A worker that holds less from earlier jobs may have the memory.
            final = error.reason == "JOB_TIME_LIMIT"
            return self._give_up(claim, error.reason, error.message, final=final)
        except MemoryError:
            # Another process may have taken the memory; a later attempt may succeed.
            return self._give_up(claim, "OUT_OF_MEMORY", memory_message(self._limits))
        except Exception as error:
            fault = uuid4().hex[:12]
            log.exception("job failed", extra=event | {"fault": fault})
            return self._give_up(
                claim, "JOB_FAILED", f"{type(error).__name__}: {error} (fault {fault})"
            )

    def _between_pieces(self, claim: Claim, keeper: Keeper) -> Callable[[], None]:
        """What a job does between its pieces."""
        meter = Meter(self._limits)

        def check_ends() -> None:
            keeper.check()
            meter.check()

        if claim.urgent:
            return check_ends
        next_look = time.monotonic() + LOOK_EVERY_S

        def check() -> None:
            nonlocal next_look
            check_ends()
            if time.monotonic() < next_look or self._stopping.is_set():
                return
            # Endless urgent jobs must not keep the bulk job from its end.
            turn_ends = time.monotonic() + BULK_TURN_S
            with meter.paused():
                while time.monotonic() < turn_ends and (urgent := self._queue.take_urgent()):
                    self._work(urgent, keeper)
            keeper.check()
            next_look = time.monotonic() + LOOK_EVERY_S

        return check

    def _give_up(self, claim: Claim, reason: str, message: str, *, final: bool = False) -> str:
        """Give a job up, for another try or for good: how it ended."""
        event = _event(claim)
        try:
            dead = self._queue.fail(claim, reason, message, final=final)
            log.error("%s: %s", "given up" if dead else "will be tried again", reason, extra=event)
        except ClaimLost as error:
            log.warning("could not give up the job: %s", error, extra=event)
            return "lost"
        return "given up" if dead else "failed"


def _event(claim: Claim) -> dict[str, str]:
    return {"kind": claim.kind, "job": claim.entry, "session_id": claim.session_id}
