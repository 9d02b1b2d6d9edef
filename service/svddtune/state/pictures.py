"""What workers keep for people: portraits of datasets, and of sessions history, cells and map.

All of it is computed by workers and written with their commits. A dataset or session of an earlier
version lacks some, and what is missing reads as empty.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import codec, keys
from svddtune.state.connect import AsyncRedis
from svddtune.state.faults import store_call
from svddtune.state.session import DatasetId, Session, SessionId
from svddtune.v1 import tuning_pb2

# Bytes of the portraits that a process keeps. They never change, and one has up to 700 bytes for
# each feature, and 40,000 for the map.
_MOST_BYTES = 16 << 20
# Points of a history that are read at once.
_POINTS_AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class StoredMap:
    """What a session's map is made from."""

    portrait: jobs_pb2.Portrait
    places: jobs_pb2.LabelledPlaces
    margins: jobs_pb2.Margins


class Pictures:
    """Reads pictures. All methods raise ``StoreUnavailable`` where Redis is away."""

    def __init__(self, client: AsyncRedis, *, partitions: int = 1) -> None:
        self._client = client
        self._partitions = partitions
        # The least recently used first, each with its size.
        self._portraits: OrderedDict[DatasetId, tuple[jobs_pb2.Portrait, int]] = OrderedDict()

    async def portrait(self, dataset_id: DatasetId) -> jobs_pb2.Portrait:
        """The portrait of a dataset that is there; empty until it is prepared."""
        if dataset_id in self._portraits:
            self._portraits.move_to_end(dataset_id)
            return self._portraits[dataset_id][0]
        partition = keys.partition_of_dataset(dataset_id, self._partitions)
        async with store_call():
            count = await self._client.hget(keys.dataset(partition, dataset_id), "portrait")
            names = [
                keys.dataset(partition, dataset_id, f"portrait:{index}")
                for index in range(int(count or 0))
            ]
            pieces = await self._client.mget(names) if names else []
        # (The dataset may be deleted meanwhile.)
        if not pieces or None in pieces:
            return jobs_pb2.Portrait()
        stored = b"".join(pieces)
        found = jobs_pb2.Portrait.FromString(stored)
        self._portraits[dataset_id] = found, len(stored)
        while (
            len(self._portraits) > 1
            and sum(size for _, size in self._portraits.values()) > _MOST_BYTES
        ):
            self._portraits.popitem(last=False)
        return found

    async def history(
        self, session: Session, first: int = 0
    ) -> AsyncGenerator[tuple[int, tuning_pb2.HistoryPoint], None]:
        """Revs of the labels from ``first`` on, ascending, each with what was live then.

        They are read as they are taken, some at a time.
        """
        parts = [keys.session(session.id, "moments")]
        # (Else gamma is not that of an atlas, which may be there nevertheless.)
        if session.config.needs_atlas:
            parts.append(keys.session(session.id, "history"))
        async with store_call():
            known = await self._client.together([("HKEYS", part) for part in parts])
        revs = sorted(rev for rev in {int(rev) for revs in known for rev in revs} if rev >= first)
        for start in range(0, len(revs), _POINTS_AT_ONCE):
            batch = revs[start : start + _POINTS_AT_ONCE]
            async with store_call():
                found = await self._client.together([("HMGET", part, *batch) for part in parts])
            moments = found[0]
            evidence = found[1] if len(found) > 1 else [None] * len(batch)
            for rev, moment, live in zip(batch, moments, evidence, strict=True):
                # (The session may be deleted meanwhile.)
                if moment is not None or live is not None:
                    yield rev, codec.history_point(moment, live)

    async def cells(self, session_id: SessionId) -> tuning_pb2.GetAtlasResponse:
        """What the labels say of every cell; empty while nothing is known."""
        async with store_call():
            stored = await self._client.get(keys.session(session_id, "cells"))
        return tuning_pb2.GetAtlasResponse.FromString(stored or b"")

    async def map(self, session_id: SessionId, dataset_id: DatasetId) -> StoredMap:
        """What a session's map is made from; empty where there is nothing yet."""
        async with store_call():
            places, margins = await self._client.together(
                [
                    ("GET", keys.session(session_id, "places")),
                    ("GET", keys.session(session_id, "margins")),
                ]
            )
        return StoredMap(
            await self.portrait(dataset_id),
            jobs_pb2.LabelledPlaces.FromString(places or b""),
            jobs_pb2.Margins.FromString(margins or b""),
        )
