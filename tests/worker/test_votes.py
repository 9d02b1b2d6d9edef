"""Labels from votes, without audited rows or without one labeler, and the notes about them."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.worker.snapshots import snapshot_of

from svddtune.numerics import dawid_skene
from svddtune.state.workspace import Snapshot
from svddtune.worker.votes import (
    effective_labels,
    labels_in_force,
    majority,
    vote_notes,
    without_votes_of,
)

Votes = dict[int, dict[str, int]]

VOTES = st.dictionaries(
    st.integers(0, 19),
    st.dictionaries(
        st.sampled_from(["ann", "ben", "cem"]), st.sampled_from([1, -1, 0]), min_size=1
    ),
)
# Two labelers who know, three who guess: they often make the majority.
CROWD: Votes = {
    row: {
        name: (-1 if row % 4 == 0 else 1) if rng.random() < right else rng.choice((1, -1))
        for name, right in (("ann", 0.95), ("ben", 0.95), ("cem", 0.1), ("dan", 0.1), ("eva", 0.1))
    }
    for rng in (random.Random(3),)
    for row in range(60)
}


def rows_of(*rows: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Row numbers as an array."""
    return np.array(rows, dtype=np.int64)


def notes_of(snapshot: Snapshot) -> list[str]:
    """The notes on the votes of a session."""
    labels = labels_in_force(snapshot)
    return list(vote_notes(snapshot, labels.values, labels.noise))


@pytest.mark.parametrize(
    ("votes", "label"),
    [
        ({}, 0),
        ({"ann": 1}, 1),
        ({"ann": -1, "ben": 0}, -1),
        ({"ann": 1, "ben": -1}, 0),
        ({"ann": 1, "ben": -1, "cem": -1}, -1),
    ],
)
def test_label_is_majority_of_votes(votes: dict[str, int], label: int) -> None:
    assert majority(votes) == label


@given(VOTES, st.lists(st.integers(0, 19), max_size=5))
def test_audit_labels_do_not_choose_gamma_and_c(votes: Votes, audited: list[int]) -> None:
    labels = effective_labels(snapshot_of(votes), without=rows_of(*audited))
    for row in range(20):
        expected = 0 if row in audited else majority(votes.get(row, {}))
        assert labels[row] == expected


@given(VOTES)
def test_votes_of_others_decide_without_a_labeler(votes: Votes) -> None:
    snapshot = without_votes_of(snapshot_of(votes), "ann")
    for row in range(20):
        others = {name: said for name, said in votes.get(row, {}).items() if name != "ann"}
        assert snapshot.labels.get(row, 0) == majority(others)
        assert "ann" not in snapshot.votes.get(row, {})
        assert (row in snapshot.labels) == (majority(others) != 0)


def test_dropped_row_stays_without_label_when_a_labeler_is_left_out() -> None:
    # A row that was dropped has votes and no label.
    snapshot = snapshot_of({1: {"ann": 1}, 2: {"ben": 1}})
    snapshot.labels.pop(2)
    assert without_votes_of(snapshot, "ann").labels == {}
    assert without_votes_of(snapshot, "cem").labels == {1: 1}


@pytest.mark.slow
def test_dawid_skene_decides_in_session_with_that_aggregation() -> None:
    snapshot = snapshot_of(CROWD, N=60, aggregation="dawid_skene")
    labels = effective_labels(snapshot)
    estimate = dawid_skene(CROWD)
    assert labels.tolist() == [-1 if estimate[row] > 0.5 else 1 for row in range(60)]
    assert labels.tolist() != effective_labels(snapshot_of(CROWD, N=60)).tolist()


def test_dawid_skene_ignores_rows_left_out() -> None:
    # Labels and votes of the audit may say anything: the others come out the same.
    wrong = CROWD | {row: dict.fromkeys(CROWD[row], -1) for row in range(15)}
    audited = rows_of(*range(15))
    made = [
        effective_labels(snapshot_of(votes, N=60, aggregation="dawid_skene"), without=audited)
        for votes in (CROWD, wrong)
    ]
    np.testing.assert_array_equal(made[0], made[1])


def test_single_votes_are_certain_unless_a_rate_of_wrong_answers_is_set() -> None:
    votes = {1: {"ann": 1}, 2: {"ben": -1}, 3: {"ben": 0}}
    assert labels_in_force(snapshot_of(votes)).certainty is None
    assert labels_in_force(snapshot_of(votes, label_noise=0.0)).certainty is None
    certainty = labels_in_force(snapshot_of(votes, label_noise=0.2)).certainty
    assert certainty is not None
    assert certainty[:4].tolist() == pytest.approx([1.0, 0.8, 0.8, 1.0])


