"""An upload: checked and spooled as it arrives, and stored only when it is complete."""

import asyncio
import hashlib
import struct
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from svddtune.jobs.v1 import jobs_pb2
from svddtune.service import names, validate
from svddtune.service.status import unbroken
from svddtune.service.validate import LONGEST_DISPLAY_NAME, at_most_bytes, invalid_field
from svddtune.state import codec, keys
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import InvalidInput, NotFound, TooLarge
from svddtune.state.projects import scoped
from svddtune.state.rows import OBJECT_BYTES, rows_per_object
from svddtune.state.session import DatasetId
from svddtune.state.uploads import UploadStore, Writer
from svddtune.v1 import common_pb2, dataset_pb2

_IN_MEMORY_BYTES = 4 << 20
_BATCH_ROWS = 1000
_BATCH_BYTES = 1 << 20
_LONGEST_ID = 256
_LONGEST_FEATURE_NAME = 256
_LONGEST_KEY = 128
_LONGEST_VALUE = 4096
# A labeler's message must hold all of them and the features.
_MOST_DISPLAY_FIELDS = 100
# Outside these limits, squared distances and gamma overflow or underflow a double. The numerics
# have the same limits.
LARGEST, LEAST_WIDTH = 1e100, 1e-100
DEFAULT_SCALING = dataset_pb2.SCALING_KIND_AUTO
# After these refusals the client can go on with the same upload.
_REPAIRABLE = {"DATASET_INCOMPLETE", "UPLOAD_GAP"}
# Rows that arrive slowly are kept after this many seconds, even if they are few.
_LONGEST_WAIT_S = 10.0
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest dataset that is accepted."""

    rows: int
    features: int
    size: int


async def receive(
    requests: AsyncIterator[dataset_pb2.UploadDatasetRequest],
    datasets: DatasetStore,
    uploads: UploadStore,
    limits: Limits,
) -> tuple[dataset_pb2.Dataset, bool]:
    """Store an upload. Returns its description, and whether the dataset existed already.

    Raises InvalidInput (``DATASET_NOT_FINITE``, ``DATASET_OUT_OF_RANGE``, ``DATASET_RAGGED``,
    ``DATASET_EMPTY``, ``DATASET_INCOMPLETE``, ``DUPLICATE_OBSERVATION_ID``,
    ``DUPLICATE_FEATURE_NAME``, ``INVALID_FIELD``, ``UPLOAD_GAP``, ``UPLOAD_ID_REUSED``), TooLarge
    (``DATASET_TOO_LARGE``, ``QUOTA_EXCEEDED``, ``STORE_NEARLY_FULL``), Conflict
    (``UPLOAD_TAKEN_OVER``), NotFound (``UPLOAD_NOT_FOUND``).
    """
    draft: Draft | None = None
    progress: Progress | None = None
    try:
        async for request in requests:
            part = request.WhichOneof("part")
            if draft is None and part == "header":
                draft = Draft(request.header, limits)
                await unbroken(datasets.admit(draft.announced_size))
                if request.header.HasField("upload_id"):
                    progress = await unbroken(Progress.of(request.header, uploads, datasets))
                    await unbroken(progress.restore(draft))
            elif draft is not None and part == "chunk":
                chunk = draft.unseen(request.chunk)
                if chunk is not None:
                    await unbroken(_take(draft, chunk, progress))
            else:
                raise _misplaced(part)
        if draft is None:
            raise _misplaced(None)
        # This goes on if the caller gives up now: its next upload then finds the dataset.
        return await unbroken(_store(draft, datasets, progress))
    except (InvalidInput, TooLarge) as error:
        if progress and error.reason not in _REPAIRABLE:
            await unbroken(progress.end())
        raise
    finally:
        if draft is not None:
            draft.close()


async def _take(
    draft: "Draft", chunk: dataset_pb2.DatasetChunk, progress: "Progress | None"
) -> None:
    with draft.kept_open():
        await asyncio.to_thread(draft.add, chunk)
        if progress:
            await progress.add(chunk)


async def _store(
    draft: "Draft", datasets: DatasetStore, progress: "Progress | None"
) -> tuple[dataset_pb2.Dataset, bool]:
    with draft.kept_open():
        description = await asyncio.to_thread(draft.finish)
        dataset_id = names.dataset_id(description.name)
        existed = await datasets.exists(dataset_id)
        if not existed:
            await datasets.check_quota(draft.size)
            chunk_count, stored = await _put_rows(draft, dataset_id, datasets)
            await _put_texts(draft, dataset_id, datasets)
            existed = await datasets.commit(
                dataset_id,
                description,
                chunks=chunk_count,
                has_ids=draft.ids.used,
                has_display=draft.displays.used,
                stored=stored,
            )
        if progress:
            await progress.end(dataset_id)
        return await datasets.get(dataset_id), existed


async def _put_rows(
    draft: "Draft", dataset_id: DatasetId, datasets: DatasetStore
) -> tuple[int, jobs_pb2.StoredRows | None]:
    """Number of chunks in Redis, or where the rows are in the dataset store."""
    columns = draft.feature_count
    if datasets.outside(draft.size):
        pieces = draft.pieces(rows_per_object(columns))
        return 0, await datasets.put_outside(dataset_id, pieces, columns)
    count, chunks = 0, draft.pieces(codec.rows_per_chunk(columns))
    while chunk := await asyncio.to_thread(next, chunks, b""):
        await datasets.put_rows(dataset_id, count, chunk)
        count += 1
    return count, None


async def _put_texts(draft: "Draft", dataset_id: DatasetId, datasets: DatasetStore) -> None:
    for first_row, ids in draft.ids.batches():
        await datasets.put_ids(dataset_id, first_row, [one.decode() for one in ids])
    for first_row, displays in draft.displays.batches():
        if any(displays):
            await datasets.put_displays(dataset_id, first_row, displays)


def _misplaced(part: str | None) -> InvalidInput:
    return invalid_field("part", part or "not set", "the header in the first message, then chunks")


class Draft:
    """Rows received so far, with the statistics that their description needs."""

    def __init__(self, header: dataset_pb2.DatasetHeader, limits: Limits) -> None:
        """Check the header. Raises as ``receive`` does."""
        _check_header(header, limits)
        self._header = header
        self._limits = limits
        self._rows = 0
        self._in_use = self._closed = False
        self._values = _spool()
        self.ids = _Texts()
        self.displays = _Texts()
        self._id_rows: dict[str, int] = {}
        self._row_digests = bytearray()
        self._values_hash = hashlib.sha256()
        self._lowest = np.full(header.feature_count, np.inf)
        self._highest = np.full(header.feature_count, -np.inf)

    def add(self, chunk: dataset_pb2.DatasetChunk) -> None:
        """Take the next rows. Raises as ``receive`` does."""
        rows = self._checked_rows(chunk)
        self._add_ids(chunk, len(rows))
        self._add_displays(chunk, len(rows))
        self._values.write(chunk.rows.values)
        self._values_hash.update(chunk.rows.values)
        # Adding 0 makes -0 equal to 0.
        for row in rows + 0.0:
            self._row_digests += hashlib.blake2b(row.tobytes(), digest_size=16).digest()
        np.minimum(self._lowest, rows.min(axis=0), out=self._lowest)
        np.maximum(self._highest, rows.max(axis=0), out=self._highest)
        self._rows += len(rows)

    def unseen(self, chunk: dataset_pb2.DatasetChunk) -> dataset_pb2.DatasetChunk | None:
        """The part of a chunk that is behind the rows received so far; None if there is none.

        Raises InvalidInput (``UPLOAD_GAP``).
        """
        if not chunk.HasField("first_row"):
            return chunk
        seen = self._rows - chunk.first_row
        if seen < 0:
            raise InvalidInput(
                "UPLOAD_GAP",
                f"A chunk begins with row {chunk.first_row}, but row {self._rows} is the next: ask "
                f"GetUpload for the number of rows, and go on from there.",
                first_row=chunk.first_row,
                next_row=self._rows,
            )
        matrix = chunk.rows
        if seen >= matrix.rows > 0:
            return None
        return dataset_pb2.DatasetChunk(
            rows=common_pb2.Matrix(
                rows=matrix.rows - seen,
                columns=matrix.columns,
                values=matrix.values[8 * seen * matrix.columns :],
            ),
            observation_ids=chunk.observation_ids[seen:],
            displays=chunk.displays[seen:],
        )

    def finish(self) -> dataset_pb2.Dataset:
        """Description of the dataset. Raises InvalidInput (``DATASET_INCOMPLETE``)."""
        header = self._header
        if self._rows < header.observation_count:
            raise InvalidInput(
                "DATASET_INCOMPLETE",
                f"{header.observation_count} rows were announced, but {self._rows} were received.",
                announced=header.observation_count,
                received=self._rows,
            )
        self._check_width()
        content_hash = self._content_hash()
        return dataset_pb2.Dataset(
            name=names.dataset_name(_id_of(content_hash)),
            display_name=header.display_name,
            observation_count=self._rows,
            feature_count=header.feature_count,
            feature_names=header.feature_names,
            scaling=header.scaling or DEFAULT_SCALING,
            labels=header.labels,
            content_hash=content_hash,
            duplicate_row_count=self._duplicate_count(),
            constant_columns=np.flatnonzero(self._lowest == self._highest).tolist(),
        )

    def pieces(self, rows: int) -> Iterator[bytes]:
        """The values, so many rows at a time."""
        self._values.seek(0)
        while piece := self._values.read(rows * 8 * self.feature_count):
            yield piece

    @property
    def row_count(self) -> int:
        """Number of rows received so far."""
        return self._rows

    @property
    def feature_count(self) -> int:
        """Number of columns."""
        return self._header.feature_count

    @property
    def announced_size(self) -> int:
        """Bytes of all values, by the header."""
        return self._header.observation_count * 8 * self._header.feature_count

    @property
    def size(self) -> int:
        """Bytes of the values received so far."""
        return self._rows * 8 * self.feature_count

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Delay ``close``, where it is called meanwhile, to the end of the block."""
        self._in_use = True
        try:
            yield
        finally:
            self._in_use = False
            if self._closed:
                self.close()

    def close(self) -> None:
        """Delete the spooled data."""
        self._closed = True
        if not self._in_use:
            for spool in (self._values, self.ids.spool, self.displays.spool):
                spool.close()

    def _duplicate_count(self) -> int:
        """Number of rows that equal an earlier row."""
        # (In place: a copy of what a million rows have would be large.)
        digests = np.frombuffer(self._row_digests, dtype="S16")
        digests.sort()
        return int(np.count_nonzero(digests[1:] == digests[:-1]))

    def _content_hash(self) -> str:
        whole = hashlib.sha256(b"svddtune dataset 1")
        whole.update(struct.pack("<II", self._rows, self._header.feature_count))
        whole.update(_LENGTH.pack(self._header.scaling or DEFAULT_SCALING))
        for text in self._header.feature_names:
            whole.update(_framed(text.encode()))
        for digest in (self._values_hash, self.ids.hash, self.displays.hash):
            whole.update(digest.digest())
        return whole.hexdigest()

    def _checked_rows(self, chunk: dataset_pb2.DatasetChunk) -> NDArray[np.float64]:
        matrix, columns = chunk.rows, self._header.feature_count
        if matrix.rows == 0:
            raise invalid_field("chunk.rows.rows", 0, "at least 1")
        if matrix.columns != columns:
            raise self._ragged(
                self._rows, f"has {matrix.columns} columns, but {columns} were announced"
            )
        width = 8 * columns
        if len(matrix.values) != matrix.rows * width:
            row = self._rows + min(len(matrix.values) // width, matrix.rows)
            raise self._ragged(
                row,
                f"has the wrong size: {matrix.rows} x {columns} values need "
                f"{matrix.rows * width} bytes, but {len(matrix.values)} were received",
            )
        if self._rows + matrix.rows > self._header.observation_count:
            row = self._header.observation_count
            raise self._ragged(row, f"is more than the {row} rows that were announced")
        rows = np.frombuffer(matrix.values, dtype="<f8").reshape(matrix.rows, columns)
        if not np.isfinite(rows).all():
            raise self._misfit(
                "DATASET_NOT_FINITE", rows, ~np.isfinite(rows), "all values must be finite numbers"
            )
        if np.abs(rows).max() > LARGEST:
            raise self._misfit(
                "DATASET_OUT_OF_RANGE",
                rows,
                np.abs(rows) > LARGEST,
                f"its magnitude must not exceed {LARGEST:g}: divide the column by a power of ten",
            )
        return rows

    def _check_width(self) -> None:
        """Refuse unscaled rows whose differences are too small for squared distances."""
        width = float((self._highest - self._lowest).max())
        if 0.0 < width < LEAST_WIDTH and self._header.scaling == dataset_pb2.SCALING_KIND_NONE:
            column = int(np.argmax(self._highest - self._lowest))
            raise InvalidInput(
                "DATASET_OUT_OF_RANGE",
                f"No column has a range above {width:g} (column {column}); at least one range of "
                f"{LEAST_WIDTH:g} is needed: scale the columns.",
                column=column,
                value=width,
            )

    def _misfit(
        self, reason: str, rows: NDArray[np.float64], wrong: NDArray[np.bool_], what: str
    ) -> InvalidInput:
        offset, column = (int(index) for index in np.argwhere(wrong)[0])
        row, value = self._rows + offset, float(rows[offset, column])
        names_ = self._header.feature_names
        feature = {"feature": names_[column]} if names_ else {}
        label = f" ({names_[column][:60]})" if names_ else ""
        return InvalidInput(
            reason,
            f"Row {row}, column {column}{label} is {value}; {what}.",
            row=row,
            column=column,
            value=value,
            **feature,
        )

    def _ragged(self, row: int, what: str) -> InvalidInput:
        return InvalidInput("DATASET_RAGGED", f"Row {row} {what}.", row=row)

    def _add_ids(self, chunk: dataset_pb2.DatasetChunk, count: int) -> None:
        ids = chunk.observation_ids
        if self._rows and bool(ids) != self.ids.used:
            raise invalid_field(
                "chunk.observation_ids", len(ids), "ids in all chunks, or in none of them"
            )
        if not ids:
            return
        if len(ids) != count:
            raise invalid_field("chunk.observation_ids", len(ids), f"one per row, here {count}")
        for row, text in enumerate(ids, start=self._rows):
            if not text:
                raise invalid_field("chunk.observation_ids", "", f"not empty, as in row {row}")
            at_most_bytes("chunk.observation_ids", text, _LONGEST_ID)
            first = self._id_rows.setdefault(text, row)
            if first != row:
                raise InvalidInput(
                    "DUPLICATE_OBSERVATION_ID",
                    f"Rows {first} and {row} both have the id {text[:100]!r}.",
                    observation=text,
                    first_row=first,
                    row=row,
                )
        self.ids.add(text.encode() for text in ids)

    def _add_displays(self, chunk: dataset_pb2.DatasetChunk, count: int) -> None:
        displays = chunk.displays
        if displays and len(displays) != count:
            raise invalid_field("chunk.displays", len(displays), f"one per row, here {count}")
        for display in displays:
            _check_display(display)
        if displays and not self.displays.used:
            self.displays.add(b"" for _ in range(self._rows))
        if displays or self.displays.used:
            packed = [display.SerializeToString(deterministic=True) for display in displays]
            self.displays.add(packed or [b""] * count)
        if self.displays.size > self._limits.size:
            raise _too_large("bytes of display fields", self.displays.size, self._limits.size)


class Progress:
    """What is kept of an upload as it arrives, so that it can be resumed after a break.

    Chunks are kept in parts, so the last ones received may not be there yet. A resumed upload gets
    a new draft, which takes the kept chunks as it took them before the break.
    """

    def __init__(self, uploads: UploadStore, writer: Writer) -> None:
        self._uploads = uploads
        self._writer = writer
        self._rows = writer.rows
        self._most = OBJECT_BYTES if writer.folder else keys.CHUNK_BYTES
        self._waiting: list[bytes] = []
        self._size = self._waiting_rows = 0
        self._waiting_since = time.monotonic()
        self._lost = False

    @classmethod
    async def of(
        cls, header: dataset_pb2.DatasetHeader, uploads: UploadStore, datasets: DatasetStore
    ) -> "Progress":
        """Open the upload that a header names. Raises as ``receive`` does."""
        upload_id = validate.upload_id(header.upload_id, "header.upload_id")
        content = dataset_pb2.DatasetHeader()
        content.CopyFrom(header)
        content.upload_id = upload_id
        packed = content.SerializeToString(deterministic=True)
        outside = datasets.outside(8 * header.observation_count * header.feature_count)
        digest = hashlib.sha256(packed).hexdigest()
        return cls(uploads, await uploads.open(upload_id, digest, outside=outside))

    async def restore(self, draft: "Draft") -> None:
        """Give a new draft the rows that are there. Raises NotFound (``UPLOAD_NOT_FOUND``)."""
        with draft.kept_open():
            async for part in self._uploads.parts(self._writer):
                await asyncio.to_thread(_replay, draft, part)
        if draft.row_count != self._rows:
            raise await self._uploads.lost(self._writer)

    async def add(self, chunk: dataset_pb2.DatasetChunk) -> None:
        """Keep a checked chunk. Raises Conflict (``UPLOAD_TAKEN_OVER``)."""
        packed = _framed(chunk.SerializeToString())
        late = time.monotonic() - self._waiting_since > _LONGEST_WAIT_S
        if self._waiting and (late or self._size + len(packed) > self._most):
            await self._keep()
        if not self._waiting:
            self._waiting_since = time.monotonic()
        self._waiting.append(packed)
        self._size += len(packed)
        self._waiting_rows += chunk.rows.rows

    async def _keep(self) -> None:
        part, self._rows = b"".join(self._waiting), self._rows + self._waiting_rows
        self._waiting, self._size, self._waiting_rows = [], 0, 0
        if self._lost:
            return
        try:
            await self._uploads.append(self._writer, part, self._rows)
        except NotFound:
            # It expired under a slow client. The draft has all rows, so the stream goes on.
            self._lost = True

    async def end(self, dataset_id: DatasetId | None = None) -> None:
        """Remove what was kept: the dataset is stored, or the upload can never succeed."""
        await self._uploads.close(self._writer, dataset_id)


def _replay(draft: Draft, part: bytes) -> None:
    offset = 0
    while offset < len(part):
        start = offset + _LENGTH.size
        offset = start + _LENGTH.unpack_from(part, offset)[0]
        draft.add(dataset_pb2.DatasetChunk.FromString(part[start:offset]))


def _id_of(content_hash: str) -> DatasetId:
    """The id of a dataset; the same content has another one in another project."""
    scope = scoped(content_hash)
    return DatasetId(content_hash[:32] if scope is None else scope.hex)


class _Texts:
    """A sequence of byte strings on disk, with its hash."""

    def __init__(self) -> None:
        self.spool = _spool()
        self.hash = hashlib.sha256()
        self.size = 0
        # True once there is a string that is not empty.
        self.used = False

    def add(self, texts: Iterator[bytes] | Sequence[bytes]) -> None:
        """Append strings."""
        for text in texts:
            framed = _framed(text)
            self.spool.write(framed)
            self.hash.update(framed)
            self.size += len(framed)
            self.used = self.used or bool(text)

    def batches(self) -> Iterator[tuple[int, list[bytes]]]:
        """Batches of strings that can be stored at once, with the index of the first."""
        self.spool.seek(0)
        first, batch, size = 0, list[bytes](), 0
        while length := self.spool.read(_LENGTH.size):
            batch.append(self.spool.read(_LENGTH.unpack(length)[0]))
            size += len(batch[-1])
            if len(batch) == _BATCH_ROWS or size >= _BATCH_BYTES:
                yield first, batch
                first, batch, size = first + len(batch), [], 0
        if batch:
            yield first, batch


def _spool() -> IO[bytes]:
    # The draft closes it.
    return tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES)


