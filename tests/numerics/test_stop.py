"""Rules for stopping: their edges, their order, and sentences that name their numbers."""

import math
from dataclasses import replace

import pytest

from svddtune.numerics import Advice, Moment, advise

NAN = float("nan")
# Sessions of 4 labels and up: each moment has another cell and a far gamma, and a wide interval.
STEP = 3.0


def moment(labels: int, **fields: object) -> Moment:
    restless = Moment(
        labels, STEP**labels, 0.01 * labels, 0.5, 0.1, 0.9, inliers=labels - 4, outliers=4
    )
    return replace(restless, **fields)  # type: ignore[arg-type]


def restless(last: int) -> list[Moment]:
    return [moment(labels) for labels in range(8, last + 1)]


def with_tail(since: int, last: int, **fields: object) -> list[Moment]:
    """Restless until `since`, and from there on with these fields."""
    return [
        *restless(since - 1),
        *(moment(labels, **fields) for labels in range(since, last + 1)),
    ]


def verdict(history: list[Moment], budget: int = 100) -> Advice:
    return advise(history, budget=budget)


def test_a_restless_session_goes_on() -> None:
    advice = verdict(restless(60))
    assert (advice.stop, advice.rule) == (False, "")
    assert (
        advice.sentence == "The best cell changed with the last label; more labels still move it."
    )


def test_no_history_no_advice() -> None:
    assert verdict([]) == Advice(False, "", "There is no label yet.")


@pytest.mark.parametrize(("labels", "stop"), [(49, False), (50, True), (51, True)])
def test_the_budget_ends_a_session(labels: int, stop: bool) -> None:
    advice = verdict(restless(labels), budget=50)
    assert (advice.stop, advice.rule) == (stop, "budget" if stop else "")
    assert ("50 labels" in advice.sentence) == stop


@pytest.mark.parametrize(("last", "stop"), [(39, False), (40, True)])
def test_a_cell_that_stays_for_twenty_labels_ends_it(last: int, stop: bool) -> None:
    advice = verdict(with_tail(20, last, gamma=2.0, C=0.3))
    assert (advice.stop, advice.rule) == (stop, "cell" if stop else "")
    assert f"{last - 20} labels" in advice.sentence


@pytest.mark.parametrize(("last", "stop"), [(39, False), (40, True)])
def test_a_gamma_that_stays_for_twenty_labels_ends_it(last: int, stop: bool) -> None:
    advice = verdict(with_tail(20, last, gamma=2.0))
    assert (advice.stop, advice.rule) == (stop, "gamma" if stop else "")
    if stop:
        assert "20 labels" in advice.sentence
        assert "1.5" in advice.sentence


@pytest.mark.parametrize(("ratio", "stop"), [(1.5, True), (1.51, False)])
def test_gammas_within_the_factor_are_the_same(ratio: float, stop: bool) -> None:
    history = with_tail(20, 40, gamma=2.0)
    history[-5] = replace(history[-5], gamma=2.0 * ratio)
    assert verdict(history).stop == stop
    history[-5] = replace(history[-5], gamma=2.0 / ratio)
    assert verdict(history).stop == stop


def test_gamma_may_not_drift_by_small_steps() -> None:
    history = [moment(n, gamma=1.05**n) for n in range(8, 60)]
    assert not verdict(history).stop


def test_a_single_change_starts_the_count_anew() -> None:
    history = with_tail(20, 45, gamma=2.0, C=0.3)
    history[-10] = replace(history[-10], gamma=99.0)
    advice = verdict(history)
    assert not advice.stop
    assert "9 labels" not in verdict(history[:-9]).sentence
    assert "8 labels ago" in advice.sentence


def test_labels_are_counted_and_not_moments() -> None:
    sparse = [*restless(19), moment(20, gamma=2.0, C=0.3), moment(40, gamma=2.0, C=0.3)]
    assert verdict(sparse).rule == "cell"


