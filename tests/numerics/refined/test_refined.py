"""The refined detector: its arrays against scikit-learn's own classifiers, and its promises."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier, IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from svddtune.numerics import FloatArray, LabelArray, Views, belief_basis, choose_cell, fit_atlas
from svddtune.numerics.refined import fit_refined, held_out, refined_basis
from svddtune.numerics.refined.convert import classifier_trees, isolation_trees
from svddtune.numerics.refined.heldout import folds_of
from svddtune.refined import NeighborScore, RefinedDetector, Trees
from svddtune.refined.novelty import neighbor_distances
from svddtune.representation import Representation


def cancer() -> tuple[FloatArray, LabelArray]:
    X, benign = load_breast_cancer(return_X_y=True)
    return X, np.where(benign, 1, -1).astype(np.int8)


def some_labels(y: LabelArray, count: int, seed: int = 0) -> LabelArray:
    labels = np.zeros_like(y)
    rows = np.random.default_rng(seed).choice(len(y), count, replace=False)
    labels[rows] = y[rows]
    return labels


def fitted(count: int = 40) -> tuple[RefinedDetector, FloatArray, LabelArray]:
    X, y = cancer()
    detector = fit_refined(refined_basis(Views(X)), X, some_labels(y, count))
    assert detector is not None
    return detector, X, y


def test_trees_give_the_classifiers_own_probabilities() -> None:
    X, y = cancer()
    forest = ExtraTreesClassifier(30, random_state=1).fit(X.astype(np.float32), y == -1)
    trees = classifier_trees(forest, outlier=1)
    assert np.allclose(trees.mean(X), forest.predict_proba(X)[:, 1], atol=1e-12)


@pytest.mark.parametrize("rows", [5, 300])
def test_isolation_trees_give_the_forests_own_scores(rows: int) -> None:
    X = cancer()[0][:rows]
    forest = IsolationForest(n_estimators=30, random_state=1).fit(X)
    scores = np.exp2(-isolation_trees(forest).mean(X))
    assert np.allclose(scores, -forest.score_samples(X), atol=1e-12)


def test_members_give_the_classifiers_own_probabilities() -> None:
    detector, X, y = fitted()
    labels = some_labels(y, 40)
    rows = np.flatnonzero(labels)
    F = detector.features(X)
    D = detector.representation.columns_out
    outlier = labels[rows] == -1
    linear = LogisticRegression(C=0.1, class_weight="balanced", max_iter=2000).fit(F[rows], outlier)
    assert np.allclose(detector.linear.probability(F), linear.predict_proba(F)[:, 1], atol=1e-9)
    kernel = SVC(class_weight="balanced").fit(F[rows][:, :D], outlier)
    assert np.allclose(detector.kernel.decision(F[:, :D]), kernel.decision_function(F[:, :D]))


def test_score_is_the_classifiers_mean_raised_for_unusual_rows() -> None:
    detector, X, _ = fitted()
    F = detector.features(X)
    D = detector.representation.columns_out
    learned = (
        detector.trees.mean(F)
        + detector.linear.probability(F)
        + detector.kernel.probability(F[:, :D])
    ) / 3
    unusual = 1 / (1 + np.exp(-1.7 * F[:, D:].mean(axis=1)))
    assert np.allclose(detector.score(X), np.clip(learned + 0.3 * (unusual - 0.6), 0, 1))


@pytest.mark.parametrize("seed", range(5))
def test_outliers_of_a_kind_without_labels_are_found_as_often_as_by_the_tuned_svdd(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    inliers = rng.normal(size=(300, 4))
    known = rng.normal(size=(30, 4)) * 0.3 + [6, 0, 0, 0]
    unknown = rng.normal(size=(30, 4)) * 0.3 + [0, 0, -6, 0]
    X = np.concatenate((inliers, known, unknown))
    labels = np.zeros(len(X), dtype=np.int8)
    labels[:30], labels[300:310] = 1, -1
    views = Views(X, "standard")
    atlas = fit_atlas(views, views.gamma_bounds("standard"))
    svdd = atlas.outside(choose_cell(atlas, belief_basis(views.X), labels).cell)
    detector = fit_refined(refined_basis(views), X, labels)
    assert detector is not None
    alarms = np.argsort(-detector.score(X), kind="stable")[: svdd.sum()]
    assert np.sum(alarms >= 330) >= 0.95 * svdd[330:].sum() > 0


def test_neighbor_distances_follow_their_definition() -> None:
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(40, 3))
    rows = np.concatenate((reference[:5], rng.normal(size=(6, 3))))
    found = neighbor_distances(rows, reference, 4)
    for row, (nearest, farther) in zip(rows, found, strict=True):
        distance = np.sort(np.linalg.norm(reference - row, axis=1))
        distance = distance[1:] if distance[0] == 0.0 else distance
        assert np.allclose((nearest, farther), (distance[0], distance[3]))


def test_duplicate_rows_have_finite_scores() -> None:
    rows = np.repeat(np.arange(6.0)[:, None], 5, axis=0)
    score = NeighborScore(Representation.affine("none", np.zeros(1), np.ones(1)), rows, 3, 1e-3)
    assert np.isfinite(score.apply(rows)).all()


def test_a_detector_survives_its_arrays() -> None:
    detector, X, _ = fitted()
    again = RefinedDetector.from_arrays(detector.to_arrays())
    assert (again.score(X) == detector.score(X)).all()
    assert again.labels == 40


def test_two_processes_compute_the_same_numbers(tmp_path: Path) -> None:
    detector, X, _ = fitted()
    save: Any = np.savez  # its stub takes no mapping of names
    save(tmp_path / "detector.npz", **detector.to_arrays())
    program = """
