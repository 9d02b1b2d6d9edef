"""Scores agree with scikit-learn's where those are defined, and are 0 where they are 0/0."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from svddtune.numerics import (
    METRICS,
    LabelArray,
    Metric,
    bootstrap_interval,
    class_counts,
    difference_interval,
    score,
    score_counts,
)
from svddtune.numerics.scores import Confusion

SIGNS = st.lists(st.tuples(st.sampled_from([-1, 1]), st.sampled_from([-1, 1])), min_size=1)


def f1(y: LabelArray, pred: LabelArray) -> float:
    return float(metrics.f1_score(y, pred, pos_label=-1, zero_division=0.0))


REFERENCE = {
    "kappa": metrics.cohen_kappa_score,
    "mcc": metrics.matthews_corrcoef,
    "f1": f1,
    "balanced_accuracy": metrics.balanced_accuracy_score,
}


@pytest.mark.parametrize("metric", METRICS)
@given(pairs=SIGNS)
def test_scores_agree_with_scikit_learn(metric: Metric, pairs: list[tuple[int, int]]) -> None:
    y, pred = np.array(pairs, dtype=np.int8).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.nan_to_num(REFERENCE[metric](y, pred))
    assert score(y, pred, metric) == pytest.approx(expected, abs=1e-12)


def test_kappa_of_perfect_inverted_and_constant_predictions() -> None:
    y = np.array([1, 1, -1, -1], dtype=np.int8)
    assert score(y, y) == 1.0
    assert score(y, -y) == -1.0
    assert score(y, np.ones_like(y)) == 0.0
    assert score(np.ones_like(y), np.ones_like(y)) == 0.0


@pytest.mark.parametrize("metric", METRICS)
def test_many_predictions_are_scored_at_once_without_unlabelled_rows(metric: Metric) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(np.array([-1, 0, 1], dtype=np.int8), 60)
    pred = rng.choice(np.array([-1, 1], dtype=np.int8), (5, 60))
    known = y != 0
    expected = [score(y[known], row[known], metric) for row in pred]
    np.testing.assert_allclose(score(y, pred, metric), expected)


@pytest.mark.parametrize("metric", METRICS)
def test_bootstrap_interval_agrees_with_resampled_rows(metric: Metric) -> None:
    rng = np.random.default_rng(1)
    y = rng.choice(np.array([-1, 1], dtype=np.int8), 80, p=(0.3, 0.7))
    pred = np.where(rng.random(80) < 0.2, -y, y).astype(np.int8)
    low, high = bootstrap_interval(y, pred, metric, rng=rng, draws=4000)
    resamples = rng.integers(80, size=(4000, 80))
    values = [score(y[rows], pred[rows], metric) for rows in resamples]
    assert (low, high) == pytest.approx(np.quantile(values, (0.05, 0.95)), abs=0.04)
    assert low <= score(y, pred, metric) <= high
    narrow = bootstrap_interval(y, pred, metric, level=0.5, rng=rng)
    assert low < narrow[0] < narrow[1] < high


@pytest.mark.parametrize("metric", METRICS)
def test_difference_interval_agrees_with_resampled_rows(metric: Metric) -> None:
    rng = np.random.default_rng(2)
    y = rng.choice(np.array([-1, 1], dtype=np.int8), 80, p=(0.3, 0.7))
    first = np.where(rng.random(80) < 0.3, -y, y).astype(np.int8)
    second = np.where(rng.random(80) < 0.2, -first, first).astype(np.int8)
    low, high = difference_interval(y, first, second, metric, rng=rng, draws=4000)
    resamples = rng.integers(80, size=(4000, 80))
    values = [
        score(y[rows], second[rows], metric) - score(y[rows], first[rows], metric)
        for rows in resamples
    ]
    assert (low, high) == pytest.approx(np.quantile(values, (0.05, 0.95)), abs=0.04)


def test_difference_of_equal_classifications_is_zero() -> None:
    y = np.array([-1, 1, 1, -1, 1], dtype=np.int8)
    pred = np.array([-1, -1, 1, 1, 1], dtype=np.int8)
    assert difference_interval(y, pred, pred, rng=np.random.default_rng(0)) == (0.0, 0.0)


def test_bootstrap_interval_without_labels_is_whole_range() -> None:
    nothing = np.zeros(5, dtype=np.int8)
    pred = np.ones(5, dtype=np.int8)
    rng = np.random.default_rng(0)
    assert bootstrap_interval(nothing, pred, rng=rng) == (-1.0, 1.0)
    assert bootstrap_interval(nothing, pred, "f1", rng=rng) == (0.0, 1.0)


def test_class_counts() -> None:
    assert class_counts(np.array([1, 0, -1, 1, 0], dtype=np.int8)) == (2, 1)


def test_error_names_wrong_argument() -> None:
    y = np.ones(3, dtype=np.int8)
    with pytest.raises(ValueError, match="metric is 'auc'"):
        score(y, y, "auc")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"level is 1\.0"):
        bootstrap_interval(y, y, level=1.0, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"pred has shape \(3,\), expected \(..., 2\)"):
        score(y[:2], y)


@pytest.mark.parametrize("metric", METRICS)
def test_soft_counts_rounded_below_zero_give_finite_score(metric: Metric) -> None:
    tiny = np.array([-1e-16, 0.0, 1e-16])
    counts = Confusion(found=tiny, missed=tiny + 3.0, rejected=tiny, kept=tiny + 9.0)
    assert np.isfinite(score_counts(counts, metric)).all()
