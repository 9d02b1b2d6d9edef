"""Committee, evidence and knowledge gradient, against loops and differences."""

import numpy as np
import pytest
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    FloatArray,
    belief_basis,
    believe,
    choose_cell,
    disagreement,
    fit_atlas,
    form_committee,
    knowledge_committee,
    knowledge_gains,
    pick,
    prepare,
    rank_by_gain,
    score,
    weigh,
)
from svddtune.numerics.belief import AMPLITUDE, BIAS_SD
from svddtune.numerics.evidence import EXPECTED_WEIGHT, Evidence
from svddtune.numerics.gain import COMMITTEE_SIZE, SHARPNESS

X, y = blobs(120, 3, seed=51)
LABELS = partial_labels(y, 14, seed=6)
ATLAS = fit_atlas(X, prepare(X, k=5).gamma_bounds, count=5, cells=8)
BASIS = belief_basis(X)
BELIEF = believe(BASIS, X, LABELS)
EVIDENCE = weigh(ATLAS, BELIEF, LABELS)
COMMITTEE = knowledge_committee(ATLAS, EVIDENCE)


def soft_kappa(cell: int, q: FloatArray) -> float:
    """Cohen's kappa of a cell against probabilities of "outlier", from its definition."""
    N, B = len(q), ATLAS.outside(cell)
    agree = (q[B].sum() + (1.0 - q[~B]).sum()) / N
    chance = B.mean() * q.mean() + (1.0 - B.mean()) * (1.0 - q.mean())
    return float((agree - chance) / (1.0 - chance))


def covariances() -> FloatArray:
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    root = BELIEF.root.astype(np.float64)
    return BIAS_SD**2 + AMPLITUDE**2 * np.exp(-D / BASIS.length) - root.T @ root


def slopes() -> FloatArray:
    """D_c by central differences, shape (N, T)."""
    q, step = BELIEF.probability, 1e-5
    D = np.zeros((len(q), len(COMMITTEE.cells)))
    for x in range(len(q)):
        up, down = q.copy(), q.copy()
        up[x] += step
        down[x] -= step
        D[x] = [(soft_kappa(c, up) - soft_kappa(c, down)) / (2.0 * step) for c in COMMITTEE.cells]
    D -= (D @ COMMITTEE.weights)[:, None]
    return np.asarray(D * (q * (1.0 - q))[:, None])


def gain(Sigma: FloatArray, D: FloatArray) -> FloatArray:
    q = BELIEF.probability
    value = np.zeros(len(q))
    for x in np.flatnonzero(LABELS == 0):
        noise = 1.0 / (q[x] * (1.0 - q[x]))
        for c, weight in enumerate(COMMITTEE.weights):
            value[x] += weight * (Sigma[x] @ D[:, c]) ** 2 / (Sigma[x, x] + noise)
    return value


def test_evidence_by_definition() -> None:
    rows = np.flatnonzero(LABELS)
    for cell in range(len(ATLAS)):
        predicted = np.where(ATLAS.outside(cell), -1, 1).astype(np.int8)
        on_labels = float(score(LABELS[rows], predicted[rows]))
        assert EVIDENCE.on_labels[cell] == pytest.approx(on_labels)
        expected = soft_kappa(cell, BELIEF.probability)
        assert EVIDENCE.expected[cell] == pytest.approx(expected, abs=1e-5)
    np.testing.assert_allclose(
        EVIDENCE.combined, EVIDENCE.on_labels + EXPECTED_WEIGHT * EVIDENCE.expected
    )


def test_with_all_labels_the_evidence_is_the_truth() -> None:
    evidence = weigh(ATLAS, believe(BASIS, X, y), y)
    np.testing.assert_allclose(evidence.expected, evidence.on_labels, atol=1e-6)
    choice = choose_cell(ATLAS, X, y, basis=BASIS)
    assert evidence.on_labels[choice.cell] == evidence.on_labels.max()
    assert (choice.labels, choice.reason) == (len(X), "both_classes")


def test_the_middle_of_the_ties_is_chosen() -> None:
    value = np.zeros(len(ATLAS))
    ties = [3, 10, 11, 30]
    value[ties] = 1.0
    for criterion in ("evidence", "labels"):
        choice = pick(ATLAS, Evidence(value, value, value), LABELS, criterion=criterion)  # type: ignore[arg-type]
        assert (choice.cell, choice.plateau) == (11, 4)
        assert (choice.gamma, choice.C) == (ATLAS.gamma[11], ATLAS.C[11])
        assert choice.outliers == ATLAS.outliers[11]


