"""The possible gain against its definition, by the covariances of all rows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    AHEAD,
    Belief,
    LabelArray,
    belief_basis,
    believe,
    default_gamma_bounds,
    expected_gain,
    fit_atlas,
    knowledge_committee,
    possible_gain,
    prospect_of,
    weigh,
)
from svddtune.numerics.gain import gradient
from svddtune.numerics.outlook import Prospect
from svddtune.numerics.prospect import SLOPE

X, y = blobs(110, 3, seed=12)
ATLAS = fit_atlas(X, default_gamma_bounds(X), count=6, cells=6)
BASIS = belief_basis(X)


def prospect(labels: LabelArray) -> tuple[Belief, Prospect]:
    """The belief, and what the knowledge gradient asks about next."""
    belief = believe(BASIS, labels)
    found = prospect_of(
        ATLAS, BASIS, belief, weigh(ATLAS, belief, labels), np.flatnonzero(labels == 0)
    )
    assert found is not None
    return belief, found


@pytest.mark.parametrize("seed", range(3))
def test_possible_gain_is_mean_rise_of_largest_kappa(seed: int) -> None:
    labels = partial_labels(y, 12, seed=seed)
    belief, found = prospect(labels)
    assert len(found.places) == AHEAD
    committee = knowledge_committee(ATLAS, weigh(ATLAS, belief, labels))
    q, V = belief.probability, belief.root.astype(np.float64)
    Sigma = BASIS.kernel.astype(np.float64) - V.T @ V
    slope = q * (1 - q)
    D = gradient(ATLAS, committee, q, np.arange(110)) * slope[:, None]
    # Row by row: a measurement of x leaves Sigma - Sigma_x Sigma_x^T / (Sigma_xx + 1 / slope_x).
    left = Sigma.copy()
    for x in found.places:
        left -= np.outer(left[:, x], left[x]) / (left[x, x] + 1 / slope[x])
    moved = D.T @ (Sigma - left) @ D
    drawn = np.random.default_rng(1).multivariate_normal(
        found.kappas, (moved + moved.T) / 2, 200_000, check_valid="ignore"
    )
    rise = drawn.max(axis=1) - found.kappas.max()
    possible = found.possible(BASIS, belief)
    error = float(rise.std()) * (1 / math.sqrt(200_000) + 1 / math.sqrt(500))
    assert possible == pytest.approx(float(rise.mean()), abs=4 * error)
    assert possible > 0


def test_possible_gain_is_the_same_whenever_it_is_computed() -> None:
    labels = partial_labels(y, 12, seed=2)
    first, second = (found.possible(BASIS, belief) for belief, found in map(prospect, [labels] * 2))
    assert first == second


def test_nothing_is_gained_when_all_rows_are_labelled() -> None:
    belief, found = prospect(y)
    assert len(found.places) == 0
    assert found.possible(BASIS, belief) == 0.0


def test_nothing_is_gained_when_one_cell_leads_by_far() -> None:
    belief, found = prospect(partial_labels(y, 12, seed=2))
    far = np.zeros(len(found.kappas))
    far[0] = 100.0
    assert possible_gain(found.gains, BASIS, belief, found.places, far) == pytest.approx(0.0)


@given(st.floats(0, 1), st.floats(0, 1))
def test_expected_gain_rises_with_the_possible_gain(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert 0.0 <= expected_gain(low) <= expected_gain(high)
    assert expected_gain(high) == SLOPE * math.sqrt(high)
