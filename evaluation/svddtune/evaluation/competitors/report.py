"""Compare svddtune with its competitors: differences paired over sets and seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.evaluation import page
from svddtune.evaluation.competitors.measure import COUNTS, PARTS
from svddtune.evaluation.report import Invocation, markdown
from svddtune.evaluation.sets import BenchSet
from svddtune.evaluation.summary import Records
from svddtune.evaluation.units import Unit
from svddtune.numerics import FloatArray

OURS = "session svddtune"
_OURS = ("svddtune", "refined")
"""Detectors of svddtune: the tuned SVDD, and the refined one."""
_SOURCES = {
    "session": "svddtune's session",
    "random": "random",
    "none": "none; true share of outliers",
    "activeml_uncertainty": "scikit-activeml, uncertainty",
    "activeml_probabilistic": "scikit-activeml, probabilistic",
}
_DETECTORS = {
    "svddtune": "svddtune, tuned SVDD",
    "refined": "svddtune, refined detector",
    "random_search": "random search of gamma, nu",
    "optuna": "Optuna over gamma, nu",
    "random_forest": "random forest",
    "gradient_boosting": "gradient boosting",
    "logistic_regression": "logistic regression",
    "gaussian_process": "Gaussian process classifier",
    "isolation_forest": "isolation forest",
    "local_outlier_factor": "local outlier factor",
    "ecod": "ECOD",
    "own": "its own classifier",
}


@dataclass(frozen=True, slots=True)
class Competition:
    """The sets and the number of repetitions on each."""

    sets: tuple[BenchSet, ...]
    seeds: int

    def units(self) -> list[Unit]:
        """All pieces of work: one a set, since its repetitions share their fits."""
        return [unit_of(data, self.seeds) for data in self.sets]

    def values(self, records: Records, part: str, count: int, name: str) -> FloatArray:
        """Kappa of a competitor, shape (sets, seeds)."""
        return np.array(
            [
                [run[part][str(count)][name] for run in records[unit.key]["runs"]]
                for unit in self.units()
            ],
            dtype=np.float64,
        )


def unit_of(data: BenchSet, seeds: int) -> Unit:
    """All competitors on one set."""
    cost = 15.0 * seeds + 1e-5 * data.N**2 * (1 + seeds)
    given = (("seeds", seeds), ("scaling", "auto"))
    return Unit("competitors", data, given, cost, f"{data.name}: competitors")


@dataclass(frozen=True, slots=True)
class Standing:
    """A competitor after some labels.

    Attributes
    ----------
    labels_from, detector : str
    part : {"all", "aside"}
        Rows that it is judged on.
    labels : int
    kappa : float
        Mean over sets and seeds.
    difference : float
        To svddtune's tuned SVDD, mean of the pairs with the same set and seed.
    error : float or None
        Standard error of `difference` over the sets, each with its mean over the seeds. None with
        one set.
    better_on : int
        Sets on which it is better than svddtune, in the mean over the seeds.
    """

    labels_from: str
    detector: str
    part: str
    labels: int
    kappa: float
    difference: float
    error: float | None
    better_on: int

    @property
    def title(self) -> str:
        """Of the detector, for people."""
        return _DETECTORS[self.detector]


def standings(of: Competition, records: Records) -> list[Standing]:
    """All competitors, svddtune among them."""
    first = records[of.units()[0].key]["runs"][0]
    found = []
    for part in PARTS:
        for count in COUNTS:
            ours = of.values(records, part, count, OURS)
            for name in first[part][str(count)]:
                kappas = of.values(records, part, count, name)
                by_set = (kappas - ours).mean(axis=1)
                error = by_set.std(ddof=1) / math.sqrt(len(by_set)) if len(by_set) > 1 else None
                source, detector = name.split(" ")
                found.append(
                    Standing(
                        source, detector, part, count, float(kappas.mean()),
                        float(by_set.mean()), None if error is None else float(error),
                        int((by_set > 0).sum()),
                    )
                )  # fmt: skip
    return found


def document(of: Competition, records: Records, invocation: Invocation) -> dict[str, Any]:
    """The document of --json."""
    return {
        **invocation.document(),
        "seeds": of.seeds,
        "sets": [data.name for data in of.sets],
        "standings": [asdict(one) for one in standings(of, records)],
    }


def table(of: Competition, records: Records, part: str) -> str:
    """Competitors on all rows or on those set aside, the best after 50 labels first."""
    own = [one for one in standings(of, records) if one.part == part]
    early, last = ([one for one in own if one.labels == count] for count in COUNTS)
    before = {(one.labels_from, one.detector): one for one in early}
    rows = []
    for one in sorted(last, key=lambda one: -one.kappa):
        ours = f"{one.labels_from} {one.detector}" == OURS
        error = "" if one.error is None else f" ± {one.error:.3f}"
        title = f"**{one.title}**" if one.detector in _OURS else one.title
        rows.append([
            title,
            _SOURCES[one.labels_from],
            f"{before[one.labels_from, one.detector].kappa:.3f}",
            f"{one.kappa:.3f}",
            "" if ours else f"{one.difference:+.3f}{error}",
            "" if ours else f"{one.better_on} of {len(of.sets)}",
        ])  # fmt: skip
    head = ["", "labels", *(f"{count} labels" for count in COUNTS), "to svddtune", "better on"]
    return markdown(head, rows)


def tables(of: Competition, records: Records) -> str:
    """Both tables, for the terminal."""
    parts = {"aside": "On the half of the rows set aside", "all": "On all rows"}
    return "\n".join(f"{title}\n\n{table(of, records, part)}" for part, title in parts.items())


def runs(of: Competition, records: Records) -> list[CompetitorRun]:
    """Every kappa."""
    return [
        CompetitorRun(unit.data.name, seed, part, int(count), source, detector, kappa)
        for unit in of.units()
        for seed, run in enumerate(records[unit.key]["runs"])
        for part, counts in run.items()
        for count, kappas in counts.items()
        for name, kappa in kappas.items()
        for source, detector in [name.split(" ")]
    ]


@dataclass(frozen=True, slots=True)
class CompetitorRun:
    """One competitor on one set with one seed."""

    set: str
    seed: int
    part: str
    labels: int
    labels_from: str
    detector: str
    kappa: float


def write(folder: Path, of: Competition, records: Records, invocation: Invocation) -> Path:
    """Write the part of evaluation.md in a folder."""
    text = page.fill(
        "competitors",
        command=invocation.command,
        took=invocation.took,
        scope=f"{_counted(len(of.sets), 'set')} and {_counted(of.seeds, 'seed')}",
        aside=table(of, records, "aside"),
        all=table(of, records, "all"),
        meaning=meaning(standings(of, records), len(of.sets)),
    )
    return page.write_part(folder, "competitors", text)


def meaning(found: Sequence[Standing], sets: int) -> str:
    """Say which competitor does best after the most labels, beside both of svddtune's detectors."""
    text = []
    for part, where in (("aside", "the rows set aside"), ("all", "all rows")):
        here = [one for one in found if one.part == part and one.labels == max(COUNTS)]
        tuned, refined = (
            next((one for one in here if one.detector == name), None) for name in _OURS
        )
        rivals = [one for one in here if one.detector not in _OURS]
        best = max(rivals, key=lambda one: one.kappa)
        clear = [one for one in rivals if one.error is not None and one.difference > 2 * one.error]
        ours = [
            f"{one.kappa:.3f} of the {name}"
            for one, name in ((tuned, "tuned SVDD"), (refined, "refined detector"))
            if one is not None
        ]
        text.append(
            f"On {where}, the competitor with the largest mean kappa is the {best.title} "
            f"({_SOURCES[best.labels_from]}): {best.kappa:.3f}, against {' and '.join(ours)}. It "
            f"is better than the tuned SVDD on {best.better_on} of {sets} sets; {len(clear)} of "
            f"{len(rivals)} competitors are better than the tuned SVDD by more than two standard "
            "errors."
        )
    return " ".join(text) + "\n"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
