"""Simulated labelers: votes by the service's rule, queries as the service hands them out."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.scene import write_sets

from svddtune.evaluation import comparison, labelers
from svddtune.evaluation.comparison import SESSIONS
from svddtune.evaluation.compute import KINDS, compute
from svddtune.evaluation.labelers import CANDIDATES, COUNTS, RESERVE, Labelers, Order, Rule, State
from svddtune.evaluation.sets import BenchSet, find_sets
from svddtune.evaluation.task import LOCALITY, Task, task_of
from svddtune.evaluation.units import code_digest
from svddtune.numerics import (
    STRATEGIES,
    FloatArray,
    IndexArray,
    LabelArray,
    Strategy,
    Suggestion,
    choose_cell,
    draw_initial,
    estimate_noise,
    label_certainty,
    predicted_labels,
    query_rng,
    run,
    suggest,
)

TWO_OR_THREE = Labelers(wrong=0.25, votes=2, limit=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def glass(folder: Path) -> BenchSet:
    return find_sets(write_sets(folder / "data"), ["Glass"])[0]


@pytest.fixture(scope="module")
def task(glass: BenchSet, folder: Path) -> Task:
    unit = comparison.session(glass, SESSIONS["default"], Labelers(), 0)
    return task_of(unit, folder / "atlases")


def beginning(task: Task, seed: int = 0) -> IndexArray:
    return draw_initial(task.y, 2, 2, seed)


def states(
    task: Task, how: Labelers, *, strategy: Strategy = "knowledge_gradient", budget: int = 30,
    seed: int = 0,
) -> Iterator[State]:  # fmt: skip
    return labelers.run(
        task, how, strategy=strategy, budget=budget, seed=seed, initial=beginning(task, seed)
    )


def last(task: Task, how: Labelers, *, strategy: Strategy = "knowledge_gradient") -> State:
    *_, state = states(task, how, strategy=strategy)
    return state


def votes_sought(how: Labelers, verdicts: list[int], predicted: int) -> tuple[int, int]:
    """How many of the verdicts are sought in turn, and the label that follows; 0 for none."""
    votes = 1
    while how.awaits(votes, sum(verdicts[:votes]), predicted):
        votes += 1
    return votes, int(np.sign(sum(verdicts[:votes])))


def test_labels_count_with_the_rate_that_the_session_is_told(task: Task) -> None:
    state = last(task, Labelers(wrong=0.2, told=0.2))
    assert state.certainty is not None
    asked = np.isin(np.arange(len(task.y)), state.queries)
    np.testing.assert_allclose(state.certainty, np.where(asked, 0.8, 1.0))
    assert last(task, Labelers(wrong=0.2)).certainty is None


def test_rate_is_estimated_from_several_votes(task: Task) -> None:
    state = last(task, TWO_OR_THREE)
    certainty, expected = state.certainty, certainty_of(state.given, state.labels)
    assert certainty is not None
    assert expected is not None
    np.testing.assert_array_equal(certainty, expected)
    assert set(certainty[beginning(task)]) == {1.0}
    assert (certainty[state.queries] < 1.0).all()


def certainty_of(given: dict[int, list[int]], labels: LabelArray) -> FloatArray | None:
    """How certain the labels are by their votes, none before a row has several."""
    several = [said for said in given.values() if len(said) > 1]
    if not several:
        return None
    noise, found = estimate_noise(several), np.ones(len(labels))
    for row, said in given.items():
        found[row] = label_certainty(int(labels[row]), said, [noise] * len(said))
    return found


VERDICTS = st.lists(st.sampled_from([-1, 1]), min_size=20, max_size=20)


@given(VERDICTS, st.integers(1, 10), st.integers(0, 10))
def test_always_rule_seeks_further_votes_only_on_ties(
    verdicts: list[int], sought: int, more: int
) -> None:
    how = Labelers(votes=sought, limit=sought + more)
    votes, label = votes_sought(how, verdicts, predicted=0)
    tied = [n for n in range(sought, votes) if sum(verdicts[:n]) == 0]
    assert tied == list(range(sought, votes))
    assert sought <= votes <= sought + more
    assert label != 0 or votes == sought + more


@given(VERDICTS)
def test_tie_break_gives_label_of_three_votes(verdicts: list[int]) -> None:
    _, label = votes_sought(Labelers(votes=2, limit=3), verdicts, predicted=0)
    assert label == np.sign(sum(verdicts[:3]))


@given(VERDICTS, st.sampled_from([-1, 0, 1]))
def test_adaptive_rule_votes_again_after_surprising_vote(
    verdicts: list[int], predicted: int
) -> None:
    how = Labelers(votes=2, limit=3, rule="adaptive")
    votes, label = votes_sought(how, verdicts, predicted)
    if predicted in (0, verdicts[0]):
        assert (votes, label) == (1, verdicts[0])
    else:
        always = Labelers(votes=2, limit=3)
        assert (votes, label) == votes_sought(always, verdicts, predicted)


def test_mistakes_have_given_share_and_are_shared_by_settings() -> None:
    single = Labelers(wrong=0.1).mistakes(20_000, seed=3)
    thrice = Labelers(wrong=0.1, votes=2, limit=3).mistakes(20_000, seed=3)
    np.testing.assert_array_equal(thrice[:, :1], single)
    assert thrice.mean() == pytest.approx(0.1, abs=0.005)
    assert (thrice[:, 0] & thrice[:, 1]).mean() == pytest.approx(0.01, abs=0.003)
    assert (Labelers(wrong=0.2).mistakes(20_000, seed=3) >= single).all()
    assert not Labelers().mistakes(20_000, seed=3).any()
    assert (Labelers(wrong=0.1).mistakes(20_000, seed=4) != single).any()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_single_perfect_labeler_reproduces_session_of_method(
    task: Task, strategy: Strategy
) -> None:
    expected = run(
        task.X, task.y, budget=30, k=LOCALITY, strategy=strategy, seed=0, prep=task.prep,
        atlas=task.atlas, basis=task.basis,
    )  # fmt: skip
    state = last(task, Labelers(), strategy=strategy)
    assert state.queries == expected.queries.tolist()
    np.testing.assert_array_equal(state.labels, expected.labels)
    assert state.votes == 30


@pytest.mark.parametrize("order", ["oldest", "random"])
@pytest.mark.parametrize("open_queries", [2, 5])
def test_number_of_open_queries_is_kept_until_labels_run_out(
    task: Task, open_queries: int, order: Order
) -> None:
    how = Labelers(open=open_queries, order=order)
    asked = [len(state.queries) - (state.votes - 4) for state in states(task, how)]
    # Before the first vote nothing is out; after a vote its query is answered, none is new yet.
    assert asked[:2] == [0, open_queries - 1]
    assert set(asked[1:-open_queries]) == {open_queries - 1}
    assert asked[-open_queries:] == list(range(open_queries - 1, -1, -1))
    state = last(task, how)
    assert len(set(state.queries)) == len(state.queries) == 26
    assert not set(state.queries) & set(beginning(task).tolist())


def test_answers_come_oldest_first_or_at_random(task: Task) -> None:
    def answered(order: Order) -> list[int]:
        known: list[int] = []
        for state in states(task, Labelers(open=5, order=order)):
            new = set(np.flatnonzero(state.labels).tolist()) - set(known)
            known += sorted(new)
        return known[4:]

    assert answered("oldest") == last(task, Labelers(open=5)).queries
    shuffled = last(task, Labelers(open=5, order="random")).queries
    assert answered("random") != shuffled
    assert sorted(answered("random")) == sorted(shuffled)


def ranked(task: Task, labels: list[int], out: list[int], queries: int) -> Suggestion:
    y = np.zeros_like(task.y)
    y[labels] = task.y[labels]
    return suggest(
        task.prep, task.X, y, k=LOCALITY, strategy="knowledge_gradient", sample=CANDIDATES,
        rng=query_rng(0, len(labels), queries), open_rows=np.array(out, dtype=np.int64),
        reserve=RESERVE, atlas=task.atlas, basis=task.basis,
    )  # fmt: skip


def test_later_rankings_know_open_queries(task: Task) -> None:
    state = last(task, Labelers(open=4))
    initial, queries = beginning(task).tolist(), state.queries
    assert queries[:4] == ranked(task, initial, [], 0).rows[:4].tolist()
    for n in range(4, len(queries)):
        known, out = initial + queries[: n - 3], queries[n - 3 : n]
        assert queries[n] == ranked(task, known, out, n).rows[0]


@pytest.mark.parametrize("rule", ["always", "adaptive"])
def test_adaptive_rule_uses_prediction_before_the_query(task: Task, rule: Rule) -> None:
    how = Labelers(wrong=0.25, votes=2, limit=3, rule=rule)
    mistakes = how.mistakes(len(task.y), seed=0)
    expected = np.zeros_like(task.y)
    expected[beginning(task)] = task.y[beginning(task)]
    given: dict[int, list[int]] = {}
    total, seconds = 4, 0
    for row in last(task, how).queries:
        certainty = certainty_of(given, expected)
        choice = choose_cell(task.atlas, task.basis, expected, certainty=certainty)
        predicted = int(predicted_labels(choice, task.atlas, np.array([row]))[0])
        verdicts = (task.y[row] * np.where(mistakes[row], -1, 1)).tolist()
        votes, expected[row] = votes_sought(how, verdicts, predicted)
        given[row] = verdicts[:votes]
        total += votes
        seconds += votes > 1
    state = last(task, how)
    np.testing.assert_array_equal(state.labels, expected)
    assert state.votes == total
    assert 0 < seconds < 26 if rule == "adaptive" else seconds == 26
    assert (state.labels * task.y < 0).any()


def test_label_counts_while_further_vote_is_awaited(task: Task) -> None:
    known = 4
    for state in states(task, TWO_OR_THREE):
        if state.awaiting and state.labelled == known + 1:
            return
        known = state.labelled
    pytest.fail("no label was provisional")


def test_observation_with_lasting_tie_is_dropped(task: Task) -> None:
    state = last(task, Labelers(wrong=0.25, votes=2, limit=2))
    unlabelled = [row for row in state.queries if state.labels[row] == 0]
    assert unlabelled
    assert len(set(state.queries)) == len(state.queries)
    assert state.labelled == 30
    assert state.votes == 4 + 2 * len(state.queries)


def test_session_ends_when_no_row_is_left(task: Task) -> None:
    *_, state = states(task, Labelers(open=10), budget=1000)
    assert state.labelled == len(task.y)
    np.testing.assert_array_equal(state.labels, task.y)


@pytest.mark.parametrize("method", ["default", "disagreement", "lama"])
def test_record_has_choice_by_observations_and_by_votes(
    glass: BenchSet, folder: Path, method: str
) -> None:
    unit = comparison.session(glass, SESSIONS[method], TWO_OR_THREE, 0)
    task = task_of(unit, folder / "atlases")
    record = compute(unit, folder=folder / "atlases")
    strategy = cast(Strategy, SESSIONS[method].strategy)
    seen = {
        state.votes: (state.labelled, state.awaiting)
        for state in states(task, TWO_OR_THREE, strategy=strategy, budget=50)
    }
    for count in COUNTS:
        per_votes, per_labels = record["votes"][str(count)], record["observations"][str(count)]
        assert (per_votes["votes"], per_labels["labels"]) == (count, count)
        assert per_votes["labels"] == seen[count][0]
        assert seen[per_labels["votes"]] == (count, False)
        assert per_labels["votes"] >= 4 + 2 * (count - 4)
        assert -1 <= per_labels["kappa"] <= 1
    assert record["initial"] == record["both_after"] == 4
    assert record["observations"]["50"]["wrong"] > 0


def test_key_of_every_kind_depends_on_its_own_code() -> None:
    assert len({code_digest(kind) for kind in ("labelled", "session", "columns", "atlas")}) == 4
    for kind, work in KINDS.items():
        if work.__module__ != "svddtune.evaluation.compute":
            assert code_digest(kind) != code_digest("atlas"), kind
