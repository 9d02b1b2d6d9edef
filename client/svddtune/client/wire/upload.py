"""A dataset as a stream of messages below 1 MiB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from svddtune.client.inputs.display import display_fields
from svddtune.client.inputs.frames import read_features
from svddtune.client.inputs.ids import observation_ids as checked_ids
from svddtune.client.inputs.validate import check_magnitude
from svddtune.client.types import FloatArray
from svddtune.client.wire.channel import MAX_CHUNK_BYTES
from svddtune.client.wire.convert import SCALINGS, choice, matrix_to_proto
from svddtune.v1 import common_pb2, dataset_pb2

UPLOAD_TRIES = 4


class Upload:
    """A checked dataset that can be sent several times."""

    def __init__(
        self,
        X: Any,
        *,
        name: str = "",
        observation_ids: Iterable[object] | None = None,
        feature_names: Iterable[str] | None = None,
        display: Any = None,
        scaling: str = "auto",
    ) -> None:
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
        )

    def timeout_s(self, base_s: float) -> float:
        """Return the deadline in seconds: `base_s` and a second for each MB."""
        return base_s + self.rows.nbytes / 1e6

    def messages(self) -> Iterator[dataset_pb2.UploadDatasetRequest]:
        """Yield the header, then the rows."""
        yield dataset_pb2.UploadDatasetRequest(header=self._header)
        for start, end in self._pieces():
            chunk = dataset_pb2.DatasetChunk(
                rows=matrix_to_proto(self.rows[start:end]),
                observation_ids=self._ids[start:end],
                displays=[_display_to_proto(fields) for fields in self._display[start:end]],
            )
            yield dataset_pb2.UploadDatasetRequest(chunk=chunk)

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