import sys, numpy as np
from sklearn.datasets import load_breast_cancer
from svddtune.refined import RefinedDetector
with np.load(sys.argv[1], allow_pickle=False) as arrays:
    detector = RefinedDetector.from_arrays(arrays)
np.save(sys.argv[2], detector.probability(load_breast_cancer().data))
"""
    out = tmp_path / "probability.npy"
    subprocess.run(
        [sys.executable, "-c", program, tmp_path / "detector.npz", out], check=True, timeout=120
    )
    assert (np.load(out) == detector.probability(X)).all()
    assert (fitted()[0].score(X) == detector.score(X)).all()


def test_the_refined_detector_learns_from_labels() -> None:
    detector, X, y = fitted()
    assert np.mean(detector.predict(X) == y) > 0.9


def test_rows_in_blocks_have_the_scores_of_single_rows() -> None:
    detector, X, _ = fitted()
    single = np.concatenate([detector.score(X[row : row + 1]) for row in range(20)])
    assert np.allclose(single, detector.score(X)[:20], atol=1e-12)


def test_no_detector_is_fitted_while_a_class_has_no_label() -> None:
    X, y = cancer()
    labels = np.where(y == 1, 1, 0).astype(np.int8)
    assert fit_refined(refined_basis(Views(X)), X, labels) is None


def test_affine_changes_of_columns_change_no_verdict() -> None:
    X, y = cancer()
    labels = some_labels(y, 40)
    Z = X * np.logspace(-3, 3, X.shape[1]) + 100.0
    first, second = (fit_refined(refined_basis(Views(data)), data, labels) for data in (X, Z))
    assert first is not None
    assert second is not None
    assert np.mean(first.predict(X) == second.predict(Z)) > 0.98


def test_folds_spread_each_class_evenly() -> None:
    labels = some_labels(cancer()[1], 60)
    fold = folds_of(labels)
    known = labels[labels != 0]
    for label in (1, -1):
        counts = np.bincount(fold[known == label], minlength=5)
        assert counts.max() - counts.min() <= 1


def test_a_held_out_score_does_not_depend_on_its_own_label() -> None:
    X, y = cancer()
    basis, labels = refined_basis(Views(X)), some_labels(y, 30)
    scores, fold = held_out(basis, X, labels), folds_of(labels)
    rows = np.flatnonzero(labels)
    flipped = labels.copy()
    # Exchange the labels of two rows of one fold: the folds' class counts stay as they are.
    inside = np.flatnonzero((fold == 0) & (labels[rows] == 1))[0]
    outside = np.flatnonzero((fold == 0) & (labels[rows] == -1))[0]
    flipped[rows[[inside, outside]]] = [-1, 1]
    if (folds_of(flipped) == fold).all():
        assert np.allclose(held_out(basis, X, flipped)[fold == 0], scores[fold == 0])
    assert ((scores >= 0.0) & (scores <= 1.0)).all()


@pytest.mark.parametrize(
    ("field", "value"), [("left", 0), ("left", 10**6), ("right", 0), ("roots", 10**6)]
)
def test_damaged_trees_are_refused(field: str, value: int) -> None:
    arrays = fitted()[0].trees.to_arrays()
    broken = arrays | {field: arrays[field].copy()}
    broken[field][0] = value
    with pytest.raises(ValueError, match=field):
        Trees.from_arrays(broken)


def test_small_and_degenerate_data_have_finite_scores() -> None:
    rng = np.random.default_rng(0)
    for X in (
        rng.normal(size=(5, 2)),
        np.column_stack((np.ones(30), rng.normal(size=30))),
        np.repeat(rng.normal(size=(4, 3)), 6, axis=0),
        rng.standard_cauchy(size=(50, 2)) ** 5,
    ):
        labels = np.zeros(len(X), dtype=np.int8)
        labels[0], labels[1] = 1, -1
        detector = fit_refined(refined_basis(Views(X)), X, labels)
        assert detector is not None
        assert np.isfinite(detector.score(np.concatenate((X, X * 100.0)))).all()
