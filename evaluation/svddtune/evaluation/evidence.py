"""Evidence for the figures: bias on queried labels, audits, stop rules, cold starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from svddtune.evaluation import plan as plans
from svddtune.evaluation.methods import Method
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.report import markdown
from svddtune.evaluation.sessions import AUDIT_DRAWS, AUDIT_SIZES, STOP_LIMITS
from svddtune.evaluation.sets import judged
from svddtune.evaluation.store import Record
from svddtune.evaluation.summary import Records, point_at
from svddtune.evaluation.units import atlas

COLD_SHARES = (0.01, 0.045)
"""Sets that starting rules are judged on have a share of outliers in this range."""
BIAS_COUNTS = (25, 50)
AUDITED = "default"
"""Method whose models are audited, and whose sessions follow the stop rules."""


@dataclass(frozen=True, slots=True)
class Bias:
    """Kappa on the labels less true kappa, after so many labels, over sessions of both classes."""

    method: str
    labels: int
    error: float
    deviation: float
    sessions: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Audits of so many rows: how often their interval holds the truth, and mean error, width."""

    rows: int
    covered: float
    error: float
    width: float
    audits: int


@dataclass(frozen=True, slots=True)
class Stopping:
    """Mean labels saved and true kappa lost by a stop rule, against the whole budget."""

    rule: str
    limit: float | None
    sessions: int
    fired: float
    saved: float
    lost: float


@dataclass(frozen=True, slots=True)
class Refined:
    """The refined detector on rows set aside, after so many labels.

    Attributes
    ----------
    labels : int
    calibration_error : float
        Expected calibration error, mean over sets and seeds.
    worst_set : str
        Where it is worst against the tuned SVDD of the same sessions.
    worst_difference : float
        Its kappa less the tuned SVDD's there, mean over the seeds.
    """

    labels: int
    calibration_error: float
    worst_set: str
    worst_difference: float


def document(plan: Plan, records: Records) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        "bias": [asdict(one) for one in biases(plan, records)],
        "audit": [asdict(one) for one in audits(plan, records)],
        "stop": [asdict(one) for one in advice(plan, records)],
        "stop_rules": [asdict(one) for one in stop_rules(plan, records)],
        "cold_start": cold_starts(plan, records),
        "best_cell_of_atlas": best_cells(plan, records),
        "refined": [asdict(one) for one in refined(plan, records)],
    }


def biases(plan: Plan, records: Records, counts: Iterable[int] = BIAS_COUNTS) -> list[Bias]:
    """Bias of every kind of session."""
    found = []
    for method in _distinct_sessions(plan):
        for count in counts:
            points = [point_at(record, count) for record in _sessions(plan, records, method)]
            errors = [
                point["label_kappa"] - point["kappa"]
                for point in points
                if point["label_kappa"] is not None and point["labels"] <= count
            ]
            if errors:
                mean, deviation = float(np.mean(errors)), float(np.std(errors))
                found.append(Bias(method.name, count, mean, deviation, len(errors)))
    return found


def bias_table(plan: Plan, records: Records) -> str:
    """Bias after each of `BIAS_COUNTS` labels."""
    found = {(one.method, one.labels): one for one in biases(plan, records)}
    rows = [
        [method.title]
        + [
            "--" if (one := found.get((method.name, count))) is None
            else f"{one.error:+.2f} ± {one.deviation:.2f}"
            for count in BIAS_COUNTS
        ]
        for method in _distinct_sessions(plan)
    ]  # fmt: skip
    return markdown(["", *(f"{count} labels" for count in BIAS_COUNTS)], rows)


def audits(plan: Plan, records: Records) -> list[Coverage]:
    """Coverage of the audit's nominal 90 % interval."""
    method = _named(plan, AUDITED)
    if method is None:
        return []
    done = [record["audit"] for record in _sessions(plan, records, method)]
    found = []
    for n in AUDIT_SIZES:
        each = [one[str(n)] for one in done if str(n) in one]
        if each:
            covered, error, width = (
                float(np.mean([one[what] for one in each]))
                for what in ("covered", "error", "width")
            )
            found.append(Coverage(n, covered, error, width, AUDIT_DRAWS * len(each)))
    return found


def audit_table(plan: Plan, records: Records) -> str:
    """`audits` for people."""
    rows = [
        [str(one.rows), f"{one.covered:.0%}", f"{one.error:+.3f}", f"{one.width:.2f}",
         str(one.audits)]
        for one in audits(plan, records)
    ]  # fmt: skip
    head = ["audited rows", "intervals that hold the truth", "mean error", "mean width", "audits"]
    return markdown(head, rows)


def advice(plan: Plan, records: Records) -> list[Stopping]:
    """Labels saved and kappa lost by following the advice, by first rule and in total."""
    sessions = _stopped(plan, records)
    rules = {record["stops"]["advice"]["rule"] for record in sessions}
    found = []
    for rule in [*sorted(rules), "all"]:
        own = [one for one in sessions if rule in (one["stops"]["advice"]["rule"], "all")]
        if own:
            found.append(_stopping(rule, None, own, "advice"))
    return found


