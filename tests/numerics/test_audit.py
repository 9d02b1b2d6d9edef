"""The audit: rows drawn without regard to any model, and a score with an honest interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.numerics import (
    METRICS,
    AuditScore,
    LabelArray,
    Metric,
    audit_score,
    draw_audit,
    score,
)

NONE = np.empty(0, dtype=np.int64)
# Rows called outliers among them true outliers, rows called inliers among them true outliers.
TABLES = {
    "good": (60, 45, 540, 15),
    "middling": (100, 30, 900, 40),
    "careless": (150, 30, 350, 10),
    "blind": (50, 5, 950, 95),
    "half": (250, 200, 250, 50),
}


def population(called: int, hits: int, others: int, missed: int) -> tuple[LabelArray, LabelArray]:
    """Truth and the model's answers, of all rows."""
    truth = np.ones(called + others, dtype=np.int8)
    truth[:hits] = -1
    truth[called : called + missed] = -1
    predicted = np.ones(called + others, dtype=np.int8)
    predicted[:called] = -1
    return truth, predicted


def estimate(
    truth: LabelArray, predicted: LabelArray, rows: LabelArray, seed: int = 0, **more: object
) -> AuditScore:
    return audit_score(
        truth[rows], predicted[rows], share_outside=float((predicted == -1).mean()),
        rng=np.random.default_rng(seed), **more,  # type: ignore[arg-type]
    )  # fmt: skip


def test_draw_is_uniform() -> None:
    counts = np.zeros(20)
    for seed in range(4000):
        counts[draw_audit(20, 5, seed=seed, exclude=NONE)] += 1
    assert abs(counts / 4000 - 0.25).max() < 0.03  # four standard deviations


def test_every_place_of_the_draw_is_uniform() -> None:
    draws = np.array([draw_audit(10, 4, seed=seed, exclude=NONE) for seed in range(4000)])
    for place in draws.T:
        assert abs(np.bincount(place, minlength=10) / 4000 - 0.1).max() < 0.02


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 2**32), st.data())
def test_draw_has_distinct_rows_that_are_not_excluded(
    N: int, n: int, seed: int, data: st.DataObject
) -> None:
    exclude = np.array(data.draw(st.lists(st.integers(0, N - 1))), dtype=np.int64)
    free = N - len(set(exclude.tolist()))
    rows = draw_audit(N, min(n, free), seed=seed, exclude=exclude)
    assert len(set(rows.tolist())) == len(rows) == min(n, free)
    assert not set(rows.tolist()) & set(exclude.tolist())
    assert set(rows.tolist()) <= set(range(N))


def test_a_shorter_draw_is_the_beginning_of_a_longer_one() -> None:
    exclude = np.array([3, 3, 8])
    longest = draw_audit(50, 48, seed=9, exclude=exclude).tolist()
    for n in (0, 1, 20, 47):
        assert draw_audit(50, n, seed=9, exclude=exclude).tolist() == longest[:n]


def test_sessions_draw_differently() -> None:
    first, second = (draw_audit(100, 10, seed=seed, exclude=NONE).tolist() for seed in (0, 1))
    assert first != second
    assert first == draw_audit(100, 10, seed=0, exclude=NONE).tolist()


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="n is 9, expected 0 to 8"):
        draw_audit(10, 9, seed=0, exclude=np.array([1, 2, 2]))
    with pytest.raises(ValueError, match="n is -1, expected 0 to 10"):
        draw_audit(10, -1, seed=0, exclude=NONE)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_full_audit_is_the_true_score(table: tuple[int, int, int, int], metric: Metric) -> None:
    truth, predicted = population(*table)
    rows = draw_audit(len(truth), len(truth), seed=0, exclude=NONE)
    result = estimate(truth, predicted, rows, metric=metric, N=len(truth))
    exact = float(score(truth, predicted, metric))
    assert (result.value, result.low, result.high) == pytest.approx((exact, exact, exact))
    assert result.n == len(truth)
    open_ended = estimate(truth, predicted, rows, metric=metric)
    assert open_ended.value == pytest.approx(exact)
    assert open_ended.low < exact < open_ended.high


def test_shares_of_the_audit_are_weighed_by_the_shares_of_the_data() -> None:
    # The audit saw 2 of 4 called rows right and 1 outlier among 5 others; a fifth is called.
    predicted = np.array([-1, -1, -1, -1, 1, 1, 1, 1, 1], dtype=np.int8)
    truth = np.array([-1, -1, 1, 1, -1, 1, 1, 1, 1], dtype=np.int8)
    result = audit_score(truth, predicted, share_outside=0.2, rng=np.random.default_rng(0))
    found, rejected, missed, kept = 0.1, 0.1, 0.16, 0.64
    chance = (found + missed) * (found + rejected) + (rejected + kept) * (missed + kept)
    assert result.value == pytest.approx((found + kept - chance) / (1.0 - chance))
    assert result.low < result.value < result.high
    assert result.n == 9


