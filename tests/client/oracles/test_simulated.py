import math
import statistics
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.client.oracles.scene import query
from tests.profiles import sized

from svddtune.client import InvalidInput, SimulatedLabeler, SkipMode, Verdict

N = 2000
TRUTH = np.where(np.arange(N) % 4 == 0, -1, 1)
QUERIES = [query(row) for row in range(N)]
shares = st.floats(0, 1)


def close(count: int, of: int, share: float) -> bool:
    """What a binomial draw is but once in 10^9 on either side; exact at 0 and 1."""
    # (By the distribution itself: for a share near 0 or 1 it is far from normal.)
    draw = scipy.stats.binom(of, share)
    return bool(min(draw.cdf(count), draw.sf(count - 1)) > 1e-9)


def test_labeler_without_noise_gives_the_truth() -> None:
    labeler = SimulatedLabeler(TRUTH, cost=2.5)
    assert [labeler(q) for q in QUERIES] == [Verdict.of(int(sign)) for sign in TRUTH]
    assert (labeler.answers, labeler.wrong, labeler.cost) == (N, 0, 2.5 * N)


@settings(max_examples=sized(25))
@given(
    noise=st.fixed_dictionaries({"inlier": shares, "outlier": shares}),
    unsure=shares,
    pass_on=shares,
    seed=st.integers(0, 2**63),
)
def test_simulated_shares_are_those_of_the_parameters(
    noise: dict[str, float], unsure: float, pass_on: float, seed: int
) -> None:
    unsure, pass_on = unsure / 2, pass_on / 2
    labeler = SimulatedLabeler(TRUTH, noise=noise, unsure=unsure, pass_on=pass_on, seed=seed)
    answers = [labeler(q) for q in QUERIES]
    assert close(answers.count(Verdict.UNSURE), N, unsure)
    assert close(answers.count(SkipMode.OTHERS), N, pass_on)
    wrong = 0
    for verdict in (Verdict.INLIER, Verdict.OUTLIER):
        of = [a for a, sign in zip(answers, TRUTH, strict=True) if sign == verdict.sign]
        said = [a for a in of if a in (Verdict.INLIER, Verdict.OUTLIER)]
        errors = sum(a is not verdict for a in said)
        assert close(errors, len(said), noise[verdict.value])
        wrong += errors
    assert labeler.wrong == wrong
    assert labeler.unsure_answers == answers.count(Verdict.UNSURE)
    assert labeler.passed_on == answers.count(SkipMode.OTHERS)
    assert labeler.answers == N - labeler.passed_on


@settings(max_examples=sized(25))
@given(st.permutations(range(60)), st.integers(0, 2**63), st.text(max_size=8))
def test_simulated_labeler_gives_the_same_answers_in_any_order(
    order: list[int], seed: int, name: str
) -> None:
    def labeler() -> SimulatedLabeler:
        return SimulatedLabeler(
            TRUTH, name=name, noise=0.3, unsure=0.2, pass_on=0.2, seed=seed, cost=1.0
        )

    first, second = labeler(), labeler()
    said = {row: first(query(row)) for row in range(60)}
    assert {row: second(query(row)) for row in order} == said
    assert {row: second(query(row)) for row in order} == said
    assert second.cost == 2 * first.cost


def test_labelers_err_independently() -> None:
    ann, ben = (SimulatedLabeler(TRUTH, name=name, noise=0.3) for name in ("ann", "ben"))
    pairs = [(ann(q), ben(q)) for q in QUERIES]
    wrong = [(a.sign != s, b.sign != s) for (a, b), s in zip(pairs, TRUTH, strict=True)]  # type: ignore[union-attr]
    assert close(sum(a and b for a, b in wrong), N, 0.3 * 0.3)


