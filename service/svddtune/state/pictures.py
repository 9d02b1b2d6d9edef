"""What workers keep for people: portraits of datasets, and of sessions history, cells and map.

All of it is computed by workers and written with their commits. A dataset or session of an earlier
version lacks some, and what is missing reads as empty.
"""

from collections import OrderedDict
from dataclasses import dataclass

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import codec, keys
from svddtune.state.connect import AsyncRedis
from svddtune.state.faults import store_call
from svddtune.state.session import DatasetId, Session, SessionId
from svddtune.v1 import tuning_pb2

# Portraits that a process keeps. They never change, and those of wide datasets have megabytes.
_MOST_PORTRAITS = 16


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
        self._portraits: OrderedDict[DatasetId, jobs_pb2.Portrait] = OrderedDict()

    async def portrait(self, dataset_id: DatasetId) -> jobs_pb2.Portrait:
        """The portrait of a dataset that is there; empty until it is prepared."""
        if dataset_id in self._portraits:
            self._portraits.move_to_end(dataset_id)
            return self._portraits[dataset_id]
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
        found = jobs_pb2.Portrait.FromString(b"".join(pieces))
        self._portraits[dataset_id] = found
        if len(self._portraits) > _MOST_PORTRAITS:
            self._portraits.popitem(last=False)
        return found

    async def history(self, session: Session) -> list[tuple[int, tuning_pb2.HistoryPoint]]:
        """Revs of the labels, ascending, each with what was live then."""
        async with store_call():
            moments, evidence = await self._client.together(
                [
                    ("HGETALL", keys.session(session.id, "moments")),
                    ("HGETALL", keys.session(session.id, "history")),
                ]
            )
        if not session.config.needs_atlas:
            # Its gamma is not that of an atlas, which may be there nevertheless.
            evidence = {}
        return [
            (int(rev), codec.history_point(moments.get(rev), evidence.get(rev)))
            for rev in sorted(moments.keys() | evidence.keys(), key=int)
        ]

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
