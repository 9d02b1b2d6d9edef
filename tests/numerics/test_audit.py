"""The audit estimates the score on all rows from a uniform sample, with an interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.numerics.cases import blobs

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


def population(found: int, missed: int, rejected: int, kept: int) -> tuple[LabelArray, LabelArray]:
    """Truth and predictions with these counts."""
    counts = (found, missed, rejected, kept)
    truth = np.repeat(np.array([-1, -1, 1, 1], dtype=np.int8), counts)
    return truth, np.repeat(np.array([-1, 1, -1, 1], dtype=np.int8), counts)


# Confusion tables like those of the models chosen on the benchmark sets.
TABLES = {
    "large, rare, found": population(40, 15, 90, 1855),
    "large, rare, missed": population(12, 120, 60, 1808),
    "half found": population(130, 120, 250, 1500),
    "good": population(110, 16, 20, 205),
    "small": population(8, 5, 10, 57),
    "useless": population(30, 70, 300, 700),
}


def audit(
    tables: tuple[LabelArray, LabelArray], n: int, seed: int, *, known_size: bool, metric: str
) -> tuple[AuditScore, float]:
    truth, predicted = tables
    rows = draw_audit(len(truth), min(n, len(truth)), seed=seed, exclude=NONE)
    found = audit_score(
        truth[rows], predicted[rows], share_outside=float(np.mean(predicted == -1)),
        metric=metric, rng=np.random.default_rng(seed),  # type: ignore[arg-type]
        N=len(truth) if known_size else None,
    )  # fmt: skip
    return found, float(score(truth, predicted, metric))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "n", [20, pytest.param(50, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("known_size", [False, True])
def test_90_percent_interval_covers_true_score_about_nine_times_in_ten(
    n: int, known_size: bool
) -> None:
    covered, errors = [], []
    for table in TABLES.values():
        inside = []
        for seed in range(100):
            found, true = audit(table, n, seed, known_size=known_size, metric="kappa")
            inside.append(found.low - 1e-9 <= true <= found.high + 1e-9)
            errors.append(found.value - true)
            assert found.low <= found.value <= found.high
        covered.append(np.mean(inside))
    assert 0.85 <= np.mean(covered) <= (0.95 if known_size else 0.97)
    assert min(covered) >= 0.8
    assert abs(np.mean(errors)) < (0.03 if n == 20 else 0.015)


@pytest.mark.parametrize("metric", METRICS)
def test_interval_of_every_metric_covers_true_score(metric: str) -> None:
    inside = []
    for table in TABLES.values():
        for seed in range(60):
            found, true = audit(table, 100, seed, known_size=True, metric=metric)
            inside.append(found.low - 1e-9 <= true <= found.high + 1e-9)
    assert 0.84 <= np.mean(inside) <= 0.97


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("metric", METRICS)
def test_audit_of_all_rows_gives_true_score(
    table: tuple[LabelArray, LabelArray], metric: str
) -> None:
    N = len(table[0])
    found, true = audit(table, N, 0, known_size=True, metric=metric)
    assert found.n == N
    assert (found.value, found.low, found.high) == pytest.approx((true, true, true))
    sampled, _ = audit(table, N, 0, known_size=False, metric=metric)
    assert sampled.value == pytest.approx(true)
    assert sampled.low < true < sampled.high


def test_value_equals_score_at_observed_shares() -> None:
    truth, predicted = population(6, 2, 3, 29)
    found = audit_score(truth, predicted, share_outside=0.3, rng=np.random.default_rng(0))
    p_out, p_in = 6 / 9, 2 / 31
    agree = 0.3 * p_out + 0.7 * (1 - p_in)
    outliers = 0.3 * p_out + 0.7 * p_in
    chance = 0.3 * outliers + 0.7 * (1 - outliers)
    assert found.value == pytest.approx((agree - chance) / (1 - chance))
    assert found.n == 40


def test_rows_without_answer_do_not_count() -> None:
    truth, predicted = population(6, 2, 3, 29)
    more = np.concatenate((truth, np.zeros(7, dtype=np.int8)))
    wider = np.concatenate((predicted, np.full(7, -1, dtype=np.int8)))
    one = audit_score(truth, predicted, share_outside=0.3, rng=np.random.default_rng(0))
    two = audit_score(more, wider, share_outside=0.3, rng=np.random.default_rng(0))
    assert one == two


def test_interval_without_answers_is_whole_range() -> None:
    nothing = np.zeros(5, dtype=np.int8)
    for metric, least in (("kappa", -1.0), ("f1", 0.0)):
        found = audit_score(
            nothing, np.ones(5, dtype=np.int8), share_outside=0.1, metric=metric,  # type: ignore[arg-type]
            rng=np.random.default_rng(0),
        )  # fmt: skip
        assert np.isnan(found.value)
        assert (found.low, found.high, found.n) == (least, 1.0, 0)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_score_of_model_with_one_class_is_zero(share: float) -> None:
    truth = np.array([1, 1, 1, -1], dtype=np.int8)
    predicted = np.full(4, -1 if share else 1, dtype=np.int8)
    for N in (None, 50):
        found = audit_score(
            truth, predicted, share_outside=share, N=N, rng=np.random.default_rng(0)
        )
        assert found.value == found.low == found.high == 0.0


def test_interval_narrows_with_answers_and_with_known_size() -> None:
    widths = {
        (n, size): float(np.mean([
            (a := audit(TABLES["good"], n, seed, known_size=size, metric="kappa")[0]).high - a.low
            for seed in range(20)
        ]))
        for n in (20, 200) for size in (False, True)
    }  # fmt: skip
    assert widths[200, False] < 0.5 * widths[20, False]
    assert widths[200, True] < widths[200, False]


def test_draw_is_uniform_over_rows_not_excluded() -> None:
    exclude = np.array([3, 4, 17])
    counts = np.zeros(20)
    for seed in range(600):
        rows = draw_audit(20, 5, seed=seed, exclude=exclude)
        assert len(set(rows.tolist())) == 5
        counts[rows] += 1
    assert not counts[exclude].any()
    free = np.delete(counts, exclude)
    assert abs(free - 600 * 5 / 17).max() < 4.5 * np.sqrt(600 * 5 / 17)


def test_shorter_audit_is_prefix_of_longer_one() -> None:
    longest = draw_audit(50, 50, seed=3, exclude=NONE)
    assert sorted(longest.tolist()) == list(range(50))
    assert draw_audit(50, 9, seed=3, exclude=NONE).tolist() == longest[:9].tolist()
    assert draw_audit(50, 9, seed=4, exclude=NONE).tolist() != longest[:9].tolist()
    assert draw_audit(50, 0, seed=3, exclude=NONE).shape == (0,)


def test_every_position_of_draw_is_uniform() -> None:
    draws = np.array([draw_audit(10, 4, seed=seed, exclude=NONE) for seed in range(4000)])
    for place in draws.T:
        assert abs(np.bincount(place, minlength=10) / 4000 - 0.1).max() < 0.02


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 2**32), st.data())
def test_drawn_rows_are_distinct_and_not_excluded(
    N: int, n: int, seed: int, data: st.DataObject
) -> None:
    exclude = np.array(data.draw(st.lists(st.integers(0, N - 1))), dtype=np.int64)
    free = N - len(set(exclude.tolist()))
    rows = draw_audit(N, min(n, free), seed=seed, exclude=exclude)
    assert len(set(rows.tolist())) == len(rows) == min(n, free)
    assert not set(rows.tolist()) & set(exclude.tolist())
    assert set(rows.tolist()) <= set(range(N))


@given(
    st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 1])), min_size=1),
    st.floats(0.0, 1.0),
    st.sampled_from(METRICS),
)
def test_score_lies_inside_its_interval(
    pairs: list[tuple[int, int]], share: float, metric: Metric
) -> None:
    truth, predicted = np.array(pairs, dtype=np.int8).T
    result = audit_score(
        truth, predicted, share_outside=share, metric=metric, rng=np.random.default_rng(0)
    )
    assert result.n == np.count_nonzero(truth)
    if result.n:
        assert -1.0 <= result.low <= result.value <= result.high <= 1.0


def test_lower_level_gives_narrower_interval() -> None:
    truth, predicted = (labels[::8] for labels in TABLES["half found"])
    wide, narrow, again = (
        audit_score(truth, predicted, share_outside=0.19, level=level, rng=np.random.default_rng(0))
        for level in (0.9, 0.5, 0.5)
    )
    assert wide.low < narrow.low < narrow.high < wide.high
    assert narrow == again


def test_error_names_wrong_argument() -> None:
    with pytest.raises(ValueError, match="n is 19, expected 0 to 18"):
        draw_audit(20, 19, seed=0, exclude=np.array([1, 2]))
    truth, predicted = blobs(10, 2, seed=0)[1], np.ones(10, dtype=np.int8)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="truth has shape"):
        audit_score(truth, predicted[:4], share_outside=0.1, rng=rng)
    with pytest.raises(ValueError, match=r"share_outside is 1\.5"):
        audit_score(truth, predicted, share_outside=1.5, rng=rng)
    with pytest.raises(ValueError, match=r"N is 12, expected at least 0 .* and 10 others"):
        audit_score(truth, predicted, share_outside=0.5, N=12, rng=rng)
    with pytest.raises(ValueError, match=r"level is 1\.0"):
        audit_score(truth, predicted, share_outside=0.1, level=1.0, rng=rng)
    with pytest.raises(ValueError, match="n is -1, expected 0 to 20"):
        draw_audit(20, -1, seed=0, exclude=NONE)