def test_labels_with_differing_votes_are_less_certain_than_those_with_equal_ones() -> None:
    votes = {
        1: {"ann": 1, "ben": 1}, 2: {"ann": 1, "ben": -1, "cem": -1}, 3: {"ann": -1}
    }  # fmt: skip
    certainty = labels_in_force(snapshot_of(votes)).certainty
    assert certainty is not None
    assert certainty[2] == pytest.approx(certainty[3])
    assert 0.5 < certainty[2] < certainty[1] < 1.0


def test_confidence_of_a_labeler_replaces_the_rate_of_wrong_answers() -> None:
    votes = {1: {"ann": 1}, 2: {"ann": -1}, 3: {"ann": 1, "ben": 1}}
    given = {1: {"ann": 0.7}, 3: {"ann": 0.7, "ben": 0.9}}
    snapshot = replace(snapshot_of(votes, label_noise=0.2), confidences=given)
    certainty = labels_in_force(snapshot).certainty
    assert certainty is not None
    assert certainty[1:4].tolist() == pytest.approx([0.7, 0.8, 0.63 / 0.66])


@given(
    VOTES,
    st.dictionaries(st.sampled_from(["ann", "ben"]), st.floats(0.51, 1.0)),
    st.sampled_from([None, 0.0, 0.2]),
    st.sets(st.integers(0, 19)),
    st.booleans(),
)
def test_trust_in_a_labeler_is_its_confidence_in_each_vote(
    votes: Votes,
    trusts: dict[str, float],
    noise: float | None,
    initial: set[int],
    decides: bool,
) -> None:
    said = {
        row: {name: right for name, right in trusts.items() if of_row.get(name)}
        for row, of_row in votes.items()
    }
    decided = {row: "ben" for row, of_row in votes.items() if decides and of_row.get("ben")}
    confident, trusted = (
        replace(
            one,
            initial_rows=frozenset(initial),
            confidences=confidences,
            decided_by=decided,
        )
        for one, confidences in (
            (snapshot_of(votes, label_noise=noise), {row: own for row, own in said.items() if own}),
            (snapshot_of(votes, label_noise=noise, trusts=trusts), {}),
        )
    )
    expected, found = labels_in_force(confident), labels_in_force(trusted)
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.noise == expected.noise
    for row in np.flatnonzero(expected.values):
        certain = [
            1.0 if one.certainty is None else one.certainty[row] for one in (found, expected)
        ]
        assert certain[0] == certain[1]


def test_confidence_of_a_labeler_goes_before_the_trust_in_it() -> None:
    votes = {1: {"ann": 1}, 2: {"ann": -1}, 3: {"ben": 1}}
    snapshot = snapshot_of(votes, label_noise=0.2, trusts={"ann": 0.9})
    certainty = labels_in_force(replace(snapshot, confidences={1: {"ann": 0.6}})).certainty
    assert certainty is not None
    assert certainty[1:4].tolist() == pytest.approx([0.6, 0.9, 0.8])


def test_notes_name_the_trusts_of_those_who_voted() -> None:
    votes = {1: {"ann": 1}, 2: {"ben": -1}}
    found = notes_of(snapshot_of(votes, trusts={"ann": 0.75, "cem": 0.9}))
    assert found == [
        "Answers of these labelers are taken as right with the probability that is set for each: "
        "ann=0.75."
    ]
    assert notes_of(snapshot_of(votes, trusts={"ann": 0.75}, strategy="lama")) == []


def test_labels_known_at_the_start_are_certain() -> None:
    votes = {1: {"initial": 1}, 2: {"ann": -1}}
    snapshot = replace(snapshot_of(votes, label_noise=0.1), initial_rows=frozenset({1}))
    certainty = labels_in_force(snapshot).certainty
    assert certainty is not None
    assert certainty[1:3].tolist() == pytest.approx([1.0, 0.9])


def test_label_known_at_the_start_is_as_certain_as_others_once_it_was_asked_about() -> None:
    votes = {1: {"ann": 1}}
    snapshot = replace(
        snapshot_of(votes, label_noise=0.1), initial_rows=frozenset({1}), asked_by={1: 4}
    )
    certainty = labels_in_force(snapshot).certainty
    assert certainty is not None
    assert certainty[1] == pytest.approx(0.9)


