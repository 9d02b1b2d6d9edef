"""Rules that the related work names: by definition, on odd data, and by stored values."""

import math

import numpy as np
import pytest
from tests.evaluation.baselines import definitions
from tests.numerics.cases import blobs, wdbc
from tests.numerics.label_free.definitions import distance, others
from tests.numerics.test_degenerate_input import ODD

from svddtune.evaluation.baselines import RULES, labelled_choice, random_labels
from svddtune.evaluation.baselines.counter_examples import (
    ENLARGEMENT,
    counter_example_gamma,
    counter_examples,
    skewed_outlier_gamma,
    skewed_outliers,
)
from svddtune.evaluation.baselines.cross_validation import FOLDS, GAMMAS, NUS, one_class_choice
from svddtune.evaluation.baselines.enclosing import (
    edged_support_gamma,
    enclosing_gamma,
    extent_gamma,
)
from svddtune.evaluation.methods import METHODS
from svddtune.numerics import FloatArray, c_from_nu, fit, score
from svddtune.numerics.label_free import HEURISTICS
from svddtune.numerics.label_free.artificial import ARTIFICIAL_ROWS
from svddtune.numerics.label_free.curves import gamma_grid
from svddtune.numerics.label_free.edges import neighbor_count

X, TRUTH = blobs(90, 3, seed=7)
EDGE = definitions.shifted(X, neighbor_count(len(X)))[0]
INTERIOR = [row for row in range(len(X)) if row not in EDGE]
C = c_from_nu(0.05, len(X))
GRID = gamma_grid(X)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_extent_gives_the_farthest_rows_the_similarity_delta() -> None:
    farthest2 = max(float(((a - b) ** 2).sum()) for a in X for b in X)
    gamma = extent_gamma(X)
    assert gamma is not None
    assert math.exp(-gamma * farthest2) == pytest.approx(1 / (90 * 0.95 + 1))


def test_enclosing_rule_compares_mean_distances_to_the_boundary() -> None:
    def criterion(gamma: float) -> float:
        model = fit(X, gamma=gamma, C=C)
        norm = math.sqrt(model.center_norm2)
        rho = (1 + model.center_norm2 - model.R2) / 2
        inner = (1 + model.center_norm2 - model.distance2(X)) / 2
        inward = (inner - rho) / norm / (1 - rho / norm)
        return float(inward[INTERIOR].mean() - inward[EDGE].mean())

    values = [criterion(float(gamma)) for gamma in GRID]
    assert enclosing_gamma(X, rng=rng()) == pytest.approx(GRID[int(np.argmax(values))])


def test_edged_support_prefers_support_vectors_on_the_edge() -> None:
    shares = []
    for gamma in GRID:
        model = fit(X, gamma=float(gamma), C=C)
        rows = model.rows[model.alphas > 1e-7]
        shares.append(sum(int(row) in EDGE for row in rows) / len(rows))
    best = max(place for place, share in enumerate(shares) if share >= max(shares) - 1e-12)
    assert edged_support_gamma(X, rng=rng()) == pytest.approx(GRID[best])


def test_counter_examples_lie_beyond_the_nearest_edge_row() -> None:
    made = counter_examples(X)
    K = neighbor_count(len(X))
    length = np.mean(
        [np.mean([distance(X[i], X[j]) for j in others(X, i)[:K]])
         for i in EDGE]
    )  # fmt: skip
    for row in INTERIOR:
        nearest = min(EDGE, key=lambda b: distance(X[row], X[b]))
        far = distance(X[row], X[nearest])
        expected = X[row] + (far + length) * (X[nearest] - X[row]) / far
        assert made[row] == pytest.approx(expected)
    _, moved, _ = definitions.shifted(X, K)
    np.testing.assert_allclose(made[EDGE], moved)


def test_skewed_outliers_reach_farther_on_the_side_of_the_tail() -> None:
    rows = np.stack((rng().exponential(size=400), rng().normal(size=400)), axis=1)
    made = skewed_outliers(rows, 20_000, rng=rng())
    span = np.ptp(rows, axis=0)
    below = (rows.min(axis=0) - made.min(axis=0)) / span
    above = (made.max(axis=0) - rows.max(axis=0)) / span
    assert below + above == pytest.approx(2 * ENLARGEMENT, abs=0.01)
    assert above[0] > 3 * below[0]
    assert above[1] == pytest.approx(below[1], abs=0.1)
    z = (rows[:, 0] - rows[:, 0].mean()) / rows[:, 0].std()
    g = float((z**3).mean())
    assert above[0] == pytest.approx(ENLARGEMENT * (1 + g / (1 + g)), abs=0.01)


