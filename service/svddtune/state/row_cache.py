"""A worker's copies of large datasets, on its disk: checked when they are opened, and mapped."""

import errno
import fcntl
import logging
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state.errors import StoreUnavailable
from svddtune.state.rows import RowStore, is_intact, npy_header, sizes
from svddtune.state.session import DatasetId

log = logging.getLogger(__name__)

# Objects that are fetched at the same time.
_AT_ONCE = 4
# A copy that its worker did not complete within this time is removed.
_ABANDONED_S = 86_400.0


class RowCache:
    """Copies of datasets as NPY files in a folder that several workers may share.

    The least recently used copies go when a new one would exceed the limit. A copy that is mapped
    stays readable until its worker lets it go.
    """

    def __init__(self, rows: RowStore, folder: Path, *, limit_bytes: int) -> None:
        """Keep copies in ``folder``, which is made when it is first needed."""
        self._rows = rows
        self._folder = folder
        self._limit = limit_bytes

    def matrix(
        self, dataset_id: DatasetId, stored: jobs_pb2.StoredRows, shape: tuple[int, int]
    ) -> NDArray[np.float64]:
        """The rows (N, M) of a dataset, mapped and read-only.

        Raises Damaged (``DATASET_DAMAGED``), StoreUnavailable (``DATASET_STORE_UNAVAILABLE``, or
        ``DATASET_CACHE_UNUSABLE`` where the folder takes no copy).
        """
        path = self._folder / f"{dataset_id}.npy"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(path.with_suffix(".part")) as part:
                if not self._has(path, stored, shape):
                    self._copy(dataset_id, stored, shape, part)
                    part.replace(path)
                os.utime(path)
                return _mapped(path)
        except OSError as error:
            log.warning("cache of datasets: %s", error)
            raise StoreUnavailable(
                "DATASET_CACHE_UNUSABLE",
                f"Dataset {dataset_id} cannot be kept in {self._folder}: {error.strerror}. Free "
                f"space, or name another folder with --dataset-cache.",
                dataset=dataset_id,
            ) from error

    def _has(self, path: Path, stored: jobs_pb2.StoredRows, shape: tuple[int, int]) -> bool:
        if not path.exists():
            return False
        try:
            rows = _mapped(path)
        except (ValueError, EOFError):
            rows = np.empty((0, 0))
        counts = sizes(stored, shape[0])
        if rows.shape == shape and all(
            is_intact(stored, index, rows[end - count : end])
            for index, (count, end) in enumerate(zip(counts, accumulate(counts), strict=True))
        ):
            return True
        log.warning("%s is damaged and is fetched again", path)
        path.unlink()
        return False

    def _copy(
        self,
        dataset_id: DatasetId,
        stored: jobs_pb2.StoredRows,
        shape: tuple[int, int],
        part: Path,
    ) -> None:
        header, width = npy_header(*shape), 8 * shape[1]
        self._make_room(len(header) + shape[0] * width)
        with part.open("r+b") as file, ThreadPoolExecutor(_AT_ONCE) as pool:
            file.truncate(0)
            file.write(header)
            file.flush()

            def copy(index: int) -> None:
                rows = self._rows.fetch(dataset_id, stored, index, shape)
                at = len(header) + index * stored.rows_per_object * width
                written = os.pwrite(file.fileno(), rows.data, at)
                if written < rows.nbytes:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            for _ in pool.map(copy, range(len(stored.sha256))):
                pass

    def _make_room(self, needed: int) -> None:
        """Remove the least recently used copies, and abandoned ones."""
        for part in self._folder.glob("*.part"):
            if part.stat().st_mtime < time.time() - _ABANDONED_S:
                part.unlink(missing_ok=True)
        kept = sorted((one.stat().st_mtime, one) for one in self._folder.glob("*.npy"))
        total = needed + sum(one.stat().st_size for _, one in kept)
        for _, one in kept:
            if total <= self._limit:
                break
            total -= one.stat().st_size
            one.unlink(missing_ok=True)


def _mapped(path: Path) -> NDArray[np.float64]:
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """Keep other processes from the same copy; the lock is the unfinished copy itself."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # (Another process may have completed or removed the file meanwhile.)
            if path.exists() and os.path.samestat(os.fstat(lock), path.stat()):
                try:
                    yield path
                finally:
                    path.unlink(missing_ok=True)
                return
        finally:
            os.close(lock)
