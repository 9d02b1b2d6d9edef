"""UploadStore: what arrived of uploads that may be resumed after a break.

An upload is a list of parts in the order of its rows. A part is in Redis or, where the dataset's
rows will be in the dataset store, an object there. Each stream that opens an upload is a new
writer, and only the latest one may add parts. So a stream that broke off without the server's
notice disturbs nothing.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import uuid4

from svddtune.state import keys
from svddtune.state.calls import AsyncScripts, refusal
from svddtune.state.connect import AsyncRedis
from svddtune.state.datasets import owner_of
from svddtune.state.errors import StateError
from svddtune.state.faults import store_call
from svddtune.state.projects import scoped_uuid
from svddtune.state.rows import RowStore
from svddtune.state.session import DatasetId

# Seconds for which an upload that broke off can be resumed.
RETENTION_S = 3600.0
# What follows the name of the data in Redis in the names of the uploads' top folders.
_FOLDERS = "-uploads"


@dataclass(frozen=True, slots=True)
class Writer:
    """The right to add to an upload, until another stream opens it."""

    upload_id: str
    # What stands for it in its project.
    key: str
    name: str
    # Number of rows that the upload had when it was opened.
    rows: int
    # Where its parts are in the dataset store; empty where they are in Redis.
    folder: str


class UploadStore:
    """Uploads that may be resumed, by their ids.

    All methods raise ``StoreUnavailable`` where Redis or the dataset store is away.
    """

    def __init__(
        self,
        client: AsyncRedis,
        *,
        partitions: int = 1,
        rows: RowStore | None = None,
        retention_s: float = RETENTION_S,
    ) -> None:
        """An upload to which nothing was added for ``retention_s`` seconds expires."""
        self._client = client
        self._call = AsyncScripts(client)
        self._partitions = partitions
        self._rows = rows
        self._ttl_s = int(retention_s)

    def _prefix(self, key: str) -> str:
        return keys.prefix(keys.partition_of_upload(key, self._partitions))

    def _key(self, key: str, part: str = "") -> str:
        return keys.upload(keys.partition_of_upload(key, self._partitions), key, part)

    async def open(self, upload_id: str, header: str, *, outside: bool) -> Writer:
        """Begin an upload or go on with it; whoever wrote to it before may no longer.

        ``header`` is what must be the same whenever it is opened. ``outside`` says whether the
        parts of a new upload go to the dataset store. Raises InvalidInput (``UPLOAD_ID_REUSED``).
        """
        name, key = uuid4().hex, scoped_uuid(upload_id)
        reply = await self._call(
            "open_upload",
            self._prefix(key),
            upload=upload_id,
            key=key,
            header=header,
            writer=name,
            outside=outside,
            ttl_s=self._ttl_s,
        )
        folder = ""
        if reply["outside"]:
            folder = f"{await owner_of(self._call)}{_FOLDERS}/{key}/{reply['first']}"
        return Writer(upload_id, key, name, reply["rows"], folder)

    async def parts(self, writer: Writer) -> AsyncIterator[bytes]:
        """The parts that were there when it was opened.

        Raises NotFound (``UPLOAD_NOT_FOUND``) where one is missing or damaged: the upload is
        removed then.
        """
        index, parts = 0, self._key(writer.key, "parts")
        while True:
            async with store_call():
                part = await self._client.lindex(parts, index)
            if part is None:
                return
            if writer.folder:
                part = await self._object(part.decode())
            if part is None:
                raise await self.lost(writer)
            yield part
            index += 1

    async def _object(self, path: str) -> bytes | None:
        return None if self._rows is None else await self._rows.get_object(path)

    async def append(self, writer: Writer, part: bytes, rows: int) -> None:
        """Add a part; with it the upload has so many rows.

        Raises Conflict (``UPLOAD_TAKEN_OVER``), NotFound (``UPLOAD_NOT_FOUND``) where it has
        expired.
        """
        if writer.folder and self._rows is not None:
            part = (await self._rows.put_object(writer.folder, part)).encode()
        await self._call(
            "append_upload",
            self._prefix(writer.key),
            upload=writer.upload_id,
            key=writer.key,
            writer=writer.name,
            part=part,
            rows=rows,
            ttl_s=self._ttl_s,
        )

    async def close(self, writer: Writer, dataset_id: DatasetId | None = None) -> None:
        """Remove its parts, because its dataset is stored or because it can never succeed.

        Nothing happens where another writer has the upload.
        """
        reply = await self._call(
            "close_upload",
            self._prefix(writer.key),
            key=writer.key,
            writer=writer.name,
            dataset=dataset_id,
            ttl_s=self._ttl_s,
        )
        if reply["closed"] and writer.folder and self._rows is not None:
            await self._rows.remove(writer.folder)

    async def lost(self, writer: Writer) -> StateError:
        """Remove an upload whose parts are not all there. Returns what its caller is told."""
        await self.close(writer)
        return refusal("UPLOAD_NOT_FOUND", {}, {"upload": writer.upload_id})

    async def find(self, upload_id: str) -> tuple[int, DatasetId | None]:
        """Number of rows that an upload has, and its dataset once that is stored.

        Raises NotFound (``UPLOAD_NOT_FOUND``).
        """
        async with store_call():
            rows, dataset_id = await self._client.hmget(
                self._key(scoped_uuid(upload_id)), "rows", "dataset"
            )
        if rows is None:
            raise refusal("UPLOAD_NOT_FOUND", {}, {"upload": upload_id})
        return int(rows), None if dataset_id is None else DatasetId(dataset_id.decode())

    async def remove_expired(self) -> int:
        """Remove objects of uploads that have expired; the number of uploads."""
        if self._rows is None:
            return 0
        removed = 0
        async for key, folder, _ in self._rows.folders(f"{await owner_of(self._call)}{_FOLDERS}"):
            async with store_call():
                first = await self._client.hget(self._key(key), "first")
            if first is None or first.decode() != folder.rpartition("/")[2]:
                await self._rows.remove(folder)
                removed += 1
        return removed
