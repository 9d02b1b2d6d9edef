"""What a backup holds of sessions, datasets and models: their keys by type and value. Synchronous.

A session is read in one transaction, so it is of one instant. A dataset never changes. What can be
made again is left out: jobs, rankings, preparations and atlases.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import keys
from svddtune.state.connect import Redis
from svddtune.state.faults import redis_faults
from svddtune.state.session import DatasetId, ModelId, SessionId
from svddtune.v1 import dataset_pb2

# Parts of a session and their types; "result:REV" and "model:REV" come with each revision. Waiting
# holders and previews are not kept: their callers ask again.
_SESSION_PARTS = {
    "events": "stream",
    "votes": "hash",
    "labels": "hash",
    "withdrawn": "set",
    "labelers": "hash",
    "dropped": "set",
    "answers": "hash",
    "queries": "hash",
    "corrections": "hash",
    "asked": "hash",
    "awaiting": "set",
    "open": "list",
    "leases": "zset",
    "held": "hash",
    "explanations": "hash",
    "history": "hash",
    "moments": "hash",
    "cells": "string",
    "places": "string",
    "margins": "string",
    "controls": "list",
}

# Keys of one session or dataset: name after its own key -> type and value.
Parts = dict[str, tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session at one instant."""

    id: SessionId
    dataset_id: DatasetId
    # Of its hash.
    fields: dict[bytes, bytes]
    parts: Parts


@dataclass(frozen=True, slots=True)
class StoredDataset:
    """A dataset without its parts, which may be large: see ``dataset_parts``."""

    id: DatasetId
    fields: dict[bytes, bytes]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of observations and features."""
        record = dataset_pb2.Dataset.FromString(self.fields[b"record"])
        return record.observation_count, record.feature_count

    @property
    def size(self) -> int:
        """Bytes of its values, as limits of projects count them."""
        n, m = self.shape
        return 8 * n * m

    @property
    def stored(self) -> jobs_pb2.StoredRows | None:
        """Where its rows are if they are in the dataset store."""
        found = self.fields.get(b"stored")
        return None if found is None else jobs_pb2.StoredRows.FromString(found)


def layout(client: Redis) -> int | None:
    """The layout version of the data; None where there are none. Raises StoreUnavailable."""
    with redis_faults():
        found = client.get(keys.prefix(0) + "layout")
    return None if found is None else int(found)


def session_ids(client: Redis, partitions: int) -> list[SessionId]:
    """Ids of all sessions, oldest first in each partition. Raises StoreUnavailable."""
    return [SessionId(one) for one in _listed(client, "sessions", partitions)]


def dataset_ids(client: Redis, partitions: int) -> list[DatasetId]:
    """Ids of all datasets, oldest first in each partition. Raises StoreUnavailable."""
    return [DatasetId(one) for one in _listed(client, "datasets", partitions)]


def _listed(client: Redis, index: str, partitions: int) -> Iterator[str]:
    for partition in range(partitions):
        with redis_faults():
            found = client.zrange(keys.prefix(partition) + index, 0, -1)
        yield from (one.decode() for one in found)


def model_ids(client: Redis, partitions: int) -> list[ModelId]:
    """Ids of all uploaded models. Raises StoreUnavailable."""
    found = []
    for partition in range(partitions):
        start = f"{keys.prefix(partition)}m:"
        with redis_faults():
            found += [
                ModelId(key.decode().removeprefix(start))
                for key in client.scan_iter(match=f"{start}*", count=1000)
            ]
    return sorted(found)


def session(client: Redis, session_id: SessionId) -> StoredSession | None:
    """A session, all of one instant; None where there is none. Raises StoreUnavailable."""
    revision = 0
    while True:
        types = dict(_SESSION_PARTS)
        for number in range(1, revision + 1):
            types |= {f"result:{number}": "string", f"model:{number}": "list"}
        with redis_faults(), client.pipeline(transaction=True) as pipe:
            pipe.hgetall(keys.session(session_id))
            for part, kind in types.items():
                _read(pipe, keys.session(session_id, part), kind)
            fields, *values = pipe.execute()
        if not fields:
            return None
        if int(fields[b"revision"]) == revision:
            found = zip(types.items(), values, strict=True)
            parts = {part: (kind, _plain(kind, value)) for (part, kind), value in found if value}
            return StoredSession(session_id, DatasetId(fields[b"dataset"].decode()), fields, parts)
        # A result came meanwhile, or this is the first look.
        revision = int(fields[b"revision"])


def dataset(client: Redis, partition: int, dataset_id: DatasetId) -> StoredDataset | None:
    """A dataset of a partition; None where there is none. Raises StoreUnavailable."""
    with redis_faults():
        fields = client.hgetall(keys.dataset(partition, dataset_id))
    kept = {
        name: value
        for name, value in fields.items()
        if not name.startswith(b"prep") and name != b"unused_ms"
    }
    return StoredDataset(dataset_id, kept) if b"record" in kept else None


def dataset_parts(
    client: Redis, partition: int, stored: StoredDataset
) -> Iterator[tuple[str, str, Any]]:
    """Name, type and value of each part of a dataset. Raises StoreUnavailable."""
    parts = [(f"x:{index}", "string") for index in range(int(stored.fields[b"chunks"]))]
    if stored.fields[b"has_ids"] == b"1":
        parts += [("ids", "hash"), ("rows", "hash")]
    if stored.fields[b"has_display"] == b"1":
        parts.append(("display", "hash"))
    parts += [
        (f"portrait:{index}", "string") for index in range(int(stored.fields.get(b"portrait", 0)))
    ]
    for part, kind in parts:
        with redis_faults(), client.pipeline(transaction=False) as pipe:
            _read(pipe, keys.dataset(partition, stored.id, part), kind)
            (value,) = pipe.execute()
        if value:
            yield part, kind, _plain(kind, value)


def model(client: Redis, partition: int, model_id: ModelId) -> tuple[list[bytes], int]:
    """An uploaded model in pieces and when it expires, in Unix ms; no pieces where it is gone."""
    key = keys.model(partition, model_id)
    with redis_faults(), client.pipeline(transaction=True) as pipe:
        pipe.lrange(key, 0, -1)
        pipe.pexpiretime(key)
        pieces, expires_ms = pipe.execute()
    return pieces, int(expires_ms)


def _read(pipe: Any, key: str, kind: str) -> None:
    match kind:
        case "string":
            pipe.get(key)
        case "hash":
            pipe.hgetall(key)
        case "list":
            pipe.lrange(key, 0, -1)
        case "set":
            pipe.smembers(key)
        case "zset":
            pipe.zrange(key, 0, -1, withscores=True)
        case "stream":
            pipe.xrange(key)


def _plain(kind: str, value: Any) -> Any:
    """A value as lists of bytes and numbers, in an order that does not depend on the server."""
    match kind:
        case "hash":
            return [[field, text] for field, text in sorted(value.items())]
        case "set":
            return sorted(value)
        case "zset":
            return [[member, score] for member, score in value]
        case "stream":
            return [
                [entry, [[name, text] for name, text in fields.items()]] for entry, fields in value
            ]
        case _:
            return value
