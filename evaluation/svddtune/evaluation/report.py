"""Reports for people and programs: Markdown, CSV and JSON."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svddtune.evaluation import plan as plans
from svddtune.evaluation.methods import Method
from svddtune.evaluation.paper import published
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.sets import BenchSet, judged
from svddtune.evaluation.summary import Figure, Records, Run, by_set, means, paper_means

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

NOTABLE = 0.05
"""Differences to the paper's figures above this are listed."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One invocation of a command.

    Attributes
    ----------
    command : str
        With placeholders for paths.
    seconds : float
        From start to end; short if most work was finished before.
    work : float
        Seconds of all pieces of work, whenever they were done.
    jobs : int
    versions : mapping of str to str
    """

    command: str
    seconds: float
    work: float
    jobs: int
    versions: Mapping[str, str]

    @property
    def took(self) -> str:
        """Describe computing time (pieces of earlier runs included), jobs and versions."""
        shared = f", shared by {self.jobs} processes" if self.jobs > 1 else ""
        names = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{self.work / 60:.1f} minutes of work{shared} ({names})"

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "command": self.command,
            "seconds": self.seconds,
            "work_seconds": self.work,
            "jobs": self.jobs,
            "versions": dict(self.versions),
        }


def document(plan: Plan, runs: Sequence[Run], invocation: Invocation) -> dict[str, Any]:
    """The document of --json; a method that is undefined on a set has null there."""
    cells, overall, paper = by_set(runs), means(plan, runs), paper_means(plan, runs)
    return {
        **invocation.document(),
        "seeds": plan.seeds,
        "sets": [
            {"name": s.name, "N": s.N, "M": s.M, "outliers": s.outliers, "in_paper": s.in_paper}
            for s in plan.sets
        ],
        "methods": {method.name: method.about for method in plan.methods},
        "means": {name: figure.mean for name, figure in overall.items()},
        "spread": {name: figure.deviation for name, figure in overall.items()},
        "paper_means": paper,
        "differences": {
            name: overall[name].mean - value for name, value in paper.items() if name in overall
        },
        "per_set": {
            data.name: {
                method.name: _cell(data, method, cells.get((data.name, method.name)))
                for method in plan.methods
            }
            for data in plan.sets
        },
    }


def _cell(data: BenchSet, method: Method, found: Figure | None) -> dict[str, float | None]:
    return {
        "kappa": None if found is None else found.mean,
        "spread": None if found is None else found.deviation,
        "paper": published(data.name, method.name),
    }


def write_csv(path: Path, runs: Sequence[DataclassInstance]) -> None:
    """Write at least one run, one per line; missing values are empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(runs[0])])
        writer.writeheader()
        for run in runs:
            writer.writerow(asdict(run))


def overview(plan: Plan, runs: Sequence[Run]) -> str:
    """One line per method: its mean over the paper's sets, and the paper's figure."""
    overall, paper = means(plan, runs), paper_means(plan, runs)
    rows = []
    for method in plan.methods:
        if method.source == "rule":
            continue
        found, published_here = overall.get(method.name), paper.get(method.name)
        if found is None:
            continue
        labels = "all" if method.labels < 0 else str(method.labels)
        seeded = any(run.seed is not None for run in runs if run.method == method.name)
        rows.append(
            [
                f"{method.title} (`{method.name}`)",
                labels,
                "half aside" if method.aside else "all",
                f"**{found.mean:.3f}**",
                f"{found.deviation:.3f}" if seeded and plan.seeds > 1 else "",
                "" if published_here is None else f"{published_here:.3f}",
                "" if published_here is None else _signed(found.mean - published_here, 3),
                str(found.count),
            ]
        )
    head = ["", "labels", "judged on rows", "mean kappa", "± seeds", "paper", "difference", "sets"]
    return markdown(head, rows)


def table(plan: Plan, runs: Sequence[Run], methods: Sequence[Method] | None = None) -> str:
    """Kappa set by set: ours, its spread over seeds, and the difference to the paper."""
    chosen = plan.methods if methods is None else methods
    cells, overall, paper = by_set(runs), means(plan, runs), paper_means(plan, runs)
    head = ["", *(method.title for method in chosen)]
    counted = judged(plan.sets)
    others = [data.name for data in plan.sets if data not in counted]
    body = [
        [f"{data.name} *" if data.name in others else data.name]
        + [
            _shown(cells.get((data.name, method.name)), published(data.name, method.name))
            for method in chosen
        ]
        for data in plan.sets
    ]
    if len(others) > 1:
        body.append(["mean of \\*", *(_mean_of(cells, others, method) for method in chosen)])
    if overall:
        means_row = ["**mean**"] + [
            f"**{_shown(overall.get(method.name), paper.get(method.name), 3)}**"
            for method in chosen
        ]
        body.append(means_row)
    return markdown(head, body)


