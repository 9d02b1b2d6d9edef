"""From records to runs, and to the reported figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from svddtune.evaluation import plan as plans
from svddtune.evaluation.methods import Detector, Method
from svddtune.evaluation.paper import published_mean
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.sets import BenchSet, judged
from svddtune.evaluation.store import Record
from svddtune.evaluation.units import Unit

Records = Mapping[str, Record]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one method on one set.

    Attributes
    ----------
    set, method : str
    seed : int or None
        None where the method depends on none.
    gamma, C, kappa : float or None
        None where the method is undefined; the refined detector has neither gamma nor C. `kappa`
        is that of the final classifier on all rows, or on the rows set aside.
    label_kappa : float or None
        On the labels that it used; None without labels of both classes.
    labels, outliers : int
        Labels used, and outliers among them.
    seconds : float
        One core; methods that are computed together share theirs.
    """

    set: str
    method: str
    seed: int | None
    gamma: float | None
    C: float | None
    kappa: float | None
    label_kappa: float | None
    labels: int
    outliers: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Figure:
    """Mean over seeds, their standard deviation, and how many there are."""

    mean: float
    deviation: float
    count: int


def collect(plan: Plan, records: Records) -> list[Run]:
    """All runs, set by set and method by method."""
    return [
        run for data in plan.sets for method in plan.methods
        for run in _runs(data, method, plan.seeds, records)
    ]  # fmt: skip


def _runs(data: BenchSet, method: Method, seeds: int, records: Records) -> Iterable[Run]:
    if method.source == "session":
        for seed in range(seeds):
            record = _record(records, plans.session(data, method, seed))
            point = point_at(record, method.labels, method.detector)
            yield _run(data, method, seed, point, session_seconds(record))
        return
    record = _record(records, plans.table(data, method, seeds))
    if method.source in ("columns", "rule"):
        yield _run(data, method, None, record[method.name], record["seconds"], all_rows=data.N)
        return
    for seed, point in enumerate(record["runs"]):
        yield _run(data, method, seed, point, record["seconds"])


def _run(
    data: BenchSet, method: Method, seed: int | None, point: Record | None, seconds: float,
    all_rows: int = 0,
) -> Run:  # fmt: skip
    if point is None:
        return Run(data.name, method.name, seed, None, None, None, None, 0, 0, seconds)
    labels, outliers = point["labels"], point["outliers"]
    if method.labels < 0:
        labels, outliers = all_rows, data.outliers
    return Run(
        data.name, method.name, seed, point["gamma"], point["C"], point["kappa"],
        point["label_kappa"], labels, outliers, seconds,
    )  # fmt: skip


def _record(records: Records, unit: Unit) -> Record:
    return records[unit.key]


def session_seconds(record: Record) -> float:
    """Seconds of a session alone, without what is computed for pictures."""
    return float(record["session_seconds"])


def point_at(record: Record, labels: int, detector: Detector = "svdd") -> Record:
    """The last choice of a session with at most so many labels; the first where there is none."""
    points: Sequence[Record] = record["points" if detector == "svdd" else "refined"]
    reached = [point for point in points if point["labels"] <= labels]
    return reached[-1] if reached else points[0]


def by_set(runs: Iterable[Run]) -> dict[tuple[str, str], Figure]:
    """(set, method) -> true kappa over the seeds; undefined ones are absent."""
    values: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        if run.kappa is not None:
            values.setdefault((run.set, run.method), []).append(run.kappa)
    return {key: figure(found) for key, found in values.items()}


def means(plan: Plan, runs: Sequence[Run]) -> dict[str, Figure]:
    """Method -> mean true kappa over the `judged` sets; its deviation is that over the seeds.

    Methods that are undefined everywhere are absent.
    """
    names = [data.name for data in judged(plan.sets)]
    found = {}
    for method in plan.methods:
        chosen = [
            run for run in runs
            if run.method == method.name and run.set in names and run.kappa is not None
        ]  # fmt: skip
        if not chosen:
            continue
        cells = by_set(chosen)
        mean = float(np.mean([cell.mean for cell in cells.values()]))
        of_seed: dict[int | None, list[float]] = {}
        for run in chosen:
            of_seed.setdefault(run.seed, []).append(run.kappa or 0.0)
        rounds = [float(np.mean(values)) for values in of_seed.values()]
        found[method.name] = Figure(mean, figure(rounds).deviation, len(cells))
    return found


def paper_means(plan: Plan, runs: Sequence[Run]) -> dict[str, float]:
    """Method -> the paper's mean over the same sets, those where the paper has a value."""
    names = [data.name for data in plan.sets if data.in_paper]
    values = {method.name: published_mean(names, method.name) for method in plan.methods}
    return {name: value for name, value in values.items() if value is not None}


def figure(values: Sequence[float]) -> Figure:
    """Mean and standard deviation (0 for a single value)."""
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return Figure(float(np.mean(values)) if values else math.nan, deviation, len(values))
