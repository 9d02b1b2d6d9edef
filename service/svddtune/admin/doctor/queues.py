"""Checks of workers and jobs."""

from collections import Counter
from collections.abc import Iterator, Sequence

from svddtune.admin.doctor.findings import Finding, error, ok, warning
from svddtune.admin.tables import age
from svddtune.state.inspection import JobEntry, JobState, WorkerEntry
from svddtune.state.queue import SILENCE_MS
from svddtune.version import __version__

# An urgent job that no worker began for this long keeps a labeler waiting.
_URGENT_WAIT_MS = 10_000
# A worker takes over the jobs of a silent one. After this many times the silence, none has.
_SILENCES = 5
# Names that are shown of a longer list.
_SHOWN = 5


def check_queues(
    workers: Sequence[WorkerEntry], jobs: Sequence[JobEntry], now_ms: int
) -> Iterator[Finding]:
    """Check what the store says of workers and jobs at ``now_ms`` of its clock."""
    alive = [one for one in workers if one.alive]
    yield _alive(alive)
    yield _versions(alive)
    yield _left_over([one for one in workers if not one.alive])
    yield _urgent(alive, jobs, now_ms)
    yield _stalled(jobs)
    yield _dead_letters(jobs)


def _alive(alive: Sequence[WorkerEntry]) -> Finding:
    if not alive:
        return error(
            "workers", "none is alive", "Start one on any machine: svddtune worker --redis URL."
        )
    busy = sum(bool(one.jobs) for one in alive)
    return ok("workers", f"{len(alive)} alive, {busy} of them at work")


def _versions(alive: Sequence[WorkerEntry]) -> Finding:
    counts = Counter(one.version or "unknown" for one in alive)
    value = ", ".join(f"{version} ({count})" for version, count in sorted(counts.items()))
    if set(counts) - {__version__}:
        return warning(
            "worker versions",
            f"{value}; this is {__version__}",
            "That is right during an upgrade only. Restart the workers with this version.",
        )
    return ok("worker versions", value or "-")


def _left_over(gone: Sequence[WorkerEntry]) -> Finding:
    if gone:
        return warning(
            "left over",
            f"{len(gone)} of workers that are gone: {_some([one.name for one in gone])}",
            "Any worker puts their jobs back, and forgets them once they were silent for 15 s.",
        )
    return ok("left over", "none")


def _urgent(alive: Sequence[WorkerEntry], jobs: Sequence[JobEntry], now: int) -> Finding:
    waits = [
        now - one.since_ms
        for one in jobs
        if one.state is JobState.QUEUED and one.lane == "hi" and one.since_ms is not None
    ]
    value = f"{len(waits)} wait, the first for {age(max(waits))}" if waits else "none waits"
    if max(waits, default=0) < _URGENT_WAIT_MS:
        return ok("urgent jobs", value)
    if not alive:
        return error("urgent jobs", value, "Labelers wait for them. Start a worker.")
    return warning(
        "urgent jobs",
        value,
        "Labelers wait for them, and all workers are busy. Start more workers, some of them with "
        "--hi-only.",
    )


def _stalled(jobs: Sequence[JobEntry]) -> Finding:
    stalled = [
        f"{one.kind} of {one.session_id or one.dataset_id} ({age(one.silent_ms)})"
        for one in jobs
        if one.state is JobState.RUNNING and one.silent_ms > _SILENCES * SILENCE_MS[one.lane]
    ]
    if stalled:
        return error(
            "stalled jobs",
            f"{len(stalled)} whose worker gives no sign: {_some(stalled)}",
            "Another worker takes them over once one is there. Start one: svddtune worker --redis "
            "URL; then look whether a worker is stopped (SIGSTOP) or cut off.",
        )
    return ok("stalled jobs", "none")


def _dead_letters(jobs: Sequence[JobEntry]) -> Finding:
    reasons = Counter(one.reason for one in jobs if one.state is JobState.DEAD)
    if reasons:
        value = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        return warning(
            "dead letters",
            value,
            "See why: svddtune jobs list --state dead. Once the cause is gone: svddtune jobs retry "
            "--all; else: svddtune jobs drop --all.",
        )
    return ok("dead letters", "none")


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
