"""Rows that the service judges: calls of some rows each, and their replies as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.frames import Features
from svddtune.client.result import Result
from svddtune.client.types import FloatArray, RowScores, Session, Unusual, Which
from svddtune.client.wire.calls import Call, name_of
from svddtune.client.wire.convert import matrix_to_proto
from svddtune.v1 import common_pb2, result_pb2
from svddtune.v1 import scoring_pb2 as spb

# The service takes so many rows in a call, and answers with at most 3 MiB.
_MOST_ROWS, _MOST_REASONS = 10_000, 100
_REQUEST_BYTES, _RESPONSE_BYTES = 2 << 20, 3 << 20
# The most that a row, and a reason with the longest name, take in a response.
_ROW_BYTES, _REASON_BYTES = 40, 300
_DETECTORS: dict[str, result_pb2.Detector] = {
    "svdd": result_pb2.DETECTOR_SVDD,
    "refined": result_pb2.DETECTOR_REFINED,
}


def model_name(model: str | Session | Result) -> str:
    """Return the name of a model: that of a session's latest result where a session is given."""
    name = name_of(model)
    return f"{name}/results/-" if name.startswith("sessions/") and "/results/" not in name else name


def blocks(features: Features, reasons: int) -> Iterator[FloatArray]:
    """Yield the rows in parts that one call can take; InvalidInput for a wrong `reasons`."""
    if not 0 <= reasons <= _MOST_REASONS:
        raise InvalidInput(
            f"reasons = {reasons} is not allowed: give 0 to {_MOST_REASONS}",
            metadata={"field": "reasons", "value": str(reasons)},
        )
    step = max(
        1,
        min(
            _MOST_ROWS,
            _REQUEST_BYTES // (8 * features.rows.shape[1]),
            _RESPONSE_BYTES // (_ROW_BYTES + reasons * _REASON_BYTES),
        ),
    )
    for start in range(0, len(features.rows), step):
        yield features.rows[start : start + step]


def score(
    model: str, names: Sequence[str], rows: FloatArray, *, which: Which, reasons: int
) -> Call[RowScores]:
    """Judge some rows; ValueError for an unknown detector."""
    if which not in _DETECTORS:
        raise ValueError(f"which is {which!r}, expected 'svdd' or 'refined'")
    request = spb.ScoreRequest(
        model=model,
        detector=_DETECTORS[which],
        reason_count=reasons,
        feature_names=names,
        matrix=matrix_to_proto(rows),
    )
    return Call("scoring", "Score", request, _scores)


def joined(parts: Sequence[RowScores]) -> RowScores:
    """Return the scores of several calls as one."""
    chances = [part.probability for part in parts if part.probability is not None]
    return RowScores(
        model=parts[0].model,
        labels=np.concatenate([part.labels for part in parts]),
        distance=np.concatenate([part.distance for part in parts]),
        probability=np.concatenate(chances) if chances else None,
        reasons=tuple(reasons for part in parts for reasons in part.reasons),
    )


def _scores(reply: spb.ScoreResponse) -> RowScores:
    scores: Sequence[Any] = reply.scores
    outside = [one.verdict == common_pb2.VERDICT_OUTLIER for one in scores]
    refined = bool(scores) and scores[0].HasField("probability")
    return RowScores(
        model=reply.model,
        labels=np.where(outside, -1, 1).astype(np.int8),
        distance=np.array([one.distance for one in scores]),
        probability=np.array([one.probability for one in scores]) if refined else None,
        reasons=tuple(
            tuple(
                Unusual(
                    name=reason.name or str(reason.column),
                    column=reason.column,
                    value=reason.value,
                    typical=reason.typical,
                    deviation=reason.deviation,
                )
                for reason in one.reasons
            )
            for one in scores
        ),
    )
