"""DFN and QMS written down as they read: loops, no shortcuts, for a few rows."""

import math

from svddtune.numerics import FloatArray


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
