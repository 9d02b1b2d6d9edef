"""The pictures of the paper's evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from svddtune.evaluation import evidence, illustrations
from svddtune.evaluation import plan as plans
from svddtune.evaluation.drawing import BLUE, COLORS, GREEN, GREY, INK, RED, blank, save_all
from svddtune.evaluation.illustrations import Example
from svddtune.evaluation.methods import METHODS
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.sets import BenchSet, judged
from svddtune.evaluation.summary import Records, Run, point_at
from svddtune.numerics import FloatArray

COUNTS = tuple(range(5, 51, 5))
_FAMILIES = {
    "cell": ("cell unchanged for n labels", RED, "o"),
    "gamma": ("gamma steady for n labels", BLUE, "s"),
    "interval": ("interval narrower than n", GREEN, "^"),
}


def draw(folder: Path, plan: Plan, runs: Sequence[Run], records: Records) -> dict[str, Path]:
    """Draw all pictures that the run has data for; name -> file."""
    return save_all(
        folder,
        (
            (name, make())
            for name, make in (
                ("labels", partial(_labels, plan, records)),
                ("sets", partial(_per_set, plan, records)),
                ("relabelling", partial(_illustration, plan, illustrations.draw_relabelling)),
                ("global_local", partial(_illustration, plan, illustrations.draw_alignments)),
                ("neighbors", partial(_neighbors, plan, records)),
                ("alignment", partial(_alignment, plan, records)),
                ("bias", partial(_bias, plan, runs, records)),
                ("stop", partial(_stop, plan, records)),
            )
        ),
    )


def curve(plan: Plan, records: Records, data: BenchSet, method: str) -> FloatArray:
    """True kappa at `COUNTS` labels, shape (seeds, counts); NaN before the first choice."""
    rows = []
    for seed in range(plan.seeds):
        record = records[plans.session(data, METHODS[method], seed).key]
        first = record["points"][0]["labels"]
        rows.append([point_at(record, n)["kappa"] if n >= first else np.nan for n in COUNTS])
    return np.array(rows, dtype=np.float64)


def _shown(plan: Plan) -> list[tuple[str, str]]:
    names = [method.name for method in plan.methods]
    return [(name, color) for name, color in COLORS.items() if name in names]


def _labels(plan: Plan, records: Records) -> Figure | None:
    sets, shown = judged(plan.sets), _shown(plan)
    if not shown:
        return None
    figure = blank(7.2, 4.4)
    axes = figure.subplots()
    for name, color in shown:
        by_seed = np.mean([curve(plan, records, data, name) for data in sets], axis=0)
        mean, spread = by_seed.mean(axis=0), by_seed.std(axis=0)
        axes.plot(COUNTS, mean, color=color, label=METHODS[name].title, marker="o", ms=3.5)
        axes.fill_between(COUNTS, mean - spread, mean + spread, color=color, alpha=0.15, lw=0)
    for name, text, style in (
        ("upper_bound", "upper bound, all labels", "--"),
        ("dfn_fix", "DFN-Fix, no label", ":"),
    ):
        level = _level(plan, records, sets, name)
        if level is not None:
            axes.axhline(level, color=GREY, ls=style, lw=1.1)
            axes.annotate(text, (COUNTS[0], level), (0, 3), textcoords="offset points",
                          color=GREY, fontsize=8)  # fmt: skip
    sets_text = f"{len(sets)} sets, " if len(sets) > 1 else f"{sets[0].name}, "
    axes.set_title(f"True kappa against labels ({sets_text}{plan.seeds} seeds)")
    axes.set_xlabel("labels, initial ones included")
    axes.set_ylabel("kappa on all rows")
    axes.legend(loc="lower right", fontsize=8.5)
    return figure


def _level(plan: Plan, records: Records, sets: Sequence[BenchSet], name: str) -> float | None:
    if name not in [method.name for method in plan.methods]:
        return None
    points = [records[plans.table(data, METHODS[name], plan.seeds).key][name] for data in sets]
    values = [point["kappa"] for point in points if point is not None]
    return float(np.mean(values)) if values else None


def _per_set(plan: Plan, records: Records) -> Figure | None:
    shown, sets = _shown(plan), list(plan.sets)
    if not shown or len(sets) < 2:
        return None
    columns = min(4, len(sets))
    lines = -(-len(sets) // columns)
    figure = blank(2.5 * columns, 1.75 * lines + 0.6)
    grid = figure.subplots(lines, columns, squeeze=False, sharex=True)
    for axes in grid.ravel()[len(sets) :]:
        axes.set_axis_off()
    for axes, data in zip(grid.ravel(), sets, strict=False):
        for name, color in shown:
            values = curve(plan, records, data, name)
            mean, spread = values.mean(axis=0), values.std(axis=0)
            axes.plot(COUNTS, mean, color=color, lw=1.3, label=METHODS[name].title)
            axes.fill_between(COUNTS, mean - spread, mean + spread, color=color, alpha=0.1, lw=0)
        axes.set_title(data.name if data.in_paper else f"{data.name} (not in the paper)")
    handles, titles = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside upper center", ncols=len(shown))
    figure.supxlabel("labels")
    figure.supylabel("kappa on all rows")
    return figure


def _illustration(plan: Plan, draw: Callable[[Example], Figure]) -> Figure | None:
    return draw(illustrations.example()) if plan.pictures else None


def _neighbors(plan: Plan, records: Records) -> Figure | None:
    sets = _picture_sets(plan)
    if not sets:
        return None
    figure = blank(4.2 * len(sets), 4.6)
    grid = figure.subplots(2, len(sets), squeeze=False, sharex=True)
    for column, data in enumerate(sets):
        found = [records[plans.neighbors(data, seed).key] for seed in range(plan.seeds)]
        for axes, what, color in zip(grid[:, column], ("kappa", "gamma"), (RED, BLUE), strict=True):
            values = np.array([one[what] for one in found])
            center = values.mean(axis=0) if what == "kappa" else np.exp(np.log(values).mean(axis=0))
            axes.plot(found[0]["k"], center, color=color)
            low, high = np.quantile(values, [0.1, 0.9], axis=0)
            axes.fill_between(found[0]["k"], low, high, color=color, alpha=0.15, lw=0)
            axes.axvline(5, color=GREY, lw=0.9, ls=":")
            axes.set_ylabel("kappa on all rows" if what == "kappa" else "gamma (geometric mean)")
        grid[0, column].set_title(data.name)
        grid[1, column].set_xlabel("locality k")
        grid[1, column].set_yscale("log")
    return figure


def _alignment(plan: Plan, records: Records) -> Figure | None:
    sets = _picture_sets(plan)
    if not sets:
        return None
    figure = blank(4.2 * len(sets), 3.3)
    grid = figure.subplots(1, len(sets), squeeze=False)
    for axes, data in zip(grid[0], sets, strict=True):
        record = records[plans.alignments(data).key]
        for what, color, style, label in (
            ("local", BLUE, "-", "local alignment"),
            ("global", GREY, "-", "global alignment"),
            ("best_kappa", RED, "--", "best true kappa over C"),
        ):
            axes.plot(record["gamma"], record[what], color=color, ls=style, label=label)
        axes.axvline(record["chosen"], color=BLUE, lw=0.9, ls=":")
        axes.set_xscale("log")
        axes.set_xlabel("gamma")
        axes.set_title(data.name)
    grid[0, -1].legend(fontsize=8)
    return figure


def _picture_sets(plan: Plan) -> list[BenchSet]:
    sets = [data for data in plan.sets if data.name in plans.NEIGHBOUR_SETS]
    return sets if plan.draws_lama else []


def _bias(plan: Plan, runs: Sequence[Run], records: Records) -> Figure | None:
    shown = _shown(plan)
    if not shown:
        return None
    figure = blank(8.6, 4.0)
    left, right = figure.subplots(1, 2)
    found = evidence.biases(plan, records, COUNTS)
    for name, color in shown:
        pairs = [
            (run.kappa, run.label_kappa) for run in runs
            if run.method == name and run.kappa is not None and run.label_kappa is not None
        ]  # fmt: skip
        if pairs:
            true, on_labels = np.array(pairs).T
            left.scatter(true, on_labels, s=11, color=color, alpha=0.55, lw=0)
        own = [one for one in found if one.method == name]
        right.plot([one.labels for one in own], [one.error for one in own], color=color,
                   marker="o", ms=3.5, label=METHODS[name].title)  # fmt: skip
    left.plot([-0.2, 1], [-0.2, 1], color=INK, lw=0.8)
    left.set_xlabel("kappa on all rows")
    left.set_ylabel("kappa on the labels")
    left.set_title("What the labels say, and what is true")
    right.axhline(0, color=INK, lw=0.8)
    right.set_xlabel("labels")
    right.set_ylabel("kappa on the labels less true kappa")
    right.set_title("Bias against labels")
    right.legend(fontsize=8.5)
    return figure


def _stop(plan: Plan, records: Records) -> Figure | None:
    found = evidence.stop_rules(plan, records)
    if not found:
        return None
    figure = blank(6.4, 4.0)
    axes = figure.subplots()
    for family, (text, color, marker) in _FAMILIES.items():
        own = sorted((one for one in found if one.rule == family), key=lambda one: one.saved)
        axes.plot([one.saved for one in own], [one.lost for one in own], color=color,
                  marker=marker, ms=5, lw=1.2, label=text)  # fmt: skip
        for one in own:
            axes.annotate(f"{one.limit:g}", (one.saved, one.lost), (4, 4), fontsize=7.5,
                          textcoords="offset points", color=color)  # fmt: skip
    total = [one for one in evidence.advice(plan, records) if one.rule == "all"]
    axes.scatter([one.saved for one in total], [one.lost for one in total], s=120, marker="*",
                 color=INK, zorder=3, label="the session's advice")  # fmt: skip
    axes.axhline(0, color=GREY, lw=0.8)
    axes.set_xlabel("labels saved, mean")
    axes.set_ylabel("true kappa lost, mean")
    axes.set_title("Stopping early: what it saves and costs")
    axes.legend(fontsize=8.5)
    return figure
