from pathlib import Path

import pytest

from svddtune.client import InvalidInput, Verdict
from svddtune.client.errors import UsageError
from svddtune.client.files.columns import TextColumn
from svddtune.client.files.labels import column_verdicts, read_labels, without_unsure
from svddtune.client.files.table import Table


def verdicts(
    values: list[str], outlier_value: str | None = None, name: str = "label"
) -> dict[int, int]:
    table = Table("d.csv", [name], [TextColumn(values)], True, list(range(2, len(values) + 2)))
    return {row: v.sign for row, v in column_verdicts(table, 0, outlier_value).items()}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["+1", "-1", "1.0"], {0: 1, 1: -1, 2: 1}),
        (["Inlier", "OUTLIER", "normal", "Anomaly"], {0: 1, 1: -1, 2: 1, 3: -1}),
        (["1", "", "-1", "?"], {0: 1, 2: -1}),
        (["1", "0", "-1"], {0: 1, 2: -1}),
        (["inlier", "unsure"], {0: 1, 1: 0}),
    ],
)
def test_words_and_signs_are_verdicts(values: list[str], expected: dict[int, int]) -> None:
    assert verdicts(values) == expected


def test_yes_and_no_are_labels_only_in_a_column_named_outlier() -> None:
    assert verdicts(["yes", "no"], name="outlier") == {0: -1, 1: 1}
    with pytest.raises(InvalidInput):
        verdicts(["yes", "no"])


def test_outlier_value_marks_outliers_and_all_else_is_inlier() -> None:
    assert verdicts(["0", "1", "", "2"], "1") == {0: 1, 1: -1, 3: 1}
    assert verdicts(["0.0", "1.0"], "1") == {0: 1, 1: -1}
    assert verdicts(["ok", "Malignant"], "malignant") == {0: 1, 1: -1}
    with pytest.raises(UsageError, match=r"does not occur.*holds: 0, 1"):
        verdicts(["0", "1"], "3")


@pytest.mark.parametrize("values", [["0", "1"], ["0.0", "1.0"], ["0", "0"]])
def test_labels_of_zero_and_one_alone_are_ambiguous(values: list[str]) -> None:
    with pytest.raises(UsageError, match="--outlier-value") as refused:
        verdicts(values)
    assert refused.value.reason == "LABELS_AMBIGUOUS"


def test_unknown_label_is_reported_with_its_place() -> None:
    with pytest.raises(InvalidInput, match=r"d\.csv line 3 \(row 1\), column 'label': 'perhaps'"):
        verdicts(["inlier", "perhaps"])
    with pytest.raises(InvalidInput, match="has no labels"):
        verdicts(["", "?"])


IDS = ["a", "b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "a,inlier\nc,outlier\n",
        "id,verdict\na,1\nc,-1\n",
        "verdict,id\n1,a\n-1,c\n",
        "row,label\n0,normal\n2,anomaly\n",
        "id,outlier\na,no\nc,yes\n",
        "id,other,label\na,5,1\nc,6,-1\n",
    ],
)
def test_file_of_labels(tmp_path: Path, text: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    assert read_labels(path, IDS, None) == {"a": Verdict.INLIER, "c": Verdict.OUTLIER}


@pytest.mark.parametrize(
    ("text", "reason", "says"),
    [
        (
            "id,verdict\nz,1\n",
            "UNKNOWN_OBSERVATION",
            "line 2 (row 0): there is no observation",
        ),
        ("row,verdict\n3,1\n", "UNKNOWN_OBSERVATION", "no row '3'"),
        (
            "id,verdict\na,1\na,-1\n",
            "CONFLICTING_LABELS",
            "'a' is outlier here and inlier in an earlier row",
        ),
        ("id\na\n", "INVALID_LABEL", "one column"),
    ],
)
def test_fault_in_a_file_of_labels_is_named(
    tmp_path: Path, text: str, reason: str, says: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput) as refused:
        read_labels(path, IDS, None)
    assert refused.value.reason == reason
    assert says in refused.value.message


def test_unsure_is_no_initial_label() -> None:
    labels = {"a": Verdict.INLIER, "b": Verdict.UNSURE}
    assert without_unsure(labels) == {"a": Verdict.INLIER}
