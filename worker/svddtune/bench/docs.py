"""The page that a run writes: tables, pictures, and what they say of the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from svddtune.bench import evidence, figures
from svddtune.bench.agreement import agreement_table
from svddtune.bench.methods import METHODS
from svddtune.bench.plan import Plan
from svddtune.bench.report import Told, markdown, table
from svddtune.bench.summary import Records, Run, by_set

_PICTURES = {
    "labels": "True kappa against the number of labels, mean over the paper's sets.",
    "sets": "The same, set by set.",
    "neighbors": "LAMA: true kappa and gamma against the locality k; band: 10 % to 90 % of seeds "
    "(the paper's Figure 2).",
    "alignment": "Alignment over gamma, local and over all labelled pairs, beside the best true "
    "kappa that any C reaches there (the idea of the paper's Figure 1). Dotted: gamma_opt.",
    "bias": "kappa on the queried labels against true kappa, one point a session.",
}


def write(folder: Path, plan: Plan, runs: Sequence[Run], records: Records, told: Told) -> Path:
    """Write evaluation.md into a folder, its pictures into evaluation/ beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    made = figures.draw(folder / "evaluation", plan, runs, records)
    pictures = {
        name: f"![{text}](evaluation/{made[name].name})\n\n*{text}*" if name in made else ""
        for name, text in _PICTURES.items()
    }
    default = "default" in [method.name for method in plan.methods]
    page = (
        resources.files("svddtune.bench")
        .joinpath("page.md")
        .read_text("utf-8")
        .format(
            command=told.command,
            minutes=told.seconds / 60,
            jobs=told.jobs,
            versions=", ".join(f"{name} {version}" for name, version in told.versions.items()),
            seeds=plan.seeds,
            table=table(plan, runs),
            about="".join(f"- **{one.title}**: {one.about}\n" for one in plan.methods),
            others=_others(plan, runs),
            bias_table=evidence.bias_table(plan, runs),
            audit=evidence.audit_table(plan, records) if default else "",
            stop=evidence.stop_table(plan, records) if default else "",
            cold=evidence.cold_table(plan, records) if default else "",
            agreement=agreement_table(plan, records),
            **pictures,
        )
    )
    path = folder / "evaluation.md"
    path.write_text(page, encoding="utf-8")
    return path


def _others(plan: Plan, runs: Sequence[Run]) -> str:
    cells = by_set(runs)
    names = [
        name for name in (*figures.STRATEGIES, "default_25", "upper_bound")
        if name in [method.name for method in plan.methods]
    ]  # fmt: skip
    rows = []
    for data in plan.sets:
        if not data.in_paper:
            found = [cells.get((data.name, name)) for name in names]
            rows.append([data.name, *(f"{one.mean:.2f}" if one else "--" for one in found)])
    return markdown(["", *(METHODS[name].title for name in names)], rows)
