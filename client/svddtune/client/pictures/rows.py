"""The rows of the data in the plane of their first two principal components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from svddtune.client.pictures.style import GREY, INLIER, OUTLIER, THIRD
from svddtune.client.types import FloatArray, LabelArray, Verdict

_CROWD = 20_000


def draw_rows(
    axes: Any,
    Z: FloatArray,
    labels: LabelArray,
    asked: Mapping[Verdict, Sequence[int]],
    truth: LabelArray | None = None,
) -> Any:
    """Draw the rows, those outside and those that were asked about; return the axes.

    Parameters
    ----------
    axes : matplotlib Axes
        Where to draw.
    Z : array (N, M)
        The rows in the model's representation.
    labels : array (N,)
        +1 (inside) or -1 (outside), by the model.
    asked : mapping of Verdict to sequence of int
        Rows by what the labelers said of them.
    truth : array (N,), optional
        +1 or -1, where it is known.
    """
    points, shares = _principal(Z)
    outside = labels < 0
    axes.set_title("The data and the queries")
    crowd = len(points) > _CROWD  # so many points are drawn as one picture
    axes.scatter(*points[~outside].T, s=13, color=GREY, alpha=0.6, lw=0, rasterized=crowd)
    axes.collections[-1].set_label("inside")
    if truth is not None:
        axes.scatter(*points[truth < 0].T, s=30, color=THIRD, lw=0, label="outlier (truth)")
    axes.scatter(
        *points[outside].T, s=22, color=OUTLIER, marker="x", lw=1.3, label="outside (model)"
    )
    for verdict, marker, colour in ((Verdict.INLIER, "o", INLIER), (Verdict.OUTLIER, "s", OUTLIER)):
        rows = list(asked.get(verdict, ()))
        if rows:
            axes.scatter(
                *points[rows].T,
                s=62,
                marker=marker,
                facecolors="none",
                edgecolors=colour,
                lw=1.3,
                label=f"asked: {verdict.value}",
            )
    axes.locator_params(nbins=5)
    axes.set_xlabel(f"first principal component ({shares[0]:.0%})")
    axes.set_ylabel(f"second ({shares[1]:.0%})")
    axes.legend(frameon=False, loc="best", fontsize=8.5)
    return axes


def _principal(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rows on their first two principal components, and the components' shares."""
    centred = Z - Z.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    order = np.argsort(values)[::-1][:2]
    total = max(float(values.sum()), 1e-300)
    points = centred @ vectors[:, order]
    shares = values[order] / total
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(len(points))])
        shares = np.append(shares, 0.0)
    return points, shares
