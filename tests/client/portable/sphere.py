"""Spheres over representations of every shape."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import OneClassSVM

from svddtune.client.types import FloatArray
from svddtune.numerics.representation import REPRESENTATIONS, fit_representation
from svddtune.representation import Representation


@dataclass(frozen=True)
class FittedSphere:
    """The parts of a fitted SVDD, and distances by their definition."""

    representation: Representation
    gamma: float
    support_vectors: FloatArray
    alphas: FloatArray
    center_norm2: float
    threshold: float
    feature_names: tuple[str, ...] = ()

    def decision(self, X: FloatArray) -> Any:
        differences = self.representation.apply(X)[:, None, :] - self.support_vectors[None, :, :]
        kernel = np.exp(-self.gamma * (differences**2).sum(axis=2))
        return self.threshold - (1 - 2 * kernel @ self.alphas + self.center_norm2)


def fit_sphere(representation: Representation, X: FloatArray, *, nu: float = 0.2) -> FittedSphere:
    """SVDD through a one-class SVM of the same dual."""
    Z = representation.apply(X)
    gamma = 1 / max(np.square(Z - np.median(Z, axis=0)).sum(axis=1).mean(), 1e-300)
    # About their middle, because libsvm expands squares and so loses digits far from 0.
    svm = OneClassSVM(gamma=gamma, nu=nu, tol=1e-10).fit(Z - Z.mean(axis=0))
    alphas = svm.dual_coef_[0] / (nu * len(X))
    alphas = alphas / alphas.sum()
    vectors = Z[svm.support_]
    differences = vectors[:, None, :] - vectors[None, :, :]
    similar = np.exp(-gamma * (differences**2).sum(axis=2)) @ alphas
    center = float(alphas @ similar)
    free = alphas < 1 / (nu * len(X)) * (1 - 1e-8)
    distance2 = 1 - 2 * similar + center
    threshold = float(distance2[free].max() if free.any() else distance2.min()) + 1e-7
    return FittedSphere(representation, gamma, vectors, alphas, center, threshold)


def mixed(X: FloatArray) -> Representation:
    """Maps for every second column, scales for the others, and a rotation to fewer columns."""
    M = X.shape[1]
    maps, D = fit_representation(X, "ranks"), max(1, M - 1)
    mapped = np.arange(M) % 2 == 0
    spread = np.ptp(X, axis=0)
    return Representation(
        "mixed",
        np.where(mapped, 0.0, X.min(axis=0)),
        np.where(mapped | (spread == 0.0), 1.0, spread),
        tuple(k if one else np.empty(0) for k, one in zip(maps.knots, mapped, strict=True)),
        tuple(v if one else np.empty(0) for v, one in zip(maps.values, mapped, strict=True)),
        np.random.default_rng(0).normal(size=(M, D)),
    )


SHAPES: dict[str, Callable[[FloatArray], Representation]] = {
    **{kind: partial(fit_representation, kind=kind) for kind in REPRESENTATIONS},
    "mixed": mixed,
}
"""Makers of representations: each kind, and one with everything that a representation may have."""


def sample_rows(seed: int, *, n: int = 60, M: int = 4) -> FloatArray:
    """Rows of different units: one column far from 0, one heavy-tailed, one with few values."""
    rng = np.random.default_rng(seed)
    X: FloatArray = rng.normal(size=(n, M)) * np.resize([1.0, 10.0, 1e3, 1e-3], M)
    X[:, 0] += 1e9
    if M > 1:
        X[:, 1] = np.sinh(X[:, 1] / 3)
    if M > 2:
        X[:, 2] = np.round(X[:, 2] / 1e3)
    return X


def probes(X: FloatArray, seed: int) -> FloatArray:
    """Training rows, rows between and around them, far and extreme rows."""
    rng = np.random.default_rng(seed + 1000)
    pairs = rng.integers(len(X), size=(len(X), 2))
    between = X[pairs[:, 0]] + rng.random((len(X), 1)) * (X[pairs[:, 1]] - X[pairs[:, 0]])
    spread = np.ptp(X, axis=0) + 1e-300
    around = X + rng.normal(size=X.shape) * spread * 0.3
    far = X[:10] + rng.normal(size=(10, X.shape[1])) * spread * 1e3
    extreme = np.where(rng.random((10, X.shape[1])) < 0.5, X[:10], rng.choice([-1e90, 1e90]))
    found: FloatArray = np.vstack([X, between, around, far, extreme])
    return found
