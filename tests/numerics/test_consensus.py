"""Dawid and Skene's estimate against its definition, and against the majority."""

import random
import sys

import numpy as np
import pytest

from svddtune.numerics import DawidSkeneUnavailable, FloatArray, dawid_skene
from svddtune.numerics.consensus import ITERATIONS

Votes = dict[int, dict[str, int]]


def crowd(N: int, reliability: dict[str, float], each: int, seed: int) -> tuple[Votes, list[int]]:
    """Votes of `each` random labelers on every row, and the truth."""
    rng = random.Random(seed)
    truth = [-1 if rng.random() < 0.3 else 1 for _ in range(N)]
    votes = {
        row: {
            name: label if rng.random() < reliability[name] else -label
            for name in rng.sample(sorted(reliability), each)
        }
        for row, label in enumerate(truth)
    }
    return votes, truth


def majority(votes: Votes) -> dict[int, int]:
    """What most labelers say."""
    return {row: int(np.sign(sum(of_row.values()))) for row, of_row in votes.items()}


def by_definition(votes: Votes) -> FloatArray:
    """Chance of "inlier" of every row, by the EM algorithm from the shares of votes on."""
    rows, names = sorted(votes), sorted({name for of_row in votes.values() for name in of_row})
    said = np.zeros((len(rows), len(names), 2))
    for r, row in enumerate(rows):
        for name, verdict in votes[row].items():
            said[r, names.index(name), int(verdict > 0)] = 1.0
    chances = said.sum(axis=1) / said.sum(axis=(1, 2))[:, None]
    for _ in range(ITERATIONS):
        prior = chances.mean(axis=0)
        # errors[l, s, t]: how likely labeler l says s where t is true.
        errors = np.maximum(np.einsum("rls,rt->lst", said, chances), 1e-10)
        errors /= errors.sum(axis=1, keepdims=True)
        likelihood = np.einsum("rls,lst->rt", said, np.log(errors)) + np.log(prior)
        chances = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
    return np.asarray(chances[:, 1])


@pytest.mark.parametrize("seed", range(4))
def test_estimate_equals_em_algorithm_by_definition(seed: int) -> None:
    votes, _ = crowd(60, {"ann": 0.95, "ben": 0.8, "cem": 0.7, "dan": 0.6}, 1 + seed % 3, seed)
    votes[60] = {"ann": 1, "ben": 1}
    chances = by_definition(votes)
    estimate = dawid_skene(votes)
    for row, chance in enumerate(chances):
        if abs(chance - 0.5) > 0.05:
            assert (estimate[row] > 0.5) == (chance < 0.5)


def test_reliable_labelers_outweigh_unreliable_majority() -> None:
    reliability = {"ann": 0.97, "ben": 0.97, "cem": 0.55, "dan": 0.55, "eva": 0.55}
    votes, truth = crowd(300, reliability, 5, seed=0)
    most, estimate = majority(votes), dawid_skene(votes)
    by_most = np.mean([most[row] == label for row, label in enumerate(truth)])
    by_estimate = np.mean([(estimate[row] > 0.5) == (label < 0) for row, label in enumerate(truth)])
    assert by_most < 0.9
    assert by_estimate > 0.95


def test_estimate_does_not_depend_on_the_order_of_votes() -> None:
    votes, _ = crowd(40, {"ann": 0.9, "ben": 0.8, "cem": 0.6}, 2, seed=5)
    rng = random.Random(1)
    shuffled = {
        row: dict(rng.sample(sorted(of_row.items()), len(of_row)))
        for row, of_row in rng.sample(sorted(votes.items()), len(votes))
    }
    assert dawid_skene(shuffled) == dawid_skene(votes)


def test_row_with_single_vote_keeps_it() -> None:
    assert dawid_skene({3: {"ann": 1}, 1: {"ben": -1, "cem": 0}, 2: {"ben": 0}}) == {1: 1.0, 3: 0.0}
    assert dawid_skene({}) == {}


def test_a_row_with_even_chances_has_no_label() -> None:
    assert dawid_skene({1: {"ann": 1, "ben": -1}}) == {}


def test_votes_of_one_class_give_labels_of_that_class() -> None:
    assert dawid_skene({1: {"ann": -1, "ben": -1}, 2: {"ann": -1}}) == {1: 1.0, 2: 1.0}


def test_missing_crowd_kit_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)
    with pytest.raises(DawidSkeneUnavailable, match=r'pip install "svddtune\[dawid-skene\]"'):
        dawid_skene({1: {"ann": 1}})
