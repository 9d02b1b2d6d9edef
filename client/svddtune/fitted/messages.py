"""A fitted model as the messages of ``ExportModel``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.config.words import word_of
from svddtune.fitted.model import Array, ModelDamaged
from svddtune.profile import Profile, Sketch
from svddtune.refined import RefinedDetector
from svddtune.representation import Representation
from svddtune.v1 import common_pb2, dataset_pb2, result_pb2, tuning_pb2

_ELEMENT_TYPES = {
    result_pb2.ELEMENT_TYPE_FLOAT64: "<f8",
    result_pb2.ELEMENT_TYPE_FLOAT32: "<f4",
    result_pb2.ELEMENT_TYPE_INT32: "<i4",
    result_pb2.ELEMENT_TYPE_INT64: "<i8",
}


def matrix_of(matrix: common_pb2.Matrix) -> Array:
    """The rows of a message, shape (rows, columns). Raises ValueError where its size is wrong."""
    values = np.frombuffer(matrix.values, dtype="<f8")
    return values.reshape(matrix.rows, matrix.columns).astype(np.float64)


def parts_of_messages(messages: Iterable[tuning_pb2.ExportModelResponse]) -> dict[str, Any]:
    """Fields of the `FittedModel` that the messages hold.

    Raises
    ------
    ModelDamaged
        A part is missing, or the parts do not fit together.
    """
    header: result_pb2.ModelHeader | None = None
    vectors, alphas, dataset_rows = [], list[float](), list[int]()
    scaling, profile = list[dataset_pb2.ScalingChunk](), list[result_pb2.ProfileChunk]()
    refined = list[result_pb2.RefinedChunk]()
    try:
        for message in messages:
            if message.WhichOneof("part") == "header":
                header = message.header
            elif message.WhichOneof("part") == "support_vectors":
                vectors.append(matrix_of(message.support_vectors.rows))
                alphas.extend(message.support_vectors.alphas)
                dataset_rows.extend(message.support_vectors.dataset_rows)
            elif message.WhichOneof("part") == "scaling":
                scaling.append(message.scaling)
            elif message.WhichOneof("part") == "profile":
                profile.append(message.profile)
            elif message.WhichOneof("part") == "refined":
                refined.append(message.refined)
        if header is None:
            raise ModelDamaged("The service sent a model without its header")
        if sum(map(len, vectors)) != header.support_vector_count:
            raise ModelDamaged(
                f"The service sent {sum(map(len, vectors))} support vectors instead of "
                f"{header.support_vector_count}"
            )
        return {
            "gamma": header.gamma,
            "C": header.c,
            "nu": header.nu,
            "R2": header.r2,
            "center_norm2": header.center_norm2,
            "tolerance": header.tolerance,
            "representation": _representation(header, scaling),
            "support_vectors": np.concatenate(vectors),
            "alphas": np.array(alphas),
            "feature_names": tuple(header.feature_names),
            "check_rows": matrix_of(header.check_rows),
            "check_distance2": np.array(header.check_distance2),
            "sklearn_nu": header.sklearn_nu or header.nu,
            "observation_count": header.observation_count,
            "dataset_hash": header.dataset_hash,
            "result": header.result,
            "dataset_rows": tuple(dataset_rows),
            "profile": _profile(header, profile),
            "refined": _refined(header, refined),
            "check_probability": (
                np.array(header.check_probability) if header.refined_array_count else None
            ),
        }
    except ModelDamaged:
        raise
    except (KeyError, ValueError) as error:
        raise ModelDamaged(f"The model's arrays do not fit together: {error}") from None


def _representation(
    header: result_pb2.ModelHeader, chunks: Iterable[dataset_pb2.ScalingChunk]
) -> Representation:
    """Return how the model sees raw rows; ValueError where a part is missing or does not fit."""
    scaling, columns = header.scaling, header.feature_count
    knots, values = [np.empty(0)] * columns, [np.empty(0)] * columns
    rotation, map_count = [], 0
    for chunk in chunks:
        for column in chunk.maps:
            if column.column >= columns:
                raise ValueError(f"a map of column {column.column} of {columns}")
            knots[column.column] = np.array(column.knots)
            values[column.column] = np.array(column.values)
            map_count += 1
        if chunk.HasField("rotation"):
            rotation.append(matrix_of(chunk.rotation))
    if map_count != scaling.map_count:
        raise ValueError(f"{map_count} maps of columns instead of {scaling.map_count}")
    if bool(rotation) != scaling.HasField("rotation_columns"):
        raise ValueError("the rotation does not fit the header")
    return Representation(
        kind=word_of(
            dataset_pb2.ScalingKind.DESCRIPTOR, scaling.kind or dataset_pb2.SCALING_KIND_NONE
        ),
        offset=np.array(scaling.offset) if scaling.offset else np.zeros(columns),
        scale=np.array(scaling.scale) if scaling.scale else np.ones(columns),
        knots=tuple(knots),
        values=tuple(values),
        rotation=np.concatenate(rotation) if rotation else None,
    )


def _profile(
    header: result_pb2.ModelHeader, chunks: Sequence[result_pb2.ProfileChunk]
) -> Profile | None:
    """Return the dataset's profile; None where the service sent none."""
    if not chunks:
        return None
    columns, fresh = [column for chunk in chunks for column in chunk.columns], chunks[0].fresh
    return Profile(
        center=np.array([column.center for column in columns]),
        spread=np.array([column.spread for column in columns]),
        columns=tuple(
            Sketch(np.array(column.points), np.array(column.shares)) for column in columns
        ),
        count=header.observation_count,
        fresh_count=fresh.count,
        fresh_outside=fresh.outside_share,
        fresh_gap2=fresh.largest_gap2,
    )


def _refined(
    header: result_pb2.ModelHeader, chunks: Iterable[result_pb2.RefinedChunk]
) -> RefinedDetector | None:
    """Return the refined detector; None where there is none."""
    data: dict[str, bytearray] = {}
    first: dict[str, result_pb2.RefinedChunk] = {}
    for chunk in chunks:
        first.setdefault(chunk.array, chunk)
        data.setdefault(chunk.array, bytearray()).extend(chunk.data)
    if len(data) != header.refined_array_count:
        raise ValueError(
            f"{len(data)} arrays of the refined detector instead of {header.refined_array_count}"
        )
    if not data:
        return None
    return RefinedDetector.from_arrays(
        {name: _array(first[name], bytes(content)) for name, content in data.items()}
    )


def _array(about: result_pb2.RefinedChunk, data: bytes) -> NDArray[Any]:
    if about.type == result_pb2.ELEMENT_TYPE_TEXT:
        texts = [text.decode() for text in data.split(b"\0")[:-1]]
        return np.array(texts, dtype=np.str_).reshape(tuple(about.shape))
    if about.type not in _ELEMENT_TYPES:
        raise ValueError(f"array {about.array} has an unknown type of elements, {about.type}")
    return np.frombuffer(data, dtype=_ELEMENT_TYPES[about.type]).reshape(tuple(about.shape))
