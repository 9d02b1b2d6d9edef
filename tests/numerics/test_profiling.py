import numpy as np
import pytest

from svddtune.numerics import profile_of, spread_of
from svddtune.numerics.profiling import ALL_PARTS, FOLDS
from svddtune.numerics.svdd import fit


@pytest.mark.parametrize("gamma", [0.02, 0.2, 2.0])
def test_share_of_fresh_rows_outside_is_that_of_new_rows_of_the_same_kind(gamma: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    model = fit(X, gamma=gamma, C=1 / (400 * 0.05))
    profile = profile_of(model, X, X)
    new = model.outside(rng.normal(size=(20_000, 4))).mean()
    assert profile.fresh_count == 400
    # Binomial error of 400 rows, four times.
    assert profile.fresh_outside == pytest.approx(new, abs=4 * np.sqrt(new * (1 - new) / 400))


def test_columns_are_measured_in_their_units() -> None:
    X = np.random.default_rng(2).normal(size=(50, 3))
    raw = X * [1.0, 10.0, 100.0] + 5.0
    profile = profile_of(fit(X, gamma=0.3, C=0.2), X, raw)
    spread = spread_of(raw)
    np.testing.assert_array_equal(profile.center, spread.center)
    np.testing.assert_array_equal(profile.spread, spread.scale)
    assert [one.points[-1] for one in profile.columns] == raw.max(axis=0).tolist()
    assert profile.count == 50


def test_same_rows_give_the_same_profile() -> None:
    X = np.random.default_rng(3).normal(size=(60, 3))
    model = fit(X, gamma=0.3, C=0.1)
    first, second = profile_of(model, X, X), profile_of(model, X, X)
    np.testing.assert_equal(first.to_arrays(), second.to_arrays())


def test_too_few_rows_are_not_left_out() -> None:
    X = np.random.default_rng(4).normal(size=(FOLDS - 1, 2))
    profile = profile_of(fit(X, gamma=1.0, C=1.0), X, X)
    assert (profile.fresh_count, profile.fresh_outside, profile.fresh_gap2) == (0, 0.0, 0.0)


def test_one_part_of_many_rows_is_judged() -> None:
    X = np.random.default_rng(5).normal(size=(ALL_PARTS + 1, 2))
    profile = profile_of(fit(X, gamma=1.0, C=1 / (len(X) * 0.05)), X, X)
    assert profile.fresh_count == ALL_PARTS // FOLDS + 1


@pytest.mark.slow
def test_rows_that_a_sample_left_out_are_fresh() -> None:
    X = np.random.default_rng(6).normal(size=(10_001, 2))
    model = fit(X, gamma=1.0, C=1 / (len(X) * 0.05))
    assert model.fit_rows is not None
    profile = profile_of(model, X, X)
    rest = np.setdiff1d(np.arange(len(X)), model.fit_rows)
    assert profile.fresh_count == min(len(rest), 4096)
    assert profile.fresh_outside == pytest.approx(model.outside(X[rest]).mean(), abs=0.02)
