"""DatasetStore: what the service does with datasets."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, takewhile
from typing import Any
from uuid import uuid4

from svddtune.config import SessionConfig
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import codec, keys, projects
from svddtune.state.calls import AsyncScripts, Scripts
from svddtune.state.connect import AsyncRedis
from svddtune.state.errors import NotFound, StoreUnavailable
from svddtune.state.faults import store_call
from svddtune.state.listing import Position, Walk
from svddtune.state.memory import Watermark
from svddtune.state.rows import RowStore
from svddtune.state.session import DatasetId, SessionId
from svddtune.state.usage import ProjectLimits, Usage
from svddtune.v1 import dataset_pb2

# Sizes that are asked for in one round trip.
_SIZES_AT_ONCE = 1000
# Parts of an upload that never completes go after this long.
UPLOAD_TTL_S = 3600
# Rows in the dataset store that belong to no dataset go after this long.
ORPHAN_AGE_S = 2 * UPLOAD_TTL_S
# Rows of a dataset above this size, in bytes, go to the dataset store.
MOST_IN_REDIS = 64 << 20


@dataclass(frozen=True, slots=True)
class StoredObservation:
    """One row with what identifies and describes it."""

    row: int
    observation_id: str
    # M raw values as little-endian doubles.
    values: bytes
    display: dataset_pb2.Display


class DatasetStore:
    """Datasets: immutable, named by their content. Rows of large ones are in the dataset store.

    All methods raise ``StoreUnavailable`` where Redis or the dataset store is away.
    """

    def __init__(
        self,
        client: AsyncRedis,
        *,
        partitions: int = 1,
        rows: RowStore | None = None,
        most_in_redis: int = MOST_IN_REDIS,
        watermark: Watermark | None = None,
        limits: ProjectLimits | None = None,
        kept_ms: int = 0,
    ) -> None:
        """``most_in_redis`` bytes of a dataset's values stay in Redis; without ``rows``, all do.

        No dataset is admitted above the ``watermark``, nor above a project's ``limits``. Datasets
        say that they are kept for ``kept_ms`` after their last use; 0 for ever.
        """
        self._kept_ms = kept_ms
        self._usage = Usage(client, partitions=partitions, limits=limits)
        self._watermark = watermark or Watermark(client)
        self._client = client
        self._rows = rows
        self._most_in_redis = most_in_redis
        self._call = AsyncScripts(client)
        self._partitions = partitions

    def _key(self, dataset_id: DatasetId, part: str = "") -> str:
        partition = keys.partition_of_dataset(dataset_id, self._partitions)
        return keys.dataset(partition, dataset_id, part)

    async def exists(self, dataset_id: DatasetId) -> bool:
        """Whether it is stored completely."""
        async with store_call():
            return bool(await self._client.exists(self._key(dataset_id)))

    async def admit(self, size: int) -> None:
        """Return where a dataset with so many bytes of values may be stored.

        Raises QuotaExceeded (``STORE_NEARLY_FULL``).
        """
        await self._watermark.check(0 if self.outside(size) else size)

    async def check_quota(self, size: int) -> None:
        """Return where the project may have one more dataset, with so many bytes of values.

        It may be too late when the dataset is committed. Raises QuotaExceeded
        (``QUOTA_EXCEEDED``).
        """
        await self._usage.check(datasets=1, bytes=size)

    async def put_rows(self, dataset_id: DatasetId, index: int, values: bytes) -> None:
        """Store chunk ``index`` of the rows; it expires unless the dataset is committed."""
        await self._put(dataset_id, f"x:{index}", value=values)

    def outside(self, size: int) -> bool:
        """Whether a dataset's values of this size, in bytes, go to the dataset store."""
        return self._rows is not None and size > self._most_in_redis

    async def put_outside(
        self, dataset_id: DatasetId, pieces: Iterable[bytes], feature_count: int
    ) -> jobs_pb2.StoredRows:
        """Store the rows in the dataset store, in the pieces that ``RowStore.put`` takes.

        They are an orphan until the dataset is committed.
        """
        return await self._row_store(dataset_id).put(
            dataset_id, await owner_of(self._call), pieces, feature_count
        )

    async def remove_orphans(self, *, age_s: float = ORPHAN_AGE_S) -> int:
        """Remove rows in the dataset store that are older and belong to no dataset; how many.

        They remain when an upload breaks off while it is stored.
        """
        if self._rows is None:
            return 0
        removed, before = 0, time.time() - age_s
        async for name, folder, changed in self._rows.folders(await owner_of(self._call)):
            if changed.timestamp() < before and await self._folder(DatasetId(name)) != folder:
                await self._rows.remove(folder)
                removed += 1
        return removed

    async def _folder(self, dataset_id: DatasetId) -> str:
        """Where the rows are in the dataset store; empty where they are not there."""
        async with store_call():
            stored = await self._client.hget(self._key(dataset_id), "stored")
        return jobs_pb2.StoredRows.FromString(stored or b"").folder

    async def remove_rows(self, folder: str) -> None:
        """Remove rows from the dataset store; without one they remain. Idempotent."""
        if self._rows is not None:
            await self._rows.remove(folder)

    def _row_store(self, dataset_id: DatasetId) -> RowStore:
        if self._rows is None:
            raise store_not_set(dataset_id)
        return self._rows

    async def put_ids(self, dataset_id: DatasetId, first_row: int, ids: Sequence[str]) -> None:
        """Store observation ids of consecutive rows, both ways; they expire as chunks do."""
        rows = [str(first_row + i) for i in range(len(ids))]
        await self._put(dataset_id, "ids", fields=_alternating(rows, ids))
        await self._put(dataset_id, "rows", fields=_alternating(ids, rows))

    async def put_displays(
        self, dataset_id: DatasetId, first_row: int, displays: Sequence[bytes]
    ) -> None:
        """Store serialized Display messages of consecutive rows; they expire as chunks do."""
        rows = [str(first_row + i) for i in range(len(displays))]
        await self._put(dataset_id, "display", fields=_alternating(rows, displays))

    async def _put(
        self,
        dataset_id: DatasetId,
        part: str,
        *,
        value: bytes | None = None,
        fields: list[str | bytes] | None = None,
    ) -> None:
        await self._dataset_call(
            "put_part", dataset_id, part=part, ttl_s=UPLOAD_TTL_S, value=value, fields=fields
        )

    async def _dataset_call(
        self, script: str, dataset_id: DatasetId, **arguments: object
    ) -> dict[str, Any]:
        partition = keys.partition_of_dataset(dataset_id, self._partitions)
        return await self._call(script, keys.prefix(partition), dataset=dataset_id, **arguments)

    async def commit(
        self,
        dataset_id: DatasetId,
        record: dataset_pb2.Dataset,
        *,
        chunks: int,
        has_ids: bool,
        has_display: bool,
        stored: jobs_pb2.StoredRows | None = None,
    ) -> bool:
        """Make the dataset visible; atomic. True where it was there already.

        ``stored`` says where its rows are if they are in the dataset store. Raises Conflict
        (``DATASET_INCOMPLETE``) where parts are missing.
        """
        reply = await self._dataset_call(
            "commit_dataset",
            dataset_id,
            record=record.SerializeToString(),
            project=projects.stored(),
            limits=await self._usage.limits(
                keys.partition_of_dataset(dataset_id, self._partitions)
            ),
            size=8 * record.observation_count * record.feature_count,
            observation_count=record.observation_count,
            chunks=chunks,
            has_ids=has_ids,
            has_display=has_display,
            stored=None if stored is None else stored.SerializeToString(),
        )
        if stored and reply["existed"] and await self._folder(dataset_id) != stored.folder:
            await self._row_store(dataset_id).remove(stored.folder)
        return bool(reply["existed"])

    async def get(self, dataset_id: DatasetId) -> dataset_pb2.Dataset:
        """Its description. Raises NotFound (``DATASET_NOT_FOUND``)."""
        found = await self._get_many([dataset_id])
        if not found:
            raise _not_found(dataset_id)
        return found[0]

    async def _get_many(
        self, dataset_ids: Sequence[DatasetId], *, project: str | None = None
    ) -> list[dataset_pb2.Dataset]:
        """Those that are there, of one project or of all."""
        pipe = self._client.pipeline(transaction=False)
        for dataset_id in dataset_ids:
            pipe.hmget(self._key(dataset_id), "record", "created_ms", "project", "unused_ms")
            pipe.scard(self._key(dataset_id, "sessions"))
        async with store_call():
            replies = await pipe.execute()
        found = []
        for (record, created_ms, owner, unused_ms), users in zip(
            replies[::2], replies[1::2], strict=True
        ):
            whose = projects.DEFAULT if owner is None else owner.decode()
            if record is not None and project in (None, whose):
                dataset = dataset_pb2.Dataset.FromString(record)
                dataset.create_time.FromMilliseconds(int(created_ms))
                dataset.session_count = users
                if self._kept_ms and unused_ms is not None:
                    dataset.expire_time.FromMilliseconds(int(unused_ms) + self._kept_ms)
                found.append(dataset)
        return found

    async def session_configs(self, dataset_id: DatasetId) -> list[SessionConfig]:
        """The settings that the sessions on a dataset began with."""
        async with store_call():
            ids = [
                one.decode()
                for one in await self._client.smembers(self._key(dataset_id, "sessions"))
            ]
        found: list[SessionConfig] = []
        for start in range(0, len(ids), _SIZES_AT_ONCE):
            reads: list[tuple[object, ...]] = [
                ("HGET", keys.session(SessionId(one)), "record")
                for one in ids[start : start + _SIZES_AT_ONCE]
            ]
            async with store_call():
                records = await self._client.together(reads)
            # (A session may be deleted meanwhile.)
            found += [codec.config_of_record(one) for one in records if one is not None]
        return found

    async def list_datasets(
        self,
        *,
        limit: int,
        most_bytes: int,
        before: Position | None = None,
        accept: Callable[[dataset_pb2.Dataset], bool] = lambda dataset: True,
    ) -> tuple[list[dataset_pb2.Dataset], Position | None]:
        """Datasets of the project older than ``before`` (created_ms, id), newest first, and where
        to go on.

        Up to ``limit`` of those that are accepted and, but for the first, up to ``most_bytes``:
        feature names may be long. Fewer if many are not accepted, so that a call reads no more than
        ``listing.MOST_EXAMINED``. The second value is None if there is nothing more.
        """
        datasets: list[dataset_pb2.Dataset] = []
        room = most_bytes
        walk = Walk(self._client, self._partitions, "datasets", before)
        async for batch in walk.batches(limit):
            while batch:
                read = await self._within(batch, most_bytes)
                batch = batch[len(read) :]
                for entry, dataset in read:
                    if dataset is not None and accept(dataset):
                        size = dataset.ByteSize()
                        if len(datasets) == limit or (datasets and size > room):
                            return datasets, walk.next
                        datasets.append(dataset)
                        room -= size
                    walk.pass_by(entry, own=dataset is not None)
            if len(datasets) == limit:
                break
        return datasets, None if walk.ended else walk.next

    async def _within(
        self, entries: Sequence[Position], most_bytes: int
    ) -> list[tuple[Position, dataset_pb2.Dataset | None]]:
        """Datasets of entries of the index, from the first on, that may be read at once."""
        ids = [DatasetId(name) for _, name in entries]
        pipe = self._client.pipeline(transaction=False)
        for dataset_id in ids:
            pipe.hstrlen(self._key(dataset_id), "record")
        async with store_call():
            sizes = await pipe.execute() if ids else []
        ids = ids[: _count_within(sizes, most_bytes)]
        read = (
            {
                one.name.rpartition("/")[2]: one
                for one in await self._get_many(ids, project=projects.current())
            }
            if ids
            else {}
        )
        return [(entry, read.get(entry[1])) for entry in entries[: len(ids)]]

    async def delete(self, dataset_id: DatasetId, *, request_id: str | None = None) -> None:
        """Raises NotFound (``DATASET_NOT_FOUND``), WrongState (``DATASET_IN_USE``).

        A call with the ``request_id`` of an earlier one within a day has no further effect.
        """
        folder = await self._folder(dataset_id)
        await self._dataset_call("delete_dataset", dataset_id, request_id=request_id or None)
        if folder:
            await self._row_store(dataset_id).remove(folder)

    async def has_ids(self, dataset_id: DatasetId) -> bool:
        """Whether its observations have ids of their own, rather than row numbers."""
        async with store_call():
            return bool(await self._client.hget(self._key(dataset_id), "has_ids") == b"1")

    async def rows_of(self, dataset_id: DatasetId, ids: Sequence[str]) -> list[int | None]:
        """Rows of observation ids, None where there is no such observation."""
        dataset = await self.get(dataset_id)
        if not await self.has_ids(dataset_id):
            return [_row_number(name, dataset.observation_count) for name in ids]
        async with store_call():
            found = await self._client.hmget(self._key(dataset_id, "rows"), list(ids))
        return [None if row is None else int(row) for row in found]

    async def ids_of(self, dataset_id: DatasetId, rows: Sequence[int]) -> list[str]:
        """Observation ids of rows."""
        async with store_call():
            found = await self._client.hmget(
                self._key(dataset_id, "ids"), [str(row) for row in rows]
            )
        return codec.observation_ids(rows, found)

    async def count_within(
        self, dataset_id: DatasetId, rows: Sequence[int], most_bytes: int, *, beside: int = 0
    ) -> int:
        """How many of the rows, from the first on, may be read at once; at least one.

        Counted are ids, display fields, and so many bytes ``beside`` for each row.
        """
        async with store_call():
            marks = await self._client.hmget(self._key(dataset_id), ["has_ids", "has_display"])
        parts = [part for part, mark in zip(("ids", "display"), marks, strict=True) if mark == b"1"]
        sizes: list[int] = []
        for start in range(0, len(rows), _SIZES_AT_ONCE):
            batch = rows[start : start + _SIZES_AT_ONCE]
            pipe = self._client.pipeline(transaction=False)
            for row in batch:
                for part in parts:
                    pipe.hstrlen(self._key(dataset_id, part), str(row))
            async with store_call():
                found = await pipe.execute() if parts else []
            width = len(parts)
            sizes += [beside + sum(found[i * width : (i + 1) * width]) for i in range(len(batch))]
            if _count_within(sizes, most_bytes) < len(sizes):
                break
        return _count_within(sizes, most_bytes)

    async def named(
        self, dataset_id: DatasetId, rows: Sequence[int]
    ) -> list[tuple[str, dataset_pb2.Display]]:
        """Ids and display fields of rows."""
        if not rows:
            return []
        ids = await self.ids_of(dataset_id, rows)
        async with store_call():
            displays = await self._client.hmget(
                self._key(dataset_id, "display"), [str(row) for row in rows]
            )
        return [
            (name, dataset_pb2.Display.FromString(display or b""))
            for name, display in zip(ids, displays, strict=True)
        ]

    async def observations(
        self, dataset_id: DatasetId, rows: Sequence[int], *, feature_count: int
    ) -> list[StoredObservation]:
        """Rows with their values, ids and display fields."""
        per_chunk = codec.rows_per_chunk(feature_count)
        width = 8 * feature_count
        reads: list[tuple[object, ...]] = [("HMGET", self._key(dataset_id), "stored", "n")]
        for row in rows:
            chunk, offset = divmod(row, per_chunk)
            key = self._key(dataset_id, f"x:{chunk}")
            reads += [
                ("GETRANGE", key, offset * width, (offset + 1) * width - 1),
                ("HGET", self._key(dataset_id, "ids"), row),
                ("HGET", self._key(dataset_id, "display"), row),
            ]
        async with store_call():
            (stored, count), *replies = await self._client.together(reads)
        outside: dict[int, bytes] = {}
        if stored is not None:
            where = jobs_pb2.StoredRows.FromString(stored)
            outside = await self._outside(dataset_id, where, rows, (int(count), feature_count))
        found = []
        for index, row in enumerate(rows):
            values, name, display = replies[3 * index : 3 * index + 3]
            values = outside.get(row, values)
            if len(values) != width:
                raise _not_found(dataset_id)
            found.append(
                StoredObservation(
                    row=row,
                    observation_id=str(row) if name is None else name.decode(),
                    values=values,
                    display=dataset_pb2.Display.FromString(display or b""),
                )
            )
        return found

    async def values(
        self, dataset_id: DatasetId, rows: Sequence[int], *, feature_count: int
    ) -> bytes:
        """Values of rows as little-endian doubles, row after row."""
        per_chunk = codec.rows_per_chunk(feature_count)
        width = 8 * feature_count
        reads: list[tuple[object, ...]] = [("HMGET", self._key(dataset_id), "stored", "n")]
        # Neighbours of one Redis value come by one read: [chunk, offset, number of rows].
        runs = list[list[int]]()
        for row in rows:
            chunk, offset = divmod(row, per_chunk)
            if runs and runs[-1][0] == chunk and sum(runs[-1][1:]) == offset:
                runs[-1][2] += 1
            else:
                runs.append([chunk, offset, 1])
        for chunk, offset, count in runs:
            key = self._key(dataset_id, f"x:{chunk}")
            reads.append(("GETRANGE", key, offset * width, (offset + count) * width - 1))
        async with store_call():
            (stored, total), *parts = await self._client.together(reads)
        if stored is not None:
            where = jobs_pb2.StoredRows.FromString(stored)
            outside = await self._outside(dataset_id, where, rows, (int(total), feature_count))
            parts = [outside[row] for row in rows]
        found = b"".join(parts)
        if len(found) != width * len(rows):
            raise _not_found(dataset_id)
        return found

    async def _outside(
        self,
        dataset_id: DatasetId,
        stored: jobs_pb2.StoredRows,
        rows: Sequence[int],
        shape: tuple[int, int],
    ) -> dict[int, bytes]:
        """Values of rows that are in the dataset store; no more than their objects are read."""
        store = self._row_store(dataset_id)
        offsets = defaultdict[int, list[int]](list)
        for row in set(rows):
            index, offset = divmod(row, stored.rows_per_object)
            offsets[index].append(offset)
        found: dict[int, bytes] = {}
        for index, wanted in offsets.items():
            values = await store.values(dataset_id, stored, index, shape)
            for offset in wanted:
                found[index * stored.rows_per_object + offset] = values[offset].tobytes()
        return found


