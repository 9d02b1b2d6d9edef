"""``svddtune bench outlook``: what sessions state, judged on sets that took no part in the fit."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client.cli.app import run
from svddtune.evaluation.outlook import (
    Cases,
    Interval,
    binned,
    by_others,
    curve,
    curve_of_others,
    expected,
    explained,
    fit_interval,
    fit_slope,
    held,
    intervals,
)
from svddtune.evaluation.sets import BUILTIN


def cases(count: int = 400, seed: int = 0, sets: int = 4) -> Cases:
    """Cases whose log-odds are twice those believed, give or take 0.8 times the deviation."""
    rng = np.random.default_rng(seed)
    odds, deviation = rng.uniform(-2.0, 0.0, count), rng.uniform(0.2, 1.0, count)
    true = 2.0 * odds + 0.8 * deviation * rng.standard_normal(count)
    rows, labels = np.full(count, 10_000), rng.choice((25, 50), count)
    left = np.round((rows - labels) / (1.0 + np.exp(-true))).astype(np.int64)
    found, possible = rng.integers(1, 20, count), rng.uniform(0.0, 0.01, count)
    gain = 0.3 * np.sqrt(possible) + 0.001 * rng.standard_normal(count)
    return Cases(
        np.arange(count) % sets, labels, found, rows, left + found, 1.0 / (1.0 + np.exp(-odds)),
        deviation, possible, gain,
    )  # fmt: skip


def test_constants_are_found_again() -> None:
    of = cases(4000)
    fitted = fit_interval(of, 1.0)
    assert fitted.stretch == pytest.approx(2.0, abs=0.05)
    assert fitted.width == pytest.approx(0.8 * 1.645, abs=0.05)
    assert fit_slope(of) == pytest.approx(0.3, abs=0.005)


def test_slope_is_not_negative_and_is_0_where_nothing_is_possible() -> None:
    of = cases()
    falling = replace(of, gain=-of.gain)
    assert fit_slope(falling) == 0.0
    assert fit_slope(of.where(np.zeros(len(of), dtype=np.bool_))) == 0.0


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_interval_holds_the_share_of_a_set_left_out_as_often_as_stated(power: float) -> None:
    of = cases(2000)
    found = intervals(of, by_others(of, lambda some: fit_interval(some, power)))
    assert held(of, found).mean() == pytest.approx(0.9, abs=0.02)


def test_interval_that_ends_at_the_share_holds_it() -> None:
    of = cases(3)
    share = of.share
    assert held(of, np.stack((share, share, share), axis=1)).all()
    assert not held(of, np.stack((share, share + 0.001, share + 0.002), axis=1)).any()


def test_interval_of_a_case_is_that_of_the_product() -> None:
    of = cases(1)
    ((value, low, high),) = intervals(of, [Interval(1.0, 0.0, 1.0)]).tolist()
    unlabelled = 10_000 - int(of.labels[0])
    middle = float(of.found[0]) + unlabelled * float(of.probability[0])
    assert value == pytest.approx(middle / 10_000)
    assert (low, high) == pytest.approx(((middle - 0.5) / 10_000, (middle + 0.5) / 10_000))


@given(st.integers(0, 1000), st.integers(0, 3))
def test_fit_for_a_set_ignores_that_set(seed: int, place: int) -> None:
    of = cases(80, seed)
    moved = replace(of, gain=np.where(of.sets == place, 1.0, of.gain))
    plain, other = by_others(of, fit_slope), by_others(moved, fit_slope)
    at = int(np.flatnonzero(of.sets == place)[0])
    assert plain[at] == other[at] == fit_slope(of.where(of.sets != place))
    mean = curve_of_others(of)[at]
    same = (of.sets != place) & (of.labels == of.labels[at])
    assert mean == pytest.approx(float(of.gain[same].mean()))


def test_only_set_judges_its_own_constants() -> None:
    of = cases(40, sets=1)
    assert by_others(of, fit_slope) == [fit_slope(of)] * 40


def test_bins_hold_all_cases_in_order_of_their_expected_gain() -> None:
    of = cases(103)
    prediction = expected(of, [0.3] * 103)
    parts = binned(of, prediction, 5)
    assert sum(one.cases for one in parts) == 103
    assert [one.expected for one in parts] == sorted(one.expected for one in parts)
    total = sum(one.actual * one.cases for one in parts)
    assert total == pytest.approx(float(of.gain.sum()))
    order = np.sort(prediction)
    assert parts[0].expected == pytest.approx(float(order[: parts[0].cases].mean()))
    assert all(one.error > 0.0 for one in parts)


def test_variance_is_explained_in_full_by_the_truth_and_not_by_the_mean() -> None:
    of = cases()
    assert explained(of, of.gain) == 1.0
    assert explained(of, np.full(len(of), of.gain.mean())) == pytest.approx(0.0)
    assert explained(of, expected(of, [0.3] * len(of))) > 0.9


def test_curve_is_mean_gain_by_number_of_labels() -> None:
    of = cases()
    found = curve(of)
    assert list(found) == [25, 50]
    assert found[25] == pytest.approx(float(of.gain[of.labels == 25].mean()))


def test_command_prints_coverage_and_gains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    arguments = ["--data", BUILTIN, "--sets", "Iris,Wine", "--seeds", "1", "--jobs", "1", "--json"]
    more = ["--out", str(tmp_path / "out"), "--write-docs", str(docs)]
    assert run(["bench", "outlook", *arguments, *more]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["sets"] == ["Iris", "Wine"]
    fitted = document["constants"]["fitted"]
    assert all(math.isfinite(value) for value in fitted.values())
    for rule in document["share"].values():
        assert set(rule["sets"]) == {"25", "50"}
        assert rule["others"] == {}
        assert all(0.0 <= one["held"] <= 1.0 for one in rule["sets"].values())
    gain = document["gain"]
    assert sum(one["cases"] for one in gain["bins"]) == 2 * 9
    assert list(gain["by_number_of_labels"]) == [str(n) for n in range(10, 51, 5)]
    page = (docs / "evaluation.md").read_text()
    assert "(svddtune)" in page
    assert f"{fitted['slope']:.3f} (slope)" in page
