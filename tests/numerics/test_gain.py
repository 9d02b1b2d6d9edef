"""The knowledge gradient against its formula with the full covariance of all rows."""

import numpy as np
import pytest
from tests.numerics import dense_belief
from tests.numerics.cases import blobs, partial_labels

from svddtune.numerics import (
    FloatArray,
    IndexArray,
    belief_basis,
    believe,
    default_gamma_bounds,
    disagreement,
    fit_atlas,
    form_committee,
    knowledge_committee,
    knowledge_gains,
    prepare,
    rank_by_gain,
    suggest,
    weigh,
)
from svddtune.numerics.gain import gradient

X, y = blobs(110, 3, seed=12)
N = len(X)
PREP = prepare(X, k=5)
ATLAS = fit_atlas(X, default_gamma_bounds(X), count=6, cells=6)
BASIS = belief_basis(X)
LABELS = partial_labels(y, 12, seed=2)
BELIEF = believe(BASIS, LABELS)
EVIDENCE = weigh(ATLAS, BELIEF, LABELS)
COMMITTEE = knowledge_committee(ATLAS, EVIDENCE)
GAINS = knowledge_gains(ATLAS, BASIS, BELIEF, COMMITTEE)


def kappa(cell: int, q: FloatArray) -> float:
    B = ATLAS.outside(cell).astype(float)
    P, S, found = q.sum(), B.sum(), B @ q
    return float(2 * (N * found - P * S) / (P * (N - S) + (N - P) * S))


def kappa_slopes(q: FloatArray) -> FloatArray:
    """Central differences of the committee's kappas, less their weighted mean: (N, T)."""
    slopes = np.empty((N, len(COMMITTEE.cells)))
    for x in range(N):
        up, down = q.copy(), q.copy()
        up[x], down[x] = q[x] + 1e-5, q[x] - 1e-5
        slopes[x] = [(kappa(cell, up) - kappa(cell, down)) / 2e-5 for cell in COMMITTEE.cells]
    return slopes - (slopes @ COMMITTEE.weights)[:, None]


def gains_by_definition(Sigma: FloatArray, q: FloatArray) -> FloatArray:
    """Fall of the variance of the kappa differences by a measurement of each f_x."""
    slope = q * (1.0 - q)
    D = kappa_slopes(q) * slope[:, None]
    gains = np.zeros(N)
    for x in np.flatnonzero(slope):
        after = Sigma - np.outer(Sigma[:, x], Sigma[x]) / (Sigma[x, x] + 1.0 / slope[x])
        falls = np.einsum("xt,xz,zt->t", D, Sigma - after, D, optimize=True)
        gains[x] = falls @ COMMITTEE.weights
    return gains


def ask(
    *, exclude: IndexArray, open_rows: IndexArray, reserve: int = 16, seed: int = 0
) -> IndexArray:
    return suggest(
        PREP, X, LABELS, k=5, strategy="knowledge_gradient", sample=0, atlas=ATLAS, basis=BASIS,
        rng=np.random.default_rng(seed), exclude=exclude, open_rows=open_rows, reserve=reserve,
    ).rows  # fmt: skip


NONE = np.empty(0, dtype=np.int64)


def test_committee_weighs_the_leading_voters() -> None:
    best = sorted(ATLAS.voters, key=lambda cell: -EVIDENCE.combined[cell])[:12]
    assert sorted(COMMITTEE.cells) == sorted(best)
    raw = np.exp(10.0 * EVIDENCE.combined[COMMITTEE.cells])
    np.testing.assert_allclose(COMMITTEE.weights, raw / raw.sum())


def test_disagreement_is_the_weighted_vote_variance() -> None:
    committee = form_committee(ATLAS, EVIDENCE.on_labels, sharpness=20.0)
    assert len(committee.cells) == len(ATLAS.voters)
    assert committee.weights.sum() == pytest.approx(1.0)
    pairs = list(zip(committee.cells, committee.weights, strict=True))
    p = sum(weight * ATLAS.outside(int(cell)) for cell, weight in pairs)
    np.testing.assert_allclose(disagreement(ATLAS, committee), p * (1.0 - p), atol=1e-6)


