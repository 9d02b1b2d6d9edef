"""The page that a run writes: tables, pictures, and what they say of the paper's."""

from __future__ import annotations

from collections.abc import Sequence
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

_PAGE = """# Evaluation

Written by `{command}` in {minutes:.0f} minutes on {jobs} cores ({versions}); nothing here is typed by
hand. DIR holds the benchmark sets as NAME.npz, NAME.arff or NAME.csv. The public gets them from the
DAMI repository (Campos et al. 2016, *On the Evaluation of Unsupervised Outlier Detection*, DOI
10.1007/s10618-015-0444-8): the normalised files without duplicates; sets of more than 2000 rows are
sub-sampled as the paper does.

The measure is the paper's: Cohen's kappa of the final classifier on **all** rows against the truth,
mean over {seeds} seeds. Sessions start from 2 + 2 random labels unless they say otherwise.

## The paper's table

Ours ± standard deviation over seeds (difference to the paper's figure, where it has one). "--" is
undefined.

{table}
{about}
Where we differ from the paper:

- All baseline columns come from formulas and the same conventions (infeasible cells skipped, first best
  cell). ADS differs on Lymphography, where cells at tiny gamma tie and the solver breaks the tie, and on
  Hepatitis. DFN-Sample draws 50 labels at random; on Pima, Shuttle and WDBC it stays away from the paper's
  figure for a reason we do not know.
- The zeros of the label-free columns come from cells that leave no row outside; they are not an artefact
  of degenerate cells.
- `lama` is exactly the paper's method; its ties between cells of C are settled by the middle of the best
  plateau, on which the paper is silent.

## kappa against labels

{labels}
{sets}

Sets that are not in the paper, and so took no part in finding the default:

{others}
## How far the score can be trusted

kappa on queried labels is no estimate of kappa on all rows: queries favour contested rows, and the cell
was chosen on these labels. Error = kappa on the labels less true kappa, over all sets:

{bias_table}
{bias}

An audit draws rows uniformly, asks about them like the others and keeps them out of tuning. Its interval
is nominally 90 %:

{audit}
## When to stop

Following the advice of the session (`auto_finish`) instead of spending all 50 labels, default strategy:

{stop}
## Starting without labels

Answers until both classes are seen, sets with 1 to 4.5 % outliers. "in turn" is what the default does:
far from its neighbours, then where the cells disagree, and so on.

{cold}
## The method's own pictures

{neighbors}
{alignment}

## The service does the same

One session per strategy with seed 0 on the smallest set, through the real service with two workers,
beside the run in process:

{agreement}"""


def write(folder: Path, plan: Plan, runs: Sequence[Run], records: Records, told: Told) -> Path:
    """Write evaluation.md into a folder, its pictures into evaluation/ beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    made = figures.draw(folder / "evaluation", plan, runs, records)
    pictures = {
        name: f"![{text}](evaluation/{made[name].name})\n\n*{text}*" if name in made else ""
        for name, text in _PICTURES.items()
    }
    default = "default" in [method.name for method in plan.methods]
    page = _PAGE.format(
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
