"""Stop rules over the history of the live choice, each with its sentence."""

from dataclasses import replace
from typing import Any

import pytest

from svddtune.numerics import Moment, advise
from svddtune.numerics.stop import (
    CELL_LABELS,
    GAMMA_FACTOR,
    GAMMA_LABELS,
    INTERVAL_LABELS,
    INTERVAL_WIDTH,
    LEAST_PER_CLASS,
)

NAN = float("nan")


def moment(labels: int, gamma: float = 1.0, C: float = 0.1, *, width: float = 0.8) -> Moment:
    return Moment(labels, gamma, C, 0.5, 0.5 - width / 2, 0.5 + width / 2, labels - 5, 5)


def wandering(first: int, last: int) -> list[Moment]:
    """Cells and gammas that change with every label."""
    return [moment(n, 2.0 ** (n % 5), 0.01 * n) for n in range(first, last + 1)]


def test_changing_cell_does_not_stop() -> None:
    moving = wandering(8, 39)
    advice = advise(moving, budget=500)
    assert (advice.stop, advice.rule) == (False, "")
    moved = f"with the last label; it counts as stable after {CELL_LABELS} labels without a change."
    assert advice.sentence == f"The best cell last changed {moved}"
    settled = [*moving, *(moment(n, 3.0, 0.4) for n in (40, 41))]
    assert "changed 1 label ago" in advise(settled, budget=500).sentence
    settled.append(moment(43, 3.0, 0.4))  # a moment may be missing
    assert "changed 3 labels ago" in advise(settled, budget=500).sentence


def test_spent_budget_stops() -> None:
    for labels in (50, 51):
        advice = advise([Moment(labels, 1.0, 0.1, NAN, NAN, NAN, labels, 0)], budget=50)
        assert (advice.stop, advice.rule) == (True, "budget")
        assert advice.sentence == "All 50 labels of the budget are given."


def test_unchanged_cell_stops() -> None:
    history = wandering(8, 12) + [moment(n, 99.0) for n in range(13, 13 + CELL_LABELS + 1)]
    assert not advise(history[:-1], budget=500).stop
    advice = advise(history, budget=500)
    assert (advice.stop, advice.rule) == (True, "cell")
    assert advice.sentence == f"The best cell has not changed for the last {CELL_LABELS} labels."


def test_cell_of_another_scaling_is_another_cell() -> None:
    history = [moment(n) for n in range(8, 8 + CELL_LABELS + 1)]
    assert advise(history, budget=500).rule == "cell"
    history[-2] = replace(history[-2], scaling="ranks")
    advice = advise(history, budget=500)
    assert not advice.stop
    assert advice.sentence.startswith("The best cell last changed with the last label")


def test_gamma_is_steady_within_one_scaling_only() -> None:
    last = 13 + GAMMA_LABELS
    history = [moment(n, 1.0, 0.01 * n) for n in range(13, last + 1)]
    assert advise(history, budget=500).rule == "gamma"
    history[0] = replace(history[0], scaling="ranks")
    assert not advise(history, budget=500).stop


def test_steady_gamma_stops() -> None:
    steady = [
        moment(n, GAMMA_FACTOR ** (n % 2), 0.01 * n) for n in range(13, 13 + GAMMA_LABELS + 1)
    ]
    history = [moment(12, 50.0), *steady]
    assert not advise(history[:-1], budget=500).stop
    advice = advise(history, budget=500)
    assert (advice.stop, advice.rule) == (True, "gamma")
    assert advice.sentence == "gamma has stayed within a factor of 1.5 for the last 20 labels."


def test_gamma_drifting_in_small_steps_does_not_stop() -> None:
    drifting = [moment(n, 1.1**n, 0.01 * n) for n in range(10, 45)]
    assert not advise(drifting, budget=500).stop


def test_narrow_interval_stops() -> None:
    history = [*wandering(8, 30), moment(31, width=INTERVAL_WIDTH - 0.02)]
    advice = advise(history, budget=500)
    assert (advice.stop, advice.rule) == (True, "interval")
    assert advice.sentence == "The score's interval, 0.36 to 0.64, is narrower than 0.3."
    for spoiled in (
        replace(history[-1], low=0.5, high=0.5),  # no mistake in any resample
        replace(history[-1], high=0.9),
    ):
        assert not advise([*history[:-1], spoiled], budget=500).stop
    few = [*wandering(8, INTERVAL_LABELS - 2), moment(INTERVAL_LABELS - 1, width=0.1)]
    assert not advise(few, budget=500).stop


