"""The download of a model in pieces."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from svddtune.client.errors import ModelCorrupt
from svddtune.client.model import SvddModel
from svddtune.client.wire.convert import SCALINGS, matrix_from_proto
from svddtune.v1 import result_pb2, tuning_pb2


def model_from_stream(messages: Iterable[tuning_pb2.ExportModelResponse]) -> SvddModel:
    """Return the model that the messages hold; ModelCorrupt where a part is missing."""
    header: result_pb2.ModelHeader | None = None
    vectors, alphas, dataset_rows = [], list[float](), list[int]()
    try:
        for message in messages:
            if message.WhichOneof("part") == "header":
                header = message.header
            elif message.WhichOneof("part") == "support_vectors":
                vectors.append(matrix_from_proto(message.support_vectors.rows))
                alphas.extend(message.support_vectors.alphas)
                dataset_rows.extend(message.support_vectors.dataset_rows)
        if header is None:
            raise ModelCorrupt("The service sent a model without its header")
        if sum(map(len, vectors)) != header.support_vector_count:
            raise ModelCorrupt(
                f"The service sent {sum(map(len, vectors))} support vectors instead of "
                f"{header.support_vector_count}"
            )
        return SvddModel(
            gamma=header.gamma,
            C=header.c,
            nu=header.nu,
            R2=header.r2,
            center_norm2=header.center_norm2,
            tolerance=header.tolerance,
            support_vectors=np.concatenate(vectors),
            alphas=np.array(alphas),
            scaling=next((w for w, k in SCALINGS.items() if k == header.scaling.kind), "none"),
            offset=np.array(header.scaling.offset),
            scale=np.array(header.scaling.scale),
            feature_names=tuple(header.feature_names),
            check_rows=matrix_from_proto(header.check_rows),
            check_distance2=np.array(header.check_distance2),
            sklearn_nu=header.sklearn_nu or header.nu,
            observation_count=header.observation_count,
            dataset_hash=header.dataset_hash,
            result=header.result,
            dataset_rows=tuple(dataset_rows),
        )
    except ModelCorrupt:
        raise
    except ValueError as error:
        raise ModelCorrupt(f"The model's arrays do not fit together: {error}") from None
