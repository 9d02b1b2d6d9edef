"""ADS and the upper bound written down as they read: loops, no shortcuts, for a few rows."""

import math

import numpy as np
from tests.numerics.label_free.definitions import distance, others

from svddtune.numerics import FloatArray, LabelArray, fit, score


def shifted(X: FloatArray, K: int) -> tuple[list[int], FloatArray, FloatArray]:
    """Edge rows, pseudo-outliers, pseudo-targets; no two rows may be equal."""
    edge, directions, lengths, targets = [], [], [], []
    for i in range(len(X)):
        near = others(X, i)[:K]
        v = [(X[i] - X[j]) / distance(X[i], X[j]) for j in near]
        n = np.sum(v, axis=0)
        norm = math.sqrt(float(n @ n))
        if norm < 1e-12 * K:
            continue
        if sum(float(w @ n) >= 0.0 for w in v) / K >= 0.9:
            edge.append(i)
            directions.append(n / norm)
            lengths.append(sum(distance(X[i], X[j]) for j in near) / K)
        projections = [-float((X[j] - X[i]) @ n) / norm for j in near]
        positive = [p for p in projections if p > 0.0]
        if positive:
            targets.append(X[i] - min(positive) * n / norm)
    outliers = X[edge] + np.mean(lengths) * np.array(directions)
    return edge, outliers, np.array(targets)


def upper_bound(
    X: FloatArray, y: LabelArray, gammas: list[float], Cs: list[float]
) -> tuple[float, float, float]:
    best = (-2.0, 0.0, 0.0)
    for gamma in gammas:
        for C in Cs:
            if C < 1.0 / len(X):
                continue
            outside = fit(X, gamma=gamma, C=C).outside(X)
            kappa = float(score(y, np.where(outside, np.int8(-1), np.int8(1))))
            if kappa > best[0] + 1e-12:
                best = (kappa, gamma, C)
    return best