@pytest.mark.parametrize("name", ["inliers", "outliers"])
def test_only_budget_stops_before_three_labels_of_each_class(name: str) -> None:
    history = [moment(n) for n in range(8, 48)]
    assert advise(history, budget=50).stop
    for count in range(1, LEAST_PER_CLASS):
        change: dict[str, Any] = {name: count}
        advice = advise([replace(one, **change) for one in history], budget=50)
        assert not advice.stop
        noun = name[:-1] if count == 1 else name
        assert advice.sentence.startswith(f"Only {count} {noun} ")
        assert advise([replace(history[-1], **change)], budget=47).stop


def test_moments_after_both_classes_decide_when_counts_are_unknown() -> None:
    cold = [Moment(n, 1.0, 0.1, NAN, NAN, NAN) for n in range(31)]
    warm = [Moment(n, 1.0, 0.1, 1.0, 0.2, 0.4) for n in range(31, 60)]
    stops = [advise(cold + warm[:n], budget=500).stop for n in range(1, len(warm) + 1)]
    assert stops.index(True) == LEAST_PER_CLASS - 1
    assert all(stops[LEAST_PER_CLASS - 1 :])


def test_choices_before_both_classes_do_not_count_as_unchanged() -> None:
    cold = [Moment(n, 1.0, 0.1, NAN, NAN, NAN, n, 0) for n in range(41)]
    advice = advise(cold, budget=500)
    assert not advice.stop
    assert advice.sentence == "No outlier is among the 40 labels so far; the choice needs one."
    warm = [moment(n) for n in range(41, 44)]
    assert not advise(cold + warm, budget=500).stop


def test_no_moment_gives_no_advice() -> None:
    for history in ([], [Moment(0, 1.0, 0.1, NAN, NAN, NAN)]):
        advice = advise(history, budget=50)
        assert (advice.stop, advice.sentence) == (False, "There is no label yet.")
    one = advise([Moment(1, 1.0, 0.1, NAN, NAN, NAN, 0, 1)], budget=50)
    assert one.sentence == "No inlier is among the 1 label so far; the choice needs one."
    unknown = advise([Moment(4, 1.0, 0.1, NAN, NAN, NAN)], budget=50)
    assert unknown.sentence == "The 4 labels so far are of one class; the choice needs both."


@pytest.mark.parametrize(("ratio", "stop"), [(GAMMA_FACTOR, True), (GAMMA_FACTOR + 0.01, False)])
def test_gamma_may_differ_by_exactly_the_factor(ratio: float, stop: bool) -> None:
    for gamma in (2.0 * ratio, 2.0 / ratio):
        history = [moment(n, 2.0, 0.01 * n) for n in range(20, 41)]
        history[10] = moment(30, gamma, 0.5)
        assert advise(history, budget=500).stop == stop


def test_single_change_restarts_the_count() -> None:
    history = [moment(n, 2.0) for n in range(12, 46)]
    history[-10] = moment(36, 99.0)
    advice = advise(history, budget=500)
    assert (advice.stop, advice.rule) == (False, "")
    assert "8 labels ago" in advice.sentence
    history[-10] = replace(moment(36, 2.0), score=NAN, low=NAN, high=NAN)
    assert not advise(history, budget=500).stop


def test_labels_rather_than_moments_are_counted() -> None:
    sparse = [*wandering(8, 19), moment(20, 99.0), moment(20 + CELL_LABELS, 99.0)]
    assert advise(sparse, budget=500).rule == "cell"


@pytest.mark.parametrize(("width", "stop"), [(0.29, True), (0.31, False), (0.0, False)])
def test_interval_stops_from_its_minimum_number_of_labels(width: float, stop: bool) -> None:
    history = [*wandering(8, INTERVAL_LABELS - 1), moment(INTERVAL_LABELS, width=width)]
    assert advise(history, budget=500).stop == stop


def test_first_rule_that_holds_is_named() -> None:
    same_cell = [moment(n, width=0.2) for n in range(20, 41)]
    same_gamma = [moment(n, C=0.01 * n, width=0.2) for n in range(20, 41)]
    assert advise(same_cell, budget=40).rule == "budget"
    assert advise(same_cell, budget=500).rule == "cell"
    assert advise(same_gamma, budget=500).rule == "gamma"
    assert advise([*wandering(8, 39), moment(40, width=0.2)], budget=500).rule == "interval"


def test_thresholds_can_be_chosen() -> None:
    history = [moment(n) for n in range(20, 41)]
    assert advise(history, budget=500, cell_labels=21).rule == "gamma"
    assert not advise(history, budget=500, cell_labels=21, gamma_labels=21).stop
    assert advise(wandering(8, 40), budget=500, interval_width=0.9).rule == "interval"
    assert advise(wandering(8, 40), budget=500, gamma_factor=16.0).rule == "gamma"
