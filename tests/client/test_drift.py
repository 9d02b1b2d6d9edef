from typing import Any

import numpy as np
import pytest
from tests.client.models import fit_model

from svddtune.client import InvalidInput, SvddModel, drift_of
from svddtune.client.types import FloatArray


def draw(seed: int, n: int) -> FloatArray:
    """A correlated, a heavy-tailed, a counted and a plain column, with 5 % of the rows apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = 0.7 * X[:, 0] + rng.standard_t(2, size=n)
    X[:, 2] = rng.poisson(0.5, size=n)
    X[rng.random(n) < 0.05, 3] += 6
    return X


def model(seed: int, n: int = 200, **changes: Any) -> SvddModel:
    return fit_model(draw(seed, n), nu=0.05, **changes)


def test_rows_of_the_same_kind_raise_no_alarm_in_95_of_100_sets() -> None:
    alarms = [drift_of(model(seed), draw(seed + 1000, 150)).drifted for seed in range(100)]
    assert sum(alarms) <= 5


@pytest.mark.parametrize("seed", range(3))
def test_shifted_feature_is_named_first(seed: int) -> None:
    X = draw(seed + 1000, 150)
    X[:, 3] += 1.5
    found = drift_of(model(seed, feature_names=("a", "b", "c", "d")), X)
    assert found.drifted
    assert found.features[0].feature == "d"
    assert found.features[0].shifted
    assert found.features[0].new_typical == pytest.approx(np.median(X[:, 3]))
    assert not any(one.shifted for one in found.features if one.feature in ("a", "c"))
    assert any("d by" in reason for reason in found.reasons)
    assert found.advice.startswith("Tune again")


@pytest.mark.parametrize("seed", range(3))
def test_rows_far_from_the_data_are_noticed(seed: int) -> None:
    X = draw(seed + 1000, 150)
    X[:15] = 1e4
    found = drift_of(model(seed), X)
    assert found.far_count is not None
    assert found.far_count >= 15
    assert any("farther from every support vector" in reason for reason in found.reasons)


def test_more_rows_outside_are_noticed() -> None:
    """Rows of the same features, each column by itself, but no longer related."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    X[:, 1] = X[:, 0] + 0.05 * X[:, 1]
    fitted = fit_model(X, nu=0.05, gamma=2.0)
    Y = rng.normal(size=(400, 2)) * X.std(axis=0)
    found = drift_of(fitted, Y)
    assert any("are outside, but" in reason for reason in found.reasons)
    assert found.expected_share is not None
    assert found.outside_share > found.expected_share
    low, high = found.outside_interval
    assert low < found.outside_share < high
    assert not any(one.shifted for one in found.features)


def test_large_sets_of_the_same_kind_raise_no_alarm_by_their_size() -> None:
    found = drift_of(model(1, 1000), draw(2000, 50_000))
    assert not any(one.shifted for one in found.features)


def test_few_rows_are_said_to_tell_little() -> None:
    found = drift_of(model(0), draw(1000, 5))
    assert not found.drifted
    assert "They are few" in found.advice
    assert drift_of(model(0), draw(1000, 1)).rows == 1


def test_data_set_too_small_for_fresh_rows_is_compared_by_features_only() -> None:
    X = np.arange(8.0).reshape(4, 2)
    fitted = fit_model(X, nu=0.5)
    assert drift_of(fitted, X).expected_share is None
    assert drift_of(fitted, X).far_count is None


def test_model_without_a_profile_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        drift_of(model(0, profile=None), draw(1, 20))
    assert refused.value.reason == "PROFILE_MISSING"
