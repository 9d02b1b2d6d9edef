"""SVDD by C is the one-class SVM by nu, and its solution satisfies the optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import OneClassSVM
from tests.numerics.cases import blobs, wdbc
from tests.profiles import sized

from svddtune.numerics import (
    FloatArray,
    SvddModel,
    c_from_nu,
    c_upper_bound,
    fit,
    hard_margin,
    nu_from_c,
    sklearn_parameters,
    solver,
    svdd,
)


@given(st.integers(1, 10**6), st.floats(0.0, 1.0))
def test_c_and_nu_are_inverse(N: int, position: float) -> None:
    C = 1.0 / N + position * (1.0 - 1.0 / N)
    assert c_from_nu(nu_from_c(C, N), N) == pytest.approx(C, rel=1e-12)
    assert 1.0 / N <= nu_from_c(C, N) <= 1.0


@pytest.mark.parametrize("C", [0.0, 0.0999, 1.01, -1.0, np.nan])
def test_infeasible_c_is_refused_with_its_range(C: float) -> None:
    with pytest.raises(ValueError, match=rf"C is {C}, expected a value in \[1/N, 1\] = \[0.1, 1\]"):
        fit(np.eye(10), gamma=1.0, C=C)


@pytest.mark.parametrize("nu", [0.0, 1.1, np.nan])
def test_nu_outside_its_range_is_refused(nu: float) -> None:
    with pytest.raises(ValueError, match=f"nu is {nu}"):
        c_from_nu(nu, 10)


def test_gamma_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gamma is 0\.0, expected a positive number"):
        fit(np.eye(10), gamma=0.0, C=0.5)


def assert_optimal(model: SvddModel, X: FloatArray, bound: float) -> None:
    alphas = np.zeros(len(X))
    alphas[model.rows] = model.alphas
    d2 = model.distance2(X)
    assert alphas.sum() == pytest.approx(1.0)
    assert alphas.max() <= bound * (1 + 1e-9)
    if model.degenerate:
        assert model.R2 == 0.0
        return
    low, high = alphas <= 1e-9 * bound, alphas >= bound * (1 - 1e-9)
    assert (d2[low] <= model.R2 + 1e-6).all()
    assert (d2[high] >= model.R2 - 1e-6).all()
    np.testing.assert_allclose(d2[~low & ~high], model.R2, rtol=0, atol=1e-6)


@given(
    st.integers(0, 1000),
    st.integers(2, 60),
    st.integers(1, 5),
    st.floats(0.0, 1.0),
    st.floats(-2, 2),
    st.booleans(),
)
@settings(max_examples=sized(80))
def test_fit_satisfies_optimality_conditions(
    seed: int, N: int, M: int, position: float, log_gamma: float, duplicates: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, M))
    X = np.round(X / 2) if duplicates else X
    C = float(np.exp(position * np.log(N)) / N)
    model = fit(X, gamma=10.0**log_gamma, C=min(C, 1.0))
    assert_optimal(model, X, model.C)
    if not model.degenerate:
        assert model.outside(X).sum() <= model.nu * N + 1e-6


@pytest.mark.parametrize("gamma", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("nu", [0.02, 0.3, 0.9])
def test_fit_equals_one_class_svm(gamma: float, nu: float) -> None:
    X, _ = wdbc()
    model = fit(X, gamma=gamma, C=c_from_nu(nu, len(X)))
    twin = OneClassSVM(gamma=gamma, nu=nu, tol=1e-8).fit(X)
    scale = nu * len(X) / 2
    np.testing.assert_allclose(
        model.R2 - model.distance2(X), twin.decision_function(X) / scale, rtol=0, atol=2e-6
    )


@pytest.mark.parametrize("position", [0.03, 0.2, 0.6, 1.0])
def test_sklearn_parameters_reproduce_every_row(position: float) -> None:
    X, _ = blobs(400, 5, seed=3)
    C_UB = c_upper_bound(hard_margin(X, gamma=8.0), X)
    model = fit(X, gamma=8.0, C=1 / len(X) + position * (C_UB - 1 / len(X)))
    parameters = sklearn_parameters(model)
    assert set(parameters) == {"gamma", "nu"}
    twin = OneClassSVM(**parameters, tol=1e-8).fit(X)
    tolerance = svdd.BOUNDARY_TOLERANCE * model.nu * len(X) / 2
    np.testing.assert_array_equal(twin.decision_function(X) < -tolerance, model.outside(X))
    off_boundary = np.abs(model.distance2(X) - model.R2) > 1e-4
    predicted = twin.predict(X[off_boundary]) == -1
    np.testing.assert_array_equal(predicted, model.outside(X[off_boundary]))


def test_hard_margin_keeps_every_row_and_bounds_c() -> None:
    X, _ = wdbc()
    model = hard_margin(X, gamma=2.0)
    assert not model.outside(X).any()
    C_UB = c_upper_bound(model, X)
    assert not fit(X, gamma=2.0, C=C_UB).outside(X).any()
    assert pytest.approx(model.R2, rel=1e-5) == fit(X, gamma=2.0, C=C_UB).R2
    assert fit(X, gamma=2.0, C=0.9 * C_UB).outside(X).any()


def test_nu_of_one_is_degenerate_and_rejects_everything() -> None:
    X, _ = blobs(30, 2, seed=0)
    model = fit(X, gamma=1.0, C=1 / 30)
    assert (model.degenerate, model.R2, model.nu) == (True, 0.0, 1.0)
    np.testing.assert_allclose(model.alphas, 1 / 30)
    assert model.outside(X).all()


def test_no_row_between_the_bounds_leaves_the_radius_in_the_gap() -> None:
    # Two pairs far apart at the same place: nu n = 2 puts both loners at the bound.
    X = np.array([[0.0], [0.01], [0.02], [50.0], [100.0]])
    model = fit(X, gamma=1.0, C=0.5)
    assert_optimal(model, X, 0.5)


def test_given_gram_matrix_changes_nothing_and_far_row_is_outside() -> None:
    X, _ = blobs(200, 3, seed=1)
    K = np.exp(-4.0 * np.square(X[:, None] - X).sum(axis=2))
    shared, own = fit(X, gamma=4.0, C=0.02, gram=K), fit(X, gamma=4.0, C=0.02)
    assert pytest.approx(own.R2, abs=1e-6) == shared.R2
    far = np.full((1, 3), 50.0)
    assert own.outside(far).all()
    assert own.distance2(far)[0] == pytest.approx(1.0 + own.center_norm2)


def test_fit_is_the_same_without_gram_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = blobs(200, 3, seed=1)
    X = X + 1e4  # an offset that libsvm's own expansion would not survive
    shared = fit(X, gamma=4.0, C=0.02)
    monkeypatch.setattr(solver, "GRAM_LIMIT", 10)
    direct = fit(X, gamma=4.0, C=0.02)
    assert pytest.approx(shared.R2, rel=1e-4) == direct.R2
    np.testing.assert_array_equal(direct.outside(X), shared.outside(X))


def test_large_data_are_fitted_on_a_declared_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "FIT_LIMIT", 500)
    monkeypatch.setattr(solver, "FIT_SAMPLE", 400)
    X, _ = blobs(800, 3, seed=2)
    model = fit(X, gamma=4.0, C=c_from_nu(0.1, 800))
    assert model.fit_rows is not None
    assert len(model.fit_rows) == 400
    assert np.isin(model.rows, model.fit_rows).all()
    assert model.nu == pytest.approx(0.1)
    Z = X[model.fit_rows]
    reference = OneClassSVM(gamma=4.0, nu=0.1, tol=1e-8).fit(Z)
    assert sklearn_parameters(model) == {"gamma": 4.0, "nu": pytest.approx(0.1)}
    np.testing.assert_allclose(
        model.R2 - model.distance2(X), reference.decision_function(X) / 20, rtol=0, atol=2e-6
    )
    bound = hard_margin(X, gamma=4.0)
    assert bound.nu == 1 / 800
    assert c_upper_bound(bound, X) == pytest.approx(bound.alphas.max() / 2)


@pytest.mark.parametrize("N", [1, 2, 3, 50])
def test_hard_margin_of_equal_rows_keeps_them_inside(N: int) -> None:
    X = np.ones((N, 2))
    model = hard_margin(X, gamma=1.0)
    assert model.alphas.sum() == pytest.approx(1.0)
    assert model.outside(X).all() == (N == 1)  # nu = 1 at N = 1
    assert fit(X, gamma=1.0, C=1 / N).outside(X).all()


def test_hard_margin_of_two_rows_weighs_them_equally() -> None:
    model = hard_margin(np.array([[0.0], [1.0]]), gamma=1.0)
    np.testing.assert_allclose(model.alphas, 0.5)
    assert not model.outside(np.array([[0.0], [1.0], [0.5]])).any()
