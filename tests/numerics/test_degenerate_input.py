"""Odd data give a result or an error that names the cause, never a warning."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.numerics.cases import lattices
from tests.profiles import sized

from svddtune.numerics import FloatArray, run

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