def test_criterion_labels_needs_both_classes() -> None:
    on_labels, combined = np.zeros(len(ATLAS)), np.zeros(len(ATLAS))
    on_labels[4], combined[20] = 1.0, 1.0
    evidence = Evidence(on_labels, combined, combined)
    assert pick(ATLAS, evidence, LABELS, criterion="labels").cell == 4
    assert pick(ATLAS, evidence, LABELS, criterion="evidence").cell == 20
    for keep, reason in ((1, "no_outlier"), (-1, "no_inlier"), (0, "no_label")):
        labels = np.where(LABELS == keep, LABELS, 0).astype(np.int8)
        choice = pick(ATLAS, evidence, labels, criterion="labels")
        assert (choice.cell, choice.reason) == (20, reason)
    with pytest.raises(ValueError, match="criterion is 'best'"):
        pick(ATLAS, evidence, LABELS, criterion="best")  # type: ignore[arg-type]


def test_committee_by_loops() -> None:
    value = EVIDENCE.combined
    weights = {int(c): np.exp(SHARPNESS * value[c]) for c in ATLAS.voters}
    heaviest = sorted(weights, key=lambda c: (-value[c], c))[:COMMITTEE_SIZE]
    assert sorted(COMMITTEE.cells.tolist()) == sorted(heaviest)
    total = sum(weights[c] for c in heaviest)
    for cell, weight in zip(COMMITTEE.cells.tolist(), COMMITTEE.weights, strict=True):
        assert weight == pytest.approx(weights[cell] / total)


def test_disagreement_by_loops() -> None:
    committee = form_committee(ATLAS, EVIDENCE.on_labels, sharpness=20.0)
    assert committee.cells.tolist().sort() == ATLAS.voters.tolist().sort()
    for row in range(0, len(X), 7):
        p = sum(
            float(weight) * bool(ATLAS.outside(int(cell))[row])
            for cell, weight in zip(committee.cells, committee.weights, strict=True)
        )
        assert disagreement(ATLAS, committee)[row] == pytest.approx(p * (1.0 - p), abs=1e-6)


def test_gains_by_differences_and_dense_matrices() -> None:
    gains = knowledge_gains(ATLAS, BASIS, BELIEF, COMMITTEE)
    expected = gain(covariances(), slopes())
    free = LABELS == 0
    np.testing.assert_allclose(
        gains.value[free], expected[free], rtol=2e-2, atol=1e-3 * expected.max()
    )
    assert gains.value[free].argmax() == expected[free].argmax()


def test_later_places_assume_the_earlier_ones_measured() -> None:
    gains = knowledge_gains(ATLAS, BASIS, BELIEF, COMMITTEE)
    candidates = np.flatnonzero(LABELS == 0)
    rng = np.random.default_rng(0)
    positions, values = rank_by_gain(gains, BASIS, BELIEF, X, candidates, reserve=6, rng=rng)
    Sigma, D, left = covariances(), slopes(), candidates.tolist()
    for position, value in zip(positions.tolist(), values, strict=True):
        best = gain(Sigma, D)
        assert value == pytest.approx(best[position], rel=2e-2)
        assert best[position] >= 0.98 * best[left].max()
        left.remove(position)
        noise = 1.0 / (BELIEF.probability[position] * (1.0 - BELIEF.probability[position]))
        Sigma = Sigma - np.outer(Sigma[position], Sigma[position]) / (
            Sigma[position, position] + noise
        )


def test_ranking_holds_every_candidate_once_and_keeps_its_beginning() -> None:
    gains = knowledge_gains(ATLAS, BASIS, BELIEF, COMMITTEE)
    candidates = np.flatnonzero(LABELS == 0)

    def ranked(reserve: int) -> list[int]:
        rng = np.random.default_rng(1)
        found = rank_by_gain(gains, BASIS, BELIEF, X, candidates, reserve=reserve, rng=rng)
        return found[0].tolist()

    everything = ranked(1000)
    assert sorted(everything) == candidates.tolist()
    for reserve in (1, 2, 16):
        assert ranked(reserve) == everything[:reserve]


def test_ties_are_drawn() -> None:
    Z = np.repeat(np.array([[0.0, 0.0], [0.2, 0.1], [1.0, 1.0]]), 12, axis=0)
    labels = np.zeros(36, dtype=np.int8)
    labels[[0, 35]] = 1, -1
    atlas, basis = fit_atlas(Z, (0.1, 100.0), count=3, cells=5), belief_basis(Z)
    belief = believe(basis, Z, labels)
    committee = knowledge_committee(atlas, weigh(atlas, belief, labels))
    if len(committee.cells) == 0:
        pytest.skip("no cell separates these rows")
    gains = knowledge_gains(atlas, basis, belief, committee)
    firsts = {
        int(rank_by_gain(gains, basis, belief, Z, np.flatnonzero(labels == 0), reserve=1,
                         rng=np.random.default_rng(seed))[0][0])
        for seed in range(60)
    }  # fmt: skip
    assert len(firsts) >= 8
