import csv
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.client.models import fit, rows

from svddtune.client import OutsideRow, Verdict, outside_rows
from svddtune.client.cli.outside import outside_table, write_outside
from svddtune.client.outside import outside_of


def test_outside_rows_are_those_predicted_as_outliers_farthest_first() -> None:
    model, X = fit(), rows(seed=5)
    found = outside_rows(model, X)
    assert sorted(one.row for one in found) == np.flatnonzero(model.predict(X) == -1).tolist()
    expected = -model.decision(X)
    assert [one.score for one in found] == [expected[one.row] for one in found]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert [one.observation_id for one in found] == [str(one.row) for one in found]


@given(st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.25]), max_size=20))
def test_rows_with_equal_scores_keep_the_order_of_the_data(decisions: list[float]) -> None:
    found = outside_of(np.array(decisions, dtype=np.float64))
    assert [(-one.score, one.row) for one in found] == sorted(
        (decision, row) for row, decision in enumerate(decisions) if decision < 0
    )


def test_ids_and_labels_stand_beside_the_scores() -> None:
    ids, labels = ["a", "b", "c"], {"c": Verdict.INLIER, "a": Verdict.OUTLIER}
    assert outside_of(np.array([-1.0, 1.0, -2.0]), ids, labels) == (
        OutsideRow(2, "c", 2.0, Verdict.INLIER),
        OutsideRow(0, "a", 1.0, Verdict.OUTLIER),
    )


def test_written_file_holds_all_rows_with_exact_scores(tmp_path: Path) -> None:
    found = outside_of(-np.array([0.1, 1 / 3, 0.2]), ["x", 'with "quotes", and comma', "z"])
    path = write_outside(tmp_path / "outside.csv", found)
    with path.open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [int(one["row"]) for one in read] == [1, 2, 0]
    assert [float(one["score"]) for one in read] == [1 / 3, 0.2, 0.1]
    assert read[0]["observation_id"] == 'with "quotes", and comma'
    assert read[0]["label"] == ""


def test_table_shows_the_farthest_and_says_how_many_there_are() -> None:
    table = outside_table(outside_of(-np.arange(1.0, 31.0)), shown=5)
    assert list(table.columns[0].cells) == ["29", "28", "27", "26", "25", "..."]
    assert list(table.columns[1].cells)[-1] == "25 more"
    assert outside_table(outside_of(-np.arange(1.0, 6.0)), shown=5).row_count == 5
