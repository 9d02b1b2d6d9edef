"""Rows of large datasets, in a folder or an object store.

A dataset's rows are NPY files of ``OBJECT_BYTES`` or less, in a folder of the upload that brought
them. Each is named by its SHA-256 and is compared with it whenever it is read. Redis holds the list
of them (``StoredRows``), so that a folder that Redis does not mention belongs to no dataset.
"""

import asyncio
import hashlib
import io
import logging
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import numpy as np
import obstore
from numpy.typing import NDArray
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state.errors import Damaged, StoreUnavailable
from svddtune.state.session import DatasetId

log = logging.getLogger(__name__)

# Values of one object at most, unless a single row has more.
OBJECT_BYTES = 4 << 20


def rows_per_object(feature_count: int) -> int:
    """Rows that one object holds."""
    return max(1, OBJECT_BYTES // (8 * feature_count))


class RowStore:
    """NPY files with rows, below a URL: ``file://``, ``s3://``, ``gs://`` or ``az://``.

    Credentials, region and endpoint come from the environment, as the vendors name them
    (``AWS_ACCESS_KEY_ID``, ``GOOGLE_APPLICATION_CREDENTIALS``, ``AZURE_STORAGE_ACCOUNT_KEY`` and so
    on). All methods raise ``StoreUnavailable`` (``DATASET_STORE_UNAVAILABLE``) where the store
    cannot be reached or refuses.
    """

    def __init__(self, url: str) -> None:
        """Open the store. A folder is made if it is not there. Raises StoreUnavailable."""
        self._root: Path | None = None
        self._store: Any
        with _faults():
            if url.startswith("file://"):
                self._root = Path(unquote(urlsplit(url).path))
                self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._store = LocalStore(self._root, automatic_cleanup=True)
            else:
                self._store = from_url(url)

    async def put(
        self, dataset_id: DatasetId, owner: str, pieces: Iterable[bytes], feature_count: int
    ) -> jobs_pb2.StoredRows:
        """Store the values of a dataset's rows in a new folder.

        Parameters
        ----------
        dataset_id
            The dataset.
        owner : str
            Name of the data in Redis, the top folder: others that use the same store have another.
        pieces : iterable of bytes
            Values of ``rows_per_object`` rows each, the last of fewer.
        feature_count : int
            Number of columns.
        """
        stored = jobs_pb2.StoredRows(
            folder=f"{owner}/{dataset_id}/{uuid4().hex}",
            rows_per_object=rows_per_object(feature_count),
        )
        iterator = iter(pieces)
        try:
            while piece := await asyncio.to_thread(next, iterator, b""):
                content = npy_header(len(piece) // (8 * feature_count), feature_count) + piece
                digest = await asyncio.to_thread(_digest, content)
                stored.sha256.append(digest)
                with _faults():
                    await obstore.put_async(self._store, _path(stored, digest), content)
            if self._root:
                await asyncio.to_thread(_sync, self._root / stored.folder)
        except BaseException:
            await self.remove(stored.folder)
            raise
        return stored

    async def values(
        self, dataset_id: DatasetId, stored: jobs_pb2.StoredRows, index: int, shape: tuple[int, int]
    ) -> NDArray[np.float64]:
        """The rows (n, M) of the object ``index`` of a dataset of this shape (N, M).

        Raises Damaged (``DATASET_DAMAGED``) where it is missing or is not what was stored.
        """
        path = _path(stored, stored.sha256[index])
        with _faults(missing=(dataset_id, path)):
            content = await (await obstore.get_async(self._store, path)).bytes_async()
        return await asyncio.to_thread(
            _checked, dataset_id, stored, index, shape, content.to_bytes()
        )

    def fetch(
        self, dataset_id: DatasetId, stored: jobs_pb2.StoredRows, index: int, shape: tuple[int, int]
    ) -> NDArray[np.float64]:
        """As ``values``, for callers without an event loop."""
        path = _path(stored, stored.sha256[index])
        with _faults(missing=(dataset_id, path)):
            content = obstore.get(self._store, path).bytes()
        return _checked(dataset_id, stored, index, shape, content.to_bytes())

    async def remove(self, folder: str) -> None:
        """Remove what an upload brought. What cannot be removed now remains as an orphan."""
        try:
            with _faults():
                async for objects in obstore.list(self._store, prefix=folder):
                    await obstore.delete_async(self._store, [one["path"] for one in objects])
        except StoreUnavailable as error:
            log.warning("objects in %s remain for now: %s", folder, error.message)

    async def put_object(self, folder: str, content: bytes) -> str:
        """Store bytes in a folder, under their SHA-256. Returns the object's path."""
        path = f"{folder}/{(await asyncio.to_thread(_digest, content)).hex()}"
        with _faults():
            await obstore.put_async(self._store, path, content)
        return path

    async def get_object(self, path: str) -> bytes | None:
        """What ``put_object`` stored; None where it is missing or damaged."""
        try:
            with _faults():
                found = await (await obstore.get_async(self._store, path)).bytes_async()
        except StoreUnavailable as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise
        content = found.to_bytes()
        digest = (await asyncio.to_thread(_digest, content)).hex()
        return content if path.endswith(f"/{digest}") else None

    async def folders(self, owner: str) -> AsyncIterator[tuple[str, str, datetime]]:
        """Below a top folder: each folder, after the name of its parent, with its last change."""
        newest: dict[str, datetime] = {}
        with _faults():
            async for objects in obstore.list(self._store, prefix=owner):
                for one in objects:
                    folder = one["path"].rpartition("/")[0]
                    newest[folder] = max(
                        newest.get(folder, one["last_modified"]), one["last_modified"]
                    )
        for folder, changed in newest.items():
            yield folder.split("/")[1], folder, changed


def sizes(stored: jobs_pb2.StoredRows, observation_count: int) -> list[int]:
    """Number of rows of each object."""
    most = stored.rows_per_object
    return [min(most, observation_count - start) for start in range(0, observation_count, most)]


def npy_header(rows: int, columns: int) -> bytes:
    """What precedes the values of a matrix of doubles in an NPY file."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (rows, columns)}
    )
    return header.getvalue()


def is_intact(stored: jobs_pb2.StoredRows, index: int, rows: NDArray[np.float64]) -> bool:
    """Whether rows (n, M) are those of an object of the dataset."""
    return _digest(npy_header(*rows.shape), np.ascontiguousarray(rows).data) == stored.sha256[index]


def _digest(*parts: bytes | memoryview) -> bytes:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.digest()


def _path(stored: jobs_pb2.StoredRows, digest: bytes) -> str:
    return f"{stored.folder}/{digest.hex()}.npy"


def _checked(
    dataset_id: DatasetId,
    stored: jobs_pb2.StoredRows,
    index: int,
    shape: tuple[int, int],
    content: bytes,
) -> NDArray[np.float64]:
    expected, found = stored.sha256[index], _digest(content)
    if found != expected:
        raise Damaged(
            "DATASET_DAMAGED",
            f"Object {_path(stored, expected)} of dataset {dataset_id} is damaged: its SHA-256 is "
            f"{found.hex()}. Restore it from a backup, or delete the dataset and upload it again.",
            dataset=dataset_id,
            object=_path(stored, expected),
            sha256=found.hex(),
        )
    rows = sizes(stored, shape[0])[index]
    offset = len(npy_header(rows, shape[1]))
    return np.frombuffer(content, dtype="<f8", offset=offset).reshape(rows, shape[1])


def _sync(folder: Path) -> None:
    """Write the files of a folder, and the folders down to it, to disk."""
    for path in (*folder.iterdir(), folder, *list(folder.parents)[:3]):
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def _faults(*, missing: tuple[DatasetId, str] | None = None) -> Iterator[None]:
    """Turn a fault of the store in the body into one of the errors that callers know."""
    try:
        yield
    except FileNotFoundError as error:
        if missing is None:
            raise _unavailable(error) from error
        dataset_id, path = missing
        raise Damaged(
            "DATASET_DAMAGED",
            f"Object {path} of dataset {dataset_id} is missing in the dataset store. Restore it "
            f"from a backup, or delete the dataset and upload it again.",
            dataset=dataset_id,
            object=path,
        ) from error
    except (BaseError, OSError) as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> StoreUnavailable:
    # The library's words name hosts and paths: they are for the log, not for callers.
    log.warning("dataset store: %s", error)
    return StoreUnavailable(
        "DATASET_STORE_UNAVAILABLE",
        "The dataset store cannot be reached or refuses access at the moment; try again. The log "
        "of the process says why.",
    )