def rules(plan: Plan, runs: Sequence[Run], methods: Sequence[Method]) -> str:
    """One line per method: its means, the sets where it is undefined, and its seconds."""
    cells, overall = by_set(runs), means(plan, runs)
    others = [data.name for data in plan.sets if not data.in_paper]
    rows = []
    for method in methods:
        own = [run for run in runs if run.method == method.name]
        defined = {run.set for run in own if run.kappa is not None}
        found = overall.get(method.name)
        rows.append(
            [
                f"{method.title} (`{method.name}`)",
                str(method.labels),
                "--" if found is None else f"{_rounded(found.mean, 3):.3f}",
                _mean_of(cells, others, method),
                str(len(plan.sets) - len(defined)),
                f"{sum(run.seconds for run in own) / len(own):.2f}",
                method.about,
            ]
        )
    head = ["", "labels", "mean kappa", "mean of \\*", "undefined sets", "seconds a set", ""]
    return markdown(head, rows)


def differences(plan: Plan, runs: Sequence[Run], least: float = NOTABLE) -> dict[str, str]:
    """Method -> the sets where it is off the paper's figure by more than `least`, and by what.

    In brackets: how many standard deviations over our seeds that is.
    """
    cells = by_set(runs)
    found = {}
    for method in plan.methods:
        differences = []
        for data in plan.sets:
            cell, paper = cells.get((data.name, method.name)), published(data.name, method.name)
            if cell is not None and paper is not None and abs(cell.mean - paper) > least:
                far = cell.mean - paper
                deviations = f" [{abs(far) / cell.deviation:.1f}]" if cell.deviation > 0.005 else ""
                differences.append(f"{data.name} {_signed(far, 2)}{deviations}")
        if differences:
            found[method.name] = ", ".join(differences)
    return found


def furthest(plan: Plan, runs: Sequence[Run], names: Sequence[str]) -> float | None:
    """Largest distance of a method's mean from the paper's; None where there is none to compare."""
    overall, paper = means(plan, runs), paper_means(plan, runs)
    far = [abs(overall[n].mean - paper[n]) for n in names if n in overall and n in paper]
    return max(far, default=None)


def zeros(plan: Plan, records: Records) -> str:
    """Describe in one sentence the cells in which label-free methods reach kappa 0."""
    names = [method.name for method in plan.methods if method.source == "columns"]
    none = everything = other = 0
    for data in plan.sets:
        for method in plan.methods:
            if method.name not in names or not data.in_paper or method.labels < 0:
                continue
            point = records[plans.table(data, method, plan.seeds).key][method.name]
            if point is not None and abs(point["kappa"]) < 0.005:
                none += point["outside"] == 0
                everything += point["outside"] == data.N
                other += 0 < point["outside"] < data.N
    if none + everything + other == 0:
        return ""
    return (
        f"Of the {none + everything + other} cells of label-free methods with kappa 0 (to two "
        f"decimals), {none} leave no row outside, {everything} leave every row outside, and "
        f"{other} err otherwise."
    )


def _mean_of(cells: Mapping[tuple[str, str], Figure], names: Sequence[str], method: Method) -> str:
    found = [cells[name, method.name].mean for name in names if (name, method.name) in cells]
    return f"{_rounded(sum(found) / len(found), 3):.3f}" if found else "--"


def _shown(found: Figure | None, paper: float | None, digits: int = 2) -> str:
    if found is None:
        return "--"
    ours = f"{_rounded(found.mean, digits):.{digits}f}"
    if found.deviation > 0:
        ours += f" ± {found.deviation:.{digits}f}"
    return ours if paper is None else f"{ours} ({_signed(found.mean - paper, digits)})"


def _signed(value: float, digits: int) -> str:
    """With its sign, unless it is 0 once rounded."""
    rounded = _rounded(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{rounded:.{digits}f}"


def _rounded(value: float, digits: int) -> float:
    return round(value, digits) + 0.0  # never -0


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, right-aligned except the first column; empty without rows."""
    if not rows:
        return ""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"
