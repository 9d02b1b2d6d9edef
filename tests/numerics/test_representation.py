"""Representations against their definitions, on columns of every awkward kind."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm, rankdata
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from tests.numerics.cases import wdbc
from tests.profiles import sized

from svddtune.numerics import REPRESENTATIONS, FloatArray, fit_representation
from svddtune.numerics import representation as module
from svddtune.representation import Representation

Arrays = dict[str, NDArray[Any]]

X = 7.0 + 3.0 * wdbc()[0]
BY_COLUMN = [kind for kind in REPRESENTATIONS if kind != "whitened"]


@st.composite
def awkward(draw: st.DrawFn) -> FloatArray:
    """Heavy-tailed, mostly-zero, constant, tied and huge columns; few rows or few columns."""
    N, M = draw(st.integers(1, 40)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    columns = {
        "normal": rng.normal(size=N),
        "heavy": rng.standard_cauchy(N),
        "mostly zero": rng.normal(size=N) * (rng.random(N) < 0.1),
        "constant": np.full(N, 0.1),
        "tied": rng.integers(0, 3, N).astype(np.float64),
        "huge": 1e100 * rng.normal(size=N),
        "tiny": 1e-90 * rng.normal(size=N),
        "far": 1e15 + rng.integers(0, 3, N),
    }
    names = draw(st.lists(st.sampled_from(sorted(columns)), min_size=M, max_size=M))
    return np.column_stack([columns[name] for name in names])


def test_affine_kinds_agree_with_scikit_learn() -> None:
    for kind, scaler in (
        ("minmax", MinMaxScaler()),
        ("robust", RobustScaler()),
        ("standard", StandardScaler()),
    ):
        np.testing.assert_allclose(
            fit_representation(X, kind).apply(X), scaler.fit_transform(X), atol=1e-12
        )
    np.testing.assert_array_equal(fit_representation(X).apply(X), X)


@given(awkward())
@settings(max_examples=sized(60))
def test_ranks_of_fitted_rows_are_mid_ranks(Z: FloatArray) -> None:
    share = (rankdata(Z, axis=0) - 0.5) / len(Z)
    varied = np.ptp(Z, axis=0) > 0.0
    for kind, expected in (("ranks", share), ("normal", norm.ppf(share))):
        found = fit_representation(Z, kind).apply(Z)
        np.testing.assert_allclose(found[:, varied], expected[:, varied], atol=1e-12)
        assert not found[:, ~varied].any()


def test_ranks_of_many_distinct_values_are_close_to_mid_ranks() -> None:
    Z = np.random.default_rng(0).standard_cauchy((5000, 2))
    share = (rankdata(Z, axis=0) - 0.5) / len(Z)
    fitted = fit_representation(Z, "ranks")
    assert max(len(knots) for knots in fitted.knots) <= module.KNOTS + 2
    assert np.abs(fitted.apply(Z) - share).max() < 1.0 / (module.KNOTS - 1)


def test_normal_scores_of_many_distinct_values_keep_the_tails_apart() -> None:
    Z = np.random.default_rng(0).standard_cauchy((5000, 1))
    expected = norm.ppf((rankdata(Z, axis=0) - 0.5) / len(Z))
    far = np.abs(expected) > 2.0
    found = fit_representation(Z, "normal").apply(Z)
    assert np.abs(found - expected)[far].max() < 0.1


@given(awkward(), st.sampled_from(BY_COLUMN))
@settings(max_examples=sized(100))
def test_maps_of_columns_do_not_descend_and_keep_rows_finite(Z: FloatArray, kind: str) -> None:
    fitted = fit_representation(Z, kind)
    width = np.ptp(Z, axis=0)
    beyond = np.vstack((Z, Z.min(axis=0) - 3.0 * width, Z.max(axis=0) + 3.0 * width))
    mapped = fitted.apply(beyond)
    assert np.isfinite(mapped).all()
    for column in range(Z.shape[1]):
        ascending = mapped[np.argsort(beyond[:, column], kind="stable"), column]
        assert (np.diff(ascending) >= -1e-12 * np.abs(ascending).max()).all()


@given(awkward(), st.sampled_from(["minmax", "standard", "asinh", "ranks", "normal"]))
@settings(max_examples=sized(60))
def test_units_of_columns_do_not_matter(Z: FloatArray, kind: str) -> None:
    scale = 2.0 ** np.arange(-2, Z.shape[1] - 2)  # (exact, so that ties stay ties)
    plain = fit_representation(Z, kind).apply(Z)
    moved = fit_representation(Z * scale, kind).apply(Z * scale)
    np.testing.assert_allclose(moved, plain, atol=1e-12)


def test_asinh_is_linear_near_the_median_and_logarithmic_far_away() -> None:
    Z = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1e9, 0.0], [-1e-9, 3.0]])
    found = fit_representation(Z, "asinh").apply(Z)
    np.testing.assert_allclose(
        found[:, 0], [-np.arcsinh(1.0), 0.0, np.arcsinh(1.0), np.log(2e9), -1e-9], atol=1e-15
    )
    # More than half of the second column are 0, and its standard deviation is 1.2.
    np.testing.assert_allclose(found[:, 1], [0.0, 0.0, 0.0, 0.0, np.arcsinh(2.5)])


@given(awkward())
@settings(max_examples=sized(60))
def test_whitened_columns_are_uncorrelated(Z: FloatArray) -> None:
    mapped = fit_representation(Z, "whitened").apply(Z)
    covariance = mapped.T @ mapped / len(Z)
    diagonal = np.diag(covariance)
    np.testing.assert_allclose(covariance, np.diag(diagonal), atol=1e-6)
    if np.ptp(Z, axis=0).any():
        # Directions of less than the least variance are stretched to less than 1.
        assert diagonal[0] == pytest.approx(1.0)
        assert (diagonal <= 1.0 + 1e-6).all()


def test_leading_whitened_columns_have_variance_one() -> None:
    mapped = fit_representation(X[:, :8], "whitened").apply(X[:, :8])
    np.testing.assert_allclose(np.linalg.norm(mapped[:, :3], axis=0) ** 2, len(X))


def test_whitening_does_not_depend_on_the_sign_of_eigenvectors() -> None:
    rotation = fit_representation(X, "whitened").rotation
    assert rotation is not None
    assert (rotation[np.argmax(np.abs(rotation), axis=0), np.arange(30)] > 0.0).all()


def test_wide_data_keep_the_components_of_largest_variance() -> None:
    Z = np.random.default_rng(0).normal(size=(40, 1200))
    fitted = fit_representation(Z, "whitened")
    mapped = fitted.apply(Z)
    assert mapped.shape == (40, fitted.columns_out)
    assert fitted.columns_out <= module.COMPONENTS
    np.testing.assert_allclose(
        mapped.T @ mapped / 40, np.diag(np.diag(mapped.T @ mapped / 40)), atol=1e-6
    )


@given(awkward(), st.sampled_from(REPRESENTATIONS))
@settings(max_examples=sized(80))
def test_parts_give_the_same_map_again(Z: FloatArray, kind: str) -> None:
    fitted = fit_representation(Z, kind)
    again = Representation.from_arrays(kind, fitted.to_arrays())
    np.testing.assert_array_equal(again.apply(Z), fitted.apply(Z))


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_constant_column_becomes_zero(kind: str) -> None:
    Z = np.column_stack((np.full(9, 4.0), np.arange(9.0)))
    scaled = fit_representation(Z, kind).apply(Z)
    assert np.isfinite(scaled).all()
    if kind not in ("none", "whitened"):
        assert not scaled[:, 0].any()


def test_robust_scaling_of_a_mostly_constant_column_uses_its_range() -> None:
    Z = np.zeros((9, 1))
    Z[-1] = 5.0
    assert fit_representation(Z, "robust").apply(Z).max() == 1.0


@pytest.mark.parametrize("kind", ["ranks", "normal"])
def test_value_far_outside_the_range_stays_far(kind: str) -> None:
    Z = np.random.default_rng(1).normal(size=(300, 1))
    fitted = fit_representation(Z, kind)
    low, high = Z.min(), Z.max()
    at = fitted.apply(np.array([[low], [high], [high + 5.0 * (high - low)]]))[:, 0]
    assert at[2] == pytest.approx(at[1] + 5.0 * (at[1] - at[0]))


def test_values_near_the_square_root_of_the_largest_double_do_not_overflow() -> None:
    Z = np.column_stack((np.linspace(-1e200, 1e200, 11), np.arange(11.0)))
    for kind in ("minmax", "standard", "asinh", "ranks", "normal", "whitened"):
        with np.errstate(over="raise", invalid="raise"):
            assert np.abs(fit_representation(Z, kind).apply(Z)).max() < 5.0


def test_large_data_are_measured_on_a_sample_with_the_extremes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FIT_ROWS", 500)
    Z = np.random.default_rng(2).normal(size=(20_000, 2))
    Z[7, 1] = 50.0
    for kind in ("standard", "asinh", "ranks", "normal", "whitened"):
        sampled = fit_representation(Z, kind)
        np.testing.assert_array_equal(sampled.apply(Z), fit_representation(Z, kind).apply(Z))
    ranks = fit_representation(Z, "ranks").apply(Z)
    assert 0.99 < ranks[7, 1] < 1.0
    assert np.abs(np.sort(ranks[:, 0]) - (np.arange(20_000) + 0.5) / 20_000).max() < 0.1


def test_nan_stays_nan() -> None:
    rows = np.array([[np.nan, 1.0]])
    Z = np.random.default_rng(0).normal(size=(30, 2))
    for kind in REPRESENTATIONS:
        mapped = fit_representation(Z, kind).apply(rows)
        assert np.isnan(mapped[0, 0])
        assert np.isnan(mapped[0, 1]) == (kind == "whitened")


def test_error_names_kind_and_shape() -> None:
    with pytest.raises(ValueError, match=r"X has shape \(1, 2\), expected \(n, 1\)"):
        fit_representation(np.array([[0.0], [2.0]]), "minmax").apply(np.ones((1, 2)))
    with pytest.raises(ValueError, match="kind is 'zscore', expected one of"):
        fit_representation(X, "zscore")
    with pytest.raises(ValueError, match=r"expected \(N, M\) with N >= 1"):
        fit_representation(np.empty((0, 2)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": np.ones(3)}, "have 2, 3, 2 and 2 columns"),
        ({"scale": np.array([1.0, 0.0])}, "scale is 0.0 in a column"),
        ({"offset": np.array([np.nan, 0.0])}, "offset and scale hold NaN or infinity"),
        ({"knots": np.array([0.0, 0.0, 2.0, 3.0])}, "column 1 has knots or values that do not"),
        ({"values": np.array([0.0, np.inf, 2.0, 3.0])}, "column 1 has a knot or value that is"),
        ({"knot_counts": np.array([1, 3])}, "column 0 has 1 knots"),
        ({"knot_counts": np.array([0, 3])}, "knot_counts add up to 3, expected 4 knots"),
        ({"rotation": np.ones((3, 2))}, r"rotation has shape \(3, 2\), expected \(2, D\)"),
        ({"rotation": np.array([[1.0], [np.nan]])}, "rotation holds NaN or infinity"),
    ],
)
def test_error_names_part_that_does_not_fit(change: Arrays, message: str) -> None:
    arrays: Arrays = {
        "offset": np.zeros(2),
        "scale": np.ones(2),
        "knot_counts": np.array([0, 4], dtype=np.int32),
        "knots": np.arange(4.0),
        "values": np.arange(4.0),
    }
    Representation.from_arrays("own", arrays)
    with pytest.raises(ValueError, match=message):
        Representation.from_arrays("own", arrays | change)
