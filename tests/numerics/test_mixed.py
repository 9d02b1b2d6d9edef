"""The strategy "mixed": its rules take turns, and each ranks as it does alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import LabelArray, belief_basis, fit_atlas, prepare, suggest
from svddtune.numerics.mixed import (
    MIXED_TURNS,
    border_distance,
    border_rows,
    mixed_turns,
    take_turns,
)
from svddtune.numerics.preparation import default_gamma_bounds

X, y = blobs(130, 3, seed=17)
PREP = prepare(X, k=5)
ATLAS = fit_atlas(X, default_gamma_bounds(X), count=6, cells=6)
BASIS = belief_basis(X)


def ask(labels: LabelArray, strategy: Any = "mixed", reserve: int = 9) -> Any:
    return suggest(
        PREP, X, labels, k=5, strategy=strategy, sample=0, rng=np.random.default_rng(0),
        atlas=ATLAS, basis=BASIS, reserve=reserve,
    )  # fmt: skip


@pytest.mark.parametrize("count", range(10, 10 + len(MIXED_TURNS)))
def test_rules_take_turns_over_queries_and_places(count: int) -> None:
    labels = partial_labels(y, count, seed=4)
    suggestion = ask(labels)
    given_labels = int(np.count_nonzero(labels))
    turns = mixed_turns(given_labels)
    assert suggestion.rules == tuple(turns[place % len(turns)] for place in range(9))
    assert turns[1:] + turns[:1] == mixed_turns(given_labels + 1)


def test_the_first_row_is_the_one_that_its_rule_ranks_first() -> None:
    for count in range(10, 10 + len(MIXED_TURNS)):
        labels = partial_labels(y, count, seed=4)
        suggestion, open_rows = ask(labels), np.flatnonzero(labels == 0)
        if suggestion.rule == "knowledge_gradient":
            gradient = ask(labels, "knowledge_gradient")
            assert suggestion.rows[0] == gradient.rows[0]
            assert suggestion.scores[0] == gradient.scores[0]
        elif suggestion.rule == "uncertain":
            distance = border_distance(BASIS, labels)
            assert distance[suggestion.rows[0]] == pytest.approx(distance[open_rows].min())
            assert suggestion.scores[0] == -distance[suggestion.rows[0]]


def test_the_border_is_that_of_a_balanced_support_vector_machine() -> None:
    labels = partial_labels(y, 20, seed=4)
    rows, Z = np.flatnonzero(labels), StandardScaler().fit_transform(X)
    machine = SVC(class_weight="balanced").fit(Z[rows], labels[rows])
    assert np.allclose(border_distance(BASIS, labels), np.abs(machine.decision_function(Z)))


def test_the_border_is_found_among_more_labels_than_are_used() -> None:
    Z, truth = blobs(1500, 2, seed=3)
    distance = border_distance(belief_basis(Z), truth)
    assert distance.shape == (1500,)
    assert np.isfinite(distance).all()


@given(
    st.lists(st.permutations(range(6)), min_size=1, max_size=4),
    st.integers(min_value=1, max_value=9),
)
def test_turns_rank_each_row_once_and_the_first_rankings_best_first(
    rankings: list[list[int]], reserve: int
) -> None:
    ranked = take_turns([np.array(one) for one in rankings], reserve).tolist()
    assert len(ranked) == len(set(ranked)) == min(reserve, 6)
    assert ranked[0] == rankings[0][0]
    for place, row in enumerate(ranked):
        before, turn = set(ranked[:place]), rankings[place % len(rankings)]
        assert row == next(one for one in turn if one not in before)


@pytest.mark.parametrize(
    ("inliers", "outliers", "used"),
    [(150, 50, (150, 50)), (700, 300, (100, 100)), (900, 40, (160, 40)), (60, 800, (60, 140))],
)
def test_border_sees_half_of_each_class_as_far_as_there_are_so_many(
    inliers: int, outliers: int, used: tuple[int, int]
) -> None:
    labels = np.zeros(2000, dtype=np.int8)
    labels[:inliers], labels[-outliers:] = 1, -1
    rows = border_rows(labels)
    assert ((labels[rows] == 1).sum(), (labels[rows] == -1).sum()) == used
    assert (np.diff(rows) > 0).all()
