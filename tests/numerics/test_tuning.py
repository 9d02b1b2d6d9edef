"""The whole method in one process."""

import numpy as np
import pytest
from tests.numerics.cases import blobs, bundled_set

from svddtune.numerics import (
    LabelArray,
    Strategy,
    draw_initial,
    finish,
    prepare,
    query_rng,
    run,
    score,
    suggest,
)

X, y = blobs(200, 3, seed=21)


def test_initial_draw_follows_documented_rule() -> None:
    rng = np.random.default_rng(7)
    inliers = rng.choice(np.flatnonzero(y == 1), 3, replace=False)
    outliers = rng.choice(np.flatnonzero(y == -1), 2, replace=False)
    assert draw_initial(y, 3, 2, 7).tolist() == [*inliers, *outliers]
    with pytest.raises(ValueError, match="initial outliers are 300, expected 0 to 20"):
        draw_initial(y, 2, 300, 0)


@pytest.mark.parametrize("strategy", ["lama", "random"])
def test_run_is_the_loop_over_suggest(strategy: str) -> None:
    result = run(X, y, budget=15, strategy=strategy, seed=3)  # type: ignore[arg-type]
    prep = prepare(X, k=5, seed=3)
    labels = np.zeros_like(y)
    rows = draw_initial(y, 2, 2, 3)
    labels[rows] = y[rows]
    for n, (row, gamma) in enumerate(zip(result.queries, result.gammas, strict=True)):
        suggestion = suggest(
            prep, X, labels, k=5, strategy=strategy, sample=100, rng=query_rng(3, 4 + n, n)  # type: ignore[arg-type]
        )  # fmt: skip
        assert (suggestion.rows[0], suggestion.gamma) == (row, gamma)
        labels[row] = y[row]
    np.testing.assert_array_equal(labels, result.labels)
    assert np.count_nonzero(labels) == 15
    final = finish(prep, X, labels, k=5)
    assert (final.gamma, final.cells, final.chosen) == (
        result.final.gamma,
        result.final.cells,
        result.final.chosen,
    )


def test_final_choice_is_consistent() -> None:
    final = run(X, y, budget=30).final
    cell = final.cells[final.chosen]
    assert len(final.cells) == 20
    assert cell.score == max(c.score for c in final.cells)
    assert (final.model.C, final.model.R2) == (cell.C, cell.R2)
    np.testing.assert_array_equal(final.predictions == -1, final.model.outside(X))
    assert cell.outliers == int((final.predictions == -1).sum())
    assert final.curve is not None
    assert final.alignment is not None
    assert final.alignment >= final.curve.value.max()


def test_cold_start_finds_both_classes() -> None:
    result = run(X, lambda row: int(y[row]), budget=20, initial=(0, 0))
    assert set(result.labels.tolist()) == {-1, 0, 1}
    assert result.final.alignment is not None


def test_session_with_one_class_ends_with_default_gamma() -> None:
    result = run(X, np.ones_like(y), budget=8, initial=(2, 0))
    assert result.final.gamma == prepare(X, k=5).default_gamma
    assert result.final.alignment is None
    assert result.final.curve is None


def test_session_with_budget_above_row_count_ends_after_last_row() -> None:
    Z, truth = blobs(15, 2, seed=1, outliers=0.4)
    result = run(Z, truth, budget=500)
    np.testing.assert_array_equal(result.labels, truth)
    assert len(result.queries) == 11


def test_misuse_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"initial is \(2, 2\), expected \(0, 0\)"):
        run(X, lambda row: 1)
    with pytest.raises(ValueError, match="oracle has shape"):
        run(X, y[:5])
    with pytest.raises(ValueError, match=r"label of row \d+ is 2"):
        run(X, lambda row: 2, initial=(0, 0))
    with pytest.raises(ValueError, match="known has shape"):
        run(X, y, known=y[:5])
    with pytest.raises(ValueError, match="of -1, 0, 1"):
        run(X, y, known=np.full(len(X), 3, dtype=np.int8))


@pytest.mark.parametrize("strategy", ["lama", "knowledge_gradient"])
def test_row_that_oracle_is_unsure_about_is_not_asked_about_again(strategy: Strategy) -> None:
    asked: list[int] = []

    def oracle(row: int) -> int:
        asked.append(row)
        return 0 if len(asked) <= 3 else int(y[row])

    result = run(X, oracle, initial=(0, 0), budget=10, strategy=strategy)
    assert len(asked) == len(set(asked)) == 13
    assert result.queries.tolist() == asked
    assert np.count_nonzero(result.labels) == 10
    assert not result.labels[asked[:3]].any()


def test_session_starts_from_known_labels_and_stops_when_oracle_says_so() -> None:
    known: LabelArray = np.where(np.arange(len(X)) % 7 == 0, y, 0).astype(np.int8)
    answers = iter([1, 1, None])
    result = run(X, lambda row: next(answers), known=known, budget=len(X))
    assert len(result.queries) == 2
    expected = known.copy()
    expected[result.queries] = 1
    np.testing.assert_array_equal(result.labels, expected)


@pytest.mark.parametrize(("name", "least"), [("Wisconsin", 0.25), ("Wine", 0.2), ("Iris", 0.5)])
def test_mean_true_kappa_with_fifty_labels(name: str, least: float) -> None:
    Z, truth = bundled_set(name)
    prep = prepare(Z, k=5)
    results = [run(Z, truth, budget=50, seed=seed, prep=prep) for seed in range(3)]
    kappas = [float(score(truth, result.final.predictions)) for result in results]
    assert np.mean(kappas) >= least
