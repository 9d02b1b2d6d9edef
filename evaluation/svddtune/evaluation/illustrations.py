"""The paper's illustrations of the method, drawn by this implementation on generated rows.

The rows are those of the authors' notebook but for its random numbers: 200 rows of a standard
normal distribution in two dimensions and five rows at the edge. Two inliers and one outlier have
labels. Like the authors' draw, ours is one in which the two inliers are far apart, which is where
both alignments differ most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from svddtune.evaluation.drawing import BLUE, GREY, INK, RED, blank
from svddtune.evaluation.variants import plain_global_alignment
from svddtune.numerics import (
    FloatArray,
    LabelArray,
    LocalAlignment,
    best_gamma,
    fit,
    local_alignment,
    prepare,
)

K = 15
C = 0.04
"""k and C of the authors' notebook."""
BOUNDS = (0.01, 100.0)

_SEED = 194
_LABELLED = {0: 1, 4: 1, 203: -1}
_EDGE = ((-2.0, 0.0), (0.7, 1.6), (0.0, 3.0), (1.0, -3.0), (-2.0, 3.0))
_GRID = 160
_PALE = "#c9ced3"


@dataclass(frozen=True, slots=True)
class Example:
    """Rows (N, 2), labels (N,), the local alignment, and gamma by local and global alignment."""

    X: FloatArray
    labels: LabelArray
    local: LocalAlignment
    local_gamma: float
    global_gamma: float


def example() -> Example:
    """Make the rows, spread the labels, and maximise both alignments over `BOUNDS`."""
    X = np.concatenate((np.random.default_rng(_SEED).normal(size=(200, 2)), _EDGE))
    labels = np.zeros(len(X), dtype=np.int8)
    labels[list(_LABELLED)] = list(_LABELLED.values())
    prep = prepare(X, k=K, gamma_bounds=BOUNDS)
    local = local_alignment(prep, X, labels, k=K)
    return Example(
        X,
        labels,
        local,
        best_gamma(local, BOUNDS)[0],
        best_gamma(plain_global_alignment(X, labels), BOUNDS)[0],
    )


def draw_relabelling(shown: Example) -> Figure:
    """Labels, the neighbours they reach, and the labels spread over them."""
    figure = blank(8.6, 4.2)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    X, edges, y = shown.X, shown.local.edges, shown.local.pools.y
    _scatter(left, X, shown.labels)
    # An outlier's label reaches mutual neighbours, an inlier's all neighbours.
    reached = (shown.labels[edges.i] == 1) | (edges.wanted == -1)
    for i, j, reaches in zip(edges.i, edges.j, reached, strict=True):
        color = RED if shown.labels[i] == -1 else BLUE
        left.plot(*X[[i, j]].T, color=color if reaches else _PALE, lw=0.9, zorder=1,
                  ls="-" if reaches else ":")  # fmt: skip
    left.set_title(f"labels and the {K} nearest rows of each")
    _scatter(right, X, y)
    right.set_title("after relabelling")
    return figure


def draw_alignments(shown: Example) -> Figure:
    """Labelled rows and the pairs of each alignment, with the boundary at its gamma."""
    figure = blank(8.6, 8.0)
    grid = figure.subplots(2, 2, sharex=True, sharey=True)
    rows = np.flatnonzero(shown.labels)
    local = shown.local
    i, j = local.edges.i[local.mask], local.edges.j[local.mask]
    for line, (name, starts, ends, gamma) in enumerate(
        (
            ("global", np.repeat(rows, len(rows)), np.tile(rows, len(rows)), shown.global_gamma),
            ("local", i, j, shown.local_gamma),
        )
    ):
        pairs, boundary = grid[line]
        for a, b in zip(starts, ends, strict=True):
            pairs.plot(*shown.X[[a, b]].T, color=_PALE, lw=1.0, zorder=0)
        _scatter(pairs, shown.X, shown.labels if name == "global" else local.pools.y)
        pairs.set_title(f"{name} alignment: its pairs")
        _draw_boundary(boundary, shown, gamma)
        boundary.set_title(f"SVDD at its gamma = {gamma:.2g}, C = {C:g}")
    return figure


def _scatter(axes: Axes, X: FloatArray, labels: LabelArray) -> None:
    for label, color, marker, size in ((0, _PALE, "o", 12), (1, BLUE, "^", 40), (-1, RED, "*", 90)):
        x1, x2 = X[labels == label].T
        axes.scatter(x1, x2, s=size, color=color, marker=marker, lw=0, zorder=2)
    axes.set_aspect("equal")


def _draw_boundary(axes: Axes, shown: Example, gamma: float) -> None:
    model = fit(shown.X, gamma=gamma, C=C)
    low, high = shown.X.min(axis=0) - 0.5, shown.X.max(axis=0) + 0.5
    across, up = (np.linspace(a, b, _GRID) for a, b in zip(low, high, strict=True))
    points = np.stack(np.meshgrid(across, up), axis=-1)
    beyond = model.distance2(points.reshape(-1, 2)).reshape(_GRID, _GRID) - model.R2
    axes.contourf(across, up, beyond, levels=[-np.inf, 0.0], colors=["#dfeaf2"])
    axes.contour(across, up, beyond, levels=[0.0], colors=[INK], linewidths=1.3)
    outside = model.outside(shown.X)
    x1, x2 = shown.X.T
    colors = np.where(outside, RED, GREY).tolist()
    axes.scatter(x1, x2, s=14, c=colors, lw=0, zorder=2)
    axes.set_aspect("equal")
