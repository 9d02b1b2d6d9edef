"""Explanations of ranked rows: names, nearest labels, unusual features."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.numerics.cases import blobs

from svddtune.config import SessionConfig
from svddtune.numerics import FloatArray, LabelArray, Views
from svddtune.v1 import common_pb2, dataset_pb2, oracle_pb2
from svddtune.worker.audit import Candidate
from svddtune.worker.data import Data
from svddtune.worker.explanation import LATEST_LABELS, explain, latest_labelled


def data_of(raw: FloatArray) -> Data:
    """Raw rows with their min-max scaling."""
    return Data(dataset_pb2.Dataset(), Views(raw, "minmax"))


def labels_of(N: int, **verdicts: list[int]) -> LabelArray:
    """Labels by class."""
    labels: LabelArray = np.zeros(N, dtype=np.int8)
    labels[verdicts.get("inliers", [])] = 1
    labels[verdicts.get("outliers", [])] = -1
    return labels


def explanations(
    data: Data, rows: list[int], labels: LabelArray, rule: str = "random", **settings: Any
) -> list[oracle_pb2.Explanation]:
    """Explanations of rows, each drawn at random; observation r is called "id-r"."""
    return explain(
        [Candidate(row, 0.5, rule) for row in rows],
        data,
        scaling=data.views.base,
        labels=labels,
        asked_by={},
        observation_ids=lambda rows: [f"id-{row}" for row in rows],
        config=SessionConfig(**settings),
    )


def test_nearby_rows_are_labelled_ones_by_scaled_distance() -> None:
    # By raw distance row 2 would be the nearest to row 0.
    data = data_of(np.array([[0.0, 0.0], [900.0, 0.1], [0.0, 5.0], [1000.0, 10.0], [500.0, 0.0]]))
    (found,) = explanations(data, [0], labels_of(5, inliers=[2, 3], outliers=[1]))
    assert [(one.observation_id, one.verdict) for one in found.nearby] == [
        ("id-2", common_pb2.VERDICT_INLIER),
        ("id-1", common_pb2.VERDICT_OUTLIER),
        ("id-3", common_pb2.VERDICT_INLIER),
    ]
    assert [round(one.distance2, 4) for one in found.nearby] == [0.25, 0.8101, 2.0]


def test_rows_are_compared_with_all_rows_below_five_labelled_inliers() -> None:
    raw = np.column_stack((np.arange(20.0), np.ones(20)))
    data = data_of(raw)
    (few,) = explanations(data, [19], labels_of(20, inliers=[0, 1, 2, 3], outliers=[18]))
    assert [(one.column, one.typical) for one in few.unusual] == [(0, 9.5)]
    assert few.reference_inliers == 0
    (enough,) = explanations(data, [19], labels_of(20, inliers=[0, 1, 2, 3, 4], outliers=[18]))
    assert [(one.column, one.value, one.typical) for one in enough.unusual] == [(0, 19.0, 2.0)]
    assert enough.reference_inliers == 5
    assert round(enough.unusual[0].deviation, 2) == round((19 - 2) / 1.4826, 2)


def test_at_most_five_unusual_features_are_named() -> None:
    raw = np.zeros((10, 8))
    raw[9] = [0, 1, 0, 2, 3, 4, 5, 6]
    found, plain = explanations(data_of(raw), [9, 8], labels_of(10, inliers=[0, 1, 2, 3, 4]))
    assert [one.column for one in found.unusual] == [1, 3, 4, 5, 6]
    assert not plain.unusual


def test_unusual_features_have_the_names_of_the_columns() -> None:
    data = replace(
        data_of(np.array([[0.0, 5.0], [0.0, 5.0], [9.0, 5.0]])),
        description=dataset_pb2.Dataset(feature_names=["load", "errors"]),
    )
    (found,) = explanations(data, [2], labels_of(3))
    assert [(one.name, one.column) for one in found.unusual] == [("load", 0)]
    assert found.why == "Drawn at random among the unlabelled observations."


def test_nearby_rows_are_empty_without_labels() -> None:
    raw, _ = blobs(30, 3, seed=0)
    for one in explanations(data_of(raw), [3, 4], labels_of(30)):
        assert not one.nearby
        assert len(one.unusual) == 3


def test_nearby_rows_come_from_latest_queries_when_labels_are_many() -> None:
    N = LATEST_LABELS + 50
    labels = labels_of(N + 10, inliers=list(range(N)))
    # The higher the row the earlier it was asked about; the last ones came unasked.
    asked_by = {row: N - row for row in range(N - 20)}
    rows = latest_labelled(labels, asked_by)
    assert rows.tolist() == list(range(LATEST_LABELS))


def test_explanations_of_a_blind_session_do_not_depend_on_labels() -> None:
    raw = np.column_stack((np.arange(20.0), np.ones(20)))
    labels = labels_of(20, inliers=[0, 1, 2, 3, 4], outliers=[18])
    assert explanations(data_of(raw), [19], labels) != explanations(
        data_of(raw), [19], labels_of(20)
    )
    (blind,) = explanations(data_of(raw), [19], labels, blind=True)
    assert [blind] == explanations(data_of(raw), [19], labels_of(20))


@pytest.mark.parametrize("rule", ["lama", "own", "uncertain", "cold_outlying"])
def test_reason_names_no_figure_where_labelers_do_not_see_the_row(rule: str) -> None:
    (found,) = explanations(
        data_of(np.eye(3)), [0], labels_of(3, inliers=[1]), rule, raw_features=False
    )
    assert found.why.endswith(".")
    assert "0.5" not in found.why
    (shown,) = explanations(data_of(np.eye(3)), [0], labels_of(3, inliers=[1]), rule)
    assert ("0.5" in shown.why) == (rule in ("lama", "own"))


def test_only_visible_features_are_called_unusual() -> None:
    raw = np.zeros((10, 8))
    raw[9] = [0, 1, 0, 2, 3, 4, 5, 6]
    labels = labels_of(10, inliers=[0, 1, 2, 3, 4])
    (found,) = explanations(data_of(raw), [9], labels, "lama", visible_features=("1", "2", "3"))
    assert [one.column for one in found.unusual] == [1, 3]
    assert "0.5" not in found.why
