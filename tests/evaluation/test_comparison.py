"""Means, their standard errors and outcomes equal their definitions."""

from pathlib import Path

import numpy as np
import pytest
from tests.evaluation.scene import write_sets

from svddtune.evaluation import noise, parallel
from svddtune.evaluation.comparison import SESSIONS, Comparison, Estimate, estimate, session
from svddtune.evaluation.sets import find_sets
from svddtune.evaluation.store import Record


def test_standard_error_is_of_mean_over_fixed_sets() -> None:
    rng = np.random.default_rng(0)
    levels, spread = np.array([0.1, 0.5, 0.9, 0.3]), np.array([0.02, 0.1, 0.3, 0.05])
    drawn = [
        estimate(levels[:, None] + spread[:, None] * rng.standard_normal((4, 6)))
        for _ in range(3000)
    ]
    means = np.array([one.mean for one in drawn])
    errors = np.array([one.error for one in drawn], dtype=np.float64)
    assert means.mean() == pytest.approx(levels.mean(), abs=0.005)
    assert np.sqrt(np.square(errors).mean()) == pytest.approx(means.std(), rel=0.05)


def test_one_seed_has_no_standard_error() -> None:
    one = estimate(np.array([[0.2], [0.4]]))
    assert one.mean == pytest.approx(0.3)
    assert one.error is None
    assert not one.stands_out
    assert one.shown(signed=True) == "+0.300"


def test_shown_value_is_rounded_without_negative_zero() -> None:
    assert Estimate(-0.0001, 0.0004).shown(signed=True) == "0.000 ± 0.000"
    assert Estimate(-0.0316, 0.01).shown(signed=True) == "-0.032 ± 0.010"
    assert Estimate(-0.0316, 0.01).stands_out
    assert not Estimate(0.019, 0.01).stands_out


def record(kappa: float, votes_kappa: float, votes: int, both: int | None) -> Record:
    point = {"labels": 50, "votes": votes, "wrong": 5, "kappa": kappa}
    early = {"labels": 27, "votes": 50, "wrong": 3, "kappa": votes_kappa}
    return {
        "observations": {"25": early, "50": point},
        "votes": {"25": early, "50": early},
        "initial": 4,
        "both_after": both,
    }


def test_outcomes_of_noise_are_paired_differences(tmp_path: Path) -> None:
    sets = tuple(find_sets(write_sets(tmp_path / "data")))
    method = SESSIONS["default"]
    compared = Comparison(sets, (method,), noise.settings(0.1), 2)
    kappas = {"clean": 0.5, "single": 0.3, "told": 0.32, "always": 0.4, "adaptive": 0.35}
    records = {
        session(data, method, how, seed).key: record(
            kappas[name] + 0.1 * place + 0.01 * seed, 0.2, 142, None
        )
        for place, data in enumerate(sets)
        for name, how in compared.settings.items()
        for seed in range(2)
    }
    found = noise.outcomes(compared, records)["default", "always", "observations"]
    assert found.kappa.mean == pytest.approx(0.505)
    for difference in (found.loss, found.back):
        assert difference.mean == pytest.approx(0.1)
        assert difference.error == pytest.approx(0.0)
    assert found.votes_each == pytest.approx(138 / 46)
    assert found.wrong == pytest.approx(0.1)
    at_votes = noise.outcomes(compared, records)["default", "always", "votes"]
    assert at_votes.observations == 27
    assert at_votes.kappa.mean == pytest.approx(0.2)


def test_outcomes_of_parallel_compare_with_one_open_query(tmp_path: Path) -> None:
    sets = tuple(find_sets(write_sets(tmp_path / "data"), ["Glass"]))
    method = SESSIONS["default_cold"]
    compared = Comparison(sets, (method,), parallel.settings(), 1)
    assert len(compared.settings) == 7
    records = {
        session(sets[0], method, how, 0).key: record(
            0.5 - 0.01 * how.open, 0.1, 50, None if how.open == 10 else 8
        )
        for how in compared.settings.values()
    }
    found = parallel.outcomes(compared, records)
    assert found["default_cold", 1, "random", 50].loss.mean == 0.0
    assert found["default_cold", 5, "random", 50].loss.mean == pytest.approx(0.04)
    assert found["default_cold", 5, "oldest", 25].loss.mean == 0.0
    assert found["default_cold", 5, "oldest", 50].both_after == 8.0
    # Never both: not before the end.
    assert found["default_cold", 10, "oldest", 50].both_after == 50.0


def test_settings_share_identical_sessions(tmp_path: Path) -> None:
    sets = tuple(find_sets(write_sets(tmp_path / "data"), ["Glass"]))
    kept = {
        unit.key
        for settings in (noise.settings(0.1), parallel.settings())
        for unit in Comparison(sets, (SESSIONS["lama"],), settings, 1).units()
    }
    assert len(kept) == 1 + 5 + 7 - 1
