"""Detectors that need no label but the share of outliers, and classifiers of labelled rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import skew
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svddtune.numerics import BoolArray, FloatArray, LabelArray, as_labels

NEIGHBOURS = 20
"""Of the local outlier factor: scikit-learn's default."""


def isolation_forest(X: FloatArray, seed: int) -> FloatArray:
    """Score by isolation, shape (N,): the larger, the more unusual."""
    return -np.asarray(IsolationForest(random_state=seed).fit(X).score_samples(X))


def local_outlier_factor(X: FloatArray, seed: int) -> FloatArray:
    """Score by the density of a row against that of its neighbours, shape (N,)."""
    found = LocalOutlierFactor(n_neighbors=min(NEIGHBOURS, len(X) - 1)).fit(X)
    return -np.asarray(found.negative_outlier_factor_)


def ecod(X: FloatArray, seed: int) -> FloatArray:
    """Score by empirical tail probabilities, shape (N,).

    Notes
    -----
    Li et al. 2022, *ECOD: Unsupervised Outlier Detection Using Empirical Cumulative Distribution
    Functions*. The score is the largest of three sums over the columns of -log of a tail
    probability: the left tail, the right tail, and the tail on the side of the column's skewness.
    Own code, because PyOD brings a compiler (numba).
    """
    N = len(X)
    ordered = np.sort(X, axis=0)
    left, right = np.empty_like(X), np.empty_like(X)
    for j in range(X.shape[1]):
        left[:, j] = np.searchsorted(ordered[:, j], X[:, j], side="right") / N
        right[:, j] = 1.0 - np.searchsorted(ordered[:, j], X[:, j], side="left") / N
    u_left, u_right = -np.log(left), -np.log(right)
    # The skewness of a constant column is 0/0; its tails are 1 on both sides.
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        towards_left = np.nan_to_num(skew(X, axis=0)) < 0
    u_skew = np.where(towards_left, u_left, u_right)
    return np.asarray(np.max([u.sum(axis=1) for u in (u_left, u_right, u_skew)], axis=0))


LABEL_FREE: dict[str, Callable[[FloatArray, int], FloatArray]] = {
    "isolation_forest": isolation_forest,
    "local_outlier_factor": local_outlier_factor,
    "ecod": ecod,
}
"""Name -> score of all rows, from rows and seed."""


def most_unusual(scores: FloatArray, count: int) -> LabelArray:
    """Call the rows with the `count` largest scores outliers, shape (N,)."""
    outside = np.zeros(len(scores), dtype=np.bool_)
    outside[np.argsort(-scores, kind="stable")[:count]] = True
    return as_labels(outside)


CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "random_forest": lambda seed: RandomForestClassifier(random_state=seed),
    "gradient_boosting": lambda seed: GradientBoostingClassifier(random_state=seed),
    "logistic_regression": lambda seed: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
    "gaussian_process": lambda seed: make_pipeline(
        StandardScaler(),
        GaussianProcessClassifier(ConstantKernel() * RBF(), random_state=seed),
    ),
}
"""Name -> scikit-learn's classifier with its default settings, from a seed."""


def classify(name: str, X: FloatArray, labels: LabelArray, seed: int) -> LabelArray:
    """Decide about all rows by a classifier that is fitted to the labelled ones.

    Parameters
    ----------
    name : str
        Of `CLASSIFIERS`.
    X : FloatArray, shape (N, M)
        Observations, finite.
    labels : LabelArray, shape (N,)
        0 where a row has no label. With labels of one class only, every row is of that class.
    seed : int
        Of the classifier.

    Returns
    -------
    LabelArray, shape (N,)
        +1 inlier, -1 outlier.
    """
    rows: BoolArray = labels != 0
    known = labels[rows]
    if len(np.unique(known)) < 2:
        return np.full(len(X), known[0] if len(known) else 1, dtype=np.int8)
    with warnings.catch_warnings():
        # Length scales at a bound of their range say nothing about the decisions.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = CLASSIFIERS[name](seed).fit(X[rows], known)
        return np.asarray(found.predict(X), dtype=np.int8)
