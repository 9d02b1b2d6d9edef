"""The baselines written down as they read: loops, no shortcuts, for a few rows."""

import math

import numpy as np

from svddtune.numerics import FloatArray, LabelArray, fit, score


def distance(a: FloatArray, b: FloatArray) -> float:
    return math.sqrt(float(((a - b) ** 2).sum()))


def others(X: FloatArray, i: int) -> list[int]:
    return sorted((j for j in range(len(X)) if j != i), key=lambda j: (distance(X[i], X[j]), j))


def dfn(X: FloatArray, gamma: float, power: int) -> float:
    total = 0.0
    for i in range(len(X)):
        order = others(X, i)
        near, far = distance(X[i], X[order[0]]), distance(X[i], X[order[-1]])
        total += math.exp(-gamma * near**power) - math.exp(-gamma * far**power)
    return 2.0 * total / len(X)


def qms(X: FloatArray, K: int) -> tuple[float, float]:
    N = len(X)
    S = sorted(sum(distance(X[i], X[j]) for j in others(X, i)[:K]) / K for i in range(N))
    D = [S[m + 1] - S[m] for m in range(N - 1)]
    curvature = [(D[m + 1] - D[m]) / math.sqrt(1.0 + D[m] ** 2) for m in range(N - 2)]
    change = curvature.index(max(curvature)) + 1
    nearest = [distance(X[i], X[others(X, i)[0]]) for i in range(N)]
    low = min(nearest)
    q = nearest.index(low)
    high = sum(distance(X[q], X[i]) for i in range(N) if i != q) / (N - 1)
    return -math.log(low / high) / (high**2 - low**2), 1.0 / (N - change)


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
