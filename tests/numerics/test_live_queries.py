"""Queries and live choices of the strategies that use the atlas."""

import numpy as np
import pytest
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    ATLAS_STRATEGIES,
    METRICS,
    IndexArray,
    LabelArray,
    Metric,
    Strategy,
    Suggestion,
    belief_basis,
    believe,
    choose_cell,
    disagreement,
    fit_atlas,
    form_committee,
    knowledge_committee,
    knowledge_gains,
    prepare,
    query_rng,
    run,
    score,
    suggest,
    weigh,
)

X, y = blobs(160, 3, seed=61)
PREP = prepare(X, k=6)
ATLAS = fit_atlas(X, PREP.gamma_bounds, count=6, cells=8)
BASIS = belief_basis(X)
LABELS = partial_labels(y, 14, seed=3)
UNLABELLED = np.zeros_like(LABELS)
NONE = np.empty(0, dtype=np.int64)
BOTH: list[Strategy] = sorted(ATLAS_STRATEGIES)


def ask(
    labels: LabelArray = LABELS,
    strategy: Strategy = "knowledge_gradient",
    *,
    seed: int = 0,
    exclude: IndexArray = NONE,
    open_rows: IndexArray = NONE,
    reserve: int = 16,
) -> Suggestion:
    return suggest(
        PREP, X, labels, k=5, strategy=strategy, sample=10, rng=np.random.default_rng(seed),
        exclude=exclude, open_rows=open_rows, reserve=reserve, atlas=ATLAS, basis=BASIS,
    )  # fmt: skip


def test_knowledge_gradient_asks_about_row_with_largest_gain() -> None:
    belief = believe(BASIS, LABELS)
    committee = knowledge_committee(ATLAS, weigh(ATLAS, belief, LABELS))
    gains = knowledge_gains(ATLAS, BASIS, belief, committee)
    suggestion = ask()
    free = np.flatnonzero(LABELS == 0)
    assert suggestion.rule == "knowledge_gradient"
    assert suggestion.rows[0] == free[gains.value[free].argmax()]
    assert suggestion.scores[0] == gains.value[free].max()
    assert suggestion.alignment is None


def test_disagreement_asks_about_row_with_largest_vote_variance() -> None:
    evidence = weigh(ATLAS, believe(BASIS, LABELS), LABELS)
    value = disagreement(ATLAS, form_committee(ATLAS, evidence.on_labels, sharpness=20.0))
    suggestion = ask(strategy="disagreement")
    assert suggestion.rule == "disagreement"
    assert value[suggestion.rows[0]] == pytest.approx(value[LABELS == 0].max())
    for position in range(1, 5):
        assert suggestion.rows[position] not in PREP.nn[suggestion.rows[:position], :5]


@pytest.mark.parametrize("strategy", BOTH)
@pytest.mark.parametrize("labels", [LABELS, UNLABELLED], ids=["warm", "cold"])
def test_labelled_excluded_and_open_rows_are_not_asked(
    strategy: Strategy, labels: LabelArray
) -> None:
    U = np.flatnonzero(labels == 0)
    suggestion = ask(labels, strategy, exclude=U[:100], open_rows=U[100:110], reserve=500)
    assert sorted(suggestion.rows.tolist()) == U[110:].tolist()
    assert suggestion.rows.shape == suggestion.scores.shape
    assert np.isfinite(suggestion.scores).all()


@pytest.mark.parametrize("strategy", BOTH)
@pytest.mark.parametrize("labels", [LABELS, UNLABELLED], ids=["warm", "cold"])
def test_same_generator_gives_same_suggestion(strategy: Strategy, labels: LabelArray) -> None:
    one, two = ask(labels, strategy, seed=4), ask(labels, strategy, seed=4)
    assert one.rows.tolist() == two.rows.tolist()
    assert one.scores.tolist() == two.scores.tolist()
    assert one.choice == two.choice


@pytest.mark.parametrize("strategy", ["lama", "random", *BOTH])
@pytest.mark.parametrize("labels", [LABELS, UNLABELLED], ids=["warm", "cold"])
def test_choice_of_suggestion_equals_choose_cell(strategy: Strategy, labels: LabelArray) -> None:
    suggestion = ask(labels, strategy)
    chosen = choose_cell(
        ATLAS, BASIS, labels,
        criterion="labels" if strategy == "disagreement" else "evidence",
    )  # fmt: skip
    assert suggestion.choice == chosen
    assert chosen.gamma == ATLAS.gamma[chosen.cell]
    if strategy in ATLAS_STRATEGIES:
        assert suggestion.gamma == chosen.gamma


@pytest.mark.parametrize("metric", METRICS)
def test_choice_uses_metric_of_session(metric: Metric) -> None:
    suggestion = suggest(
        PREP, X, LABELS, k=5, strategy="knowledge_gradient", sample=10,
        rng=np.random.default_rng(0), atlas=ATLAS, basis=BASIS, metric=metric,
    )  # fmt: skip
    assert suggestion.choice == choose_cell(ATLAS, BASIS, LABELS, metric=metric)


def test_open_rows_do_not_change_the_choice() -> None:
    assert ask(open_rows=np.flatnonzero(LABELS == 0)[:5]).choice == ask().choice


