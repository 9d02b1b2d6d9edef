"""The method with full matrices and no shortcuts, with which the numerical core is compared."""

import numpy as np
from sklearn.svm import OneClassSVM

from svddtune.numerics import BoolArray, FloatArray, IndexArray, LabelArray, coarse_grid


def prepare(X: FloatArray, k: int, gammas: FloatArray) -> tuple[IndexArray, FloatArray]:
    """Distances from differences, a full sort, and N x N kernels: nn (N, k), means (N, Q)."""
    D2 = np.array([np.square(X - x).sum(axis=1) for x in X])
    order = D2.copy()
    np.fill_diagonal(order, -1.0)
    nn = np.argsort(order, axis=1, kind="stable")[:, :k]
    return nn, np.column_stack([np.exp(-gamma * D2).mean(axis=1) for gamma in gammas])


def suggest(
    X: FloatArray, nn: IndexArray, labels: LabelArray, bounds: tuple[float, float], rows: IndexArray
) -> int:
    """Find gamma_opt on a grid of N x N kernels, then score every candidate afresh."""
    member = np.zeros((len(X), len(X)), dtype=bool)
    np.put_along_axis(member, nn, True, axis=1)
    D2 = np.array([np.square(X - x).sum(axis=1) for x in X])

    def alignment(K: FloatArray, labels: LabelArray) -> float:
        n_in = member[labels == 1].sum(axis=0)
        n_out = (member & member.T)[labels == -1].sum(axis=0)
        y = np.where(n_in > n_out, 1.0, np.where(n_out > 0, -1.0, 0.0))
        inlier, outlier = (labels == 1)[:, None], (labels == -1)[:, None]
        mask = inlier & member & (y != 0)
        mask |= outlier & member & member.T & (y == -1)
        mask |= outlier & member & ~member.T & (y == 1)
        i, j = np.nonzero(mask)
        r = K.mean(axis=1)
        Kc = K[i, j] - r[i] - r[j] + r.mean()
        Yc = (y[i] - y.mean()) * (y[j] - y.mean())
        norm = np.sqrt((Kc @ Kc) * (Yc @ Yc))
        return float(Kc @ Yc / norm) if norm > 0.0 else 0.0

    kernels = {gamma: np.exp(-gamma * D2) for gamma in coarse_grid(bounds)}
    gamma = max(kernels, key=lambda g: alignment(kernels[g], labels))
    K, now = kernels[gamma], alignment(kernels[gamma], labels)
    best, chosen = -1.0, -1
    for row in rows:
        changes = []
        for label in (1, -1):
            after = labels.copy()
            after[row] = label
            changes.append(abs(now - alignment(K, after)))
        if min(changes) > best:
            best, chosen = min(changes), int(row)
    return chosen


def fit_cells(X: FloatArray, gamma: float, C_UB: float, steps: int) -> FloatArray:
    """Bisect for the upper bound of C, then fit every cell on its own."""
    N = len(X)
    low, high = 1.0 / N, 1.0
    for _ in range(10):
        C = 0.5 * (low + high)
        svm = OneClassSVM(gamma=gamma, nu=max(1 / N, 1 / (N * C)), tol=1e-6).fit(X)
        none_outside = bool((svm.decision_function(X) > -1e-5).all())
        low, high = (low, C) if none_outside else (C, high)
    grid = np.linspace(1.0 / N, C_UB, steps)[1:]
    return np.array(
        [OneClassSVM(gamma=gamma, nu=1 / (N * C), tol=1e-6).fit(X).predict(X) for C in grid]
    )


def knowledge_gradient(X: FloatArray, labels: LabelArray, outside: BoolArray) -> int:
    """Gaussian process over all rows, then the gain of every row from the N x N covariance.

    `outside` has shape (cells, N).
    """
    N, rows = len(X), np.flatnonzero(labels)
    D = np.sqrt(np.array([np.square(X - x).sum(axis=1) for x in X]))
    K = 1.0 + 4.0 * np.exp(-D / (4.0 * np.median(np.sort(D, axis=1)[:, 10])))
    k, target, f = K[np.ix_(rows, rows)], labels[rows] == -1, np.full(len(rows), -2.0)
    for _ in range(100):  # Newton steps to the mode, halved
        p = 1.0 / (1.0 + np.exp(-f))
        W = p * (1.0 - p)
        a = np.linalg.solve(np.eye(len(rows)) + W[:, None] * k, W * (f + 2.0) + target - p)
        f = 0.5 * (f + k @ a - 2.0)
    W = 1.0 / (2.0 + np.exp(-f) + np.exp(f))
    Sigma = K - K[:, rows] @ np.linalg.solve(k + np.diag(1.0 / W), K[rows])
    mean = -2.0 + K[:, rows] @ (target - 1.0 / (1.0 + np.exp(-f)))
    q = 1.0 / (1.0 + np.exp(-mean / np.sqrt(1.0 + np.pi * np.diag(Sigma) / 8.0)))
    q[rows] = target

    B = outside.astype(np.float64)
    P, S = q.sum(), B.sum(axis=1)
    numerator, denominator = 2.0 * (N * (B @ q) - P * S), P * (N - S) + (N - P) * S
    on_labels = np.array([_kappa(labels[rows] == -1, cell) for cell in outside[:, rows]])
    value = on_labels + 3.0 * numerator / denominator
    value[(S == 0) | (S > 0.6 * N)] = -np.inf
    leading = np.argsort(-value)[:12]
    weights = np.exp(10.0 * (value[leading] - value[leading[0]]))
    weights /= weights.sum()
    n, d, s = numerator[leading], denominator[leading], S[leading]
    slopes = B[leading].T * (2.0 * N / d) - 2.0 * s / d - n * (N - 2.0 * s) / d**2
    slopes -= (slopes @ weights)[:, None]
    noise = 1.0 / np.maximum(q * (1.0 - q), 1e-9)
    links = Sigma @ (slopes * (q * (1.0 - q))[:, None])
    gains = np.square(links) @ weights / (np.diag(Sigma) + noise)
    gains[rows] = -1.0
    return int(gains.argmax())


def _kappa(truth: BoolArray, called: BoolArray) -> float:
    agreed = float((truth == called).mean())
    chance = truth.mean() * called.mean() + (1.0 - truth.mean()) * (1.0 - called.mean())
    return float((agreed - chance) / (1.0 - chance)) if chance < 1.0 else 0.0
