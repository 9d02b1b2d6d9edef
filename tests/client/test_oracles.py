import io
import sys
from typing import Any

import numpy as np
import pytest

from svddtune.client import (
    Command,
    InvalidInput,
    KnownLabels,
    Query,
    SkipMode,
    TerminalPrompt,
    Verdict,
)
from svddtune.client.runs.initial import draw, initial_labels


def query(row: int, features: tuple[float, ...] = (0.0, 0.0)) -> Query:
    return Query(
        number=row + 1,
        observation_id=f"obs-{row}",
        row=row,
        features=np.array(features),
        display={"host": "db-7"},
        why="because",
        score=0.1,
        lease_id="l",
        lease_expires=None,
    )


def test_array_is_looked_up_by_row_and_mapping_by_id() -> None:
    by_row = KnownLabels([1, -1, 0])
    by_id = KnownLabels({"obs-0": "inlier", "obs-1": -1})
    for oracle in (by_row, by_id):
        assert oracle(query(0)) is Verdict.INLIER
        assert oracle(query(2)) is SkipMode.DROP
        assert oracle(query(1)) is Verdict.OUTLIER
        assert oracle.dropped == ["obs-2"]
        assert oracle(query(2)) is Command.STOP


def test_labels_given_at_the_start_are_not_waited_for() -> None:
    oracle = KnownLabels({"obs-0": 1})
    oracle.given("obs-0", 0)
    assert oracle(query(1)) is Command.STOP


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([0, 1, 1], "LABELS_AMBIGUOUS"),
        ([0, 0], "LABELS_AMBIGUOUS"),
        (["0", "1"], "LABELS_AMBIGUOUS"),
        ([0.0, 1.0, float("nan")], "LABELS_AMBIGUOUS"),
        ([True, False], "LABELS_AMBIGUOUS"),
        (np.array([False, False]), "LABELS_AMBIGUOUS"),
        ([True, -1], "LABELS_AMBIGUOUS"),
        ({"a": 0}, "LABELS_AMBIGUOUS"),
        ({"a": True}, "LABELS_AMBIGUOUS"),
        ([1, 2], "INVALID_LABEL"),
        ([0.5, -1], "INVALID_LABEL"),
        ([float("inf"), -1], "INVALID_LABEL"),
        ([[1], [-1]], "INVALID_LABEL"),
        ([b"inlier", b"outlier"], "INVALID_LABEL"),
        (["inlier", "maybe"], "INVALID_LABEL"),
        (["fine", "attack"], "INVALID_LABEL"),
        (np.array([[1], [-1]]), "INVALID_FIELD"),
        (np.array(1), "INVALID_FIELD"),
        (3, "INVALID_FIELD"),
        ({1: "inlier", "1": "outlier"}, "CONFLICTING_LABELS"),
        ({None: "inlier"}, "INVALID_FIELD"),
        ({True: "inlier"}, "INVALID_FIELD"),
        ({b"a": "inlier"}, "INVALID_FIELD"),
    ],
)
def test_ambiguous_labels_are_refused(labels: Any, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        KnownLabels(labels)
    assert refused.value.reason == reason


def test_label_of_an_unknown_observation_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        KnownLabels({"nobody": 1}).verdicts(["0", "1"])
    assert refused.value.reason == "UNKNOWN_OBSERVATION"
    with pytest.raises(InvalidInput):
        KnownLabels([1, -1]).verdicts(["0", "1", "2"])


def test_start_is_drawn_by_the_seed_inliers_first() -> None:
    signs = np.array([1, -1, 1, 1, -1, 1, -1, 1])
    ids = [str(row) for row in range(8)]
    rng = np.random.default_rng(3)
    inliers = rng.choice([0, 2, 3, 5, 7], 2, replace=False)
    outliers = rng.choice([1, 4, 6], 2, replace=False)
    drawn = initial_labels(None, KnownLabels(signs), ids, seed=3)
    assert list(drawn) == [str(row) for row in [*inliers, *outliers]]
    assert [verdict.sign for verdict in drawn.values()] == [1, 1, -1, -1]


def test_class_with_fewer_gives_fewer() -> None:
    known = {0: Verdict.INLIER, 3: Verdict.OUTLIER}
    assert draw(known, (2, 2), 0) == known
    assert draw({0: Verdict.INLIER}, (2, 2), 0) == {0: Verdict.INLIER}


def test_start_needs_labels_to_draw_from() -> None:
    assert initial_labels(None, print, ["0"], seed=0) == {}
    with pytest.raises(InvalidInput):
        initial_labels((2, 2), print, ["0"], seed=0)
    with pytest.raises(InvalidInput):
        initial_labels(4, print, ["0"], seed=0)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("i", Verdict.INLIER),
        (" O ", Verdict.OUTLIER),
        ("-1", Verdict.OUTLIER),
        ("u", Verdict.UNSURE),
        ("s", SkipMode.LATER),
        ("x", SkipMode.OTHERS),
        ("undo", Command.UNDO),
        ("z", Command.UNDO),
        ("q", Command.STOP),
        ("?\no\ni", Verdict.INLIER),
        ("drop\nno\nunsure", Verdict.UNSURE),
        ("drop\nyes", SkipMode.DROP),
        ("", Command.STOP),
    ],
)
def test_terminal_prompt_accepts_the_same_lines_as_label(
    typed: str,
    answer: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"nonsense\n{typed}\n" if typed else ""))
    assert TerminalPrompt(["width", "height"])(query(0)) is answer
    shown = capsys.readouterr().err
    assert "Query 1   observation obs-0" in shown
    assert "db-7" in shown
    assert "width" in shown
    assert ("'nonsense' is not an answer or a command" in shown) is bool(typed)