def _framed(text: bytes) -> bytes:
    return _LENGTH.pack(len(text)) + text


def _check_header(header: dataset_pb2.DatasetHeader, limits: Limits) -> None:
    rows, columns = header.observation_count, header.feature_count
    if rows < 2 or columns < 1:
        raise InvalidInput(
            "DATASET_EMPTY",
            f"The dataset has {rows} observations and {columns} features; it needs at least 2 "
            f"observations and 1 feature.",
            observation_count=rows,
            feature_count=columns,
        )
    if rows > limits.rows:
        raise _too_large("observations", rows, limits.rows)
    if columns > limits.features:
        raise _too_large("features", columns, limits.features)
    if rows * columns * 8 > limits.size:
        raise _too_large("bytes of values", rows * columns * 8, limits.size)
    validate.labels("header.labels", header.labels)
    at_most_bytes("header.display_name", header.display_name, LONGEST_DISPLAY_NAME)
    if header.feature_names and len(header.feature_names) != columns:
        raise invalid_field(
            "header.feature_names", len(header.feature_names), f"none, or {columns} names"
        )
    first: dict[str, int] = {}
    for column, name in enumerate(header.feature_names):
        if not name:
            raise invalid_field("header.feature_names", "", f"not empty, as in column {column}")
        at_most_bytes("header.feature_names", name, _LONGEST_FEATURE_NAME)
        # Rows are matched with the model by these names.
        if first.setdefault(name, column) != column:
            raise InvalidInput(
                "DUPLICATE_FEATURE_NAME",
                f"Columns {first[name]} and {column} both have the name {name[:100]!r}.",
                feature=name,
                first_column=first[name],
                column=column,
            )
    if header.scaling not in dataset_pb2.ScalingKind.values():
        raise invalid_field("header.scaling", header.scaling, "a ScalingKind")


def _check_display(display: dataset_pb2.Display) -> None:
    if len(display.fields) > _MOST_DISPLAY_FIELDS:
        raise invalid_field(
            "chunk.displays.fields", len(display.fields), f"at most {_MOST_DISPLAY_FIELDS} fields"
        )
    for field in display.fields:
        at_most_bytes("chunk.displays.fields.key", field.key, _LONGEST_KEY)
        at_most_bytes("chunk.displays.fields.value", field.value, _LONGEST_VALUE)


def _too_large(what: str, estimate: int, limit: int) -> TooLarge:
    return TooLarge(
        "DATASET_TOO_LARGE",
        f"{estimate} {what} are more than the {limit} that this server accepts.",
        estimate=estimate,
        limit=limit,
        what=what,
    )
