"""DFN and QMS against their definitions, by hand, and where they are undefined."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.numerics.cases import blobs
from tests.numerics.label_free import definitions

from svddtune.numerics import FloatArray
from svddtune.numerics.label_free import dfn_gamma, qms

RECTANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, math.sqrt(3.0)], [1.0, math.sqrt(3.0)]])


def test_dfn_of_a_rectangle_by_hand() -> None:
    # Every row: nearest at 1, farthest at 2. d/dgamma of exp(-g a) - exp(-g b) is zero at
    # g = ln(b/a) / (b - a).
    assert dfn_gamma(RECTANGLE) == pytest.approx(math.log(4.0) / 3.0, rel=0.011)
    assert dfn_gamma(RECTANGLE, kernel="authors") == pytest.approx(math.log(2.0), rel=0.011)


@pytest.mark.parametrize(("kernel", "power"), [("squared", 2), ("authors", 1)])
def test_dfn_maximises_its_definition(kernel: str, power: int) -> None:
    X, _ = blobs(40, 3, seed=5)
    gamma = dfn_gamma(X, kernel=kernel)  # type: ignore[arg-type]
    assert gamma is not None
    best = max(definitions.dfn(X, g, power) for g in np.geomspace(0.1, 100.0, 200))
    assert definitions.dfn(X, gamma, power) == pytest.approx(best, abs=1e-4)


def test_dfn_follows_the_squared_scale() -> None:
    X, _ = blobs(60, 3, seed=5)
    assert dfn_gamma(10.0 * X) == pytest.approx(float(dfn_gamma(X) or 0.0) / 100.0, rel=0.02)


@pytest.mark.parametrize("X", [np.ones((1, 2)), np.eye(2), np.full((9, 3), 0.1), np.eye(3)])
def test_dfn_is_undefined_where_near_is_far(X: FloatArray) -> None:
    assert dfn_gamma(X) is None
    assert dfn_gamma(X, kernel="authors") is None


def test_dfn_refuses_another_kernel() -> None:
    with pytest.raises(ValueError, match="kernel is 'linear'"):
        dfn_gamma(RECTANGLE, kernel="linear")  # type: ignore[arg-type]


def test_qms_by_hand() -> None:
    # K = 1: S = 1 1 2 7, D = 0 1 5, D2 = 1 4, curvatures 1 and 4/sqrt(2): m* = 2, nu = 1/2.
    # q is row 0, delta_min = 1, delta_max = (1 + 3 + 10)/3.
    found = qms(np.array([[0.0], [1.0], [3.0], [10.0]]), share=0.25)
    assert found is not None
    assert (found.nu, found.C) == (0.5, 0.5)
    assert found.gamma == pytest.approx(math.log(14 / 3) / ((14 / 3) ** 2 - 1))


@given(st.integers(0, 2**20), st.integers(3, 60), st.booleans())
def test_qms_by_definition(seed: int, N: int, authors: bool) -> None:
    X = np.random.default_rng(seed).normal(size=(N, 2))
    K = math.floor(0.05 * N) + 1 if authors else math.ceil(0.05 * N)
    found = qms(X, authors=authors)
    assert found is not None
    assert (found.gamma, found.C) == pytest.approx(definitions.qms(X, K))
    assert 0.0 < found.nu <= 1.0


def test_qms_k_is_exact_where_the_share_is_whole() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert qms(X) != qms(X, authors=True)  # K = 3 and 4
    assert qms(X[:59]) == qms(X[:59], authors=True)  # K = 3


def test_qms_follows_the_squared_scale() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    a, b = qms(X), qms(10.0 * X)
    assert a is not None
    assert b is not None
    assert b.gamma == pytest.approx(a.gamma / 100.0)


@pytest.mark.parametrize(
    "X", [np.ones((1, 2)), np.eye(2), np.ones((9, 3)), np.eye(4), np.repeat(RECTANGLE, 2, axis=0)]
)
def test_qms_is_undefined(X: FloatArray) -> None:
    assert qms(X) is None
