"""Data of the tests: sets that scikit-learn ships, and generated ones."""

import numpy as np
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from svddtune.numerics import FloatArray, LabelArray


def bundled_set(name: str) -> tuple[FloatArray, LabelArray]:
    """X and y of a set that scikit-learn ships or that is generated, in [0, 1]^M.

    Parameters
    ----------
    name
        ``Wisconsin``, ``Wine``, ``Iris``, ``Digits`` or ``Blobs``.
    """
    if name == "Wisconsin":
        return wdbc()
    if name == "Blobs":
        return blobs(150, 3, seed=11)
    load, inliers, outlier = {
        "Wine": (load_wine, (0, 1), 2),
        "Iris": (load_iris, (1, 2), 0),
        "Digits": (load_digits, (3,), 8),
    }[name]
    bunch = load()
    # The inliers are whole classes; the outliers are the first ten rows of another class.
    rows = np.concatenate(
        (
            np.flatnonzero(np.isin(bunch.target, inliers)),
            np.flatnonzero(bunch.target == outlier)[:10],
        )
    )
    X = bunch.data[rows]
    y = np.where(bunch.target[rows] == outlier, -1, 1).astype(np.int8)
    span = np.ptp(X, axis=0)
    # Some pixels of the digits are the same in all images.
    return (X - X.min(axis=0)) / np.where(span > 0, span, 1.0), y


def wdbc() -> tuple[FloatArray, LabelArray]:
    """Benign rows and the first ten malignant ones, min-max scaled: 367 x 30."""
    bunch = load_breast_cancer()
    malignant = np.flatnonzero(bunch.target == 0)[:10]
    rows = np.sort(np.concatenate((np.flatnonzero(bunch.target == 1), malignant)))
    X, y = bunch.data[rows], np.where(bunch.target[rows] == 1, 1, -1).astype(np.int8)
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


def blobs(N: int, M: int, seed: int, *, outliers: float = 0.1) -> tuple[FloatArray, LabelArray]:
    """Two clusters with uniform outliers, in [0, 1]^M."""
    rng = np.random.default_rng(seed)
    n_out = max(1, int(outliers * N))
    centers = rng.uniform(0.3, 0.7, (2, M))
    inliers = centers[rng.integers(2, size=N - n_out)] + 0.05 * rng.normal(size=(N - n_out, M))
    X = np.clip(np.vstack((inliers, rng.uniform(0.0, 1.0, (n_out, M)))), 0.0, 1.0)
    y = np.repeat(np.array([1, -1], dtype=np.int8), (N - n_out, n_out))
    order = rng.permutation(N)
    return X[order], y[order]


def partial_labels(y: LabelArray, n: int, seed: int) -> LabelArray:
    """Labels of n random rows, both classes among them where there are two."""
    rng = np.random.default_rng(seed)
    labels = np.zeros_like(y)
    for label in (1, -1):
        rows = np.flatnonzero(y == label)
        labels[rng.choice(rows, min(len(rows), n // 2), replace=False)] = label
    return labels


@st.composite
def lattices(draw: st.DrawFn, *, min_rows: int = 2, max_rows: int = 16) -> FloatArray:
    """Rows with small integer coordinates: duplicates and tied distances everywhere."""
    N, M = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, 3))
    cells = draw(st.lists(st.integers(0, 3), min_size=N * M, max_size=N * M))
    return np.array(cells, dtype=np.float64).reshape(N, M)


@st.composite
def labelled(draw: st.DrawFn) -> tuple[FloatArray, LabelArray, int]:
    """A small dataset, some labels of both classes, and a locality."""
    N, M = draw(st.integers(5, 24)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    X = rng.normal(size=(N, M))
    X = np.round(X) if draw(st.booleans()) else X
    labels = rng.choice(np.array([-1, 0, 1], dtype=np.int8), N, p=(0.2, 0.5, 0.3))
    labels[:3] = (1, -1, 0)
    return X, labels, draw(st.integers(1, 7))
