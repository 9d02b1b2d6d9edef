"""The method written down as it reads: full matrices, loops, no shortcuts.

Slow on purpose. Every function follows the formula of its name, so that it can be checked by eye
and the package can be checked against it.
"""

import math

import numpy as np
from scipy.optimize import minimize

from svddtune.numerics import FloatArray, LabelArray


def squared_distances(X: FloatArray) -> FloatArray:
    N = len(X)
    return np.array([[float(((X[i] - X[j]) ** 2).sum()) for j in range(N)] for i in range(N)])


def kernel(D2: FloatArray, gamma: float) -> FloatArray:
    return np.exp(-gamma * D2)


def nearest(D2: FloatArray, k: int) -> list[list[int]]:
    N = len(D2)
    return [
        [i, *sorted((j for j in range(N) if j != i), key=lambda j: (D2[i, j], j))][:k]
        for i in range(N)
    ]


def reverse(nn: list[list[int]]) -> list[set[int]]:
    return [{m for m in range(len(nn)) if i in nn[m]} for i in range(len(nn))]


def mutual(nn: list[list[int]]) -> list[set[int]]:
    return [set(near) & back for near, back in zip(nn, reverse(nn), strict=True)]


def counts(nn: list[list[int]], labels: LabelArray) -> tuple[list[int], list[int]]:
    N, snn = len(nn), mutual(nn)
    n_in = [sum(labels[m] == 1 and x in nn[m] for m in range(N)) for x in range(N)]
    n_out = [sum(labels[m] == -1 and x in snn[m] for m in range(N)) for x in range(N)]
    return n_in, n_out


def relabelled(nn: list[list[int]], labels: LabelArray) -> LabelArray:
    y = np.zeros(len(nn), dtype=np.int8)
    for x, (a, b) in enumerate(zip(*counts(nn, labels), strict=True)):
        if a + b > 0:
            y[x] = 1 if a / (a + b) > 0.5 else -1
    return y


def pairs(nn: list[list[int]], labels: LabelArray, y: LabelArray) -> set[tuple[int, int]]:
    rnn, snn = reverse(nn), mutual(nn)
    mask = set()
    for i in range(len(nn)):
        if labels[i] == 1:
            mask |= {(i, j) for j in nn[i] if y[j] != 0}
        if labels[i] == -1:
            mask |= {(i, j) for j in snn[i] if y[j] == -1}
            mask |= {(i, j) for j in set(nn[i]) - rnn[i] if y[j] == 1}
    return mask


def alignment(
    D2: FloatArray, labels: LabelArray, *, k: int, gamma: float, y: LabelArray | None = None
) -> float:
    """Local alignment; y' follows from the labels unless it is given."""
    nn = nearest(D2, k)
    relabels = relabelled(nn, labels) if y is None else y
    signs = relabels.astype(float)
    K = kernel(D2, gamma)
    r, m = K.mean(axis=1), K.mean()
    Kc = K - r[:, None] - r[None, :] + m
    Yc = np.outer(signs - signs.mean(), signs - signs.mean())
    mask = sorted(pairs(nn, labels, relabels))
    KY = sum(Kc[i, j] * Yc[i, j] for i, j in mask)
    KK = sum(Kc[i, j] ** 2 for i, j in mask)
    YY = sum(Yc[i, j] ** 2 for i, j in mask)
    if 1e-20 * len(mask) >= KK or 1e-20 * len(mask) >= YY:
        return 0.0
    return float(KY / math.sqrt(KK * YY))


def tau(D2: FloatArray, labels: LabelArray, row: int, *, k: int, gamma: float) -> float:
    now = alignment(D2, labels, k=k, gamma=gamma)
    changes = []
    for label in (1, -1):
        after = labels.copy()
        after[row] = label
        changes.append(abs(now - alignment(D2, after, k=k, gamma=gamma)))
    return min(changes)


def printed_tau(D2: FloatArray, labels: LabelArray, row: int, *, k: int, gamma: float) -> float:
    """tau with L'' = L' and x: the label of x is spread to no other row."""
    now = alignment(D2, labels, k=k, gamma=gamma)
    changes = []
    for label in (1, -1):
        after, y = labels.copy(), relabelled(nearest(D2, k), labels)
        after[row] = y[row] = label
        changes.append(abs(now - alignment(D2, after, k=k, gamma=gamma, y=y)))
    return min(changes)


def svdd(K: FloatArray, C: float) -> tuple[FloatArray, FloatArray]:
    """Alphas of SVDD by a general solver, and each row's squared distance to the centre."""
    N = len(K)
    solution = minimize(
        lambda a: a @ K @ a,
        np.full(N, 1.0 / N),
        jac=lambda a: 2.0 * K @ a,
        bounds=[(0.0, C)] * N,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1.0, "jac": lambda a: np.ones(N)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    a = np.asarray(solution.x)
    return a, np.asarray(1.0 - 2.0 * K @ a + a @ K @ a)


def rows_outside(K: FloatArray, C: float, tolerance: float = 1e-5) -> list[int]:
    """Rows farther from the centre than a row whose alpha is below C."""
    a, distance2 = svdd(K, C)
    R2 = max(
        (d for d, alpha in zip(distance2, a, strict=True) if alpha < C * (1 - 1e-6)), default=0
    )
    return [i for i in range(len(K)) if distance2[i] > R2 + tolerance]


def c_upper_bound(K: FloatArray) -> float:
    """Smallest C at which no row is outside, by bisection."""
    low, high = 1.0 / len(K), 1.0
    for _ in range(20):
        C = math.sqrt(low * high)
        if rows_outside(K, C):
            low = C
        else:
            high = C
    return high
