"""Sets that need no file: generated ones of known structure, and those scikit-learn ships.

None of them took part in a choice of the product's defaults, so they show what those are worth
elsewhere. scikit-learn's breast cancer data are left out: WDBC and WBC of the benchmark are drawn
from the same patients. Where classes become outliers, the docstring says which, and how many rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine, make_moons

from svddtune.numerics import FloatArray, IndexArray, LabelArray, as_labels

Made = tuple[FloatArray, LabelArray]


def clusters(rng: np.random.Generator) -> Made:
    """Three round clusters of different width; uniform noise outside them, 6 %."""
    centers, widths = np.array([[0.0, 0.0], [6.0, 1.0], [2.0, 6.0]]), np.array([0.5, 0.8, 1.1])
    which = rng.integers(3, size=564)
    inliers = centers[which] + widths[which, None] * rng.standard_normal((564, 2))
    noise = rng.uniform(-5.0, 11.0, (2000, 2))
    far = np.linalg.norm(noise[:, None] - centers, axis=2) / widths
    return _shuffled(inliers, noise[(far > 3.5).all(axis=1)][:36], rng)


def ring(rng: np.random.Generator) -> Made:
    """A ring; outliers in its hole and around it, 7 %."""
    inliers = _on_circle(rng, 465, 1.0, 0.08)
    hole = rng.uniform(-0.5, 0.5, (15, 2))
    return _shuffled(inliers, np.concatenate((hole, _on_circle(rng, 20, 1.6, 0.1))), rng)


def moons(rng: np.random.Generator) -> Made:
    """Two half moons and eight columns without meaning; outliers between the moons, 5 %."""
    inliers, _ = make_moons(570, noise=0.07, random_state=int(rng.integers(1 << 31)))
    noise = rng.uniform([-1.5, -1.0], [2.5, 1.5], (2000, 2))
    near = np.linalg.norm(noise[:, None] - inliers, axis=2).min(axis=1)
    shapes = np.concatenate((inliers, noise[near > 0.3][:30]))
    X = np.concatenate((shapes, 0.3 * rng.standard_normal((600, 8))), axis=1)
    return _shuffled(X[:570], X[570:], rng)


def units(rng: np.random.Generator) -> Made:
    """Columns in units from 1e-3 to 1e5, two of them log-normal; outliers off in a pair, 4 %."""
    scale = 10.0 ** np.array([-3, -1, 0, 2, 4, 5])
    X = rng.standard_normal((700, 6))
    off = rng.permuted(np.tile(np.arange(6), (28, 1)), axis=1)[:, :2]
    X[672 + np.arange(28)[:, None], off] = rng.choice([-1, 1], (28, 2)) * rng.uniform(3, 5, (28, 2))
    X[:, 4:] = np.exp(X[:, 4:])
    return _shuffled((X * scale)[:672], (X * scale)[672:], rng)


def heavy_tails(rng: np.random.Generator) -> Made:
    """Student's t with 2 degrees of freedom; outliers shifted in three of eight columns, 5 %."""
    X = rng.standard_t(2, (800, 8))
    X[760:, :3] += 7.0
    return _shuffled(X[:760], X[760:], rng)


def correlated(rng: np.random.Generator) -> Made:
    """Ten columns of two factors; outliers have the same columns without the correlation, 5 %."""
    mix = rng.standard_normal((2, 10))
    inliers = rng.standard_normal((570, 2)) @ mix + 0.15 * rng.standard_normal((570, 10))
    alone = rng.permuted(inliers, axis=0)[:30]
    return _shuffled(inliers, alone, rng)


def high_dimension(rng: np.random.Generator) -> Made:
    """Sixty columns, of which six tell; outliers shifted there by two deviations, 8 %."""
    X = rng.standard_normal((500, 60))
    X[460:, :6] += 2.0
    return _shuffled(X[:460], X[460:], rng)


def densities(rng: np.random.Generator) -> Made:
    """A dense and a sparse cluster in 4 columns; outliers just off the dense one, 5 %."""
    dense = 0.2 * rng.standard_normal((380, 4))
    sparse = np.array([6.0, 0, 0, 0]) + 1.5 * rng.standard_normal((190, 4))
    direction = rng.standard_normal((30, 4))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    shell = rng.uniform(1.1, 1.6, (30, 1)) * direction
    return _shuffled(np.concatenate((dense, sparse)), shell, rng)