def test_second_place_equals_suggestion_with_first_row_open() -> None:
    rows = ask(reserve=3).rows
    assert ask(open_rows=rows[:1]).rows[0] in rows[1:].tolist()


def test_suggestion_does_not_depend_on_row_order() -> None:
    order = np.random.default_rng(7).permutation(len(X))
    prep = prepare(X[order], k=6, gamma_bounds=PREP.gamma_bounds)
    moved = suggest(
        prep, X[order], LABELS[order], k=5, strategy="knowledge_gradient", sample=0,
        rng=np.random.default_rng(0), basis=belief_basis(X[order]),
        atlas=fit_atlas(X[order], PREP.gamma_bounds, count=6, cells=8),
    )  # fmt: skip
    assert order[moved.rows[0]] == ask().rows[0]
    assert moved.choice is not None
    assert moved.choice.gamma == ask().gamma


def test_cold_start_asks_about_isolated_and_contested_rows_in_turn() -> None:
    far = ask(UNLABELLED)
    assert far.rule == "cold_outlying"
    assert far.rows[0] == BASIS.isolation.argmax()
    labels = UNLABELLED.copy()
    labels[np.flatnonzero(y == 1)[:1]] = 1
    contested = ask(labels)
    vote = ATLAS.panel_vote
    value = np.where(labels == 0, vote * (1.0 - vote), -1.0)
    assert contested.rule == "cold_entropy"
    assert value[contested.rows[0]] == pytest.approx(value.max())
    assert ask(labels, open_rows=contested.rows[:1]).rule == "cold_outlying"


def test_cold_start_with_only_outliers_asks_about_typical_row() -> None:
    labels = np.where(LABELS == -1, LABELS, 0).astype(np.int8)
    suggestion = ask(labels)
    assert suggestion.rule == "cold_typical"
    assert suggestion.rows[0] == np.where(labels == 0, BASIS.isolation, np.inf).argmin()
    assert suggestion.choice is not None
    assert suggestion.choice.reason == "no_inlier"


def test_suggestion_is_empty_when_no_row_is_left() -> None:
    for strategy in BOTH:
        suggestion = ask(strategy=strategy, exclude=np.arange(len(X)))
        assert suggestion.rows.shape == suggestion.scores.shape == (0,)
        assert suggestion.choice is not None


@pytest.mark.slow
def test_rows_outside_panel_are_asked_last() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(4200, 2))
    prep, basis = prepare(Z, k=5), belief_basis(Z)
    atlas = fit_atlas(Z, (0.5, 1.0), count=2, cells=3)
    labels = np.zeros(4200, dtype=np.int8)
    labels[basis.panel[:3]] = 1, 1, -1
    inside = suggest(
        prep, Z, labels, k=5, strategy="knowledge_gradient", sample=0, rng=rng, atlas=atlas,
        basis=basis,
    )  # fmt: skip
    assert np.isin(inside.rows, basis.panel).all()
    outside = suggest(
        prep, Z, labels, k=5, strategy="knowledge_gradient", sample=0, rng=rng, atlas=atlas,
        basis=basis, exclude=basis.panel,
    )  # fmt: skip
    assert outside.rule == "random"
    assert not np.isin(outside.rows, basis.panel).any()


@pytest.mark.parametrize("strategy", BOTH)
@pytest.mark.parametrize("initial", [(2, 2), (0, 0)])
def test_run_is_the_loop_over_suggest(strategy: Strategy, initial: tuple[int, int]) -> None:
    result = run(
        X, y, budget=20, strategy=strategy, seed=5, prep=PREP, atlas=ATLAS, initial=initial
    )
    labels = np.where(np.isin(np.arange(len(X)), result.queries), 0, result.labels).astype(np.int8)
    for n, row in enumerate(result.queries.tolist()):
        rng = query_rng(5, int(np.count_nonzero(labels)), n)
        suggestion = suggest(
            PREP, X, labels, k=5, strategy=strategy, sample=0, rng=rng, atlas=ATLAS, basis=BASIS
        )
        assert suggestion.rows[0] == row
        assert suggestion.choice == result.choices[n]
        labels[row] = y[row]
    last = result.choices[-1]
    assert len(result.choices) == len(result.queries) + 1
    assert last.labels == 20
    assert (result.final.gamma, result.final.model.C) == (last.gamma, last.C)
    np.testing.assert_array_equal(result.final.predictions == -1, ATLAS.outside(last.cell))
    assert float(score(y, result.final.predictions)) > 0.5


def test_error_names_wrong_argument() -> None:
    with pytest.raises(ValueError, match="strategy is 'disagreement', expected an atlas with it"):
        suggest(
            PREP, X, LABELS, k=5, strategy="disagreement", sample=0, rng=np.random.default_rng(0)
        )
    with pytest.raises(ValueError, match="atlas has 50 rows, expected 160"):
        suggest(
            PREP, X, LABELS, k=5, strategy="lama", sample=0, rng=np.random.default_rng(0),
            atlas=fit_atlas(X[:50], (0.1, 1.0), count=2, cells=2),
        )  # fmt: skip
