"""Conversion of what people are shown of a session from messages to the client's values."""

from __future__ import annotations

import numpy as np

from svddtune.client.figures import (
    Atlas,
    AtlasLayer,
    DataProfile,
    FeatureProfile,
    HistoryPoint,
    ServerLoad,
    SessionMap,
    WorkerLoad,
)
from svddtune.client.wire.convert import (
    counts_from_proto,
    figure,
    quality_from_proto,
    scaling_from_proto,
    time_from_proto,
)
from svddtune.v1 import oracle_pb2, server_pb2, tuning_pb2


def point_from_proto(point: tuning_pb2.HistoryPoint) -> HistoryPoint:
    """Return a point of a history."""
    return HistoryPoint(
        labels=point.labels,
        counts=counts_from_proto(point.counts),
        time=time_from_proto(point.time) if point.HasField("time") else None,
        gamma=point.gamma,
        C=point.c,
        scaling=scaling_from_proto(point.scaling),
        quality=quality_from_proto(point.quality) if point.HasField("quality") else None,
        expected=figure(point, "expected"),
        alignment=figure(point, "alignment"),
        outside_count=point.outside_count,
        expected_gain=figure(point, "expected_gain"),
        advice=point.advice,
    )


def atlas_from_proto(atlas: tuning_pb2.GetAtlasResponse) -> Atlas:
    """Return the cells by layer."""
    return Atlas(atlas.labels, tuple(map(_layer, atlas.layers)))


def _layer(layer: tuning_pb2.AtlasLayer) -> AtlasLayer:
    shape = (len(layer.gammas), -1)
    scores = np.array(layer.scores, dtype=np.float64).reshape(shape)
    absent = scores == -2.0
    costs = np.array(layer.costs).reshape(shape)
    return AtlasLayer(
        scaling=scaling_from_proto(layer.scaling),
        gammas=np.array(layer.gammas),
        costs=np.where(absent, np.nan, costs),
        scores=np.where(absent, np.nan, scores),
        outside_counts=np.array(layer.outside_counts, dtype=np.int64).reshape(shape),
        weights=np.array(layer.weights, dtype=np.float64).reshape(shape),
    )


def map_from_proto(found: tuning_pb2.GetMapResponse) -> SessionMap:
    """Return the map of a session."""
    margins = np.full(len(found.rows), np.nan)
    margins[: len(found.margins)] = found.margins
    return SessionMap(
        labels=found.labels,
        rows=np.array(found.rows, dtype=np.int64),
        observation_ids=tuple(found.observation_ids),
        x=np.array(found.x, dtype=np.float64),
        y=np.array(found.y, dtype=np.float64),
        margins=margins,
        method=found.method,
        explained_share=found.explained_share,
    )


def profile_from_proto(profile: oracle_pb2.GetProfileResponse) -> DataProfile:
    """Return the profile of a dataset."""
    return DataProfile(
        tuple(
            FeatureProfile(
                name=one.name,
                column=one.column,
                center=one.center,
                spread=one.spread,
                points=np.array(one.points),
                shares=np.array(one.shares),
                minimum=one.minimum,
                maximum=one.maximum,
            )
            for one in profile.features
        ),
        profile.observation_count,
    )


def load_from_proto(load: server_pb2.GetLoadResponse) -> ServerLoad:
    """Return the load of a service."""
    return ServerLoad(
        workers=tuple(
            WorkerLoad(one.name, time_from_proto(one.last_seen), one.job, one.memory_bytes)
            for one in load.workers
        ),
        urgent_jobs=load.urgent_jobs,
        bulk_jobs=load.bulk_jobs,
        running_jobs=load.running_jobs,
        given_up_jobs=load.given_up_jobs,
    )
