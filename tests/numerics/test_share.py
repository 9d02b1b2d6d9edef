"""The share of outliers: by the belief against its formula, by audit against exact binomials."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    BelievedShare,
    LabelArray,
    belief_basis,
    believe,
    believed_share,
    draw_audit,
    share_by_audit,
    share_by_belief,
    stretched_share,
)
from svddtune.numerics.share import LEVEL, POWER, STRETCH, WIDTH

X, y = blobs(110, 3, seed=12)
BASIS = belief_basis(X)
NONE: LabelArray = np.empty(0, dtype=np.int8)


def sigmoid(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-odds))


def answers(outliers: int, inliers: int, unsure: int = 0) -> LabelArray:
    return np.repeat(np.array([-1, 1, 0], dtype=np.int8), (outliers, inliers, unsure))


@pytest.mark.parametrize("seed", range(3))
def test_deviation_is_that_of_the_linear_sum_over_unlabelled_rows(seed: int) -> None:
    labels = partial_labels(y, 14, seed=seed)
    belief = believe(BASIS, labels)
    V = belief.root.astype(np.float64)
    Sigma = BASIS.kernel.astype(np.float64) - V.T @ V
    rows = np.flatnonzero(labels == 0)
    q = belief.probability[rows]
    slope = q * (1 - q)
    deviation = math.sqrt(slope @ Sigma[np.ix_(rows, rows)] @ slope) / len(rows)
    found = believed_share(BASIS, belief, labels)
    assert found.probability == pytest.approx(q.mean())
    assert found.deviation == pytest.approx(deviation / (q.mean() * (1 - q.mean())), rel=1e-4)


def test_deviation_of_a_large_set_is_near_that_of_all_its_rows() -> None:
    Z, truth = blobs(1500, 3, seed=5)
    basis, labels = belief_basis(Z), partial_labels(truth, 20, seed=0)
    assert len(basis.quadrature) < len(basis.panel)
    belief = believe(basis, labels)
    found = believed_share(basis, belief, labels)
    D = np.sqrt(np.square(Z[:, None] - Z).sum(axis=2))
    V = belief.root.astype(np.float64)
    Sigma = 1.0 + 4.0 * np.exp(-D / basis.length) - V.T @ V
    slope = np.where(labels == 0, belief.probability * (1 - belief.probability), 0.0)
    p, count = found.probability, int((labels == 0).sum())
    expected = math.sqrt(slope @ Sigma @ slope) / count / (p * (1 - p))
    assert found.deviation == pytest.approx(expected, rel=0.1)


@given(st.integers(0, 100))
def test_share_by_belief_is_that_of_its_formula(seed: int) -> None:
    labels = partial_labels(y, 14, seed=seed)
    belief = believe(BASIS, labels)
    believed = believed_share(BASIS, belief, labels)
    found, unlabelled = int((labels == -1).sum()), int((labels == 0).sum())
    p = float(np.mean([belief.probability[x] for x in range(110) if labels[x] == 0]))
    odds, half = STRETCH * math.log(p / (1 - p)), WIDTH * believed.deviation**POWER
    share = share_by_belief(BASIS, belief, labels)
    assert share.value == pytest.approx((found + unlabelled * sigmoid(odds)) / 110)
    low = found + max(unlabelled * sigmoid(odds - half) - 0.5, 0)
    high = found + min(unlabelled * sigmoid(odds + half) + 0.5, unlabelled)
    assert (share.low, share.high) == pytest.approx((low / 110, high / 110))
    assert (share.method, share.labels) == ("belief", 14)


def test_doubted_labels_count_as_probabilities() -> None:
    labels = partial_labels(y, 14, seed=3)
    certainty = np.where(labels == -1, 0.7, 1.0)
    belief = believe(BASIS, labels, certainty=certainty)
    share = share_by_belief(BASIS, belief, labels)
    found = float(belief.labelled.sum())
    assert 0 < found < (labels == -1).sum()
    believed = believed_share(BASIS, belief, labels)
    assert share.value == stretched_share(believed, found=found, unlabelled=96, N=110)[0]


def test_share_is_exact_when_all_rows_are_labelled() -> None:
    share = share_by_belief(BASIS, believe(BASIS, y), y)
    exact = float((y == -1).mean())
    assert (share.value, share.low, share.high) == pytest.approx((exact, exact, exact))


@given(
    st.floats(0, 1),
    st.floats(0, 3),
    st.integers(0, 40),
    st.integers(0, 40),
    st.integers(0, 200),
    st.floats(0, 5),
    st.floats(0, 5),
    st.floats(0, 1),
)
def test_interval_holds_value_and_contradicts_no_label(
    p: float, deviation: float, outliers: int, inliers: int, unlabelled: int, stretch: float,
    width: float, power: float,
) -> None:  # fmt: skip
    N = outliers + inliers + unlabelled + 1
    value, low, high = stretched_share(
        BelievedShare(p, deviation), found=outliers, unlabelled=N - outliers - inliers, N=N,
        stretch=stretch, width=width, power=power,
    )  # fmt: skip
    assert outliers / N <= low <= value <= high <= 1 - inliers / N + 1e-12


@given(st.floats(0, 1), st.floats(0, 1))
def test_share_rises_with_the_belief(p: float, q: float) -> None:
    lower, higher = (
        stretched_share(BelievedShare(one, 0.4), found=2, unlabelled=90, N=100)
        for one in sorted((p, q))
    )
    assert all(a <= b for a, b in zip(lower, higher, strict=True))


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 5), st.integers(0, 4))
def test_ends_of_audited_interval_are_those_of_clopper_and_pearson(
    outliers: int, inliers: int, unsure: int, initial: int
) -> None:
    n, N = outliers + inliers, 1000 + 2 * initial
    if n == 0:
        return
    share = share_by_audit(answers(outliers, inliers, unsure), answers(initial, initial), N=N)
    assert share.value == pytest.approx((initial + 1000 * outliers / n) / N)
    assert (share.method, share.labels) == ("audit", n + 2 * initial)
    tail = (1 - LEVEL) / 2
    low, high = (share.low * N - initial) / 1000, (share.high * N - initial) / 1000
    # As improbable as `tail`: so many outliers or more at the low end, or fewer at the high one,
    # unless the answers themselves say that there are more or fewer.
    if low > outliers / 1000 + 1e-9:
        assert binom.sf(outliers - 1, n, low) == pytest.approx(tail)
    else:
        assert binom.sf(outliers - 1, n, max(low, 0.0)) >= tail - 1e-9 or outliers == 0
    if high < 1 - inliers / 1000 - 1e-9:
        assert binom.cdf(outliers, n, high) == pytest.approx(tail)
    assert outliers / 1000 - 1e-9 <= low <= high <= 1 - inliers / 1000 + 1e-9


def test_interval_of_audit_holds_the_truth_at_least_as_often_as_stated() -> None:
    truth = answers(80, 920)
    held = []
    for seed in range(400):
        rows = draw_audit(1000, 40, seed=seed, exclude=np.empty(0, dtype=np.int64))
        share = share_by_audit(truth[rows], NONE, N=1000)
        held.append(share.low <= 0.08 <= share.high)
    assert np.mean(held) >= LEVEL


def test_audit_without_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="audited has no answer"):
        share_by_audit(answers(0, 0, 4), NONE, N=10)
