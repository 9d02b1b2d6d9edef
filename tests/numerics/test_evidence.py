"""Scores of the cells against explicit counts, and which cell follows from them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    METRICS,
    Evidence,
    FloatArray,
    LabelArray,
    Metric,
    belief_basis,
    believe,
    bootstrap_interval,
    choose_cell,
    default_gamma_bounds,
    fit_atlas,
    pick,
    predicted_labels,
    score,
    weigh,
)

X, y = blobs(90, 3, seed=8)
ATLAS = fit_atlas(X, default_gamma_bounds(X), count=4, cells=5)
BASIS = belief_basis(X)
LABELS = partial_labels(y, 14, seed=3)
TABLE = np.where([ATLAS.outside(cell) for cell in range(20)], np.int8(-1), np.int8(1))
SEEN = {
    "no_label": np.zeros_like(y),
    "no_outlier": np.where(LABELS == 1, LABELS, 0).astype(np.int8),
    "no_inlier": np.where(LABELS == -1, LABELS, 0).astype(np.int8),
    "both_classes": LABELS,
}


def soft_kappa(outside: LabelArray, q: FloatArray) -> float:
    """Cohen's kappa where row x is an outlier to the degree q_x."""
    found = sum(q[x] for x in range(90) if outside[x] == -1)
    missed = sum(q[x] for x in range(90) if outside[x] == 1)
    rejected = sum(1.0 - q[x] for x in range(90) if outside[x] == -1)
    kept = sum(1.0 - q[x] for x in range(90) if outside[x] == 1)
    agreed = (found + kept) / 90
    chance = (found + missed) * (found + rejected) + (missed + kept) * (rejected + kept)
    chance /= 90**2
    return float((agreed - chance) / (1.0 - chance))


def evidence(on_labels: list[float], expected: list[float]) -> Evidence:
    first, second = np.array(on_labels), np.array(expected)
    return Evidence(first, second, first + 3.0 * second)


@pytest.mark.parametrize("labels", SEEN.values(), ids=SEEN)
def test_expected_kappa_equals_kappa_of_soft_counts(labels: LabelArray) -> None:
    belief = believe(BASIS, labels)
    weighed = weigh(ATLAS, belief, labels)
    expected = [soft_kappa(TABLE[cell], belief.probability) for cell in range(20)]
    np.testing.assert_allclose(weighed.expected, expected, atol=1e-5)
    np.testing.assert_allclose(weighed.on_labels, [score(labels, row) for row in TABLE])
    np.testing.assert_allclose(weighed.combined, weighed.on_labels + 3.0 * weighed.expected)


@pytest.mark.parametrize("metric", METRICS)
def test_expected_score_equals_true_score_when_all_rows_are_labelled(metric: Metric) -> None:
    weighed = weigh(ATLAS, believe(BASIS, y), y, metric=metric)
    np.testing.assert_allclose(weighed.on_labels, score(y, TABLE, metric))
    np.testing.assert_allclose(weighed.expected, score(y, TABLE, metric), atol=1e-5)


@pytest.mark.parametrize(("reason", "labels"), SEEN.items(), ids=SEEN)
def test_choice_has_the_largest_evidence(reason: str, labels: LabelArray) -> None:
    vote = None if reason == "both_classes" else ATLAS.vote
    weighed = weigh(ATLAS, believe(BASIS, labels, vote=vote), labels)
    choice = choose_cell(ATLAS, BASIS, labels)
    assert choice == choose_cell(ATLAS, BASIS, labels)
    assert choice.reason == reason
    assert weighed.combined[choice.cell] >= weighed.combined.max() - 1e-9
    assert (choice.gamma, choice.C) == (ATLAS.gamma[choice.cell], ATLAS.C[choice.cell])
    assert choice.outliers == int((TABLE[choice.cell] == -1).sum())
    assert choice.on_labels == score(labels, TABLE[choice.cell])
    assert choice.expected == weighed.expected[choice.cell]
    assert choice.labels == np.count_nonzero(labels)
    rng = np.random.default_rng(0)
    assert choice.interval == bootstrap_interval(labels, TABLE[choice.cell], rng=rng)


@pytest.mark.parametrize(
    ("tied", "cell"), [([7], 7), ([3, 4, 9], 4), ([3, 9], 9), ([1, 2, 3, 4, 6, 7, 8], 4)]
)
def test_middle_of_tied_cells_is_chosen(tied: list[int], cell: int) -> None:
    value = np.zeros(20)
    value[tied] = 1.0
    value[tied[0]] += 1e-10  # a rounding error apart
    choice = pick(ATLAS, evidence([0.0] * 20, value.tolist()), LABELS)
    assert (choice.cell, choice.plateau) == (cell, len(tied))


def test_cells_with_nearly_every_row_outside_are_not_among_ties() -> None:
    useful = np.flatnonzero(ATLAS.outliers <= 0.9 * ATLAS.N)
    assert len(useful) < 20
    choice = pick(ATLAS, evidence([0.0] * 20, [1.0] * 20), LABELS)
    assert (choice.cell, choice.plateau) == (useful[len(useful) // 2], len(useful))


def test_labels_decide_alone_by_request_once_both_classes_are_known() -> None:
    on_labels, expected = [0.0] * 20, [0.0] * 20
    on_labels[2], expected[11] = 1.0, 1.0
    weighed = evidence(on_labels, expected)
    assert pick(ATLAS, weighed, LABELS).cell == 11
    assert pick(ATLAS, weighed, LABELS, criterion="labels").cell == 2
    for reason in ("no_label", "no_outlier", "no_inlier"):
        assert pick(ATLAS, weighed, SEEN[reason], criterion="labels").cell == 11


def test_choice_on_labels_has_the_best_score_on_them() -> None:
    choice = choose_cell(ATLAS, BASIS, LABELS, criterion="labels")
    assert choice.on_labels == score(LABELS, TABLE).max()


def test_evidence_does_not_depend_on_row_order() -> None:
    order = np.random.default_rng(5).permutation(90)
    packed = np.packbits(TABLE[:, order] == -1, axis=1)
    shuffled = choose_cell(replace(ATLAS, packed=packed), belief_basis(X[order]), LABELS[order])
    plain = choose_cell(ATLAS, BASIS, LABELS)
    assert (shuffled.cell, shuffled.plateau) == (plain.cell, plain.plateau)
    assert shuffled.expected == pytest.approx(plain.expected, abs=1e-5)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="criterion is 'score'"):
        choose_cell(ATLAS, BASIS, LABELS, criterion="score")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="metric is 'auc'"):
        choose_cell(ATLAS, BASIS, LABELS, metric="auc")  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", SEEN.values(), ids=SEEN)
def test_predicted_labels_are_those_of_the_chosen_cell(labels: LabelArray) -> None:
    choice = choose_cell(ATLAS, BASIS, labels)
    rows = np.array([89, 0, 7, 7])
    found = predicted_labels(choice, ATLAS, rows)
    assert found.dtype == np.int8
    np.testing.assert_array_equal(found, TABLE[choice.cell][rows])


def test_predictions_are_zero_without_choice() -> None:
    choice = choose_cell(ATLAS, BASIS, LABELS)
    rows = np.array([3, 4])
    assert predicted_labels(None, ATLAS, rows).tolist() == [0, 0]
    assert predicted_labels(choice, None, rows).tolist() == [0, 0]
    assert predicted_labels(choice, ATLAS, rows[:0]).shape == (0,)
