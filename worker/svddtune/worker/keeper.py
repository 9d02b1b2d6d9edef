"""Upkeep beside the computation: renew the claim, register, and recover lost jobs."""

import logging
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from svddtune.process.traces import trace_of
from svddtune.state.errors import ClaimLost, StoreUnavailable
from svddtune.state.queue import SILENCE_MS, Claim, JobQueue
from svddtune.worker.limits import own_bytes

log = logging.getLogger(__name__)

TICK_S = SILENCE_MS["hi"] / 1000 / 4
SIGN_EVERY_S = 5.0
# After a fault of the store.
PAUSE_S = 1.0


class JobUnwanted(Exception):
    """Nobody needs what the job makes any more."""


class Keeper:
    """A thread that keeps its intervals however long a job takes.

    On each tick it renews the claims in hand and puts back jobs of workers that stopped renewing
    theirs. Every few seconds it renews the worker's registration, writes ``alive_file``, and
    removes the consumers that killed workers left. The first tick is at the start.
    """

    def __init__(
        self,
        queue: JobQueue,
        description: Mapping[str, object],
        *,
        alive_file: Path | None = None,
    ) -> None:
        self._queue = queue
        self._description = dict(description)
        self._alive_file = alive_file
        # The jobs in hand. The last one runs; the others wait for it at a checkpoint.
        self._claims: tuple[Claim, ...] = ()
        # By claim's entry, why its job is not to go on.
        self._ended: dict[str, Exception] = {}
        self._stopping = threading.Event()
        self._next_sign = 0.0
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._thread.start()

    @contextmanager
    def keeping(self, claim: Claim) -> Iterator[None]:
        """Keep a claim alive while the body runs, beside the claims that are kept already."""
        before = self._claims
        self._claims = (*before, claim)
        try:
            yield
        finally:
            self._claims = before
            self._ended.pop(claim.entry, None)

    def check(self) -> None:
        """Raise JobUnwanted or ClaimLost where the current job is not to go on.

        The answer is at most a tick old.
        """
        if self._claims and (ended := self._ended.get(self._claims[-1].entry)):
            raise ended

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._stopping.is_set():
            pause_s = TICK_S * random.uniform(0.75, 1.25)
            try:
                self._tick()
            except StoreUnavailable as error:
                log.warning("keeper: %s", error.message)
                pause_s = PAUSE_S
            except Exception:
                # The thread continues: without it the worker would lose every long job.
                log.exception("keeper failed")
                pause_s = PAUSE_S
            self._stopping.wait(pause_s)

    def _tick(self) -> None:
        # Renew first, so that recovery does not take this worker's own claim.
        for claim in self._claims:
            ended: Exception
            try:
                if self._queue.renew(claim):
                    continue
                ended = JobUnwanted()
            except ClaimLost as error:
                ended = error
            # A job may have ended in the meantime, and so may its claim.
            if claim in self._claims:
                self._ended[claim.entry] = ended
                if isinstance(ended, ClaimLost):
                    # (This thread is none of the job's, whose lines name it by themselves.)
                    about = {"session_id": claim.session_id, "trace_id": trace_of(claim.trace)}
                    log.warning(
                        "claim lost", extra={"kind": claim.kind, "job": claim.entry, **about}
                    )
        found = self._queue.recover()
        if found.lost:
            counts = {"jobs": found.lost, "given_up": found.dead}
            log.warning(
                "jobs of workers that stopped responding went back to the queue", extra=counts
            )
        if time.monotonic() >= self._next_sign:
            self._queue.sign_in(self._description | {"memory_bytes": own_bytes()})
            if self._alive_file:
                self._alive_file.touch()
            if forgotten := self._queue.forget_workers():
                log.info("consumers of killed workers removed", extra={"workers": forgotten})
            self._next_sign = time.monotonic() + SIGN_EVERY_S
