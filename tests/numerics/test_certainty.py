"""The certainty of labels follows from their votes by Bayes' rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.numerics import estimate_noise, label_certainty
from svddtune.numerics.certainty import MOST_NOISE, PRIOR_NOISE

SIGNS = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=6)


@given(SIGNS, st.data())
def test_certainty_equals_bayes_rule(signs: list[int], data: st.DataObject) -> None:
    size = len(signs)
    wrong = data.draw(st.lists(st.floats(0.01, 0.5), min_size=size, max_size=size))
    chance = {}
    for truth in (1, -1):
        each = [
            1.0 if sign == 0 else (1.0 - e if sign == truth else e)
            for sign, e in zip(signs, wrong, strict=True)
        ]
        chance[truth] = float(np.prod(each))
    for label in (1, -1):
        share = chance[label] / (chance[1] + chance[-1])
        assert label_certainty(label, signs, wrong) == pytest.approx(max(0.5, share))


def test_vote_that_cannot_be_wrong_makes_its_label_certain() -> None:
    assert label_certainty(-1, [-1, 1], [0.0, 0.2]) == 1.0
    assert label_certainty(1, [-1, 1, 1], [0.0, 0.2, 0.2]) == 0.5
    assert label_certainty(1, [1, -1, 1], [0.0, 0.0, 0.0]) == 1.0


def test_second_vote_that_agrees_raises_certainty() -> None:
    one, two = label_certainty(1, [1], [0.1]), label_certainty(1, [1, 1], [0.1, 0.1])
    assert one == pytest.approx(0.9)
    assert two == pytest.approx(0.81 / 0.82)


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.25])
def test_estimate_finds_rate_of_wrong_votes_from_many_rows(noise: float) -> None:
    rng = np.random.default_rng(7)
    truth = rng.choice([-1, 1], 2000)
    votes = truth[:, None] * np.where(rng.random((2000, 2)) < noise, -1, 1)
    assert estimate_noise(votes.tolist()) == pytest.approx(noise, abs=0.02)


def test_rows_with_one_vote_leave_rate_at_mean_of_its_prior() -> None:
    unknown = estimate_noise([[1], [-1], [1, 0], []])
    assert unknown == estimate_noise([])
    assert 0.0 < unknown < PRIOR_NOISE


@given(st.lists(st.lists(st.sampled_from([-1, 0, 1]), max_size=5), max_size=20))
def test_estimate_ignores_order_and_stays_in_range(rows: list[list[int]]) -> None:
    found = estimate_noise(rows)
    assert 0.0 <= found <= MOST_NOISE
    assert found == pytest.approx(estimate_noise([list(reversed(one)) for one in reversed(rows)]))


def test_agreeing_votes_lower_the_rate_and_differing_votes_raise_it() -> None:
    nothing = estimate_noise([])
    assert estimate_noise([[1, 1]] * 10) < nothing < estimate_noise([[1, -1]] * 3)
