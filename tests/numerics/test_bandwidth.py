"""Values of gamma that need no labels."""

import numpy as np
import pytest
from sklearn.svm import OneClassSVM
from tests.numerics.cases import wdbc

from svddtune.numerics import scott_gamma, silverman_gamma, sklearn_scale_gamma

X = 7.0 + 3.0 * wdbc()[0]


def test_bandwidth_rules() -> None:
    N, M = X.shape
    deviation = X.std(axis=0).mean()
    scott = deviation * N ** (-1 / (M + 4))
    silverman = deviation * (N * (M + 2) / 4) ** (-1 / (M + 4))
    assert scott_gamma(X) == pytest.approx(1 / (2 * scott**2))
    assert silverman_gamma(X) == pytest.approx(1 / (2 * silverman**2))


@pytest.mark.parametrize("rule", [scott_gamma, silverman_gamma, sklearn_scale_gamma])
def test_rules_follow_the_squared_scale_and_survive_equal_rows(rule) -> None:  # type: ignore[no-untyped-def]
    assert rule(10.0 * X) == pytest.approx(rule(X) / 100.0)
    assert rule(np.full((5, 3), 0.1)) == 1.0


def test_sklearn_scale() -> None:
    assert sklearn_scale_gamma(X) == OneClassSVM(gamma="scale").fit(X)._gamma
