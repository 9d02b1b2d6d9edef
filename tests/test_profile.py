import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from svddtune.numerics import spread_of
from svddtune.profile import (
    DEVIATION_CAP,
    POINTS,
    Profile,
    Sketch,
    deviations,
    most_unusual,
    sketches,
)

VALUES = arrays(
    np.float64,
    st.integers(1, 200),
    elements=st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float),
)


@given(VALUES)
def test_shares_of_a_sketch_are_those_of_the_values(values: np.ndarray) -> None:
    sketch = Sketch.of(values)
    assert len(sketch.points) <= POINTS
    assert set(sketch.points) <= set(values)
    assert (sketch.points[0], sketch.points[-1]) == (values.min(), values.max())
    for point, share in zip(sketch.points, sketch.shares, strict=True):
        assert share == pytest.approx((values <= point).mean())


@given(VALUES)
def test_values_have_no_shift_against_their_own_sketch(values: np.ndarray) -> None:
    assert Sketch.of(values).shift(values) == pytest.approx(0.0, abs=1e-12)


@given(VALUES, VALUES)
def test_shift_is_the_largest_difference_of_shares_and_nearly_that_of_all_points(
    old: np.ndarray, new: np.ndarray
) -> None:
    everywhere = np.concatenate([old, new])
    exact = max(abs((old <= at).mean() - (new <= at).mean()) for at in everywhere)
    found = Sketch.of(old).shift(new)
    assert found <= exact + 1e-12
    # Between two points lies at most one step of the sketch.
    steps = np.diff(Sketch.of(old).shares, prepend=0.0)
    assert found >= exact - steps.max() - 1e-12


def test_shift_of_values_below_all_points_is_seen() -> None:
    assert Sketch.of(np.array([1.0, 1.0])).shift(np.array([0.0, 1.0])) == 0.5
    assert Sketch.of(np.array([1.0, 1.0])).shift(np.array([2.0, 1.0])) == 0.5


@pytest.mark.parametrize(
    ("points", "shares"),
    [
        ([], []),
        ([1.0], [0.5]),
        ([1.0, 1.0], [0.5, 1.0]),
        ([1.0, np.nan], [0.5, 1.0]),
        ([1.0, 2.0], [1.0]),
        ([1.0, 2.0], [1.0, 1.0]),
    ],
)
def test_parts_of_a_sketch_that_do_not_fit_are_refused(
    points: list[float], shares: list[float]
) -> None:
    with pytest.raises(ValueError, match="sketch"):
        Sketch(np.array(points), np.array(shares))


def test_arrays_of_a_profile_make_the_same_profile() -> None:
    X = np.random.default_rng(0).normal(size=(90, 4))
    X[:, 2] = np.round(X[:, 2])
    X[:, 3] = 7.0
    spread = spread_of(X)
    profile = Profile(spread.center, spread.scale, sketches(X), 90, 80, 0.25, 3.5)
    again = Profile.from_arrays(profile.to_arrays())
    assert again is not None
    np.testing.assert_equal(again.to_arrays(), profile.to_arrays())
    np.testing.assert_array_equal(again.deviations(X), profile.deviations(X))
    assert Profile.from_arrays({"alphas": np.ones(1)}) is None


def test_deviation_is_signed_robust_and_capped() -> None:
    # Normal, mostly equal, and constant columns.
    rows = np.column_stack((np.arange(5.0), [0.0, 0.0, 0.0, 0.0, 5.0], [0.1] * 5))
    spread = spread_of(rows)
    found = deviations(
        np.array([[0.0, 4.0, 0.1], [1e9, -2.0, 0.2], [2.0, 0.0, -7.0]]), spread.center, spread.scale
    )
    assert found[0].tolist() == pytest.approx([-2 / 1.4826, 2.0, 0.0])
    assert found[1].tolist() == pytest.approx([DEVIATION_CAP, -1.0, DEVIATION_CAP])
    assert found[2].tolist() == [0.0, 0.0, -DEVIATION_CAP]


def test_any_other_value_than_that_of_a_single_row_is_unusual() -> None:
    spread = spread_of(np.array([[1.0, 2.0]]))
    found = deviations(np.array([[1.0, 3.0]]), spread.center, spread.scale)
    assert found.tolist() == [[0.0, DEVIATION_CAP]]


def test_most_unusual_columns_come_first_with_ties_to_lower_column() -> None:
    deviation = np.array([[0.0, -3.0, 1.0, 3.0], [2.0, 1.0, -5.0, 0.0]])
    assert most_unusual(deviation, 3).tolist() == [[1, 3, 2], [2, 0, 1]]
    assert most_unusual(deviation, 9).shape == (2, 4)
