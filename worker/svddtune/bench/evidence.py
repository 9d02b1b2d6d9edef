"""How far figures can be trusted: bias on queried labels, audits, stop rules, cold starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svddtune.bench import plan as plans
from svddtune.bench.compute import AUDIT_SIZES
from svddtune.bench.methods import METHODS, Method
from svddtune.bench.plan import Plan
from svddtune.bench.report import markdown
from svddtune.bench.store import Record
from svddtune.bench.summary import Records, Run

COLD_SHARES = (0.01, 0.045)
"""Sets that starting rules are judged on have a share of outliers in this range."""


def bias_table(plan: Plan, runs: Sequence[Run]) -> str:
    """Mean of kappa on the labels less true kappa, by method that uses labels."""
    rows = []
    for method in plan.methods:
        errors = [
            run.label_kappa - run.kappa for run in runs
            if run.method == method.name and run.kappa is not None and run.label_kappa is not None
        ]  # fmt: skip
        if errors and method.labels > 0:
            rows.append(
                [method.title, f"{np.mean(errors):+.2f}", f"{np.std(errors):.2f}", str(len(errors))]
            )
    return markdown(["", "mean error", "deviation", "runs"], rows)


def audit_table(plan: Plan, records: Records) -> str:
    """Coverage of the audit's nominal 90 % interval, its error and width."""
    found = [record["audit"] for record in _sessions(plan, records, "default")]
    rows = []
    for n in AUDIT_SIZES:
        audits = [one[str(n)] for one in found if str(n) in one]
        if audits:
            values = {what: np.mean([one[what] for one in audits]) for what in audits[0]}
            rows.append(
                [
                    str(n),
                    f"{values['covered']:.0%}",
                    f"{values['error']:+.3f}",
                    f"{values['width']:.2f}",
                ]
            )
    head = ["audited rows", "intervals that hold the truth", "mean error", "mean width"]
    return markdown(head, rows)


def stop_table(plan: Plan, records: Records) -> str:
    """What following the advice saves and costs, by the rule that came first."""
    saved: dict[str, list[float]] = {}
    lost: dict[str, list[float]] = {}
    for record in _sessions(plan, records, "default"):
        stop, points = record["stop"], record["points"]
        for rule in (stop["rule"], "all"):
            saved.setdefault(rule, []).append(points[-1]["labels"] - stop["labels"])
            lost.setdefault(rule, []).append(points[-1]["kappa"] - points[stop["point"]]["kappa"])
    rows = [
        [
            rule,
            str(len(saved[rule])),
            f"{np.mean(saved[rule]):.1f}",
            f"{np.mean(lost[rule]):+.3f}",
        ]
        for rule in [*sorted(set(saved) - {"all"}), "all"]
    ]
    return markdown(["first rule", "sessions", "labels saved, mean", "kappa lost, mean"], rows)


def cold_table(plan: Plan, records: Records) -> str:
    """Answers until both classes are seen, on sets with few outliers."""
    low, high = COLD_SHARES
    rows, head = [], [""]
    for data in plan.sets:
        if low <= data.outliers / data.N <= high:
            record = records[plans.cold_starts(data).key]
            names = [name for name in record if name != "seconds"]
            head = ["", *names]
            rows.append(
                [f"{data.name} ({data.outliers / data.N:.1%})"]
                + [f"{record[name]:.0f}" for name in names]
            )
    return markdown(head, rows)


def _sessions(plan: Plan, records: Records, name: str) -> list[Record]:
    method: Method = METHODS[name]
    return [
        records[plans.session(data, method, seed).key]
        for data in plan.sets if data.in_paper
        for seed in range(plan.seeds)
    ]  # fmt: skip
