"""Attribute scaling, and values of gamma that need no labels."""

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler, RobustScaler
from sklearn.svm import OneClassSVM
from tests.numerics.cases import wdbc

from svddtune.numerics import fit_scaling, scott_gamma, silverman_gamma, sklearn_scale_gamma

X = 7.0 + 3.0 * wdbc()[0]


def test_scalings_agree_with_scikit_learn() -> None:
    np.testing.assert_allclose(fit_scaling(X, "minmax").apply(X), MinMaxScaler().fit_transform(X))
    np.testing.assert_allclose(fit_scaling(X, "robust").apply(X), RobustScaler().fit_transform(X))
    np.testing.assert_array_equal(fit_scaling(X).apply(X), X)


@pytest.mark.parametrize("kind", ["minmax", "robust"])
def test_constant_columns_become_zero(kind: str) -> None:
    Z = np.column_stack((np.full(9, 4.0), np.arange(9.0)))
    scaled = fit_scaling(Z, kind).apply(Z)  # type: ignore[arg-type]
    assert not scaled[:, 0].any()
    assert np.isfinite(scaled).all()


def test_robust_scaling_of_a_mostly_constant_column_uses_its_range() -> None:
    Z = np.zeros((9, 1))
    Z[-1] = 5.0
    assert fit_scaling(Z, "robust").apply(Z).max() == 1.0


def test_new_rows_use_the_fitted_scale() -> None:
    scaling = fit_scaling(np.array([[0.0], [2.0]]), "minmax")
    assert scaling.apply(np.array([[4.0]])).tolist() == [[2.0]]
    with pytest.raises(ValueError, match=r"X has shape \(1, 2\), expected \(n, 1\)"):
        scaling.apply(np.ones((1, 2)))
    with pytest.raises(ValueError, match="kind is 'zscore'"):
        fit_scaling(X, "zscore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected \\(N, M\\) with N >= 1"):
        fit_scaling(np.empty((0, 2)))


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
