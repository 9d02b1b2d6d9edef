"""Quality on held-out labels: each label is judged by a detector that was fitted without it."""

from __future__ import annotations

import numpy as np

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import BeliefBasis
from svddtune.numerics.checkpoint import checkpoint
from svddtune.numerics.evidence import Criterion, choose_cell, classes_seen, final_cell
from svddtune.numerics.refined.basis import RefinedBasis
from svddtune.numerics.refined.fit import fit_on_features
from svddtune.numerics.scores import Metric
from svddtune.numerics.types import INLIER, OUTLIER, FloatArray, IndexArray, LabelArray, as_labels

FOLDS = 5


def folds_of(labels: LabelArray, *, folds: int = FOLDS, seed: int = 0) -> IndexArray:
    """Fold of each labelled row, in ascending order of the rows, shape (n,).

    Each class is spread evenly over the folds, at random by `seed`.
    """
    known, rng = labels[labels != 0], np.random.default_rng(seed)
    fold = np.empty(len(known), dtype=np.int64)
    for label in (INLIER, OUTLIER):
        members = rng.permutation(np.flatnonzero(known == label))
        fold[members] = np.arange(len(members)) % folds
    return fold


def held_out(
    basis: RefinedBasis,
    raw: FloatArray,
    labels: LabelArray,
    *,
    folds: int = FOLDS,
    seed: int = 0,
) -> FloatArray:
    """Scores of the labelled rows by refined detectors that do not know their labels.

    Parameters
    ----------
    basis : RefinedBasis
        Of the dataset.
    raw : FloatArray, shape (N, M)
        Its rows in the units of the columns.
    labels : LabelArray, shape (N,)
        The oracle's labels: +1 inlier, -1 outlier, 0 none.
    folds : int
        Fits; at least 2.
    seed : int
        Of folds and trees.

    Returns
    -------
    FloatArray, shape (n,)
        In ascending order of the labelled rows; outliers have 0.5 or more. 0 where the other folds
        have labels of one class only.
    """
    rows = np.flatnonzero(labels)
    features, known = basis.features(raw[rows]), labels[rows]
    fold, scores = folds_of(labels, folds=folds, seed=seed), np.zeros(len(rows))
    for index in range(folds):
        checkpoint()
        out = fold == index
        if not out.any():
            continue
        fitted = fit_on_features(basis, features[~out], known[~out], seed=seed)
        if fitted is not None:
            scores[out] = fitted.score_features(features[out])
    return scores


def held_out_cells(
    atlas: Atlas,
    basis: BeliefBasis,
    labels: LabelArray,
    *,
    criterion: Criterion = "evidence",
    metric: Metric = "kappa",
    folds: int = FOLDS,
    seed: int = 0,
) -> LabelArray:
    """Verdicts on the labelled rows by cells that were chosen without their labels.

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    basis : BeliefBasis
        Of the same data.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    criterion, metric
        As in `choose_cell`.
    folds, seed
        As in `held_out`: the folds are the same.

    Returns
    -------
    LabelArray, shape (n,)
        +1 or -1, in ascending order of the labelled rows. The rows themselves stay in the data that
        the cells are fitted to: SVDD knows no labels.
    """
    rows = np.flatnonzero(labels)
    fold, verdicts = folds_of(labels, folds=folds, seed=seed), np.ones(len(rows), dtype=np.int8)
    for index in np.unique(fold):
        out = rows[fold == index]
        others = labels.copy()
        others[out] = 0
        if classes_seen(others) == "no_label":
            continue
        choice = choose_cell(atlas, basis, others, criterion=criterion, metric=metric)
        cell = final_cell(atlas, choice, others)
        verdicts[fold == index] = as_labels(atlas.outside_at(out)[cell])
    return verdicts