@pytest.mark.parametrize(("high", "stop"), [(0.899, True), (0.91, False), (0.6, False)])
def test_a_narrow_interval_ends_it_unless_it_has_no_width(high: float, stop: bool) -> None:
    history = [*restless(29), moment(30, score=0.6, low=0.6, high=high)]
    advice = verdict(history)
    assert (advice.stop, advice.rule) == (stop, "interval" if stop else "")
    if stop:
        assert "0.60 to 0.90" in advice.sentence
        assert "0.3" in advice.sentence


@pytest.mark.parametrize(("labels", "stop"), [(19, False), (20, True)])
def test_intervals_of_few_labels_are_not_trusted(labels: int, stop: bool) -> None:
    history = [*restless(labels - 1), moment(labels, low=0.5, high=0.7)]
    assert verdict(history).stop == stop


def test_the_first_rule_that_holds_is_named() -> None:
    everything = with_tail(20, 40, gamma=2.0, C=0.3, low=0.5, high=0.7)
    assert verdict(everything, budget=40).rule == "budget"
    assert verdict(everything).rule == "cell"
    no_cell = with_tail(20, 40, gamma=2.0, low=0.5, high=0.7)
    assert verdict(no_cell).rule == "gamma"


@pytest.mark.parametrize("few", ["inliers", "outliers"])
@pytest.mark.parametrize(("count", "stop"), [(1, False), (2, False), (3, True)])
def test_both_classes_need_three_labels(few: str, count: int, stop: bool) -> None:
    counts = {"inliers": 40 - count, "outliers": 40 - count, few: count}
    advice = verdict(with_tail(20, 40, gamma=2.0, C=0.3, **counts))
    assert advice.stop == stop
    if not stop:
        noun = few if count > 1 else few[:-1]
        assert advice.sentence.startswith(f"Only {count} {noun} ")
        assert "3 are needed" in advice.sentence


def test_without_class_counts_labels_since_the_first_score_are_asked_for() -> None:
    tail = {"gamma": 2.0, "C": 0.3, "inliers": None, "outliers": None}
    blind = [moment(n, **{**tail, "score": NAN, "low": NAN, "high": NAN}) for n in range(1, 30)]
    advices = [
        advise(
            [*blind, *(moment(n, **tail) for n in range(30, last + 1))], budget=100, cell_labels=1
        )
        for last in (31, 32)
    ]
    assert [advice.stop for advice in advices] == [False, True]
    assert "at least 32" in advices[0].sentence


def test_a_missing_score_is_no_agreement() -> None:
    history = with_tail(20, 40, gamma=2.0, C=0.3)
    history[15:20] = [replace(m, score=NAN, low=NAN, high=NAN) for m in history[15:20]]
    assert not verdict(history).stop


@pytest.mark.parametrize(
    ("inliers", "outliers", "words"),
    [(0, 0, "no label"), (40, 0, "No outlier"), (0, 40, "No inlier"), (None, None, "one class")],
)
def test_one_class_only_stops_for_the_budget_alone(
    inliers: int | None, outliers: int | None, words: str
) -> None:
    labels = (inliers or 0) + (outliers or 0) if inliers is not None else 40
    blind = {"score": NAN, "low": NAN, "high": NAN, "inliers": inliers, "outliers": outliers}
    history = [moment(n, gamma=2.0, C=0.3, **blind) for n in range(labels + 1)]
    advice = verdict(history)
    assert not advice.stop
    assert words.lower() in advice.sentence.lower()
    if labels:
        assert "40 labels" in advice.sentence
        assert verdict(history, budget=40).rule == "budget"


@pytest.mark.parametrize(
    "knob", [{"cell_labels": 21}, {"cell_labels": 100}], ids=["one more", "never"]
)
def test_thresholds_can_be_chosen(knob: dict[str, int]) -> None:
    history = with_tail(20, 40, gamma=2.0, C=0.3)
    assert advise(history, budget=100, **knob).rule == "gamma"
    assert advise(history, budget=100, gamma_labels=21, **knob).stop is False
    assert advise(restless(40), budget=100, interval_width=0.8).rule == "interval"
    assert advise(restless(40), budget=100, gamma_factor=math.inf).rule == "gamma"
