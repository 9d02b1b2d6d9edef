"""The paper's part of the page: tables, pictures, and a comparison with published figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from svddtune.evaluation import evidence, figures, illustrations, page, report, through_service
from svddtune.evaluation.paper import COLUMNS
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.report import Invocation
from svddtune.evaluation.sets import judged
from svddtune.evaluation.summary import Records, Run
from svddtune.evaluation.through_service import SameSession

COMMAND = "svddtune bench paper"
_PICTURES = {
    "labels": "True kappa against the number of labels, mean over the paper's sets; band: one "
    "standard deviation over seeds.",
    "sets": "The same, set by set.",
    "relabelling": "Relabelling, on 205 generated rows with labels for two inliers (triangles) "
    f"and one outlier (star), k = {illustrations.K}. The label of an inlier reaches all its "
    "nearest rows, that of an outlier only those that have it among their own nearest rows; dotted "
    "pairs carry no label.",
    "global_local": "Global against local alignment on the same rows (the paper's Figure 1). "
    "Above: the global alignment of the three labelled rows, without centring, is largest at a "
    "gamma at which the SVDD outlines single rows. Below: the local alignment over the pairs of "
    "the mask. Red: rows outside.",
    "neighbors": "LAMA: true kappa and gamma against the locality k; line: mean, band: 10 % to "
    "90 % of the seeds (the paper's Figure 2). Dotted: the default, k = 5.",
    "alignment": "Alignment over gamma after 50 labels, local and over all labelled pairs, beside "
    "the best true kappa that any C reaches there. Dotted: the gamma that LAMA chooses.",
    "bias": "Left: kappa on the queried labels against true kappa, one point a session. Right: "
    "their mean difference against the number of labels.",
    "stop": "Stop rules of the default strategy, each alone at several limits: labels saved of 50 "
    "and true kappa lost, means over sets and seeds.",
}
_REASONS = {
    "lama": "ties between cells of C are broken by the middle of the best plateau (the paper "
    "does not say how), and the result depends on which labels are drawn: see the spread over "
    "seeds",
    "lama_sample": "50 random labels hold few outliers, so the result depends on which are "
    "drawn, and ties between cells of C are broken by the middle of the best plateau",
    "dfn_sample": "C is chosen on 50 random labels with few outliers; differences larger than "
    "such draws explain are unexplained",
    "ads": "on Lymphography, cells at tiny gammas are nearly tied, so rounding probably breaks "
    "the tie; the difference on Hepatitis is unexplained",
}


def write(
    folder: Path, plan: Plan, runs: Sequence[Run], records: Records, invocation: Invocation,
    compared: Sequence[SameSession],
) -> Path:  # fmt: skip
    """Write the part of evaluation.md in a folder, its pictures into evaluation/ beside it."""
    made = figures.draw(folder / "evaluation", plan, runs, records)
    counted = judged(plan.sets)
    others = [data.name for data in plan.sets if data not in counted]
    theirs = [method for method in plan.methods if method.name in COLUMNS]
    ours = [
        method for method in plan.methods
        if method.name not in COLUMNS or method.name in ("lama", "upper_bound")
    ]  # fmt: skip
    ours, aside = [one for one in ours if not one.aside], [one for one in ours if one.aside]
    rules = [one for one in ours if one.source in ("rule", "cross_validation")]
    ours = [one for one in ours if one not in rules]
    text = page.fill(
        "paper",
        command=invocation.command,
        took=invocation.took,
        seeds=plan.seeds,
        overview=report.overview(plan, runs),
        table=report.table(plan, runs, theirs),
        ours=report.table(plan, runs, ours),
        aside=report.table(plan, runs, aside) if aside else _MISSING,
        refined=evidence.refined_text(plan, records),
        rules=report.rules(plan, runs, rules) or _MISSING,
        best_cells=_best_cells(plan, records),
        others=f"\\* Not in the paper, and in no mean: {', '.join(others)}.\n" if others else "",
        about="".join(
            f"- **{one.title}**: {one.about}\n" for one in plan.methods if one not in rules
        ),
        baselines=_baselines(plan, runs),
        differences=_differences(plan, runs),
        zeros=report.zeros(plan, records),
        bias_table=evidence.bias_table(plan, records),
        audit_table=evidence.audit_table(plan, records) or _MISSING,
        stop_table=evidence.stop_table(plan, records) or _MISSING,
        cold=evidence.cold_table(plan, records) or _MISSING,
        through_service=through_service.table(plan, compared) or _MISSING,
        **page.pictures(made, _PICTURES, COMMAND),
    )
    return page.write_part(folder, "paper", text)


_MISSING = "Not part of this run.\n"


def _baselines(plan: Plan, runs: Sequence[Run]) -> str:
    far = report.furthest(plan, runs, [name for name in COLUMNS if not name.startswith("lama")])
    if far is None:
        return ""
    return (
        "The columns that are not LAMA's follow the published formulas and conventions; the mean "
        f"of none of them is further than {far:.3f} from the paper's.\n"
    )


def _best_cells(plan: Plan, records: Records) -> str:
    best = evidence.best_cells(plan, records)
    if best is None:
        return ""
    return (
        "The upper bound is the paper's: the best cell of its grid of 20 x 20. The atlas covers "
        f"other gammas and C; its best cells have a mean kappa of {best:.3f}, which no session "
        "that chooses among them can exceed.\n"
    )


def _differences(plan: Plan, runs: Sequence[Run]) -> str:
    titles = {method.name: method.title for method in plan.methods}
    lines = []
    for name, sets in report.differences(plan, runs).items():
        reason = f": {_REASONS[name]}" if name in _REASONS else ""
        lines.append(f"- **{titles[name]}** ({sets}){reason}.\n")
    return "".join(lines) or "- None.\n"
