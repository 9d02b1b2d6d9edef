"""Sets that took no part in any choice: what the defaults are worth on data they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from svddtune.evaluation import builtin, evidence, page, report
from svddtune.evaluation import plan as plans
from svddtune.evaluation.methods import METHODS, Method
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.report import Invocation
from svddtune.evaluation.summary import Records, Run

NAMES = ("lama", *(name for name in METHODS if name.startswith(("default", "refined"))))
"""Methods that are judged on these sets."""


def select(names: Sequence[str]) -> tuple[Method, ...]:
    """Return methods by name as `plan.select` does; those of `NAMES` without names."""
    return plans.select(names or NAMES)


def write(
    folder: Path, plan: Plan, runs: Sequence[Run], records: Records, invocation: Invocation
) -> Path:
    """Write the part of evaluation.md in a folder."""
    text = page.fill(
        "further",
        command=invocation.command,
        took=invocation.took,
        seeds=f"{plan.seeds} seed{'s' if plan.seeds > 1 else ''}",
        sets=_sets(plan),
        all_rows=_table(plan, runs, aside=False),
        aside=_table(plan, runs, aside=True),
        refined=evidence.refined_text(plan, records),
        best_cells=_best_cells(plan, records),
        stop_table=evidence.stop_table(plan, records) or _MISSING,
    )
    return page.write_part(folder, "further", text)


_MISSING = "Not part of this run.\n"


def _table(plan: Plan, runs: Sequence[Run], *, aside: bool) -> str:
    methods = [method for method in plan.methods if method.aside == aside]
    return report.table(plan, runs, methods) if methods else _MISSING


def _sets(plan: Plan) -> str:
    rows = [
        [
            f"{data.name}: {builtin.about(data.name)}" if data.name in builtin.SETS else data.name,
            str(data.N),
            str(data.M),
            str(data.outliers),
        ]
        for data in plan.sets
    ]
    return report.markdown(["", "rows", "columns", "outliers"], rows)


def _best_cells(plan: Plan, records: Records) -> str:
    best = evidence.best_cells(plan, records)
    if best is None:
        return ""
    return f"The best cells of the atlas have a mean kappa of {best:.3f} on all rows.\n"
