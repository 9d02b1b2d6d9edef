"""Odd data give a result or an error that names the cause, never a warning."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.numerics.cases import lattices
from tests.profiles import sized

from svddtune.numerics import FloatArray, Views, data_notes, label_notes, run

BASE = (
    np.random.default_rng(2).normal(size=(60, 3)) * np.where(np.arange(60) % 10, 1.0, 5.0)[:, None]
)

ODD = {
    "one row": np.ones((1, 2)),
    "two rows": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "two equal rows": np.ones((2, 2)),
    "all rows equal": np.full((40, 3), 0.3),
    "one attribute": np.linspace(0, 1, 30)[:, None],
    "constant column": np.column_stack((np.ones(30), np.linspace(0, 1, 30))),
    "more attributes than rows": np.random.default_rng(0).normal(size=(6, 40)),
    "masses of duplicates": np.repeat(np.eye(3), 20, axis=0),
    "tiny scale": 1e-9 * np.random.default_rng(1).normal(size=(30, 2)),
    "large scale": 1e9 * np.random.default_rng(1).normal(size=(30, 2)),
    "large offset": 1e9 + np.random.default_rng(1).normal(size=(30, 2)),
    "one extreme row": np.vstack((np.random.default_rng(1).normal(size=(30, 2)), [[1e9, 1e9]])),
}


@pytest.mark.parametrize("X", ODD.values(), ids=ODD)
@pytest.mark.parametrize(
    "k", [pytest.param(1, marks=pytest.mark.slow), 5, pytest.param(100, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "strategy",
    [
        "lama",
        "knowledge_gradient",
        pytest.param("random", marks=pytest.mark.slow),
        pytest.param("disagreement", marks=pytest.mark.slow),
    ],
)
def test_session_runs_to_its_end(X: FloatArray, k: int, strategy: str) -> None:
    result = run(
        X, lambda row: -1 if row % 3 == 1 else 1, k=k, strategy=strategy,  # type: ignore[arg-type]
        budget=12, initial=(0, 0), cells=5,
    )  # fmt: skip
    assert np.count_nonzero(result.labels) == min(12, len(X))
    assert len(set(result.queries.tolist())) == len(result.queries)
    assert result.final.gamma > 0.0
    assert all(np.isfinite(cell.score) for cell in result.final.cells)


@given(lattices(min_rows=1, max_rows=12), st.integers(0, 2**12 - 1), st.integers(1, 14))
@settings(max_examples=sized(60))
def test_session_over_tied_data_ends_with_any_labelling(X: FloatArray, bits: int, k: int) -> None:
    truth = np.array([1 if bits >> i & 1 else -1 for i in range(len(X))], dtype=np.int8)
    result = run(X, truth, k=k, budget=100, initial=(0, 0), cells=3, sample=0)
    np.testing.assert_array_equal(result.labels, truth)


@pytest.mark.parametrize("X", ODD.values(), ids=ODD)
@pytest.mark.parametrize("label", [1, pytest.param(-1, marks=pytest.mark.slow)])
def test_session_with_labels_of_one_class_ends_with_a_choice(X: FloatArray, label: int) -> None:
    result = run(
        X, lambda row: label, k=5, strategy="knowledge_gradient", budget=12, initial=(0, 0)
    )
    assert np.count_nonzero(result.labels) == min(12, len(X))
    assert result.choices[0].reason == "no_label"
    assert result.choices[-1].reason == ("no_outlier" if label == 1 else "no_inlier")
    assert result.final.gamma == result.choices[-1].gamma


ODD_COLUMNS = {
    "constant": (np.column_stack((BASE, np.full(60, 7.0))), ["Column 'd' is constant"]),
    "all constant": (np.full((60, 3), 7.0), ["All rows are equal"]),
    "duplicate": (np.column_stack((BASE, BASE[:, 0])), ["Column 'd' is equal to a column before"]),
    "two of each": (
        np.column_stack((np.ones(60), np.ones(60), BASE, BASE[:, :2])),
        ["Columns 'a', 'b' are constant", "Columns 'f', 'g' are equal"],
    ),
    "few rows": (BASE[:19], ["There are 19 rows"]),
    "one row": (BASE[:1], ["There is 1 row"]),
    "mostly zero": (np.where(np.arange(180).reshape(60, 3) % 20, 0.0, BASE), []),
    "heavy tail": (np.random.default_rng(0).standard_cauchy(size=(60, 3)) ** 3, []),
    "few integers": (np.random.default_rng(0).integers(0, 3, size=(60, 3)) * 1.0, []),
    "near the largest value": (3e98 * BASE, []),
    "tiny range": (1e-155 * BASE, []),
}


@pytest.mark.parametrize("name", ODD_COLUMNS)
def test_odd_columns_are_named_in_notes(name: str) -> None:
    X, begin = ODD_COLUMNS[name]
    found = list(data_notes(X, "abcdefg"))
    assert [note[: len(start)] for note, start in zip(found, begin, strict=True)] == begin


@pytest.mark.parametrize("name", ODD_COLUMNS)
@pytest.mark.parametrize("scaling", ["auto", "minmax"])
def test_session_over_odd_columns_finds_finite_model_that_keeps_far_rows_outside(
    name: str, scaling: str
) -> None:
    X = ODD_COLUMNS[name][0]
    views = Views(X, scaling)
    final = run(
        views, lambda row: -1 if row % 10 == 0 else 1, strategy="knowledge_gradient",
        budget=12, initial=(0, 0),
    ).final  # fmt: skip
    far = np.array([np.full(X.shape[1], value) for value in (1e99, -1e99)])
    distance2 = final.model.distance2(final.representation.apply(far))
    assert np.isfinite(distance2).all()
    if final.model.R2 > 0.0:
        assert final.model.outside(final.representation.apply(far)).all()


def test_column_without_range_for_doubles_is_refused_by_its_number() -> None:
    with pytest.raises(
        ValueError, match=r"column 1, has the range .*e-15\d, expected at least 1e-100"
    ):
        run(1e-155 * BASE * (1.0, 9.0, 1.0), lambda row: 1, initial=(0, 0))
    with pytest.raises(ValueError, match=r"X\[\d+, 2\] is .*e\+15\d, expected a magnitude up to"):
        run(BASE * (1.0, 1.0, 1e155), lambda row: 1, initial=(0, 0))


def test_labels_that_no_cell_agrees_with_are_reported() -> None:
    labels = np.array([1, 1, 1, -1, -1, 0], dtype=np.int8)
    inverted = np.array([-1, -1, 1, 1, 1, 1], dtype=np.int8)
    (note,) = label_notes(labels, inverted, best=-0.2)
    assert note.startswith("No cell agrees with the labels better than chance (kappa -0.")
    (note,) = label_notes(labels, inverted)
    assert note.startswith("The chosen model agrees with the labels no better than chance")
    assert not list(label_notes(labels, inverted, best=0.5))
    assert not list(label_notes(np.abs(labels), inverted))
    most = np.array([1, 1, -1, -1, -1, -1], dtype=np.int8)
    (note,) = label_notes(labels, most)
    assert note.startswith("The model calls 4 of 6 rows outliers, more than half")