def stop_table(plan: Plan, records: Records) -> str:
    """`advice` for people."""
    rows = [
        [one.rule, str(one.sessions), f"{one.saved:.1f}", f"{one.lost:+.3f}"]
        for one in advice(plan, records)
    ]
    return markdown(["first rule", "sessions", "labels saved, mean", "kappa lost, mean"], rows)


def stop_rules(plan: Plan, records: Records) -> list[Stopping]:
    """Every rule alone, at every limit."""
    sessions = _stopped(plan, records)
    if not sessions:
        return []
    return [
        _stopping(family, limit, sessions, f"{family} {limit:g}")
        for family, limits in STOP_LIMITS.items()
        for limit in limits
    ]


def _stopping(
    rule: str, limit: float | None, sessions: Sequence[Record], name: str
) -> Stopping:  # fmt: skip
    saved, lost = [], []
    for record in sessions:
        points = record["points"]
        here, last = points[record["stops"][name]["point"]], points[-1]
        saved.append(last["labels"] - here["labels"])
        lost.append(last["kappa"] - here["kappa"])
    return Stopping(
        rule, limit, len(sessions), float(np.mean(np.array(saved) > 0)), float(np.mean(saved)),
        float(np.mean(lost)),
    )  # fmt: skip


def cold_starts(plan: Plan, records: Records) -> dict[str, dict[str, float]]:
    """Set -> starting rule -> answers until both classes are seen; sets with few outliers."""
    if not plan.uses_atlas:
        return {}
    low, high = COLD_SHARES
    return {
        data.name: {
            rule: value
            for rule, value in records[plans.cold_starts(data).key].items()
            if rule != "seconds"
        }
        for data in plan.sets
        if low <= data.outliers / data.N <= high
    }


def cold_table(plan: Plan, records: Records) -> str:
    """`cold_starts` for people."""
    found = cold_starts(plan, records)
    if not found:
        return ""
    shares = {data.name: data.outliers / data.N for data in plan.sets}
    names = list(next(iter(found.values())))
    rows = [
        [f"{name} ({shares[name]:.1%})", *(f"{values[rule]:.0f}" for rule in names)]
        for name, values in found.items()
    ]
    means = [float(np.mean([values[rule] for values in found.values()])) for rule in names]
    rows.append(["**mean**", *(f"**{mean:.1f}**" for mean in means)])
    return markdown(["", *names], rows)


def best_cells(plan: Plan, records: Records) -> float | None:
    """Mean over the sets of the best true kappa that any cell of the atlas has."""
    if not plan.uses_atlas:
        return None
    found = [records[atlas(data).key]["best_kappa"] for data in judged(plan.sets)]
    return float(np.mean(found))


def refined(plan: Plan, records: Records) -> list[Refined]:
    """Calibration of the refined detector, and the set where it does worst, by labels."""
    found = []
    for method in plan.methods:
        if method.detector != "refined":
            continue
        errors, differences = [], {}
        for data in judged(plan.sets):
            sessions = [records[plans.session(data, method, s).key] for s in range(plan.seeds)]
            points = [point_at(one, method.labels, "refined") for one in sessions]
            tuned = [point_at(one, method.labels) for one in sessions]
            errors += [one["calibration_error"] for one in points]
            differences[data.name] = float(
                np.mean([a["kappa"] - b["kappa"] for a, b in zip(points, tuned, strict=True)])
            )
        worst = min(differences, key=lambda name: differences[name])
        found.append(Refined(method.labels, float(np.mean(errors)), worst, differences[worst]))
    return found


def refined_text(plan: Plan, records: Records) -> str:
    """`refined` for people; empty where the method is not part of the run."""
    return "".join(
        f"- Refined detector after {one.labels} labels: expected calibration error "
        f"{one.calibration_error:.3f} (ten bins); worst against the tuned SVDD on {one.worst_set}, "
        f"{one.worst_difference:+.3f}.\n"
        for one in refined(plan, records)
    )


def _named(plan: Plan, name: str) -> Method | None:
    return next((method for method in plan.methods if method.name == name), None)


def _distinct_sessions(plan: Plan) -> list[Method]:
    """One method for each kind of session judged on all rows: the one with the most labels."""
    found: dict[object, Method] = {}
    for method in plan.methods:
        key = method.session
        if key is None or method.aside:
            continue
        if key not in found or found[key].labels < method.labels:
            found[key] = method
    return list(found.values())


def _stopped(plan: Plan, records: Records) -> list[Record]:
    method = _named(plan, AUDITED)
    return [] if method is None else _sessions(plan, records, method)


def _sessions(plan: Plan, records: Records, method: Method) -> list[Record]:
    return [
        records[plans.session(data, method, seed).key]
        for data in judged(plan.sets)
        for seed in range(plan.seeds)
    ]
