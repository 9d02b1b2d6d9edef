"""Alignments other than the method's equal their definition, and illustrate the method."""

import math

import numpy as np
import pytest
from tests.numerics import by_definition
from tests.numerics.cases import blobs, partial_labels

from svddtune.evaluation import illustrations
from svddtune.evaluation.variants import (
    Curve,
    balanced_alignment,
    plain_global_alignment,
    unspread_alignment,
)
from svddtune.numerics import FloatArray, LabelArray, fit, prepare

X, TRUTH = blobs(45, 2, seed=6)
LABELS = partial_labels(TRUTH, 9, seed=2)
K = 4
GAMMAS = (0.4, 3.0, 20.0)
D2 = by_definition.squared_distances(X)
NN = by_definition.nearest(D2, K)


def aligned(entries: FloatArray, target: FloatArray, mask: set[tuple[int, int]]) -> float:
    """Cosine of the masked entries, one by one."""
    KY = sum(entries[i, j] * target[i, j] for i, j in mask)
    KK = sum(entries[i, j] ** 2 for i, j in mask)
    YY = sum(target[i, j] ** 2 for i, j in mask)
    return float(KY / math.sqrt(KK * YY))


def centred(M: FloatArray) -> FloatArray:
    H = np.eye(len(M)) - 1.0 / len(M)
    return np.asarray(H @ M @ H)


def assert_equal(curve: Curve, y: FloatArray, mask: set[tuple[int, int]]) -> None:
    expected = [
        aligned(centred(by_definition.kernel(D2, gamma)), centred(np.outer(y, y)), mask)
        for gamma in GAMMAS
    ]
    np.testing.assert_allclose(curve(np.array(GAMMAS)), expected, rtol=0, atol=1e-4)


def test_unspread_alignment_takes_the_labels_themselves() -> None:
    mask = by_definition.pairs(NN, LABELS, LABELS)
    assert 0 < len(mask) < len(by_definition.pairs(NN, LABELS, spread()))
    assert_equal(unspread_alignment(prepare(X, k=K), X, LABELS, k=K), LABELS.astype(float), mask)


def test_balanced_alignment_divides_each_class_by_its_rows() -> None:
    y = spread().astype(float)
    y[y > 0] /= (y > 0).sum()
    y[y < 0] /= (y < 0).sum()
    mask = by_definition.pairs(NN, LABELS, spread())
    assert_equal(balanced_alignment(prepare(X, k=K), X, LABELS, k=K), y, mask)


def test_plain_global_alignment_sees_labelled_rows_alone() -> None:
    rows = np.flatnonzero(LABELS)
    mask = {(int(i), int(j)) for i in rows for j in rows}
    Y = np.outer(LABELS, LABELS).astype(float)
    found = plain_global_alignment(X, LABELS)(np.array(GAMMAS))
    expected = [aligned(by_definition.kernel(D2, gamma), Y, mask) for gamma in GAMMAS]
    assert found == pytest.approx(expected, abs=1e-12)


def spread() -> LabelArray:
    return by_definition.relabelled(NN, LABELS)


def test_illustration_shows_what_it_claims() -> None:
    shown = illustrations.example()
    y = shown.local.pools.y
    assert (int((shown.labels == 1).sum()), int((shown.labels == -1).sum())) == (2, 1)
    assert (y == 1).sum() == 2 * illustrations.K
    assert 1 < (y == -1).sum() < illustrations.K
    assert shown.global_gamma > 5 * shown.local_gamma
    models = [
        fit(shown.X, gamma=gamma, C=illustrations.C)
        for gamma in (shown.local_gamma, shown.global_gamma)
    ]
    local, over_fitted = ((len(model.rows), int(model.outside(shown.X).sum())) for model in models)
    assert over_fitted[0] > 2 * local[0]
    assert local[1] > 0 == over_fitted[1]


def test_illustrations_draw_every_row_and_the_pairs() -> None:
    shown = illustrations.example()
    left, right = illustrations.draw_relabelling(shown).axes
    assert len(left.lines) == 3 * illustrations.K
    for axes in (left, right):
        assert sum(len(np.asarray(one.get_offsets())) for one in axes.collections) == len(shown.X)
    panels = illustrations.draw_alignments(shown).axes
    assert [len(axes.lines) for axes in panels] == [9, 0, int(shown.local.mask.sum()), 0]
