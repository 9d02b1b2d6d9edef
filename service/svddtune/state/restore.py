"""Sessions, datasets and models of a backup become those of a server. Synchronous.

The parts are written under names of their own, where they expire, and get their names in one
script together with what refers to them: whoever looks sees all of a session or nothing.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

from svddtune.state import codec, keys
from svddtune.state.backup import StoredDataset, StoredSession
from svddtune.state.calls import Scripts
from svddtune.state.connect import Redis
from svddtune.state.datasets import UPLOAD_TTL_S
from svddtune.state.faults import redis_faults
from svddtune.state.jobs import session_jobs
from svddtune.state.session import ModelId, SessionId, atlas_parts
from svddtune.v1 import dataset_pb2

# Entries of a key that are written at once.
_AT_ONCE = 1000

# What became of a session: ``orphan`` says that its dataset is not there, ``incomplete`` that its
# parts expired before they were all written.
Outcome = Literal["restored", "exists", "orphan", "incomplete"]


class Restore:
    """Writes to one server."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._call = Scripts(client)

    def session(
        self, stored: StoredSession, session_id: SessionId, *, replace: bool = False
    ) -> Outcome:
        """Restore a session under an id, on its dataset in the partition of that id.

        One that was asking prepares again, and then asks. Its leases end when they would have
        ended. Raises StoreUnavailable.
        """
        partition = keys.partition_of_session(session_id)
        prefix = keys.prefix(partition)
        with redis_faults():
            record = self._client.hget(keys.dataset(partition, stored.dataset_id), "record")
            taken = self._client.exists(keys.session(session_id))
        if record is None:
            return "orphan"
        if taken and not replace:
            return "exists"
        described = codec.session_from_fields(stored.fields, 0, 0)
        scaling = dataset_pb2.Dataset.FromString(record).scaling
        jobs = session_jobs(
            session_id,
            stored.dataset_id,
            described.config,
            observation_count=described.observation_count,
            atlas_parts=atlas_parts(scaling),
        )
        reply = self._call(
            "restore_session",
            prefix,
            session=session_id,
            dataset=stored.dataset_id,
            # (One of a backup from before there were counts is counted, too.)
            fields=dict(stored.fields) | {b"counted": b"1"},
            parts=self.stage(
                prefix, ((part, kind, value) for part, (kind, value) in stored.parts.items())
            ),
            secret=secrets.token_hex(16),
            jobs=jobs.by_kind(),
            range=jobs.range,
            atlas_jobs=jobs.atlas,
            replace=replace,
        )
        outcome: Outcome = reply["outcome"]
        return outcome

    def dataset(
        self, partition: int, stored: StoredDataset, parts: Iterable[tuple[str, str, Any]]
    ) -> Outcome:
        """Restore a dataset. One that is there has the same content, and remains.

        Raises StoreUnavailable.
        """
        with redis_faults():
            if self._client.exists(keys.dataset(partition, stored.id)):
                return "exists"
        prefix = keys.prefix(partition)
        reply = self._call(
            "restore_dataset",
            prefix,
            dataset=stored.id,
            fields=dict(stored.fields) | {b"counted": b"%d" % stored.size},
            parts=self.stage(prefix, parts),
        )
        return "incomplete" if reply["incomplete"] else "exists" if reply["existed"] else "restored"

    def model(
        self, partition: int, model_id: ModelId, pieces: Sequence[bytes], expires_ms: int
    ) -> bool:
        """Restore an uploaded model for the rest of its time; False where that is over."""
        with redis_faults():
            seconds, microseconds = self._client.time()
        left_ms = expires_ms - seconds * 1000 - microseconds // 1000
        if left_ms <= 0:
            return False
        self._call(
            "put_model",
            keys.prefix(partition),
            key=model_id,
            pieces=list(pieces),
            ttl_ms=left_ms,
        )
        return True

    def stage(self, prefix: str, parts: Iterable[tuple[str, str, Any]]) -> Mapping[str, str]:
        """Write parts under names of their own, where they expire; returns those by part.

        Raises StoreUnavailable.
        """
        restore_id = uuid4().hex
        staged = {}
        for index, (part, kind, value) in enumerate(parts):
            staged[part] = key = keys.staged(prefix, restore_id, index)
            for piece in _pieces(kind, value):
                with redis_faults(), self._client.pipeline(transaction=True) as pipe:
                    _write(pipe, key, kind, piece)
                    pipe.expire(key, UPLOAD_TTL_S)
                    pipe.execute()
        return staged


def _pieces(kind: str, value: Any) -> Iterator[Any]:
    if kind == "string":
        yield value
    else:
        for start in range(0, len(value), _AT_ONCE):
            yield value[start : start + _AT_ONCE]


def _write(pipe: Any, key: str, kind: str, value: Any) -> None:
    match kind:
        case "string":
            pipe.set(key, value)
        case "hash":
            pipe.hset(key, mapping=dict(value))
        case "list":
            pipe.rpush(key, *value)
        case "set":
            pipe.sadd(key, *value)
        case "zset":
            pipe.zadd(key, dict(value))
        case "stream":
            for entry, fields in value:
                pipe.xadd(key, dict(fields), id=entry)