def counts(rng: np.random.Generator) -> Made:
    """Twelve counts, mostly 0; outliers have four times the rate in four columns, 6 %."""
    rates = np.tile(rng.uniform(0.1, 1.2, 12), (600, 1))
    for row in range(564, 600):
        rates[row, rng.choice(12, 4, replace=False)] *= 4.0
    X = rng.poisson(rates).astype(np.float64)
    return _shuffled(X[:564], X[564:], rng)


def many(rng: np.random.Generator) -> Made:
    """A cluster in 5 columns; outliers are 30 % of the rows, in two clusters of their own."""
    inliers = rng.standard_normal((350, 5))
    one = np.array([3.0, 3, 0, 0, 0]) + 0.5 * rng.standard_normal((75, 5))
    two = np.array([0.0, 0, -4, 2, 0]) + rng.standard_normal((75, 5))
    return _shuffled(inliers, np.concatenate((one, two)), rng)


def iris(rng: np.random.Generator) -> Made:
    """Setosa and versicolor; outliers are 10 of virginica."""
    return _classes(load_iris(return_X_y=True), (0, 1), 10, rng)


def wine(rng: np.random.Generator) -> Made:
    """The first two classes; outliers are 12 of the third."""
    return _classes(load_wine(return_X_y=True), (0, 1), 12, rng)


def digit(rng: np.random.Generator) -> Made:
    """The optical digit 4; outliers are 12 of the others."""
    return _classes(load_digits(return_X_y=True), (4,), 12, rng)


def digits(rng: np.random.Generator) -> Made:
    """The optical digits 0 to 4; outliers are 60 of 5 to 9."""
    return _classes(load_digits(return_X_y=True), (0, 1, 2, 3, 4), 60, rng)


def diabetes(rng: np.random.Generator) -> Made:
    """Patients; outliers are the tenth of them whose diabetes progressed most."""
    X, progress = load_diabetes(return_X_y=True)
    worst = progress > np.quantile(progress, 0.9)
    return _shuffled(X[~worst], X[worst], rng)


SETS: dict[str, Callable[[np.random.Generator], Made]] = {
    "Clusters": clusters,
    "Ring": ring,
    "Moons": moons,
    "Units": units,
    "HeavyTails": heavy_tails,
    "Correlated": correlated,
    "HighDimension": high_dimension,
    "Densities": densities,
    "Counts": counts,
    "Many": many,
    "Iris": iris,
    "Wine": wine,
    "Digit": digit,
    "Digits": digits,
    "Diabetes": diabetes,
}
"""Name -> maker; generated sets first."""


def about(name: str) -> str:
    """What a set of `SETS` is, in one sentence."""
    return " ".join((SETS[name].__doc__ or "").split())


@cache
def make(name: str) -> Made:
    """Rows in their own units, and truth; the same every time.

    Parameters
    ----------
    name : str
        Of `SETS`.

    Returns
    -------
    X : FloatArray, shape (N, M)
    y : LabelArray, shape (N,)
        +1 inlier, -1 outlier.
    """
    return SETS[name](np.random.default_rng([104, *name.encode()]))


def _on_circle(rng: np.random.Generator, n: int, radius: float, width: float) -> FloatArray:
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    at = radius + width * rng.standard_normal(n)
    return np.stack((at * np.cos(angle), at * np.sin(angle)), axis=1)


def _classes(
    data: tuple[FloatArray, IndexArray],
    inliers: tuple[int, ...],
    outliers: int,
    rng: np.random.Generator,
) -> Made:
    """Rows of some classes, and so many of the others."""
    X, classes = data
    own = np.isin(classes, inliers)
    drawn = rng.choice(np.flatnonzero(~own), outliers, replace=False)
    return _shuffled(X[own], X[drawn], rng)


def _shuffled(inliers: FloatArray, outliers: FloatArray, rng: np.random.Generator) -> Made:
    X = np.concatenate((inliers, outliers))
    order = rng.permutation(len(X))
    return X[order], as_labels(order >= len(inliers))
