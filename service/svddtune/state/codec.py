"""Domain values and arrays to bytes and back. Everything stored as bytes is protobuf."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from svddtune.config import SessionConfig, from_proto, to_proto
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state.keys import CHUNK_BYTES
from svddtune.state.session import (
    ControlItem,
    DatasetId,
    Failure,
    LabelCounts,
    Session,
    SessionId,
    SessionState,
    TakenLabels,
    Verdict,
)
from svddtune.v1 import common_pb2, config_pb2, dataset_pb2, tuning_pb2

Fields = Mapping[bytes, bytes]

VERDICTS = {
    Verdict.INLIER: common_pb2.VERDICT_INLIER,
    Verdict.OUTLIER: common_pb2.VERDICT_OUTLIER,
    Verdict.UNSURE: common_pb2.VERDICT_UNSURE,
}


def gamma_bounds(
    message: jobs_pb2.PrepareJob | jobs_pb2.AtlasJob,
) -> tuple[float, float] | None:
    """The range of gamma that a message names; None for the one that follows from the data."""
    return (message.gamma_min, message.gamma_max) if message.gamma_max > 0 else None


def session_record(
    display_name: str,
    config: SessionConfig,
    initial_rows: Iterable[int] = (),
    taken: TakenLabels | None = None,
    controls: Iterable[ControlItem] = (),
) -> bytes:
    """The fixed part of a session."""
    labels = taken.labels if taken else ()
    return jobs_pb2.SessionRecord(
        display_name=display_name,
        config=to_proto(config),
        initial_rows=[*initial_rows, *(one.row for one in labels)],
        answered_rows=[one.row for one in labels if not one.known],
        taken_over=taken.summary if taken else None,
        controls={one.row: VERDICTS[one.verdict] for one in controls},
    ).SerializeToString(deterministic=True)  # (Requests are compared by it.)


def labels_to_text(labels: Mapping[str, str]) -> str:
    """The labels of a session as its hash has them."""
    return json.dumps(dict(labels), sort_keys=True)


def trusts_to_text(trusts: Mapping[str, float]) -> str:
    """The trusts of a session as its hash has them, exact."""
    return json.dumps(dict(trusts), sort_keys=True)


def initial_rows(fields: Fields) -> frozenset[int]:
    """Rows that were labelled when a session was made."""
    return frozenset(jobs_pb2.SessionRecord.FromString(fields[b"record"]).initial_rows)


def answered_rows(fields: Fields) -> frozenset[int]:
    """Those of ``initial_rows`` whose votes were answers in another session."""
    return frozenset(jobs_pb2.SessionRecord.FromString(fields[b"record"]).answered_rows)


def controls(fields: Fields) -> dict[int, Verdict]:
    """Control items: row -> what it is."""
    stored = jobs_pb2.SessionRecord.FromString(fields[b"record"]).controls
    by_proto = {proto: verdict for verdict, proto in VERDICTS.items()}
    return {row: by_proto[verdict] for row, verdict in stored.items()}


def config_of_record(record: bytes) -> SessionConfig:
    """The settings that a session began with; no change of it touches what labelers see."""
    return _config(
        jobs_pb2.SessionRecord.FromString(record).config.SerializeToString(deterministic=True)
    )


def session_from_fields(
    fields: Fields,
    leased_count: int,
    awaiting_votes: int,
    waiting_count: int = 0,
    *,
    kept_ms: int = 0,
) -> Session:
    """A session from its hash; what may change replaces what it began with.

    It is kept for ``kept_ms`` after its end unless it says for how long; with 0 for good.
    """
    own = fields.get(b"retention_ms")
    retention_ms = None if own is None else int(own)
    if retention_ms is not None:
        kept_ms = retention_ms
    record = jobs_pb2.SessionRecord.FromString(fields[b"record"])
    record.config.budget = int(fields[b"budget"])
    record.config.priority = int(fields[b"priority"])
    if b"trusts" in fields:
        record.config.trusts.clear()
        record.config.trusts.update(json.loads(fields[b"trusts"]))
    reason = fields[b"failure_reason"].decode()
    return Session(
        id=SessionId(fields[b"id"].decode()),
        dataset_id=DatasetId(fields[b"dataset"].decode()),
        display_name=fields.get(b"display_name", record.display_name.encode()).decode(),
        labels=json.loads(fields.get(b"labels", b"{}")),
        config=_config(record.config.SerializeToString(deterministic=True)),
        state=SessionState(fields[b"state"].decode()),
        counts=LabelCounts(
            inlier=int(fields[b"inlier"]),
            outlier=int(fields[b"outlier"]),
            unsure=int(fields[b"unsure"]),
        ),
        observation_count=int(fields[b"n"]),
        query_count=int(fields[b"queries"]),
        leased_count=leased_count,
        gamma=float(fields[b"gamma"]),
        scaling=cast("dataset_pb2.ScalingKind", int(fields[b"scaling"])),
        alignment=float(fields[b"alignment"]),
        live=fields[b"live"],
        detectors=fields[b"detectors"],
        atlas_progress=int(fields[b"atlas_done"]) / int(fields[b"atlas_parts"]),
        revision=int(fields[b"revision"]),
        finish_reason=fields[b"finish_reason"].decode(),
        failure=Failure(reason, fields[b"failure_message"].decode()) if reason else None,
        created_ms=int(fields[b"created_ms"]),
        updated_ms=int(fields[b"updated_ms"]),
        version=int(fields[b"version"]),
        awaiting_votes=awaiting_votes,
        awaiting_adjudication=int(fields.get(b"conflicts", 0)),
        ranking_pending=fields[b"suggesting"] == b"1",
        waiting_count=waiting_count,
        project=fields.get(b"project", b"default").decode(),
        taken_over=record.taken_over if record.HasField("taken_over") else None,
        expires_ms=int(fields[b"ended_ms"]) + kept_ms
        if kept_ms and b"ended_ms" in fields
        else None,
        retention_ms=retention_ms,
    )


@lru_cache(maxsize=1024)
def _config(message: bytes) -> SessionConfig:
    """Settings of a SessionConfig message: the same ones at each change of a session."""
    return from_proto(config_pb2.SessionConfig.FromString(message))


def counts_to_proto(counts: LabelCounts) -> common_pb2.LabelCounts:
    """Counts with their sum."""
    return common_pb2.LabelCounts(
        inlier=counts.inlier, outlier=counts.outlier, unsure=counts.unsure, total=counts.total
    )


def history_point(moment: bytes | None, evidence: bytes | None) -> tuning_pb2.HistoryPoint:
    """What was live at a rev of the labels.

    ``moment`` is the time in ms, a space and a HistoryPoint without what the LiveEvidence message
    ``evidence`` has. Either may be missing.
    """
    point = tuning_pb2.HistoryPoint()
    if moment is not None:
        time_ms, _, stored = moment.partition(b" ")
        point.MergeFromString(stored)
        point.time.FromMilliseconds(int(time_ms))
    if evidence is None:
        return point
    live = tuning_pb2.LiveEvidence.FromString(evidence)
    point.gamma, point.c, point.scaling = live.gamma, live.c, live.scaling
    point.labels, point.outside_count, point.advice = live.labels, live.outside_count, live.advice
    point.quality.CopyFrom(live.quality)
    if moment is None:
        point.counts.CopyFrom(live.quality.counts)
    if live.HasField("expected"):
        point.expected = live.expected
    if live.HasField("expected_gain"):
        point.expected_gain = live.expected_gain
    return point


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Plain arrays by name; no objects, so nothing is executed when they are read."""
    message = jobs_pb2.NamedArrays()
    for name, array in arrays.items():
        # (Not ascontiguousarray: it would give a scalar array one dimension.)
        little = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
        if little.dtype.hasobject:
            raise TypeError(f"array {name!r} holds objects")
        entry = message.arrays[name]
        entry.dtype = little.dtype.str
        entry.shape.extend(little.shape)
        entry.data = little.tobytes()
    return message.SerializeToString()


