"""Strategies over the atlas: alternating rules, unchanged queries of lama, any labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.numerics.cases import blobs, lattices, partial_labels
from tests.profiles import sized

from svddtune.numerics import (
    FloatArray,
    LabelArray,
    Strategy,
    Suggestion,
    belief_basis,
    choose_cell,
    default_gamma_bounds,
    finish_with_atlas,
    fit_atlas,
    prepare,
    run,
    suggest,
)

X, y = blobs(130, 3, seed=17)
PREP = prepare(X, k=5)
ATLAS = fit_atlas(X, default_gamma_bounds(X), count=6, cells=6)
BASIS = belief_basis(X)
LABELS = partial_labels(y, 12, seed=4)
OVER_ATLAS: tuple[Strategy, ...] = ("disagreement", "knowledge_gradient", "mixed")
SEEN = {
    "none": np.zeros_like(y),
    "inliers": np.where(LABELS == 1, LABELS, 0).astype(np.int8),
    "outliers": np.where(LABELS == -1, LABELS, 0).astype(np.int8),
    "both": LABELS,
}


def ask(
    strategy: Strategy, labels: LabelArray = LABELS, *, seed: int = 0, **more: Any
) -> Suggestion:
    arguments = {"k": 5, "sample": 100, "atlas": ATLAS, "basis": BASIS, **more}
    return suggest(PREP, X, labels, strategy=strategy, rng=np.random.default_rng(seed), **arguments)


def labels_of(*rows: int, label: int = 1) -> LabelArray:
    labels = np.zeros_like(y)
    labels[list(rows)] = label
    return labels


@pytest.mark.parametrize("strategy", OVER_ATLAS)
@pytest.mark.parametrize("labels", SEEN.values(), ids=SEEN)
def test_equal_generators_give_equal_suggestions(strategy: Strategy, labels: LabelArray) -> None:
    first, second = (ask(strategy, labels, seed=7) for _ in range(2))
    assert first.rows.tolist() == second.rows.tolist()
    assert first.scores.tolist() == second.scores.tolist()
    assert first.choice == second.choice


@pytest.mark.parametrize("strategy", OVER_ATLAS)
def test_atlas_without_basis_is_refused(strategy: Strategy) -> None:
    with pytest.raises(ValueError, match="basis is None, expected that of the atlas's data"):
        ask(strategy, basis=None)


@pytest.mark.parametrize("strategy", OVER_ATLAS)
def test_cold_rules_take_turns_over_queries(strategy: Strategy) -> None:
    rules = [ask(strategy, labels_of(*range(n))).rule for n in range(5)]
    assert rules == ["cold_outlying", "cold_entropy"] * 2 + ["cold_outlying"]
    assert ask(strategy, labels_of(0), open_rows=np.array([5])).rule == "cold_outlying"
    assert ask(strategy, labels_of(), open_rows=np.array([5])).rule == "cold_entropy"


@pytest.mark.parametrize("strategy", OVER_ATLAS)
@pytest.mark.parametrize("waiting", [0, 1, 4])
def test_cold_rules_take_turns_over_places(strategy: Strategy, waiting: int) -> None:
    open_rows = np.arange(waiting)
    suggestion = ask(strategy, SEEN["none"], open_rows=open_rows, reserve=6)
    D = np.sort(np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2)), axis=1)[:, 10]
    vote = ATLAS.vote(np.arange(130))
    values = {"cold_outlying": D, "cold_entropy": vote * (1.0 - vote)}
    turns = ("cold_outlying", "cold_entropy")
    assert suggestion.rules == tuple(turns[(waiting + place) % 2] for place in range(6))
    # Each place is the best that its rule has left, away from the open rows and those before it.
    away = np.ones(130, dtype=np.bool_)
    away[PREP.nn[open_rows, :5]] = False
    for place in range(6):
        row, value = int(suggestion.rows[place]), values[suggestion.rules[place]]
        free = away if place else ~np.isin(np.arange(130), open_rows)
        assert free[row]
        assert value[row] == pytest.approx(value[free].max())
        assert suggestion.scores[place] == pytest.approx(value[row])
        away[PREP.nn[row, :5]] = False


@pytest.mark.parametrize("strategy", OVER_ATLAS)
def test_cold_rules_rank_by_isolation_and_by_vote_entropy(strategy: Strategy) -> None:
    D = np.sort(np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2)), axis=1)[:, 10]
    alone = ask(strategy, SEEN["none"])
    assert alone.rows[0] == D.argmax()
    assert alone.scores[0] == pytest.approx(D.max())
    contested = ask(strategy, labels_of(int(D.argmax())))
    vote = ATLAS.vote(np.arange(130))
    assert contested.scores[0] == pytest.approx((vote * (1.0 - vote)).max())
    typical = ask(strategy, SEEN["outliers"])
    assert typical.rule == "cold_typical"
    D[SEEN["outliers"] != 0] = np.inf
    assert typical.rows[0] == D.argmin()


@pytest.mark.parametrize("strategy", OVER_ATLAS)
@pytest.mark.parametrize("labels", SEEN.values(), ids=SEEN)
@pytest.mark.parametrize("reserve", [1, 16, 200])
def test_only_rows_that_may_be_asked_are_suggested(
    strategy: Strategy, labels: LabelArray, reserve: int
) -> None:
    U = np.flatnonzero(labels == 0)
    rows = ask(strategy, labels, exclude=U[:20], open_rows=U[20:25], reserve=reserve).rows
    allowed = set(U[25:].tolist())
    assert len(set(rows.tolist())) == len(rows) == min(reserve, len(allowed))
    assert set(rows.tolist()) <= allowed


@pytest.mark.parametrize("strategy", OVER_ATLAS)
@pytest.mark.parametrize("labels", [*SEEN.values(), y], ids=[*SEEN, "all"])
def test_suggestion_is_empty_when_no_row_is_left(strategy: Strategy, labels: LabelArray) -> None:
    suggestion = ask(strategy, labels, exclude=np.arange(130))
    assert suggestion.rows.shape == suggestion.scores.shape == (0,)
    assert suggestion.choice is not None


@pytest.mark.parametrize("strategy", ["lama", "random", *OVER_ATLAS])
@pytest.mark.parametrize("labels", SEEN.values(), ids=SEEN)
def test_every_strategy_reports_the_live_choice(strategy: Strategy, labels: LabelArray) -> None:
    suggestion = ask(strategy, labels)
    criterion: Any = "labels" if strategy == "disagreement" else "evidence"
    choice = choose_cell(ATLAS, BASIS, labels, criterion=criterion)
    assert suggestion.choice == choice
    if strategy in OVER_ATLAS:
        assert suggestion.gamma == choice.gamma


@pytest.mark.parametrize("labels", SEEN.values(), ids=SEEN)
def test_open_queries_do_not_change_the_choice(labels: LabelArray) -> None:
    choice = ask("knowledge_gradient", labels, open_rows=np.flatnonzero(labels == 0)[:4]).choice
    alone = choose_cell(ATLAS, BASIS, labels)
    assert choice is not None
    assert (choice.cell, choice.plateau) == (alone.cell, alone.plateau)
    assert choice.expected == pytest.approx(alone.expected, abs=1e-7)


@pytest.mark.parametrize("strategy", ["lama", "random"])
@pytest.mark.parametrize("labels", SEEN.values(), ids=SEEN)
def test_atlas_does_not_change_queries_of_lama(strategy: Strategy, labels: LabelArray) -> None:
    plain = ask(strategy, labels, atlas=None, basis=None)
    beside = ask(strategy, labels)
    assert plain.choice is None
    assert (plain.gamma, plain.alignment, plain.rule) == (
        beside.gamma,
        beside.alignment,
        beside.rule,
    )
    assert plain.rows.tolist() == beside.rows.tolist()
    assert plain.scores.tolist() == beside.scores.tolist()


@pytest.mark.parametrize("strategy", ["lama", *OVER_ATLAS])
def test_run_ends_with_cell_of_its_last_choice(strategy: Strategy) -> None:
    result = run(X, y, budget=12, strategy=strategy, atlas=ATLAS, basis=BASIS, choice="atlas")
    final, last = result.final, result.choices[-1]
    cell = final.cells[final.chosen]
    assert (final.gamma, cell.gamma, cell.C) == (last.gamma, last.gamma, last.C)
    assert cell.outliers == last.outliers == int((final.predictions == -1).sum())
    np.testing.assert_array_equal(final.predictions == -1, ATLAS.outside(last.cell))
    assert [c.C for c in final.cells] == ATLAS.C[ATLAS.gamma == last.gamma].tolist()


def test_atlas_beside_lama_run_only_reports() -> None:
    plain = run(X, y, budget=10, prep=PREP)
    beside = run(X, y, budget=10, prep=PREP, atlas=ATLAS, basis=BASIS)
    assert plain.queries.tolist() == beside.queries.tolist()
    assert plain.final.cells == beside.final.cells
    assert plain.choices == ()
    assert len(beside.choices) == 7


@pytest.mark.parametrize("seen", SEEN)
def test_session_can_end_after_any_labels(seen: str) -> None:
    final = finish_with_atlas(PREP, X, SEEN[seen], ATLAS, BASIS, k=5)
    assert (final.alignment is None) == (seen != "both")
    assert len(final.cells) == 6


@given(lattices(max_rows=12), st.data())
@settings(max_examples=sized(80))
def test_any_labels_of_tied_data_have_a_suggestion(Z: FloatArray, data: st.DataObject) -> None:
    N = len(Z)
    labels = np.array(
        data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=N, max_size=N)), dtype=np.int8
    )
    rows = st.lists(st.integers(0, N - 1), max_size=3, unique=True)
    open_rows = np.array(data.draw(rows), dtype=np.int64)
    prep, atlas = prepare(Z, k=3), fit_atlas(Z, default_gamma_bounds(Z), count=3, cells=3)
    for strategy in OVER_ATLAS:
        suggestion = suggest(
            prep, Z, labels, k=3, strategy=strategy, sample=0, rng=np.random.default_rng(0),
            open_rows=open_rows, atlas=atlas, basis=belief_basis(Z),
        )  # fmt: skip
        askable = labels == 0
        askable[open_rows] = False
        assert sorted(suggestion.rows.tolist()) == np.flatnonzero(askable).tolist()
        assert np.isfinite(suggestion.scores).all()
        assert suggestion.choice is not None


@given(lattices(max_rows=10), st.integers(0, 2**10 - 1), st.sampled_from(OVER_ATLAS))
@settings(max_examples=sized(40))
def test_session_over_tied_data_ends(Z: FloatArray, bits: int, strategy: Strategy) -> None:
    truth = np.array([1 if bits >> i & 1 else -1 for i in range(len(Z))], dtype=np.int8)
    atlas = fit_atlas(Z, default_gamma_bounds(Z), count=3, cells=3)
    result = run(Z, truth, k=3, budget=100, initial=(0, 0), strategy=strategy, atlas=atlas)
    np.testing.assert_array_equal(result.labels, truth)
