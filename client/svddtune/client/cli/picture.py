"""One picture of a run: quality over C, alignment over gamma, the data, and the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.client.extras import needs_extra
from svddtune.client.result import TuningResult
from svddtune.client.types import FloatArray, LabelArray, Verdict
from svddtune.text import visible

_BLUE, _ORANGE, _GREY, _INK = "#2f6f9f", "#d9622b", "#b9bec4", "#2b2f33"
_NAMES = {
    "cohen_kappa": "Cohen's kappa",
    "kappa": "Cohen's kappa",
    "mcc": "Matthews correlation",
    "f1": "F1",
    "balanced_accuracy": "balanced accuracy",
}
_RULES = {"sklearn_default": "OneClassSVM\ndefaults", "scott": "Scott", "silverman": "Silverman"}


def draw(
    path: Path,
    tuned: TuningResult,
    X: FloatArray,
    *,
    truth: LabelArray | None = None,
    truth_kappa: float | None = None,
    default_kappas: Mapping[str, float] | None = None,
) -> Path:
    """Write the picture as PNG; return its path.

    Raises
    ------
    NotInstalled
        Without matplotlib, which comes with the extra ``pictures``.
    """
    with needs_extra("pictures", "The picture"):
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    style: Any = {
        "font.size": 9.5,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#8a9097",
        "axes.labelcolor": _INK,
        "text.color": _INK,
        "xtick.color": _INK,
        "ytick.color": _INK,
    }
    with rc_context(style):
        figure = Figure(figsize=(11, 8), layout="constrained", dpi=130)
        FigureCanvasAgg(figure)
        axes = figure.subplots(2, 2)
        counts = tuned.quality.counts
        figure.suptitle(
            f"{visible(tuned.dataset.display_name or tuned.dataset.name)}: "
            f"{tuned.scaling}, gamma = {tuned.gamma:.4g}, C = {tuned.C:.4g} (nu = {tuned.nu:.3g}) "
            f"from {counts.total} labels",
            fontsize=13,
            fontweight="bold",
            parse_math=False,  # no mathematics: a name may hold dollar signs
        )
        _quality_over_c(axes[0, 0], tuned)
        _alignment_over_gamma(axes[0, 1], tuned)
        _map(axes[1, 0], tuned, X, truth)
        _bars(axes[1, 1], tuned, truth_kappa, default_kappas)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="png", metadata={"Software": "svddtune"})
    return path


def _quality_over_c(axes: Any, tuned: TuningResult) -> None:
    cells = sorted(tuned.result.c_curve, key=lambda cell: cell.C)
    costs = [cell.C for cell in cells]
    metric = _NAMES.get(tuned.quality.metric, tuned.quality.metric)
    axes.set_title("Quality on the labels against C")
    axes.plot(costs, [cell.score for cell in cells], "-o", color=_BLUE, ms=4, lw=1.6)
    axes.axvline(tuned.C, color=_ORANGE, lw=1.4, ls="--", label=f"chosen C = {tuned.C:.3g}")
    interval = tuned.quality.interval
    if interval is not None and np.isfinite(tuned.quality.value):
        low, high = tuned.quality.value - interval.low, interval.high - tuned.quality.value
        axes.errorbar(
            [tuned.C],
            [tuned.quality.value],
            yerr=[[max(low, 0)], [max(high, 0)]],
            color=_ORANGE,
            capsize=4,
            lw=1.4,
            label=f"{interval.level:.0%} interval",
        )
    axes.set_xlabel("C")
    axes.set_ylabel(metric)
    axes.legend(frameon=False, loc="best")
    if costs:
        ratio = max(costs) / max(min(costs), 1e-300)
        axes.set_xscale("log" if ratio > 200 or tuned.result.choice == "atlas" else "linear")


def _alignment_over_gamma(axes: Any, tuned: TuningResult) -> None:
    curve = sorted(tuned.result.alignment_curve, key=lambda point: point.gamma)
    base = tuned.result.manifest.base_scaling
    axes.set_title(f"Local alignment against gamma ({base})")
    axes.semilogx(
        [point.gamma for point in curve],
        [point.alignment for point in curve],
        "-",
        color=_BLUE,
        lw=1.8,
    )
    if tuned.scaling == base:  # the gammas of another scaling are in other units
        axes.axvline(
            tuned.gamma, color=_ORANGE, lw=1.4, ls="--", label=f"chosen gamma = {tuned.gamma:.3g}"
        )
        axes.legend(frameon=False, loc="best")
    axes.set_xlabel("gamma")
    axes.set_ylabel("alignment")


def _map(axes: Any, tuned: TuningResult, X: FloatArray, truth: LabelArray | None) -> None:
    Z = tuned.model.scaled(X)
    points, shares = _principal(Z)
    outside = tuned.model.predict(X) < 0
    axes.set_title("The data and the queries")
    axes.scatter(*points[~outside].T, s=13, color=_GREY, lw=0, label="inside")
    if truth is not None:
        axes.scatter(*points[truth < 0].T, s=30, color="#f0b429", lw=0, label="outlier (truth)")
    axes.scatter(
        *points[outside].T, s=22, color=_ORANGE, marker="x", lw=1.3, label="outside (model)"
    )
    for verdict, colour in ((Verdict.INLIER, _BLUE), (Verdict.OUTLIER, "#a3142e")):
        rows = [asked.row for asked in tuned.asked if asked.verdict is verdict]
        if rows:
            axes.scatter(
                *points[rows].T,
                s=62,
                facecolors="none",
                edgecolors=colour,
                lw=1.3,
                label=f"asked: {verdict.value}",
            )
    axes.set_xlabel(f"first principal component ({shares[0]:.0%})")
    axes.set_ylabel(f"second ({shares[1]:.0%})")
    axes.legend(frameon=False, loc="best", fontsize=8.5)


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


def _bars(
    axes: Any,
    tuned: TuningResult,
    truth_kappa: float | None,
    default_kappas: Mapping[str, float] | None,
) -> None:
    """Draw scores, tuned and label-free: on all rows with known truth, else on labels."""
    if truth_kappa is not None and default_kappas:
        scores = {"tuned": truth_kappa, **default_kappas}
        axes.set_title("True Cohen's kappa, all rows")
    else:
        scores = {"tuned": tuned.quality.value}
        scores |= {rule.name: rule.score for rule in tuned.result.comparisons}
        metric = _NAMES.get(tuned.quality.metric, tuned.quality.metric)
        axes.set_title(f"{metric[:1].upper()}{metric[1:]} on the labels")
    values = [0.0 if not np.isfinite(score) else score for score in scores.values()]
    colours = [_ORANGE] + [_GREY] * (len(values) - 1)
    names = [_RULES.get(name, name.replace("_", " ")).replace("\n", " ") for name in scores]
    bars = axes.barh(names, values, color=colours, height=0.65)
    axes.bar_label(bars, labels=[f"{value:.2f}" for value in values], padding=3)
    axes.axvline(0, color="#8a9097", lw=0.8)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize="small" if len(names) > 6 else "medium")
    axes.set_xlim(min(0.0, *values) - 0.05, max(1.0, *values) + 0.05)
