"""The pictures of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D

from svddtune.bench import plan as plans
from svddtune.bench.methods import METHODS
from svddtune.bench.plan import Plan
from svddtune.bench.sets import BenchSet
from svddtune.bench.summary import Records, Run, point_at

mpl.use("Agg")

import matplotlib.pyplot as plt

STRATEGIES = ("lama", "lama_sample", "disagreement", "default", "default_cold")
_COLORS = ("#7a7f87", "#b9bec6", "#2a6f97", "#d1495b", "#edae49")
# matplotlib types the keys as an enumeration of all its settings.
_STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titleweight": "bold",
    "axes.titlesize": 10,
    "font.size": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}
COUNTS = tuple(range(5, 51, 5))


def draw(folder: Path, plan: Plan, runs: Sequence[Run], records: Records) -> dict[str, Path]:
    """Draw all pictures that the run has data for; name -> file."""
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, Path] = {}
    with plt.rc_context(_STYLE):
        for name, figure in (
            ("labels", _labels(plan, records)),
            ("sets", _per_set(plan, records)),
            ("neighbors", _neighbors(plan, records)),
            ("alignment", _alignment(plan, records)),
            ("bias", _bias(runs)),
        ):
            if figure is not None:
                made[name] = folder / f"{name}.png"
                figure.savefig(made[name], dpi=90, bbox_inches="tight")
                plt.close(figure)
    return made


def curve(plan: Plan, records: Records, data: BenchSet, method: str) -> np.ndarray[Any, Any]:
    """True kappa at `COUNTS` labels, shape (seeds, counts); NaN before the first choice."""
    rows = []
    for seed in range(plan.seeds):
        record = records[plans.session(data, METHODS[method], seed).key]
        first = record["points"][0]["labels"]
        rows.append([point_at(record, n)["kappa"] if n >= first else np.nan for n in COUNTS])
    return np.array(rows, dtype=np.float64)


def _shown(plan: Plan) -> list[tuple[str, str]]:
    names = [method.name for method in plan.methods]
    return [(name, color) for name, color in zip(STRATEGIES, _COLORS, strict=True) if name in names]


def _labels(plan: Plan, records: Records) -> Any:
    sets = [data for data in plan.sets if data.in_paper] or list(plan.sets)
    shown = _shown(plan)
    if not shown:
        return None
    figure, axes = plt.subplots(figsize=(6.4, 4.0))
    for name, color in shown:
        values = np.array([curve(plan, records, data, name) for data in sets])
        by_seed = values.mean(axis=0)
        mean, spread = by_seed.mean(axis=0), by_seed.std(axis=0)
        axes.plot(COUNTS, mean, color=color, label=METHODS[name].title, marker="o", ms=3)
        axes.fill_between(COUNTS, mean - spread, mean + spread, color=color, alpha=0.18, lw=0)
    axes.set(
        xlabel="labels",
        ylabel="true kappa, all rows",
        title=f"Mean over {len(sets)} sets, band: one deviation over {plan.seeds} seeds",
    )
    axes.legend()
    return figure


def _per_set(plan: Plan, records: Records) -> Any:
    shown, sets = _shown(plan), list(plan.sets)
    if not shown:
        return None
    columns = min(4, len(sets))
    lines = -(-len(sets) // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(2.4 * columns, 1.9 * lines), squeeze=False, sharex=True
    )
    for axes in grid.ravel()[len(sets) :]:
        axes.set_axis_off()
    for axes, data in zip(grid.ravel(), sets, strict=False):
        for name, color in shown:
            axes.plot(COUNTS, curve(plan, records, data, name).mean(axis=0), color=color, lw=1.2)
        axes.set_title(data.name)
    handles = [Line2D([], [], color=color) for _, color in shown]
    titles = [METHODS[name].title for name, _ in shown]
    figure.legend(handles, titles, loc="upper center", ncols=len(shown), bbox_to_anchor=(0.5, 1.03))
    figure.supxlabel("labels")
    figure.supylabel("true kappa")
    figure.tight_layout()
    return figure


def _neighbors(plan: Plan, records: Records) -> Any:
    sets = [data for data in plan.sets if data.name in plans.NEIGHBOUR_SETS]
    if not sets or not plan.pictures:
        return None
    figure, grid = plt.subplots(2, len(sets), figsize=(3.6 * len(sets), 4.6), squeeze=False)
    for column, data in enumerate(sets):
        found = [records[plans.neighbours(data, seed).key] for seed in range(plan.seeds)]
        ks = found[0]["k"]
        for axes, what, color in zip(
            grid[:, column], ("kappa", "gamma"), ("#d1495b", "#2a6f97"), strict=True
        ):
            values = np.array([one[what] for one in found])
            axes.plot(ks, values.mean(axis=0), color=color)
            low, high = np.quantile(values, [0.1, 0.9], axis=0)
            axes.fill_between(ks, low, high, color=color, alpha=0.18, lw=0)
            axes.set(ylabel=f"true {what}" if what == "kappa" else what)
        grid[0, column].set_title(data.name)
        grid[1, column].set(xlabel="locality k", yscale="log")
    figure.tight_layout()
    return figure


def _alignment(plan: Plan, records: Records) -> Any:
    sets = [data for data in plan.sets if data.name in plans.NEIGHBOUR_SETS]
    if not sets or not plan.pictures:
        return None
    figure, grid = plt.subplots(1, len(sets), figsize=(3.8 * len(sets), 3.0), squeeze=False)
    for axes, data in zip(grid[0], sets, strict=True):
        record = records[plans.alignments(data).key]
        axes.plot(record["gamma"], record["local"], color="#2a6f97", label="local alignment")
        axes.plot(record["gamma"], record["global"], color="#7a7f87", label="global alignment")
        axes.plot(
            record["gamma"], record["best_kappa"], color="#d1495b", ls="--",
            label="best true kappa over C",
        )  # fmt: skip
        axes.axvline(record["chosen"], color="#2a6f97", lw=0.8, ls=":")
        axes.set(xscale="log", xlabel="gamma", title=data.name)
    grid[0, 0].legend()
    figure.tight_layout()
    return figure


def _bias(runs: Sequence[Run]) -> Any:
    shown = [
        (name, color) for name, color in zip(STRATEGIES, _COLORS, strict=True)
        if any(run.method == name for run in runs)
    ]  # fmt: skip
    if not shown:
        return None
    figure, axes = plt.subplots(figsize=(4.6, 4.4))
    for name, color in shown:
        pairs = [
            (run.kappa, run.label_kappa) for run in runs
            if run.method == name and run.kappa is not None and run.label_kappa is not None
        ]  # fmt: skip
        if pairs:
            true, on_labels = np.array(pairs).T
            axes.scatter(
                true, on_labels, s=9, color=color, alpha=0.6, lw=0, label=METHODS[name].title
            )
    axes.plot([-0.2, 1], [-0.2, 1], color="black", lw=0.8)
    axes.set(
        xlabel="true kappa, all rows",
        ylabel="kappa on the queried labels",
        title="What the labels say, and what is true",
    )
    axes.legend()
    return figure
