"""What people and programs read: Markdown, CSV and JSON."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from svddtune.bench.methods import METHODS, Method
from svddtune.bench.paper import published
from svddtune.bench.plan import Plan
from svddtune.bench.sets import BenchSet
from svddtune.bench.summary import Figure, Run, by_set, means, paper_means


@dataclass(frozen=True, slots=True)
class Told:
    """A run of the command: how it was called, and what it took."""

    command: str
    seconds: float
    jobs: int
    versions: Mapping[str, str]


def document(plan: Plan, runs: Sequence[Run], told: Told) -> dict[str, Any]:
    """The document of --json; a method that is undefined on a set has null there."""
    cells, overall, paper = by_set(runs), means(plan, runs), paper_means(plan, runs)
    return {
        "command": told.command,
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
        "seconds": told.seconds,
        "jobs": told.jobs,
        "versions": dict(told.versions),
    }


def _cell(data: BenchSet, method: Method, found: Figure | None) -> dict[str, float | None]:
    return {
        "kappa": None if found is None else found.mean,
        "spread": None if found is None else found.deviation,
        "paper": published(data.name, method.name),
    }


def write_csv(path: Path, runs: Sequence[Run]) -> None:
    """Write every run, one a line; empty where there is no value."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Run)])
        writer.writeheader()
        for run in runs:
            writer.writerow(asdict(run))


def table(plan: Plan, runs: Sequence[Run]) -> str:
    """The paper's table beside ours: ours, spread over seeds, the paper's and the difference."""
    cells, overall, paper = by_set(runs), means(plan, runs), paper_means(plan, runs)
    head = ["", *(method.title for method in plan.methods)]
    body = [
        [data.name]
        + [
            _shown(cells.get((data.name, method.name)), published(data.name, method.name))
            for method in plan.methods
        ]
        for data in plan.sets
        if data.in_paper
    ]
    last = ["**mean**"] + [
        f"**{_shown(overall.get(method.name), paper.get(method.name), 3)}**"
        for method in plan.methods
    ]
    return markdown(head, [*body, last])


def _shown(found: Figure | None, paper: float | None, digits: int = 2) -> str:
    if found is None:
        return "--"
    ours = f"{found.mean:.{digits}f}"
    if found.deviation > 0:
        ours += f" ± {found.deviation:.{digits}f}"
    return ours if paper is None else f"{ours} ({found.mean - paper:+.{digits}f})"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first to the right."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"


def method_names() -> str:
    """All names that --methods takes."""
    return ", ".join(METHODS)