def test_gradient_equals_numerical_slope_of_kappa() -> None:
    q = BELIEF.probability
    slopes = gradient(ATLAS, COMMITTEE, q, np.arange(N))
    np.testing.assert_allclose(slopes, kappa_slopes(q), atol=1e-6)
    np.testing.assert_allclose(slopes @ COMMITTEE.weights, 0.0, atol=1e-9)


def test_gain_equals_expected_decrease_of_variance() -> None:
    q, _, Sigma = dense_belief.probability(X, LABELS)
    expected = gains_by_definition(Sigma, q)
    np.testing.assert_allclose(GAINS.value, expected, rtol=2e-3, atol=1e-3 * expected.max())


def test_first_row_has_the_largest_gain() -> None:
    rows = ask(exclude=NONE, open_rows=NONE)
    U = np.flatnonzero(LABELS == 0)
    assert GAINS.value[rows[0]] == pytest.approx(GAINS.value[U].max(), rel=1e-6)


def test_later_places_assume_answers_of_earlier_places() -> None:
    U = np.flatnonzero(LABELS == 0)
    positions, values = rank_by_gain(
        GAINS, BASIS, BELIEF, U, reserve=6, rng=np.random.default_rng(0)
    )
    q, _, Sigma = dense_belief.probability(X, LABELS)
    placed: list[int] = []
    for position, value in zip(positions, values, strict=True):
        gains = gains_by_definition(Sigma, q)
        assert gains[position] == pytest.approx(np.delete(gains, placed).max(), rel=1e-2)
        assert value == pytest.approx(gains[position], rel=1e-2)
        placed.append(int(position))
        noise = 1.0 / (q[position] * (1.0 - q[position]))
        column = Sigma[:, position]
        Sigma = Sigma - np.outer(column, column) / (Sigma[position, position] + noise)


def test_open_rows_count_as_measured() -> None:
    waiting = ask(exclude=NONE, open_rows=NONE)[:3]
    q, f, _ = dense_belief.probability(X, LABELS)
    measured = np.concatenate((np.flatnonzero(LABELS), waiting))
    gains = gains_by_definition(dense_belief.posterior(dense_belief.prior(X), f, measured), q)
    gains[waiting] = 0.0
    first = ask(exclude=NONE, open_rows=waiting)[0]
    assert gains[first] == pytest.approx(gains.max(), rel=1e-2)


@pytest.mark.parametrize("reserve", [1, 16, 500])
def test_labelled_excluded_and_open_rows_are_never_ranked(reserve: int) -> None:
    U = np.flatnonzero(LABELS == 0)
    rows = ask(exclude=U[:30], open_rows=U[30:40], reserve=reserve)
    allowed = U[40:]
    assert len(set(rows.tolist())) == len(rows) == min(reserve, len(allowed))
    assert set(rows.tolist()) <= set(allowed.tolist())


def test_ranking_of_one_place_is_prefix_of_longer_ranking() -> None:
    for seed in range(5):
        many = ask(exclude=NONE, open_rows=NONE, seed=seed)
        assert ask(exclude=NONE, open_rows=NONE, seed=seed, reserve=1)[0] == many[0]


def test_ties_are_settled_by_the_generator() -> None:
    twins = np.repeat(X[LABELS == 0][:1], 6, axis=0)
    Z = np.vstack((X[LABELS != 0], twins))
    labels = np.concatenate((LABELS[LABELS != 0], np.zeros(6, dtype=np.int8)))
    prep, atlas = prepare(Z, k=3), fit_atlas(Z, default_gamma_bounds(Z), count=3, cells=4)
    basis = belief_basis(Z)
    firsts = {
        int(
            suggest(
                prep, Z, labels, k=3, strategy="knowledge_gradient", sample=0, atlas=atlas,
                basis=basis, rng=np.random.default_rng(seed),
            ).rows[0]
        )
        for seed in range(60)
    }  # fmt: skip
    assert firsts == set(np.flatnonzero(labels == 0).tolist())