def least_error(outliers: FloatArray) -> float:
    """gamma with the least mean of rejected rows, as support vectors, and accepted outliers."""
    errors = []
    for gamma in GRID:
        model = fit(X, gamma=float(gamma), C=C)
        errors.append((model.alphas > 1e-7).sum() / len(X) + (~model.outside(outliers)).mean())
    return float(GRID[int(np.argmin(errors))])


def test_artificial_outliers_choose_the_least_mean_error() -> None:
    assert counter_example_gamma(X, rng=rng()) == pytest.approx(least_error(counter_examples(X)))
    drawn = skewed_outliers(X, ARTIFICIAL_ROWS, rng=rng())
    assert skewed_outlier_gamma(X, rng=rng()) == pytest.approx(least_error(drawn))


def test_one_class_cross_validation_by_definition() -> None:
    found = one_class_choice(X, rng=rng())
    assert found is not None
    parts = [sorted(part) for part in np.array_split(rng().permutation(len(X)), FOLDS)]
    best = (math.inf, 0.0, 0.0)
    for gamma in gamma_grid(X, GAMMAS).tolist():
        for nu in NUS:
            rejected, radius = 0, 0.0
            for part in parts:
                kept = np.delete(X, part, axis=0)
                model = fit(kept, gamma=gamma, C=c_from_nu(nu, len(kept)))
                rejected += int(model.outside(X[part]).sum())
                radius += math.sqrt(model.R2) / FOLDS
            value = math.hypot(rejected / len(X), 1 - radius)
            if value < best[0] - 1e-9:
                best = (value, gamma, nu)
    assert (1 - found.score, found.gamma, found.nu) == pytest.approx(best, abs=1e-6)


def test_labelled_cross_validation_judges_rows_that_were_not_fitted() -> None:
    labels = random_labels(TRUTH, n=40, rng=rng())
    found = labelled_choice(X, labels, rng=rng())
    assert found is not None
    inliers, outliers = np.flatnonzero(labels == 1), np.flatnonzero(labels == -1)
    assert len(outliers) > 1
    draws = rng()
    parts_in = np.array_split(draws.permutation(inliers), FOLDS)
    parts_out = np.array_split(draws.permutation(outliers), FOLDS)
    predicted = np.zeros_like(labels)
    for own, other in zip(parts_in, parts_out, strict=True):
        kept = np.delete(X, [*own, *other], axis=0)
        model = fit(kept, gamma=found.gamma, C=c_from_nu(found.nu, len(kept)))
        for row in (*own, *other):
            predicted[row] = -1 if model.outside(X[[row]])[0] else 1
    assert found.score == pytest.approx(float(score(labels, predicted)))
    assert found.score > 0.5


def test_labelled_cross_validation_without_outliers_takes_the_first_cell() -> None:
    labels = np.where(np.arange(90) < 20, 1, 0).astype(np.int8)
    found = labelled_choice(X, labels, rng=rng())
    assert found is not None
    assert (found.nu, found.score) == (NUS[0], 0.0)
    assert labelled_choice(X, np.zeros_like(labels), rng=rng()) is None


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("case", ODD)
def test_rule_copes_with_odd_data(name: str, case: str) -> None:
    rows = ODD[case]
    choice = RULES[name].choose(rows, rng())
    if choice is not None:
        assert 0 < choice.gamma < math.inf
        assert choice.predictions.shape == (len(rows),)


def test_every_rule_of_the_product_is_a_method() -> None:
    assert set(HEURISTICS) <= set(METHODS)
    assert set(RULES) <= set(METHODS)


STORED = {
    "extent": (0.45988172282211315, 0.0544959128065395),
    "enclosing": (0.31622776601683794, 0.0544959128065395),
    "edged_support": (1.0, 0.0544959128065395),
    "counter_examples": (1.7782794100389228, 0.0544959128065395),
    "skewed_outliers": (0.1, 0.0544959128065395),
    "one_class": (0.5623413251903491, 0.2724795640326976),
}
"""gamma and C on Wisconsin, computed by this implementation: later changes must be meant."""


@pytest.mark.parametrize("name", STORED)
def test_choice_on_wisconsin_is_the_stored_one(name: str) -> None:
    choice = RULES[name].choose(wdbc()[0], np.random.default_rng(0))
    assert choice is not None
    assert (choice.gamma, choice.C) == pytest.approx(STORED[name], rel=1e-5)
