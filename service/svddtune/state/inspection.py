"""What an operator wants to see of the queues and the workers. Synchronous, and changes nothing.

Jobs come and go while it looks: what it returns was true at some moment of the call.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import msgpack
from redis.exceptions import ResponseError

from svddtune.state import keys
from svddtune.state.connect import Redis
from svddtune.state.faults import redis_faults

LANES = ("hi", "bulk")
# Jobs that are looked at of each place where jobs are; a queue may hold very many.
MOST = 1000


class JobState(Enum):
    """Where a job is."""

    RUNNING = "running"
    # Any worker that is free takes it.
    QUEUED = "queued"
    # It failed, and is tried again after a pause.
    PAUSED = "paused"
    # It was given up: a dead letter.
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class JobEntry:
    """A job."""

    state: JobState
    kind: str
    # "hi" where a labeler waits for it, else "bulk".
    lane: str
    # Empty for a job of the dataset, which several sessions may need.
    session_id: str
    dataset_id: str
    # Name of a running job or a dead letter: its entry in the stream of the partition.
    id: str = ""
    # Since when it is in this state, by the clock of the store; None where that is not kept.
    since_ms: int | None = None
    # Running: its worker, and the ms since that worker last showed that it lives.
    worker: str = ""
    silent_ms: int = 0
    # How often it raised an error, and how often its worker vanished.
    errors: int = 0
    lost: int = 0
    # Dead: why.
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class WorkerEntry:
    """A worker, or what is left of one."""

    name: str
    # It gave a sign within the last seconds. What follows is empty where it is not.
    alive: bool
    host: str = ""
    pid: int = 0
    version: str = ""
    # It takes jobs that labelers wait for, and others only while none come.
    hi_only: bool = False
    started_ms: int | None = None
    # Memory of its own; None where its system does not say.
    memory_bytes: int | None = None
    # What it works on; the first one waits while it does an urgent one.
    jobs: tuple[JobEntry, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """What a session waits for."""

    id: str
    # Of ``SessionState``.
    state: str
    dataset_id: str
    # It has asked for a ranking that has not come.
    ranking: bool
    # Differs after every change.
    version: str


def now_ms(client: Redis) -> int:
    """The time by the clock of the store. Raises StoreUnavailable."""
    with redis_faults():
        seconds, micros = client.time()
    return int(seconds * 1000 + micros // 1000)


def workers(client: Redis, partitions: int) -> list[WorkerEntry]:
    """All workers, longest running first, and consumers that dead ones left.

    Raises StoreUnavailable.
    """
    working: dict[str, list[JobEntry]] = {}
    names: dict[str, dict[str, Any] | None] = {}
    with redis_faults():
        for partition in range(partitions):
            prefix = keys.prefix(partition)
            for job in _running(client, prefix):
                working.setdefault(job.worker, []).append(job)
            for name in _consumers(client, prefix):
                said = client.get(f"{prefix}worker:{name}")
                if names.get(name) is None:
                    names[name] = json.loads(said) if said else None
    found = [
        _worker(name, said, tuple(working.get(name, ()))) for name, said in sorted(names.items())
    ]
    return sorted(found, key=lambda one: (not one.alive, one.started_ms or 0))


def sessions(client: Redis, partitions: int) -> list[SessionEntry]:
    """All sessions. Raises StoreUnavailable."""
    found: list[SessionEntry] = []
    with redis_faults():
        for partition in range(partitions):
            prefix = keys.prefix(partition)
            ids = [one.decode() for one in client.zrange(f"{prefix}sessions", 0, -1)]
            for start in range(0, len(ids), MOST):
                asked = ids[start : start + MOST]
                with client.pipeline(transaction=False) as pipeline:
                    for one in asked:
                        pipeline.hmget(
                            f"{prefix}s:{one}", "state", "dataset", "suggesting", "version"
                        )
                    replies = pipeline.execute()
                found += [
                    SessionEntry(
                        one,
                        state.decode(),
                        dataset.decode(),
                        ranking=suggesting == b"1",
                        version=version.decode(),
                    )
                    for one, (state, dataset, suggesting, version) in zip(
                        asked, replies, strict=True
                    )
                    if state
                ]
    return found


def jobs(client: Redis, partitions: int) -> list[JobEntry]:
    """The running jobs, then those that wait in the order of their owners' turns, then the dead.

    At most ``MOST`` of each place and owner. Raises StoreUnavailable.
    """
    found: list[JobEntry] = []
    with redis_faults():
        for partition in range(partitions):
            prefix = keys.prefix(partition)
            for look in (_running, _offered, _waiting, _paused, _dead):
                found += look(client, prefix)
    order = list(JobState)
    return sorted(found, key=lambda one: (order.index(one.state), LANES.index(one.lane)))


def _worker(name: str, said: dict[str, Any] | None, working: tuple[JobEntry, ...]) -> WorkerEntry:
    if said is None:
        return WorkerEntry(name, alive=False, jobs=working)
    return WorkerEntry(
        name,
        alive=True,
        host=said.get("host", ""),
        pid=said.get("pid", 0),
        version=said.get("version", ""),
        hi_only=said.get("hi_only", False),
        started_ms=said.get("started_ms"),
        memory_bytes=said.get("memory_bytes") or None,
        jobs=working,
    )


def _consumers(client: Redis, prefix: str) -> Sequence[str]:
    found: set[str] = set()
    for lane in LANES:
        try:
            consumers = client.xinfo_consumers(f"{prefix}q:{lane}", keys.GROUP)
        except ResponseError:
            # No worker has been there yet, or the server lost its data.
            continue
        found.update(one["name"].decode() for one in consumers)
    return sorted(found)


def _running(client: Redis, prefix: str) -> Iterator[JobEntry]:
    for lane in LANES:
        stream = f"{prefix}q:{lane}"
        try:
            claims = client.xpending_range(stream, keys.GROUP, "-", "+", MOST)
        except ResponseError:
            continue
        for claim in claims:
            entry = claim["message_id"]
            for _, fields in client.xrange(stream, entry, entry):
                yield _entry(
                    JobState.RUNNING,
                    lane,
                    fields,
                    id=entry.decode(),
                    since_ms=_ms(entry),
                    worker=claim["consumer"].decode(),
                    silent_ms=claim["time_since_delivered"],
                )


def _offered(client: Redis, prefix: str) -> Iterator[JobEntry]:
    """Urgent jobs whose turn it is, for which no worker has been free yet."""
    stream = f"{prefix}q:hi"
    try:
        groups = client.xinfo_groups(stream)
    except ResponseError:
        groups = []
    last = next((one["last-delivered-id"] for one in groups if one["name"] == b"workers"), b"0-0")
    for entry, fields in client.xrange(stream, b"(" + last, "+", MOST):
        yield _entry(JobState.QUEUED, "hi", fields, id=entry.decode(), since_ms=_ms(entry))


def _waiting(client: Redis, prefix: str) -> Iterator[JobEntry]:
    for lane in LANES:
        for owner in _owners(client, prefix, lane):
            for packed in client.lrange(f"{prefix}q:{lane}:todo:{owner}", 0, MOST - 1):
                yield _entry(JobState.QUEUED, lane, _unpacked(packed))


def _owners(client: Redis, prefix: str, lane: str) -> list[str]:
    return [one.decode() for one in client.zrange(f"{prefix}q:{lane}:turn", 0, MOST - 1)]


def _paused(client: Redis, prefix: str) -> Iterator[JobEntry]:
    for packed in client.zrange(f"{prefix}q:later", 0, MOST - 1):
        fields = _unpacked(packed)
        yield _entry(JobState.PAUSED, _lane(fields), fields)


def _dead(client: Redis, prefix: str) -> Iterator[JobEntry]:
    for entry, fields in client.xrange(f"{prefix}q:dead", "-", "+", 2 * MOST):
        yield _entry(
            JobState.DEAD,
            _lane(fields),
            fields,
            id=f"{prefix[len('svddtune:{') : -2]}-{entry.decode()}",
            since_ms=_ms(entry),
            reason=fields.get(b"reason", b"").decode(),
            message=fields.get(b"message", b"").decode(errors="replace"),
        )


def _entry(state: JobState, lane: str, fields: dict[bytes, Any], **more: Any) -> JobEntry:
    return JobEntry(
        state,
        kind=fields[b"kind"].decode(),
        lane=lane,
        session_id=fields[b"session"].decode(),
        dataset_id=fields[b"dataset"].decode(),
        errors=int(fields.get(b"errors", 0)),
        lost=int(fields.get(b"lost", 0)),
        **more,
    )


def _unpacked(packed: bytes) -> dict[bytes, Any]:
    fields: dict[bytes, Any] = msgpack.unpackb(packed, raw=True)
    return fields


def _lane(fields: dict[bytes, Any]) -> str:
    return "hi" if fields.get(b"stream", b"").endswith(b":hi") else "bulk"


def _ms(entry: bytes) -> int:
    return int(entry.partition(b"-")[0])