async def owner_of(call: AsyncScripts) -> str:
    """The name of the data in Redis, which owns folders in the dataset store."""
    reply = await call("probe", keys.prefix(0), layout=keys.OLDEST_LAYOUT, name=uuid4().hex)
    return str(reply["data"])


def owner_of_blocking(call: Scripts) -> str:
    """As ``owner_of``, for callers without an event loop."""
    reply = call("probe", keys.prefix(0), layout=keys.OLDEST_LAYOUT, name=uuid4().hex)
    return str(reply["data"])


def store_not_set(dataset_id: DatasetId) -> StoreUnavailable:
    """The refusal of a process that does not know the dataset store."""
    return StoreUnavailable(
        "DATASET_STORE_NOT_SET",
        f"The rows of dataset {dataset_id} are in a dataset store; start service and workers with "
        f"--dataset-store, the URL under which they were stored.",
        dataset=dataset_id,
    )


def _alternating(fields: Sequence[str], values: Iterable[str | bytes]) -> list[str | bytes]:
    """Fields of a hash, each followed by its value."""
    pairs = zip(fields, values, strict=True)
    return list(chain.from_iterable(pairs))


def _count_within(sizes: Iterable[int], most: int) -> int:
    """How many, from the first on, are no more than ``most`` together; at least one."""
    sums = accumulate(sizes)
    return max(1, sum(1 for _ in takewhile(lambda size: size <= most, sums)))


def _row_number(name: str, observation_count: int) -> int | None:
    # Exactly the ids that ids_of gives: no sign, no leading zero, no other digits than ASCII.
    if name.isascii() and name.isdigit() and str(int(name)) == name:
        return int(name) if int(name) < observation_count else None
    return None


def _not_found(dataset_id: DatasetId) -> NotFound:
    return NotFound(
        "DATASET_NOT_FOUND",
        f"There is no dataset {dataset_id}; upload it first.",
        dataset=dataset_id,
    )
