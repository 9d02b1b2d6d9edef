"""Makes the reference cases on data that are always at hand: ``python -m tests.golden.make``.

By definition, with full N x N matrices, the functions of ``tests/numerics/by_definition.py``, and
a solver of its own for the dual problem. It computes nothing with the package.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from tests.numerics import by_definition as definition
from tests.numerics.cases import bundled_set

Matrix = np.ndarray[Any, np.dtype[np.float64]]

CASES = (
    ("Wine", 5, 1),
    ("Wisconsin", 4, 2),
    ("Blobs", 6, 3),
    ("Iris", 3, 4),
    ("Digits", 8, 5),
)
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
CELLS = 6
BOUNDARY = 1e-5


def solve(K: Matrix, C: float) -> Matrix:
    """Minimise a' K a where a sums to 1 and lies in [0, C], two coordinates at a time."""
    N = len(K)
    a = np.full(N, 1 / N)
    gradient = 2 * K @ a
    while True:
        up = int(np.where(a < C, gradient, np.inf).argmin())
        down = int(np.where(a > 0, gradient, -np.inf).argmax())
        gap = gradient[down] - gradient[up]
        if gap < 1e-12:
            return a
        step = min(gap / (4 * (1 - K[up, down])), C - a[up], a[down])
        a[up], a[down] = a[up] + step, a[down] - step
        # Where the step ended at a bound it is that bound, whatever rounding says.
        a[up] = C if C - a[up] < 1e-15 else a[up]
        a[down] = 0.0 if a[down] < 1e-15 else a[down]
        gradient += 2 * step * (K[:, up] - K[:, down])


def cell(K: Matrix, C: float) -> dict[str, Any] | None:
    """Radius and rows outside; None where no row is on the boundary for certain."""
    a = solve(K, C)
    on = (a > 1e-7) & (a < C - 1e-7)
    if not on.any():
        return None
    distance2 = 1 - 2 * K @ a + a @ K @ a
    R2 = float(distance2[on].mean())
    return {
        "C": C,
        "nu": 1 / (len(K) * C),
        "R2": R2,
        "outliers": np.flatnonzero(distance2 > R2 + BOUNDARY).tolist(),
        "undecided": np.flatnonzero(abs(distance2 - R2) <= BOUNDARY).tolist(),
    }


def case(name: str, k: int, seed: int) -> dict[str, Any]:
    """Everything that tests/golden/README.md lists."""
    X, y = bundled_set(name)
    N, rng = len(X), np.random.default_rng(seed)
    chosen = [
        *rng.choice(np.flatnonzero(y == 1), 8, False),
        *rng.choice(np.flatnonzero(y == -1), 4, False),
    ]
    labels = np.zeros(N, dtype=np.int8)
    labels[chosen] = y[chosen]
    D2 = definition.squared_distances(X)
    nn = definition.nearest(D2, k)
    n_in, n_out = definition.counts(nn, labels)
    relabelled = definition.relabelled(nn, labels)

    def alignment(gamma: float) -> float:
        return definition.alignment(D2, labels, k=k, gamma=gamma)

    low, high = 0.1, 100.0
    for _ in range(6):
        grid = np.geomspace(low, high, 25)
        best = int(np.argmax([alignment(float(gamma)) for gamma in grid]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 24)]
    gamma_opt = float(grid[best])
    gamma = float(f"{gamma_opt:.3g}")
    rows = [int(row) for row in rng.choice(np.flatnonzero(labels == 0), 25, False)]
    tau = {row: definition.tau(D2, labels, row, k=k, gamma=gamma) for row in rows}
    K = definition.kernel(D2, gamma)
    C_UB = float(solve(K, 1.0).max())
    found = [cell(K, float(C)) for C in np.geomspace(1 / N, C_UB, CELLS + 3)[1:-1]]
    return {
        "dataset": name,
        "k": k,
        "labels": {int(row): int(labels[row]) for row in chosen},
        "nn": {int(row): nn[row] for row in chosen},
        "n_in": {row: int(n) for row, n in enumerate(n_in) if n},
        "n_out": {row: int(n) for row, n in enumerate(n_out) if n},
        "pool_in": np.flatnonzero(relabelled == 1).tolist(),
        "pool_out": np.flatnonzero(relabelled == -1).tolist(),
        "pairs": sorted(definition.pairs(nn, labels, relabelled)),
        "alignment": {f"{gamma:g}": alignment(gamma) for gamma in GAMMAS},
        "gamma_opt": gamma_opt,
        "alignment_opt": alignment(gamma_opt),
        "query_gamma": gamma,
        "alignment_at_query_gamma": alignment(gamma),
        "tau": tau,
        "next_query": max(rows, key=tau.__getitem__),
        "C_LB": 1 / N,
        "C_UB": C_UB,
        "cells": [one for one in found if one][:CELLS],
    }


if __name__ == "__main__":
    for name, k, seed in CASES:
        path = Path(__file__).parent / f"{name}-k{k}-s{seed}.json"
        path.write_text(json.dumps(case(name, k, seed), separators=(",", ":")) + "\n")
        print(path)
