"""Claim a job, do it while a heartbeat keeps the claim, commit; again until told to stop."""

import logging
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from svddtune.numerics import DawidSkeneUnavailable
from svddtune.state.errors import ClaimLost, NotFound, StoreUnavailable
from svddtune.state.queue import SILENCE_MS, Claim, JobQueue
from svddtune.worker.step import Steps

log = logging.getLogger(__name__)

RECOVER_EVERY_S = SILENCE_MS["hi"] / 1000 / 4
SIGN_EVERY_S = 5.0


class Heartbeat:
    """Renews the claim that is worked on, from a thread of its own with its own connection."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue
        self._claim: Claim | None = None
        self._busy = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    @contextmanager
    def keeping(self, claim: Claim) -> Iterator[None]:
        """Keep a claim alive while the body runs."""
        self._claim = claim
        self._busy.set()
        try:
            yield
        finally:
            self._busy.clear()
            self._claim = None

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._busy.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._busy.wait()
            claim = self._claim
            if claim is None:
                continue
            if self._stopping.wait(SILENCE_MS[claim.lane] / 1000 / 3):
                return
            # Most jobs are over by now; only one that still runs is renewed.
            if self._claim is claim:
                try:
                    self._queue.renew(claim)
                except ClaimLost:
                    log.warning("claim lost", extra={"kind": claim.kind, "job": claim.entry})
                except StoreUnavailable as error:
                    log.warning("heartbeat failed: %s", error.message)


class WorkerLoop:
    """Runs jobs one at a time until stopped."""

    def __init__(self, queue: JobQueue, heartbeat_queue: JobQueue, steps: Steps) -> None:
        self._queue = queue
        self._heartbeat = Heartbeat(heartbeat_queue)
        self._steps = steps
        self._stopping = False
        self._next_recovery = 0.0
        self._next_sign = 0.0

    def stop(self) -> None:
        """Let ``run`` return after the job it is at; safe in a signal handler."""
        self._stopping = True

    def run(self, description: dict[str, object]) -> None:
        """Work until stopped. Redis may go away and come back meanwhile."""
        pause = 0.1
        while not self._stopping:
            try:
                self._sign_in(description)
                claim = self._queue.take() or self._recovered()
                pause = 0.1
            except StoreUnavailable as error:
                log.warning("%s; trying again in %.1f s", error.message, pause)
                time.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(pause * 2, 5.0)
                continue
            if claim is not None:
                self._work(claim)
        self._heartbeat.stop()

    def _sign_in(self, description: dict[str, object]) -> None:
        if time.monotonic() >= self._next_sign:
            self._queue.sign_in(description)
            self._next_sign = time.monotonic() + SIGN_EVERY_S

    def _recovered(self) -> Claim | None:
        if time.monotonic() < self._next_recovery:
            return None
        self._next_recovery = time.monotonic() + RECOVER_EVERY_S * random.uniform(0.75, 1.25)
        return self._queue.recover()

    def _work(self, claim: Claim) -> None:
        started = time.monotonic()
        event = _event(claim)
        try:
            with self._heartbeat.keeping(claim):
                self._steps.run(claim)
            took_ms = round(1000 * (time.monotonic() - started), 1)
            log.debug("done", extra=event | {"ms": took_ms})
        except ClaimLost:
            log.warning("outcome refused: another worker has the job", extra=event)
        except StoreUnavailable as error:
            # The claim lapses and the job is done again, by this worker or another.
            log.warning("job broken off: %s", error.message, extra=event)
        except NotFound as error:
            self._give_up(claim, error.reason, error.message, final=True)
        except DawidSkeneUnavailable as error:
            self._give_up(claim, "DAWID_SKENE_UNAVAILABLE", f"{error}.", final=True)
        except MemoryError:
            self._give_up(claim, "OUT_OF_MEMORY", "The worker has too little memory.", final=True)
        except Exception as error:
            fault = uuid4().hex[:12]
            log.exception("job failed", extra=event | {"fault": fault})
            self._give_up(claim, "JOB_FAILED", f"{type(error).__name__}: {error} (fault {fault})")

    def _give_up(self, claim: Claim, reason: str, message: str, *, final: bool = False) -> None:
        event = _event(claim)
        try:
            dead = self._queue.fail(claim, reason, message, final=final)
            log.error("%s: %s", "given up" if dead else "to be tried again", reason, extra=event)
        except (ClaimLost, StoreUnavailable) as error:
            log.warning("not given up: %s", error, extra=event)


def _event(claim: Claim) -> dict[str, str]:
    return {"kind": claim.kind, "job": claim.entry, "session_id": claim.session_id}
