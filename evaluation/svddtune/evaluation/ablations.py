"""Ablations: kappa of LAMA with a step left out or replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.evaluation import page
from svddtune.evaluation.ablation import CHOICES
from svddtune.evaluation.comparison import Estimate, estimate, scope
from svddtune.evaluation.methods import BUDGET
from svddtune.evaluation.report import Invocation, markdown
from svddtune.evaluation.sets import BenchSet
from svddtune.evaluation.summary import Records
from svddtune.evaluation.units import Unit
from svddtune.numerics import FloatArray
from svddtune.numerics.tau import TauRule

SHARE = 0.1
"""Probability of a wrong answer by default."""
METHOD, PRINTED = "method", "printed_tau"
TITLES = {
    METHOD: "LAMA",
    "global": "global alignment",
    "unspread": "no relabelling",
    "balanced": "y adjusted to class frequencies",
    "first_cell": "first of tied cells of C",
    PRINTED: "printed tau",
}
_QUERIES = {"lama": "LAMA's queries", "random": "random queries"}


@dataclass(frozen=True, slots=True)
class Ablations:
    """Sets, seeds, and the probability of a wrong answer beside 0."""

    sets: tuple[BenchSet, ...]
    seeds: int
    share: float

    @property
    def shares(self) -> tuple[float, ...]:
        """Probabilities of a wrong answer."""
        return tuple(dict.fromkeys((0.0, self.share)))

    def units(self) -> list[Unit]:
        """All sessions."""
        return [
            session(data, queries, rule, wrong, seed)
            for data in self.sets
            for queries, rule in (("lama", "propagated"), ("lama", "printed"),
                                  ("random", "propagated"))
            for wrong in self.shares
            for seed in range(self.seeds)
        ]  # fmt: skip

    def values(self, records: Records, change: str, queries: str, wrong: float) -> FloatArray:
        """Kappa of a change, shape (sets, seeds)."""
        rule = "printed" if change == PRINTED else "propagated"
        choice = METHOD if change == PRINTED else change
        return np.array(
            [
                [
                    records[session(data, queries, rule, wrong, seed).key]["choices"][choice][
                        "kappa"
                    ]
                    for seed in range(self.seeds)
                ]
                for data in self.sets
            ],
            dtype=np.float64,
        )


def session(data: BenchSet, queries: str, rule: str, wrong: float, seed: int) -> Unit:
    """One session, and all choices on its labels."""
    return Unit(
        "ablation",
        data,
        (
            ("strategy", queries),
            ("tau_rule", rule),
            ("wrong", wrong),
            ("budget", BUDGET),
            ("seed", seed),
        ),
        0.4 + 1e-6 * data.N**2,
        f"{data.name}: {_QUERIES[queries]}, {rule} tau, seed {seed}",
    )


@dataclass(frozen=True, slots=True)
class AblationRun:
    """One choice on the labels of one session."""

    set: str
    queries: str
    tau_rule: TauRule
    wrong: float
    seed: int
    choice: str
    gamma: float
    C: float
    kappa: float
    wrong_labels: int


def runs(of: Ablations, records: Records) -> list[AblationRun]:
    """All choices of all sessions."""
    found = []
    for unit in of.units():
        given: dict[str, Any] = dict(unit.parameters)
        record = records[unit.key]
        found += [
            AblationRun(
                unit.data.name, given["strategy"], given["tau_rule"], given["wrong"],
                given["seed"], choice, chosen["gamma"], chosen["C"], chosen["kappa"],
                record["wrong"],
            )
            for choice, chosen in record["choices"].items()
        ]  # fmt: skip
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """Kappa of a change under some queries and mistakes, and its difference to the method's.

    Attributes
    ----------
    change, queries : str
    wrong : float
        Probability that an answer is wrong.
    kappa, difference : Estimate
    """

    change: str
    queries: str
    wrong: float
    kappa: Estimate
    difference: Estimate


def outcomes(of: Ablations, records: Records) -> list[Outcome]:
    """All changes that apply, the method first; the printed tau with its own queries alone."""
    found = []
    for queries in _QUERIES:
        for wrong in of.shares:
            method = of.values(records, METHOD, queries, wrong)
            for change in (*CHOICES, PRINTED):
                if change == PRINTED and queries == "random":
                    continue
                values = of.values(records, change, queries, wrong)
                found.append(
                    Outcome(change, queries, wrong, estimate(values), estimate(values - method))
                )
    return found


def table(of: Ablations, found: Sequence[Outcome]) -> str:
    """Method in the first row, differences below."""
    columns = [(queries, wrong) for queries in _QUERIES for wrong in of.shares]
    cells = {(one.change, one.queries, one.wrong): one for one in found}
    rows = []
    for change, title in TITLES.items():
        row = [title]
        for column in columns:
            one = cells.get((change, *column))
            if one is None:
                row.append("")
            elif change == METHOD:
                row.append(one.kappa.shown())
            else:
                row.append(one.difference.shown(signed=True))
        rows.append(row)
    return markdown(["", *_heads(columns)], rows)


def _heads(columns: Sequence[tuple[str, float]]) -> Iterator[str]:
    for queries, wrong in columns:
        yield f"{_QUERIES[queries]}, {f'{wrong:.0%} wrong' if wrong else 'no mistakes'}"


def meaning(found: Sequence[Outcome]) -> str:
    """The conclusion: which changes make more difference than chance."""
    clear = [one for one in found if one.change != METHOD and one.difference.stands_out]
    if not clear:
        return "Conclusion: no change differs from LAMA by more than two standard errors.\n"
    named = "; ".join(
        f"{TITLES[one.change]} {one.difference.shown(signed=True)} ({_QUERIES[one.queries]}, "
        f"{f'{one.wrong:.0%} wrong' if one.wrong else 'no mistakes'})"
        for one in clear
    )
    return (
        f"Conclusion: these differ from LAMA by more than two standard errors: {named}. The "
        f"others do not.\n"
    )


def document(of: Ablations, records: Records, invocation: Invocation) -> dict[str, Any]:
    """The document of --json."""
    return {
        **invocation.document(),
        "seeds": of.seeds,
        "sets": [data.name for data in of.sets],
        "share": of.share,
        "outcomes": [asdict(one) for one in outcomes(of, records)],
    }


def tables(of: Ablations, records: Records) -> str:
    """The table for the terminal."""
    return table(of, outcomes(of, records))


def write(folder: Path, of: Ablations, records: Records, invocation: Invocation) -> Path:
    """Write the part of evaluation.md in a folder."""
    found = outcomes(of, records)
    text = page.fill(
        "ablations",
        command=invocation.command,
        took=invocation.took,
        budget=BUDGET,
        share=f"{of.share:.0%}",
        scope=scope(of.sets, of.seeds),
        table=table(of, found),
        meaning=meaning(found),
    )
    return page.write_part(folder, "ablations", text)
