"""A model as the messages that ExportModel streams."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune import numerics
from svddtune.numerics import FloatArray, SvddModel
from svddtune.numerics.svdd import BOUNDARY_TOLERANCE
from svddtune.profile import Profile
from svddtune.refined import RefinedDetector
from svddtune.representation import Representation
from svddtune.v1 import common_pb2, dataset_pb2, result_pb2, tuning_pb2
from svddtune.worker.data import Data
from svddtune.worker.scalings import scaling_kind, scaling_word

CHECK_ROWS = 8
# Pieces of a model stay well below the 4 MiB that a gRPC message may have.
PIECE_BYTES = 1 << 19
_ELEMENT_TYPES = {
    "f8": result_pb2.ELEMENT_TYPE_FLOAT64,
    "f4": result_pb2.ELEMENT_TYPE_FLOAT32,
    "i4": result_pb2.ELEMENT_TYPE_INT32,
    "i8": result_pb2.ELEMENT_TYPE_INT64,
}


def _matrix(rows: FloatArray) -> common_pb2.Matrix:
    return common_pb2.Matrix(
        rows=rows.shape[0],
        columns=rows.shape[1],
        values=np.ascontiguousarray(rows, dtype="<f8").tobytes(),
    )


def model_pieces(
    model: SvddModel,
    data: Data,
    result: result_pb2.TuningResult,
    refined: RefinedDetector | None = None,
) -> list[tuning_pb2.ExportModelResponse]:
    """A model, with its refined detector, as the messages that ExportModel streams."""
    check = np.unique(np.linspace(0, len(data.raw) - 1, CHECK_ROWS).round().astype(np.int64))
    representation = data.views.representation(scaling_word(result.scaling))
    header = result_pb2.ModelHeader(
        gamma=model.gamma,
        c=model.C,
        nu=model.nu,
        r2=model.R2,
        center_norm2=model.center_norm2,
        tolerance=BOUNDARY_TOLERANCE,
        degenerate=model.degenerate,
        scaling=_scaling(representation),
        feature_names=data.description.feature_names,
        feature_count=representation.columns_in,
        support_vector_count=len(model.rows),
        check_rows=_matrix(data.raw[check]),
        check_distance2=model.distance2(representation.apply(data.raw[check])).tolist(),
        observation_count=len(data.raw),
        dataset_hash=data.description.content_hash,
        sklearn_nu=numerics.sklearn_parameters(model)["nu"],
    )
    arrays: dict[str, NDArray[Any]] = {}
    if refined is not None:
        arrays = refined.to_arrays()
        header.refined_array_count = len(arrays)
        header.check_probability.extend(refined.probability(data.raw[check]).tolist())
    pieces = [tuning_pb2.ExportModelResponse(header=header)]
    pieces += (
        tuning_pb2.ExportModelResponse(scaling=chunk) for chunk in _scaling_chunks(representation)
    )
    step = max(1, PIECE_BYTES // (8 * model.support.shape[1]))
    for start in range(0, len(model.rows), step):
        part = slice(start, start + step)
        pieces.append(
            tuning_pb2.ExportModelResponse(
                support_vectors=result_pb2.SupportVectorChunk(
                    rows=_matrix(model.support[part]),
                    alphas=model.alphas[part].tolist(),
                    dataset_rows=model.rows[part].tolist(),
                )
            )
        )
    profile = numerics.profile_of(model, data.views.rows(representation.kind), data.raw)
    pieces += (tuning_pb2.ExportModelResponse(profile=chunk) for chunk in _profile_chunks(profile))
    pieces += (tuning_pb2.ExportModelResponse(refined=chunk) for chunk in _refined_chunks(arrays))
    return pieces


def _profile_chunks(profile: Profile) -> Iterator[result_pb2.ProfileChunk]:
    """A profile's columns in order; the first chunk has the rest."""
    chunk = result_pb2.ProfileChunk(
        fresh=result_pb2.FreshRows(
            count=profile.fresh_count,
            outside_share=profile.fresh_outside,
            largest_gap2=profile.fresh_gap2,
        )
    )
    size = 0
    for center, spread, sketch in zip(
        profile.center.tolist(), profile.spread.tolist(), profile.columns, strict=True
    ):
        if size > PIECE_BYTES:
            yield chunk
            chunk, size = result_pb2.ProfileChunk(), 0
        chunk.columns.add(
            center=center,
            spread=spread,
            points=sketch.points.tolist(),
            shares=sketch.shares.tolist(),
        )
        size += sketch.points.nbytes + sketch.shares.nbytes
    yield chunk


def _refined_chunks(arrays: Mapping[str, NDArray[Any]]) -> Iterator[result_pb2.RefinedChunk]:
    """The arrays of a refined detector; an empty one has one chunk without data."""
    for name, array in arrays.items():
        if array.dtype.kind == "U":
            kind = result_pb2.ELEMENT_TYPE_TEXT
            data = b"".join(text.encode() + b"\0" for text in array.ravel().tolist())
        else:
            kind = _ELEMENT_TYPES[array.dtype.str.lstrip("<>=|")]
            little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            data = little.tobytes()
        for start in range(0, max(1, len(data)), PIECE_BYTES):
            yield result_pb2.RefinedChunk(
                array=name, type=kind, shape=array.shape, data=data[start : start + PIECE_BYTES]
            )


def _scaling(representation: Representation) -> dataset_pb2.Scaling:
    """A representation without what its chunks carry."""
    scaling = dataset_pb2.Scaling(
        kind=scaling_kind(representation.kind),
        map_count=sum(len(knots) > 0 for knots in representation.knots),
    )
    if representation.kind != "none":
        scaling.offset.extend(representation.offset.tolist())
        scaling.scale.extend(representation.scale.tolist())
    if representation.rotation is not None:
        scaling.rotation_columns = representation.columns_out
    return scaling


def _scaling_chunks(representation: Representation) -> Iterator[dataset_pb2.ScalingChunk]:
    """The maps and the rotation of a representation, columns in order."""
    chunk = dataset_pb2.ScalingChunk()
    size = 0
    for column, (knots, values) in enumerate(
        zip(representation.knots, representation.values, strict=True)
    ):
        if len(knots) == 0:
            continue
        if size > PIECE_BYTES:
            yield chunk
            chunk, size = dataset_pb2.ScalingChunk(), 0
        chunk.maps.add(column=column, knots=knots.tolist(), values=values.tolist())
        size += knots.nbytes + values.nbytes
    if size:
        yield chunk
    rotation = representation.rotation
    if rotation is not None:
        step = max(1, PIECE_BYTES // (8 * rotation.shape[1]))
        for start in range(0, len(rotation), step):
            yield dataset_pb2.ScalingChunk(rotation=_matrix(rotation[start : start + step]))
