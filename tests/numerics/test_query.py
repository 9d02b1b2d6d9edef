"""Suggestions: the method's row first, then rows that parallel labelers can use."""

import numpy as np
import pytest
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    IndexArray,
    LabelArray,
    Suggestion,
    best_gamma,
    local_alignment,
    prepare,
    suggest,
    tau,
)

X, y = blobs(300, 4, seed=11)
PREP = prepare(X, k=8)
LABELS = partial_labels(y, 12, seed=2)
NONE = np.empty(0, dtype=np.int64)


def ask(
    labels: LabelArray = LABELS,
    *,
    seed: int = 0,
    strategy: str = "lama",
    sample: int = 100,
    exclude: IndexArray = NONE,
    open_rows: IndexArray = NONE,
    reserve: int = 16,
) -> Suggestion:
    return suggest(
        PREP, X, labels, k=5, strategy=strategy, sample=sample,  # type: ignore[arg-type]
        rng=np.random.default_rng(seed), exclude=exclude, open_rows=open_rows, reserve=reserve,
    )  # fmt: skip


def test_first_row_has_the_highest_tau_of_the_candidates() -> None:
    suggestion = ask(sample=100)
    local = local_alignment(PREP, X, LABELS, k=5)
    assert (suggestion.gamma, suggestion.alignment) == best_gamma(local, PREP.gamma_bounds)
    U = np.flatnonzero(LABELS == 0)
    candidates = np.sort(np.random.default_rng(0).choice(U, 100, replace=False))
    scores = tau(local, X, candidates, k=5, gamma=suggestion.gamma)
    assert suggestion.rows[0] == candidates[scores.argmax()]
    assert suggestion.scores[0] == scores.max()


def test_sample_of_zero_takes_all_rows_without_randomness() -> None:
    assert ask(sample=0, seed=1).rows.tolist() == ask(sample=0, seed=2).rows.tolist()
    assert ask(sample=0).rows.tolist() == ask(sample=10_000).rows.tolist()


def test_wider_neighbor_table_gives_same_suggestion() -> None:
    narrow = suggest(
        prepare(X, k=5), X, LABELS, k=5, strategy="lama", sample=100, rng=np.random.default_rng(4)
    )
    wide = ask(seed=4)
    assert (narrow.gamma, narrow.alignment) == (wide.gamma, wide.alignment)
    assert narrow.rows.tolist() == wide.rows.tolist()


def test_same_seed_gives_same_rows() -> None:
    assert ask(seed=5).rows.tolist() == ask(seed=5).rows.tolist()
    assert ask(seed=5).rows.tolist() != ask(seed=6).rows.tolist()


@pytest.mark.parametrize("strategy", ["lama", "random"])
def test_labelled_excluded_and_open_rows_are_not_asked(strategy: str) -> None:
    U = np.flatnonzero(LABELS == 0)
    suggestion = ask(strategy=strategy, exclude=U[:200], open_rows=U[200:210], reserve=500)
    assert set(suggestion.rows.tolist()) == set(U[210:].tolist())


def test_neighbors_of_ranked_rows_move_behind() -> None:
    rows = ask(sample=0, reserve=10).rows
    for position in range(1, 10):
        assert rows[position] not in PREP.nn[rows[:position], :5]
    everything = ask(sample=0, reserve=1000).rows
    assert everything[:10].tolist() == rows.tolist()
    assert len(everything) == int((LABELS == 0).sum())


def test_neighbors_of_open_row_rank_last_except_the_first_choice() -> None:
    plain = ask(sample=0)
    first, second = int(plain.rows[0]), int(plain.rows[1])
    crowding = next(
        row for row in range(300)
        if second in PREP.nn[row, :5] and row != second and LABELS[row] == 0 and row != first
        and first not in PREP.nn[row, :5]
    )  # fmt: skip
    crowded = ask(sample=0, open_rows=np.array([crowding]))
    assert crowded.rows[0] == first
    assert second not in crowded.rows[1:6]


def test_ties_go_to_the_lower_row() -> None:
    # Three masses of equal rows: within a mass every tau is the same.
    Z = np.repeat(np.arange(3.0), 6)[:, None] * np.ones(2)
    prep = prepare(Z, k=6)
    labels = np.zeros(18, dtype=np.int8)
    labels[0], labels[17] = 1, -1
    suggestion = suggest(
        prep, Z, labels, k=6, strategy="lama", sample=0, rng=np.random.default_rng(0), reserve=18
    )
    local = local_alignment(prep, Z, labels, k=6)
    U = np.flatnonzero(labels == 0)
    scores = tau(local, Z, U, k=6, gamma=suggestion.gamma)
    assert np.ptp(scores[5:11]) < 1e-12
    assert suggestion.rows[0] == U[scores >= scores.max() - 1e-12].min()
    assert suggestion.rows[0] in (1, 6, 12)


def test_suggestion_is_empty_when_no_row_is_left() -> None:
    for strategy in ("lama", "random"):
        suggestion = ask(strategy=strategy, exclude=np.arange(300))
        assert suggestion.rows.shape == suggestion.scores.shape == (0,)
        assert suggestion.alignment is not None


def test_random_is_uniform_over_unlabelled_rows() -> None:
    firsts = np.array([ask(seed=seed, strategy="random").rows[0] for seed in range(400)])
    U = np.flatnonzero(LABELS == 0)
    assert np.isin(firsts, U).all()
    quarter = np.searchsorted(U, firsts) * 4 // len(U)
    assert np.bincount(quarter, minlength=4).min() > 70


def test_cold_start_without_inlier_draws_at_random() -> None:
    for labels in (np.zeros_like(LABELS), np.where(LABELS == -1, LABELS, 0).astype(np.int8)):
        suggestion = ask(labels)
        assert suggestion.alignment is None
        assert suggestion.gamma == PREP.default_gamma
        assert PREP.gamma_bounds[0] <= suggestion.gamma <= PREP.gamma_bounds[1]
        assert suggestion.rows.tolist() != ask(labels, seed=1).rows.tolist()
        assert not suggestion.scores.any()


def test_cold_start_without_outlier_asks_about_most_isolated_row() -> None:
    labels = np.where(LABELS == 1, LABELS, 0).astype(np.int8)
    suggestion = ask(labels, sample=0)
    distances = np.sqrt(np.square(X[PREP.nn[:, 1:5]] - X[:, None]).sum(axis=2)).mean(axis=1)
    distances[labels != 0] = -1.0
    assert suggestion.alignment is None
    assert suggestion.rows[0] == distances.argmax()
    assert suggestion.scores[0] == pytest.approx(distances.max())
    assert y[suggestion.rows[0]] == -1


def test_error_names_wrong_argument() -> None:
    with pytest.raises(ValueError, match="strategy is 'best'"):
        ask(strategy="best")
    with pytest.raises(ValueError, match=r"labels have shape \(7,\), expected \(300,\)"):
        ask(np.zeros(7, dtype=np.int8))
    with pytest.raises(ValueError, match="sample is -1"):
        ask(sample=-1)
    with pytest.raises(ValueError, match="k is 9, expected 1 to 8"):
        suggest(PREP, X, LABELS, k=9, strategy="lama", sample=0, rng=np.random.default_rng(0))