def unpack_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Inverse of ``pack_arrays``; the arrays are read-only views."""
    message = jobs_pb2.NamedArrays.FromString(data)
    return {
        name: np.frombuffer(entry.data, dtype=np.dtype(entry.dtype)).reshape(tuple(entry.shape))
        for name, entry in message.arrays.items()
    }


def split(data: bytes) -> Iterator[bytes]:
    """Pieces small enough for one Redis value; none for no data."""
    for start in range(0, len(data), CHUNK_BYTES):
        yield data[start : start + CHUNK_BYTES]


def rows_per_chunk(feature_count: int) -> int:
    """Rows of a dataset that one Redis value holds."""
    return max(1, CHUNK_BYTES // (8 * feature_count))


def observation_ids(rows: Iterable[int], stored: Iterable[bytes | None]) -> list[str]:
    """Ids of rows from what is stored of them; a row without an id goes by its number."""
    return [
        str(row) if name is None else name.decode() for row, name in zip(rows, stored, strict=True)
    ]


@lru_cache(maxsize=1 << 15)
def votes_from_json(text: bytes) -> tuple[tuple[str, int, float | None, bool], ...]:
    """Votes on a row as the scripts keep them, in the order first given.

    Each is labeler, verdict, confidence and whether it is an adjudicator's that decides. Results
    are kept: of many rows few change between two rankings.
    """
    return tuple(
        (labeler, int(verdict), confidence_from_text("".join(further[:1])), any(further[1:]))
        for labeler, verdict, _, *further in json.loads(text)
    )


def confidence_to_text(confidence: float | None) -> str:
    """A confidence as the scripts keep it: exact, and empty for none."""
    return "" if confidence is None else repr(confidence)


def confidence_from_text(text: str) -> float | None:
    """Inverse of ``confidence_to_text``."""
    return float(text) if text else None