@pytest.mark.parametrize("known_N", [False, True], ids=["without N", "with N"])
@pytest.mark.parametrize("n", [20, 50, 100])
def test_intervals_hold_the_truth_as_often_as_they_say(n: int, known_N: bool) -> None:
    covered, sessions = [], 200
    for table in TABLES.values():
        truth, predicted = population(*table)
        exact = float(score(truth, predicted))
        hits = 0
        for seed in range(sessions):
            rows = draw_audit(len(truth), n, seed=seed, exclude=NONE)
            result = estimate(truth, predicted, rows, seed, N=len(truth) if known_N else None)
            hits += result.low <= exact <= result.high
        covered.append(hits / sessions)
    assert 0.85 < np.mean(covered) < 0.97, covered
    assert min(covered) > 0.8, covered


def test_more_answers_narrow_the_interval_and_a_lower_level_too() -> None:
    truth, predicted = population(*TABLES["middling"])
    rows = draw_audit(1000, 400, seed=1, exclude=NONE)
    widths = [
        r.high - r.low for r in (estimate(truth, predicted, rows[:n]) for n in (25, 100, 400))
    ]
    assert widths[0] > widths[1] > widths[2]
    half = estimate(truth, predicted, rows[:100], level=0.5)
    assert half.high - half.low < widths[1]
    finite = estimate(truth, predicted, rows, N=1000)
    assert finite.high - finite.low < 0.9 * widths[2]


def test_rows_without_an_answer_do_not_count() -> None:
    truth, predicted = population(*TABLES["good"])
    rows = draw_audit(600, 60, seed=2, exclude=NONE)
    waiting = truth[rows].copy()
    waiting[40:] = 0
    share = float((predicted == -1).mean())
    first = audit_score(waiting, predicted[rows], share_outside=share, rng=np.random.default_rng(0))
    assert first == estimate(truth, predicted, rows[:40])


@pytest.mark.parametrize(("metric", "least"), [*zip(METRICS, (-1.0, -1.0, 0.0, 0.0), strict=True)])
def test_without_an_answer_nothing_is_known(metric: Metric, least: float) -> None:
    nothing = np.zeros(3, dtype=np.int8)
    predicted = np.array([-1, 1, 1], dtype=np.int8)
    result = audit_score(
        nothing, predicted, share_outside=0.1, metric=metric, rng=np.random.default_rng(0)
    )
    assert math.isnan(result.value)
    assert (result.low, result.high, result.n) == (least, 1.0, 0)


@given(
    st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 1])), min_size=1),
    st.floats(0.0, 1.0),
    st.sampled_from(METRICS),
)
def test_any_audit_has_a_score_inside_its_interval(
    pairs: list[tuple[int, int]], share: float, metric: Metric
) -> None:
    truth, predicted = np.array(pairs, dtype=np.int8).T
    result = audit_score(
        truth, predicted, share_outside=share, metric=metric, rng=np.random.default_rng(0)
    )
    assert result.n == np.count_nonzero(truth)
    if result.n:
        assert -1.0 <= result.low <= result.value <= result.high <= 1.0


def test_equal_generators_equal_intervals() -> None:
    truth, predicted = population(*TABLES["half"])
    rows = draw_audit(500, 30, seed=0, exclude=NONE)
    assert estimate(truth, predicted, rows, 4) == estimate(truth, predicted, rows, 4)


def test_wrong_arguments_are_named() -> None:
    signs = np.array([1, -1], dtype=np.int8)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"truth has shape \(2,\), predicted \(1,\)"):
        audit_score(signs, signs[:1], share_outside=0.1, rng=rng)
    with pytest.raises(ValueError, match=r"share_outside is 1\.5"):
        audit_score(signs, signs, share_outside=1.5, rng=rng)
    with pytest.raises(ValueError, match=r"level is 1\.0"):
        audit_score(signs, signs, share_outside=0.1, level=1.0, rng=rng)
    with pytest.raises(ValueError, match="expected at least 1 rows called outliers and 1 others"):
        audit_score(signs, signs, share_outside=0.0, rng=rng, N=50)
    with pytest.raises(ValueError, match="metric is 'auc'"):
        audit_score(signs, signs, share_outside=0.1, metric="auc", rng=rng)  # type: ignore[arg-type]
