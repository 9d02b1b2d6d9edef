"""Estimates of what a session costs grow with its data, and measurements bear them out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune import cost, numerics
from svddtune.cost import CostEstimate, duration, estimate, size
from svddtune.numerics.lattice import LATTICE_SAMPLE
from svddtune.numerics.mapped import SAMPLED_ABOVE
from svddtune.state.session import ATLAS_PARTS, AUTO_ATLAS_PARTS

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "bench_cost.py"
SIZES = st.integers(2, 2_000_000)


@given(rows=SIZES, features=st.integers(1, 1000), several=st.booleans(), atlas=st.booleans())
def test_estimate_does_not_shrink_with_more_features_or_with_more_work(
    rows: int, features: int, several: bool, atlas: bool
) -> None:
    found = estimate(rows, features, several=several, atlas=atlas)
    wider = estimate(rows, features + 1, several=several, atlas=atlas)
    assert 0 < found.seconds <= wider.seconds
    assert 0 < found.memory_bytes <= wider.memory_bytes
    assert estimate(rows, features, several=False, atlas=True).seconds <= (
        estimate(rows, features, several=True, atlas=True).seconds
    )


@given(rows=SIZES, features=st.integers(1, 100))
def test_memory_of_a_session_holds_its_data(rows: int, features: int) -> None:
    found = estimate(rows, features, several=True, atlas=True)
    assert found.memory_bytes >= 2 * 8 * rows * features


def test_estimate_knows_the_limits_and_parts_of_the_method() -> None:
    assert numerics.panel_rows(cost.SAMPLED_ABOVE).size == cost._PANEL_ROWS
    assert cost._SAMPLE_ROWS == LATTICE_SAMPLE
    assert cost.SAMPLED_ABOVE == SAMPLED_ABOVE
    assert (cost._SEVERAL_PARTS, cost._PARTS) == (AUTO_ATLAS_PARTS, ATLAS_PARTS)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.2, "1 s"), (40.4, "40 s"), (119, "119 s"), (180, "3 min")]
)
def test_duration_is_shown_in_seconds_minutes_or_hours(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
    assert duration(9000) == "2.5 h"


def test_estimate_is_shown_as_time_and_memory() -> None:
    assert str(CostEstimate(40.0, 1_288_490_188)) == "about 40 s, 1.2 GiB"
    assert size(310 << 20) == "310 MiB"


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "data_size",
    ["1000x10", pytest.param("20000x10", marks=[pytest.mark.slow, pytest.mark.thorough])],
)
def test_estimate_is_within_a_factor_of_three_of_a_measurement(data_size: str) -> None:
    command = [sys.executable, str(BENCHMARK), "--sizes", data_size, "--json"]
    (found,) = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert 1 / 3 < found["processor_s"] / found["estimated_s"] < 3
    assert 1 / 2 < found["peak_bytes"] / found["estimated_bytes"] < 2
