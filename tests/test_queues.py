"""The simulation of queues agrees with formulas of queueing theory where there are any."""

import math

import numpy as np
import pytest
from simulate_queues import Load, simulate


def mean_time_md1(load: float) -> float:
    """Mean time in an M/D/1 queue, as a multiple of the service time (Pollaczek and Khinchine)."""
    return 1.0 + load / (2.0 * (1.0 - load))


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
def test_atlas_parts_alone_wait_as_in_an_md1_queue(share: float) -> None:
    load = Load(0, 1, thinking_s=1.0, ranking_s=1.0, part_s=1.0, piece_s=1.0, bulk_share=share)
    times = simulate(load, seconds=100_000.0)
    assert math.isclose(np.mean(times.parts), mean_time_md1(share), rel_tol=0.05)


def test_rankings_of_many_labelers_wait_as_in_an_md1_queue() -> None:
    load = Load(2000, 1, thinking_s=4000.0, ranking_s=1.0, part_s=1.0, piece_s=1.0, bulk_share=0.0)
    times = simulate(load, seconds=100_000.0)
    assert math.isclose(np.mean(times.rankings), mean_time_md1(0.5), rel_tol=0.05)


@pytest.mark.parametrize(
    "piece_s", [1.0, pytest.param(0.1, marks=[pytest.mark.slow, pytest.mark.thorough])]
)
def test_ranking_waits_for_the_rest_of_a_piece_only_without_a_second_worker(piece_s: float) -> None:
    # A piece is found under way with the probability of the parts' share, and half of it is left.
    times = [
        simulate(
            Load(1, workers, 50.0, 0.001, 1.0, piece_s=piece_s, bulk_share=0.4), seconds=500_000.0
        ).rankings
        for workers in (1, 2)
    ]
    assert math.isclose(np.mean(times[0]), 0.001 + 0.4 * piece_s / 2, rel_tol=0.05)
    assert times[1] == pytest.approx([0.001] * len(times[1]))
