"""What labelers are shown beside a ranked row, and what the model predicts for it."""

from collections.abc import Iterator, Mapping

import numpy as np

from svddtune import numerics
from svddtune.numerics import IndexArray, LabelArray, Spread
from svddtune.v1 import jobs_pb2
from svddtune.worker.data import Data

NEARBY = 3
UNUSUAL = 5
# Labels looked at, so that a context costs the same in a long session.
LATEST_LABELS = 2000
# Labelled inliers from which on they, and not all rows, tell what is usual.
LEAST_INLIERS = 5


def latest_labelled(labels: LabelArray, asked_by: Mapping[int, int]) -> IndexArray:
    """Labelled rows, ascending; of more than ``LATEST_LABELS`` those of the latest queries.

    ``asked_by`` names the query of a row; without one it counts as the oldest.
    """
    rows = np.flatnonzero(labels)
    if len(rows) <= LATEST_LABELS:
        return rows
    queries = [asked_by.get(row, 0) for row in rows.tolist()]
    return np.sort(rows[np.argsort(queries, kind="stable")[-LATEST_LABELS:]])


def usual(data: Data, labels: LabelArray, labelled: IndexArray) -> Spread:
    """Spread of the labelled inliers' raw values, or of all rows where these are too few."""
    inliers = labelled[labels[labelled] == numerics.types.INLIER]
    return numerics.spread_of(data.raw[inliers]) if len(inliers) >= LEAST_INLIERS else data.spread


def query_contexts(
    data: Data,
    rows: IndexArray,
    *,
    labels: LabelArray,
    asked_by: Mapping[int, int],
    predicted: LabelArray,
) -> Iterator[jobs_pb2.QueryContext]:
    """Contexts of ranked rows, in their order.

    ``asked_by`` names the queries that labelled rows come from, and ``predicted`` what the model
    says of ``rows``.
    """
    labelled = latest_labelled(labels, asked_by)
    spread = usual(data, labels, labelled)
    near, distance2 = numerics.nearest_labelled(data.X, rows, labelled, NEARBY)
    deviation = numerics.deviations(data.raw[rows], spread)
    columns = numerics.most_unusual(deviation, UNUSUAL)
    strongest = np.take_along_axis(deviation, columns, axis=1)
    typical = spread.center[columns]
    verdicts = labels[near]
    for n in range(len(rows)):
        yield jobs_pb2.QueryContext(
            predicted=int(predicted[n]),
            nearby=[
                jobs_pb2.ContextLabel(row=row, verdict=verdict, distance2=distance)
                for row, verdict, distance in zip(
                    near[n].tolist(), verdicts[n].tolist(), distance2[n].tolist(), strict=True
                )
            ],
            unusual=[
                jobs_pb2.ContextFeature(column=column, typical=center, deviation=strength)
                for column, center, strength in zip(
                    columns[n].tolist(), typical[n].tolist(), strongest[n].tolist(), strict=True
                )
                if strength != 0.0
            ],
        )
