"""scikit-learn's trees as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, IsolationForest

from svddtune.numerics.types import FloatArray
from svddtune.refined import Trees


def classifier_trees(forest: ExtraTreesClassifier, outlier: int) -> Trees:
    """Trees whose leaves hold the share of the class number `outlier` among their rows."""

    def shares(tree: Any) -> FloatArray:
        counts = tree.value[:, 0, :]
        return np.asarray(counts[:, outlier] / counts.sum(axis=1))

    return _join([one.tree_ for one in forest.estimators_], shares)


def isolation_trees(forest: IsolationForest) -> Trees:
    """Trees whose leaves hold path lengths over the expected one (Liu et al. 2008, equation 1)."""
    expected = float(_expected_length(np.array([forest.max_samples_]))[0])

    def lengths(tree: Any) -> FloatArray:
        depth = np.zeros(tree.node_count)
        for node in range(tree.node_count):  # a node's number is greater than its parent's
            for below in (tree.children_left[node], tree.children_right[node]):
                if below >= 0:
                    depth[below] = depth[node] + 1.0
        return (depth + _expected_length(tree.n_node_samples)) / max(expected, 1.0)

    return _join([one.tree_ for one in forest.estimators_], lengths)


def _expected_length(rows: NDArray[Any]) -> FloatArray:
    """Mean path length of an unsuccessful search in a binary tree of `rows` rows."""
    n = np.maximum(np.asarray(rows, dtype=np.float64), 2.0)
    length = 2.0 * (np.log(n - 1.0) + np.euler_gamma) - 2.0 * (n - 1.0) / n
    length = np.where(np.asarray(rows) == 2, 1.0, length)
    return np.where(np.asarray(rows) < 2, 0.0, length)


def _join(trees: Sequence[Any], value: Callable[[Any], FloatArray]) -> Trees:
    counts = np.array([tree.node_count for tree in trees])
    roots = np.concatenate(([0], np.cumsum(counts)[:-1]))
    inner = np.concatenate([tree.children_left for tree in trees]) >= 0
    numbers = np.arange(counts.sum())
    offset = np.repeat(roots, counts)
    left, right = (
        np.where(inner, np.concatenate([getattr(tree, name) for tree in trees]) + offset, numbers)
        for name in ("children_left", "children_right")
    )
    return Trees(
        feature=np.where(inner, np.concatenate([tree.feature for tree in trees]), -1).astype(
            np.int32
        ),
        threshold=np.where(inner, np.concatenate([tree.threshold for tree in trees]), 0.0),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        value=np.where(inner, 0.0, np.concatenate([value(tree) for tree in trees])),
        roots=roots.astype(np.int32),
    )
