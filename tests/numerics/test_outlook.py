"""The outlook: a ranking has it without further work, and its ranking does not change."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    LEAST_LABELS,
    IndexArray,
    LabelArray,
    Ranked,
    Situation,
    Strategy,
    Suggestion,
    belief_basis,
    believe,
    default_gamma_bounds,
    fit_atlas,
    outlook,
    prepare,
    prospect_of,
    share_by_belief,
    suggest,
    weigh,
)

X, y = blobs(130, 3, seed=17)
PREP = prepare(X, k=5)
ATLAS = fit_atlas(X, default_gamma_bounds(X), count=6, cells=6)
BASIS = belief_basis(X)
SOME = partial_labels(y, 14, seed=1)


def suggested(labels: LabelArray, strategy: Strategy, **more: Any) -> Suggestion:
    settings: dict[str, Any] = {"k": 5, "sample": 0, "rng": np.random.default_rng(0)}
    return suggest(
        PREP, X, labels, strategy=strategy, atlas=ATLAS, basis=BASIS, **(settings | more)
    )


@pytest.mark.parametrize("strategy", ["mixed", "knowledge_gradient"])
def test_ranking_by_gain_has_the_outlook_of_its_labels(strategy: Strategy) -> None:
    certainty = np.where(SOME == -1, 0.8, 1.0)
    exclude = np.flatnonzero(SOME == 0)[:40]
    found = suggested(SOME, strategy, certainty=certainty, exclude=exclude).outlook
    assert found is not None
    again = outlook(ATLAS, BASIS, SOME, gain=True, exclude=exclude, certainty=certainty)
    assert again is not None
    assert found.share == again.share
    assert found.share == share_by_belief(BASIS, believe(BASIS, SOME, certainty=certainty), SOME)
    assert found.gain == pytest.approx(again.gain)
    assert found.gain is not None
    assert found.gain > 0.0


@pytest.mark.parametrize("strategy", ["lama", "random", "disagreement"])
def test_other_strategies_have_the_share_and_no_gain(strategy: Strategy) -> None:
    found = suggested(SOME, strategy).outlook
    assert found == outlook(ATLAS, BASIS, SOME, gain=False)
    assert found is not None
    assert found.gain is None


def test_strategy_of_another_package_has_the_share_and_no_gain() -> None:
    def first(situation: Situation) -> Ranked:
        rows: IndexArray = np.flatnonzero(situation.labels == 0)[: situation.reserve]
        return Ranked(rows, np.zeros(len(rows)))

    found = suggest(
        PREP, X, SOME, k=5, sample=0, rng=np.random.default_rng(0), strategy=first, atlas=ATLAS,
        basis=BASIS,
    ).outlook  # fmt: skip
    assert found == outlook(ATLAS, BASIS, SOME, gain=False)


def test_other_metric_has_no_gain() -> None:
    found = suggested(SOME, "mixed", metric="f1").outlook
    assert found is not None
    assert found.gain is None


def test_reserve_below_the_labels_ahead_has_no_gain() -> None:
    found = suggested(SOME, "knowledge_gradient", reserve=3).outlook
    assert found is not None
    assert found.gain is None


@pytest.mark.parametrize(
    "labels",
    [np.zeros_like(y), np.where(y == 1, y, 0), partial_labels(y, LEAST_LABELS - 2, seed=1)],
    ids=["none", "one class", "too few"],
)
def test_too_few_labels_have_no_outlook(labels: LabelArray) -> None:
    assert suggested(labels.astype(np.int8), "mixed").outlook is None
    assert outlook(ATLAS, BASIS, labels.astype(np.int8), gain=True) is None


def test_least_number_of_labels_has_an_outlook() -> None:
    assert suggested(partial_labels(y, LEAST_LABELS, seed=1), "mixed").outlook is not None


def test_atlas_whose_cells_separate_no_rows_has_no_prospect() -> None:
    whole = [cell for cell in range(len(ATLAS)) if cell not in set(ATLAS.voters.tolist())]
    assert whole
    alone = replace(
        ATLAS, scaling=ATLAS.scaling[whole], gamma=ATLAS.gamma[whole], C=ATLAS.C[whole],
        R2=ATLAS.R2[whole], support_vectors=ATLAS.support_vectors[whole],
        packed=ATLAS.packed[whole],
    )  # fmt: skip
    belief = believe(BASIS, SOME)
    evidence = weigh(alone, belief, SOME)
    assert prospect_of(alone, BASIS, belief, evidence, np.flatnonzero(SOME == 0)) is None
    found = outlook(alone, BASIS, SOME, gain=True)
    assert found is not None
    assert found.gain is None
