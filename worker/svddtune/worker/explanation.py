"""What labelers are shown beside a ranked row: why it is asked about and what sets it apart."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from svddtune import numerics
from svddtune.config import SessionConfig, visible_columns
from svddtune.numerics import FloatArray, IndexArray, LabelArray, Spread
from svddtune.profile import deviations, most_unusual
from svddtune.state.codec import VERDICTS
from svddtune.state.session import Verdict
from svddtune.v1 import oracle_pb2
from svddtune.worker.audit import Candidate
from svddtune.worker.data import Data

NEARBY = 3
UNUSUAL = 5
# Labels looked at, so that an explanation costs the same in a long session.
LATEST_LABELS = 500
# With fewer labelled inliers than this, a row is compared with all rows.
LEAST_INLIERS = 5

_WHY = {
    "lama": "Each possible answer would change the kernel alignment by at least {score:.3g}, the "
    "most among the sampled rows.",
    "random": "Drawn at random among the unlabelled observations.",
    "disagreement": "The fitted models that explain the labels best disagree most about it.",
    "knowledge_gradient": "Its label is expected to tell the most about which gamma and C are "
    "best.",
    "uncertain": "It is near the border between what was labelled inlier and outlier so far.",
    "audit": "Drawn uniformly for the audit: its label is used to check the result, not to tune.",
    "cold_entropy": "The fitted models disagree most about it, and one class has no label yet.",
    "cold_typical": "The most typical observation: no inlier is known yet.",
    "cold_random": "Drawn at random: there are no labels yet to compare with.",
    "own": "Ranked first by a query strategy of another package, with a score of {score:.3g}.",
    "cold_outlying": "Far from its neighbours: no outlier is known yet.",
}


# The same without a figure, for labelers who are to see nothing that the row's values lead to.
_WHY_WITHOUT_SCORE = _WHY | {
    "lama": "Each possible answer would change the kernel alignment more than with other rows.",
    "own": "Ranked first by a query strategy of another package.",
}


def latest_labelled(labels: LabelArray, asked_by: Mapping[int, int]) -> IndexArray:
    """Labelled rows, ascending; of more than ``LATEST_LABELS`` those of the latest queries.

    ``asked_by`` names the query of a row; a row without one counts as the oldest.
    """
    rows = numerics.types.labelled_rows(labels)
    if len(rows) <= LATEST_LABELS:
        return rows
    queries = [asked_by.get(row, 0) for row in rows.tolist()]
    return np.sort(rows[np.argsort(queries, kind="stable")[-LATEST_LABELS:]])


def reference(data: Data, labels: LabelArray, labelled: IndexArray) -> tuple[Spread, int]:
    """The spread of raw values that rows are compared with, and of how many labelled inliers it is.

    With fewer than ``LEAST_INLIERS`` of them it is the spread of all rows, and the number is 0.
    """
    inliers = labelled[labels[labelled] == numerics.types.INLIER]
    if len(inliers) < LEAST_INLIERS:
        return data.spread, 0
    return numerics.spread_of(data.raw[inliers]), len(inliers)


def _nearest_labelled(
    data: Data, scaling: str, rows: IndexArray, labelled: IndexArray
) -> tuple[IndexArray, FloatArray]:
    """As ``numerics.nearest_labelled``; only the rows concerned are brought into the scaling."""
    compared = np.concatenate((rows, labelled))
    Z = data.views.representation(scaling).apply(data.raw[compared])
    first, second = np.split(np.arange(len(compared)), [len(rows)])
    near, distance2 = numerics.nearest_labelled(Z, first, second, NEARBY)
    return compared[near], distance2


def explain(
    candidates: Sequence[Candidate],
    data: Data,
    *,
    scaling: str,
    labels: LabelArray,
    asked_by: Mapping[int, int],
    observation_ids: Callable[[Sequence[int]], Sequence[str]],
    config: SessionConfig,
) -> list[oracle_pb2.Explanation]:
    """Explanations of ranked rows, in their order.

    ``scaling`` is the representation of the columns in which rows are near to each other,
    ``labels`` are those the ranking rests on, ``asked_by`` names the queries that labelled rows
    come from, and ``observation_ids`` gives the ids of rows. ``config`` tells what labelers may
    see: in a blind session, labels take no part, and only visible features are called unusual.
    """
    if config.blind:
        labels = np.zeros_like(labels)
    names = data.description.feature_names
    visible = visible_columns(config, names, data.raw.shape[1])
    why = _WHY if config.raw_features and visible is None else _WHY_WITHOUT_SCORE
    rows = np.array([one.row for one in candidates], dtype=np.int64)
    labelled = latest_labelled(labels, asked_by)
    spread, inliers = reference(data, labels, labelled)
    near, distance2 = _nearest_labelled(data, scaling, rows, labelled)
    deviation = deviations(data.raw[rows], spread.center, spread.scale)
    if visible is not None:
        hidden = np.ones(deviation.shape[1], dtype=bool)
        hidden[list(visible)] = False
        deviation[:, hidden] = 0.0
    columns = most_unusual(deviation, UNUSUAL)
    strongest = np.take_along_axis(deviation, columns, axis=1)
    distinct = np.unique(near).tolist()
    ids = dict(zip(distinct, observation_ids(distinct), strict=True))
    return [
        oracle_pb2.Explanation(
            why=why[one.rule].format(score=one.score),
            score=one.score,
            nearby=[
                oracle_pb2.NearbyLabel(
                    observation_id=ids[row],
                    verdict=VERDICTS[Verdict(int(labels[row]))],
                    distance2=distance,
                )
                for row, distance in zip(near[n].tolist(), distance2[n].tolist(), strict=True)
            ],
            unusual=[
                oracle_pb2.UnusualFeature(
                    name=names[column] if names else "",
                    column=column,
                    value=data.raw[one.row, column],
                    typical=spread.center[column],
                    deviation=strength,
                )
                for column, strength in zip(columns[n].tolist(), strongest[n].tolist(), strict=True)
                if strength != 0.0
            ],
            reference_inliers=inliers,
        )
        for n, one in enumerate(candidates)
    ]
