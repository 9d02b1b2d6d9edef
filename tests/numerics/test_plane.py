"""The map's plane against principal components by scikit-learn, and where data are degenerate."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from svddtune.numerics import FloatArray, plane_of


def rows(n: int, M: int) -> FloatArray:
    """Correlated columns of very different units."""
    rng = np.random.default_rng(n)
    mixed = rng.normal(size=(n, 4)) @ rng.normal(size=(4, M)) + 0.1 * rng.normal(size=(n, M))
    return np.asarray(mixed * 10.0 ** rng.integers(-6, 7, size=M))


@pytest.mark.parametrize("shape", [(60, 7), (20, 50), (30, 2)], ids=str)
def test_places_are_the_first_principal_components(shape: tuple[int, int]) -> None:
    X = rows(*shape)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = PCA(n_components=2, svd_solver="full").fit(Z)
    plane = plane_of(X)
    places, of_pca = plane.places(X), expected.transform(Z)
    signs = np.sign((places * of_pca).sum(axis=0))
    np.testing.assert_allclose(places, of_pca * signs, atol=1e-8)
    assert plane.explained == pytest.approx(expected.explained_variance_ratio_.sum())


def test_place_of_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    X = rows(40, 5)
    plane = plane_of(X)
    np.testing.assert_allclose(plane.places(X[7:8]), plane.places(X)[7:8])


def test_single_column_is_on_a_line() -> None:
    places = plane_of(np.arange(9.0)[:, None]).places(np.arange(9.0)[:, None])
    assert (np.diff(places[:, 0]) > 0).all()
    assert not places[:, 1].any()


@pytest.mark.parametrize(
    "X",
    [np.full((5, 3), 7.0), np.array([[1.0, 2.0]]), np.full((4, 2), 1e308), np.full((3, 1), 1e-308)],
    ids=["constant", "one row", "huge", "tiny"],
)
def test_rows_without_differences_are_in_one_place(X: FloatArray) -> None:
    plane = plane_of(X)
    assert not plane.places(X).any()
    assert plane.explained == 0.0


def test_extreme_value_is_pulled_in() -> None:
    X = np.random.default_rng(0).normal(size=(500, 2))
    X[3, 0] = 1e300
    places = plane_of(X).places(X)
    assert np.isfinite(places).all()
    assert np.abs(places).max() < 20.0
