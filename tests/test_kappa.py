"""Cohen's kappa equals published figures and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from svddtune.client import cohen_kappa as classification_kappa
from svddtune.kappa import cohen_kappa
from svddtune.numerics import score

SIGNS = st.lists(st.tuples(*2 * [st.sampled_from([-1, 1])]), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("counts", "published"),
    [
        # https://en.wikipedia.org/wiki/Cohen%27s_kappa: its simple example, and the two tables
        # with the same agreement but different kappa.
        ((20, 5, 10, 15), 0.4),
        ((45, 15, 25, 15), 0.1304),
        ((25, 35, 5, 35), 0.2593),
    ],
)
def test_kappa_equals_published_examples(counts: tuple[int, ...], published: float) -> None:
    assert round(float(cohen_kappa(*counts)), 4) == published


@given(SIGNS)
def test_kappa_equals_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    # With a single category scikit-learn warns, and kappa is not defined.
    assume(len({one for pair in pairs for one in pair}) > 1)
    outcomes = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    expected = cohen_kappa_score(*zip(*pairs, strict=True))
    assert cohen_kappa(*map(pairs.count, outcomes)) == pytest.approx(expected)


def test_kappa_of_one_category_is_value_given_for_undefined() -> None:
    assert math.isnan(cohen_kappa(7, 0, 0, 0))
    assert math.isnan(cohen_kappa(0, 0, 0, 0))
    assert cohen_kappa(0, 0, 0, 7, undefined=0.0) == 0.0


def test_many_tables_at_once_keep_their_shape() -> None:
    tables = np.array([[20, 7], [5, 0], [10, 0], [15, 0]])
    np.testing.assert_allclose(cohen_kappa(*tables), [0.4, math.nan])


@given(SIGNS)
def test_client_and_service_score_classifications_alike(pairs: list[tuple[int, int]]) -> None:
    truth, predicted = np.array(pairs, dtype=np.int8).T
    assert classification_kappa(truth, predicted) == score(truth, predicted)