@settings(max_examples=sized(25))
@given(shares, st.integers(0, 2**63))
def test_inconsistent_labeler_changes_the_given_share_of_repeats(
    consistency: float, seed: int
) -> None:
    labeler = SimulatedLabeler(
        TRUTH, noise=0.2, unsure=0.1, pass_on=0.1, consistency=consistency, seed=seed
    )
    first = [labeler(q) for q in QUERIES]
    again = [labeler(q) for q in QUERIES]
    assert close(sum(a is b for a, b in zip(first, again, strict=True)), N, consistency)


def test_simulated_time_and_cost_add_up_over_queries() -> None:
    slept: list[float] = []
    labeler = SimulatedLabeler(
        [1, -1, 1], delay_s=20.0, cost={"inlier": 1.0, "outlier": 7.0}, sleep=slept.append
    )
    for row in range(3):
        labeler(query(row))
    assert slept == [20.0] * 3
    assert labeler.busy_s == 60.0
    assert labeler.cost == 9.0


def test_delays_are_log_normal() -> None:
    slept: list[float] = []
    labeler = SimulatedLabeler(TRUTH, delay_s=20.0, delay_sigma=0.5, sleep=slept.append)
    for q in QUERIES:
        labeler(q)
    logs = [math.log(seconds) for seconds in slept]
    assert statistics.fmean(logs) == pytest.approx(math.log(20.0), abs=5 * 0.5 / math.sqrt(N))
    assert statistics.stdev(logs) == pytest.approx(0.5, rel=0.1)
    assert labeler.busy_s == pytest.approx(sum(slept))
    again: list[float] = []
    SimulatedLabeler(TRUTH, delay_s=20.0, delay_sigma=0.5, sleep=again.append)(QUERIES[7])
    assert again == [slept[7]]


def test_passing_on_takes_time_and_costs_nothing() -> None:
    slept: list[float] = []
    labeler = SimulatedLabeler([1], pass_on=1.0, delay_s=3.0, cost=2.0, sleep=slept.append)
    assert labeler(query(0)) is SkipMode.OTHERS
    assert slept == [3.0]
    assert labeler.cost == 0.0
    unsure = SimulatedLabeler([1], unsure=1.0, cost=2.0)
    assert unsure(query(0)) is Verdict.UNSURE
    assert unsure.cost == 2.0


def test_observation_without_truth_is_dropped_without_delay() -> None:
    labeler = SimulatedLabeler(
        {"0": "unsure"}, delay_s=1.0, sleep=lambda s: pytest.fail(f"slept {s}")
    )
    assert labeler(query(0)) is SkipMode.DROP
    assert labeler(query(1)) is SkipMode.DROP
    assert labeler.dropped == ["0", "1"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": 1.5}, "noise is 1.5; it must be a number from 0 to 1"),
        ({"noise": "much"}, "noise is 'much'; it must be a number from 0 to 1"),
        (
            {"noise": {"outlier": -0.1}},
            "noise of outliers is -0.1; it must be a number from 0 to 1",
        ),
        (
            {"noise": {"unsure": 0.1}},
            "noise has the key 'unsure': use 'inlier' and 'outlier'",
        ),
        (
            {"noise": {"anomaly": 0.1}},
            "'anomaly' is not a verdict: use 'inlier' (+1), 'outlier' (-1) or 'unsure'",
        ),
        ({"unsure": math.nan}, "unsure is nan; it must be a number from 0 to 1"),
        (
            {"unsure": 0.6, "pass_on": 0.5},
            "unsure = 0.6 and pass_on = 0.5 add up to more than 1; they are shares of the same "
            "observations",
        ),
        ({"delay_s": -1}, "delay_s is -1; it must be a finite number, 0 or more"),
        ({"delay_sigma": math.inf}, "delay_sigma is inf; it must be a finite number, 0 or more"),
        ({"cost": None}, "cost is None; it must be a finite number, 0 or more"),
        ({"consistency": 2}, "consistency is 2; it must be a number from 0 to 1"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        SimulatedLabeler([1, -1], **parameters)
    assert refused.value.message == message