def test_decision_of_an_adjudicator_counts_alone() -> None:
    votes = {1: {"ann": 1, "ben": -1, "dora": -1}, 2: {"dora": 1, "ann": -1}, 3: {"ann": 1}}
    decided = replace(
        snapshot_of(votes, label_noise=0.1),
        labels={1: -1, 2: 1, 3: 1},
        decided_by={1: "dora", 2: "dora"},
    )
    certainty = labels_in_force(decided).certainty
    assert certainty is not None
    assert certainty[1:4].tolist() == pytest.approx([0.9, 0.9, 0.9])
    # A withdrawal of others changes nothing, and that of the adjudicator all.
    assert without_votes_of(decided, "ann").labels == {1: -1, 2: 1}
    assert without_votes_of(decided, "dora").labels == {2: -1, 3: 1}


@pytest.mark.parametrize("said", [1, -1])
def test_adjudicator_outweighs_the_estimate_of_dawid_and_skene(said: int) -> None:
    snapshot = snapshot_of(CROWD, N=60, aggregation="dawid_skene")
    row = next(iter(CROWD))
    decided = replace(
        snapshot,
        labels=snapshot.labels | {row: said},
        votes=snapshot.votes | {row: snapshot.votes[row] | {"dora": said}},
        decided_by={row: "dora"},
    )
    assert labels_in_force(decided).values[row] == said


def test_answers_taken_over_are_as_certain_as_in_the_session_they_were_given_in() -> None:
    votes = {1: {"initial": 1}, 2: {"ann": -1}, 3: {"ann": 1, "ben": 1, "cem": -1}}
    first = replace(
        snapshot_of(votes, label_noise=0.1),
        initial_rows=frozenset({1}),
        confidences={2: {"ann": 0.7}},
    )
    second = replace(first, initial_rows=frozenset(votes), answered_rows=frozenset({2, 3}))
    before, after = labels_in_force(first), labels_in_force(second)
    assert before.certainty is not None
    assert after.certainty is not None
    np.testing.assert_array_equal(after.certainty, before.certainty)
    assert after.certainty[1] == 1.0
    assert after.certainty[2] == 0.7


def test_dawid_skene_tells_how_certain_labels_are() -> None:
    snapshot = snapshot_of(CROWD, N=60, aggregation="dawid_skene")
    labels, estimate = labels_in_force(snapshot), dawid_skene(CROWD)
    assert labels.certainty is not None
    for row, chance in estimate.items():
        assert labels.certainty[row] == pytest.approx(min(0.99, max(chance, 1.0 - chance)))


def test_dawid_skene_labels_only_labelled_rows() -> None:
    snapshot = snapshot_of(CROWD, N=60, aggregation="dawid_skene")
    del snapshot.labels[7]
    assert effective_labels(snapshot)[7] == 0


def test_notes_give_number_and_agreement_of_votes() -> None:
    votes = {1: {"ann": 1, "ben": 1}, 2: {"ann": 1, "ben": -1, "cem": -1}, 3: {"ann": 1}}
    snapshot = snapshot_of(votes, overlap=2)
    assert notes_of(snapshot) == [
        "2 of 3 observations have several votes; 50% of the pairs of votes agree. On average an "
        "observation has 2.0 votes.",
        "Labels follow the majority of votes.",
        "An answer is taken as wrong with probability 0.15 (estimated from these votes), so labels "
        "that others contradict count less.",
    ]


def test_notes_tell_what_dawid_skene_changed() -> None:
    snapshot = snapshot_of(CROWD, N=60, aggregation="dawid_skene")
    labels = effective_labels(snapshot)
    changed = int((labels != effective_labels(snapshot_of(CROWD, N=60))).sum())
    assert notes_of(snapshot)[1].endswith(f"; {changed} of them differ from the majority vote.")


@pytest.mark.parametrize(("overlap", "said"), [(1, 0), (2, 1)])
def test_notes_mention_single_votes_only_with_overlap(overlap: int, said: int) -> None:
    snapshot = snapshot_of({1: {"ann": 1}, 2: {"ben": -1}}, overlap=overlap)
    notes = notes_of(snapshot)
    assert notes == ["No observation has several votes, so labelers cannot be compared."][:said]
