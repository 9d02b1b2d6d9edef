"""A dataset as a stream of messages below 1 MiB, which goes on after a break."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from svddtune.client.errors import InternalError, InvalidInput, NotFound, SvddtuneError, Unavailable
from svddtune.client.inputs.display import display_fields
from svddtune.client.inputs.frames import read_features
from svddtune.client.inputs.ids import observation_ids as checked_ids
from svddtune.client.inputs.validate import check_magnitude
from svddtune.client.types import Dataset, FloatArray
from svddtune.client.wire import calls
from svddtune.client.wire.backoff import Backoff
from svddtune.client.wire.calls import Call
from svddtune.client.wire.channel import MAX_CHUNK_BYTES
from svddtune.client.wire.convert import SCALINGS, choice, matrix_to_proto
from svddtune.v1 import common_pb2, dataset_pb2

# Attempts in a row that stored no further row: of a dataset in one message, which has little to
# lose, and of a larger one, which waits half a minute for a service that restarts.
_FEW_TRIES, _MANY_TRIES = 4, 12


class Upload:
    """A checked dataset that is sent until the service has it.

    Without I/O: make `next_call` until it returns a dataset. Where it fails, wait as long as
    `pause_s` says.
    """

    def __init__(
        self,
        X: Any,
        *,
        name: str = "",
        observation_ids: Iterable[object] | None = None,
        feature_names: Iterable[str] | None = None,
        display: Any = None,
        scaling: str = "auto",
        labels: Mapping[str, str] | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> None:
        self._on_progress = on_progress
        features = read_features(X, feature_names)
        self.rows: FloatArray = features.rows
        check_magnitude(self.rows, features.names or ())
        n, m = self.rows.shape
        self._ids: list[str] = []
        if observation_ids is not None:
            self._ids = checked_ids(observation_ids, n, "observation_ids")
        self._display = display_fields(display, n)
        self._header = dataset_pb2.DatasetHeader(
            display_name=name,
            observation_count=n,
            feature_count=m,
            feature_names=features.names,
            scaling=choice(SCALINGS, scaling, "scaling"),
            labels=labels or {},
        )
        self._chunks = list(self._pieces())
        self._resumable = len(self._chunks) > 1
        if self._resumable:
            self._header.upload_id = str(uuid.uuid4())
        # Number of rows that the service has, and whether it is to be asked for it.
        self._stored = 0
        self._ask = False
        self._tries = 0
        self._backoff = Backoff(first_s=0.2, most_s=3.0)

    def next_call(self) -> Call[Dataset | None]:
        """Return the next call; its reply is None where the upload goes on after it."""
        if self._ask:
            return calls.get_upload(self._header.upload_id, self._told)
        return calls.upload_dataset(self.messages())

    def _told(self, row_count: int) -> None:
        """Take note of what the service has."""
        if row_count > self._stored:
            self._tries = 0
            self._backoff.reset()
        self._stored = row_count
        self._ask = False

    def pause_s(self, error: SvddtuneError) -> float:
        """Return the seconds to wait after a call failed; raise its error where it is final."""
        self._tries += 1
        lost = isinstance(error, NotFound) and error.reason == "UPLOAD_NOT_FOUND"
        ahead = isinstance(error, InvalidInput) and error.reason == "UPLOAD_GAP"
        away = isinstance(error, Unavailable) and error.reason != "DEADLINE_EXCEEDED"
        # An internal error of the service has an id. One without comes from grpc's asyncio client,
        # when it writes to a connection that has just broken.
        broken = isinstance(error, InternalError) and not error.metadata
        most = _MANY_TRIES if self._resumable else _FEW_TRIES
        if not (lost or ahead or away or broken) or self._tries == most:
            raise error
        if lost:
            self._stored, self._ask = 0, False
            return 0.0
        self._ask = self._resumable
        return self._backoff.next_s(error.retry_after_s)

    def timeout_s(self, base_s: float) -> float:
        """Return the deadline in seconds: `base_s` and a second for each MB."""
        return base_s + self.rows.nbytes / 1e6

    def messages(self) -> Iterator[dataset_pb2.UploadDatasetRequest]:
        """Yield the header, then the rows that the service does not have."""
        yield dataset_pb2.UploadDatasetRequest(header=self._header)
        for start, end in self._chunks:
            if end <= self._stored:
                continue
            chunk = dataset_pb2.DatasetChunk(
                rows=matrix_to_proto(self.rows[start:end]),
                observation_ids=self._ids[start:end],
                displays=[_display_to_proto(fields) for fields in self._display[start:end]],
                first_row=start if self._resumable else None,
            )
            yield dataset_pb2.UploadDatasetRequest(chunk=chunk)
            if self._on_progress is not None:
                self._on_progress(end)

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Yield row ranges whose messages stay below the limit."""
        n, m = self.rows.shape
        if not self._ids and not self._display:
            step = max(1, MAX_CHUNK_BYTES // (8 * m))
            yield from ((start, min(start + step, n)) for start in range(0, n, step))
            return
        start, size = 0, 0
        for row in range(n):
            cost = 8 * m
            if self._ids:
                cost += 4 * len(self._ids[row]) + 4
            if self._display:
                cost += 8 + sum(
                    4 * (len(key) + len(value)) + 12 for key, value in self._display[row].items()
                )
            if row > start and size + cost > MAX_CHUNK_BYTES:
                yield start, row
                start, size = row, 0
            size += cost
        yield start, n


def _display_to_proto(fields: Mapping[str, str]) -> dataset_pb2.Display:
    return dataset_pb2.Display(
        fields=[common_pb2.DisplayField(key=key, value=value) for key, value in fields.items()]
    )
