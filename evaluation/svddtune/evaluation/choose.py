"""Choose representations, lattice and belief by leaving one data set out at a time.

For every set, the candidate with the largest mean kappa on the other sets is chosen, and the set
that was left out judges it. The mean of these figures is an honest estimate of what the choice is
worth on a new set; the largest mean over all sets is not, because the choice was made on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.client.errors import UsageError
from svddtune.evaluation import page
from svddtune.evaluation.lattices import CANDIDATES, COUNTS, DENSEST, PRODUCT, scalings
from svddtune.evaluation.report import Invocation, markdown
from svddtune.evaluation.sets import BenchSet, judged
from svddtune.evaluation.summary import Records
from svddtune.evaluation.units import Unit, atlas
from svddtune.numerics import FloatArray, IndexArray


@dataclass(frozen=True, slots=True)
class Choosing:
    """The sets, the names of the candidates, and the number of repetitions."""

    sets: tuple[BenchSet, ...]
    candidates: tuple[str, ...]
    seeds: int

    def units(self) -> list[Unit]:
        """The dense atlases, and all sessions with each candidate."""
        kinds = scalings(self.candidates)
        found = [atlas(data, kind, gammas=DENSEST) for data in self.sets for kind in kinds]
        found += [session(data, name, self.seeds) for data in self.sets for name in self.candidates]
        return found

    def kappas(self, records: Records, sets: Sequence[BenchSet]) -> FloatArray:
        """True kappa, mean over the seeds, shape (candidates, sets, counts)."""
        return np.array(
            [
                [
                    [float(np.mean(found[str(count)])) for count in COUNTS]
                    for data in sets
                    for found in [records[session(data, name, self.seeds).key]["kappa"]]
                ]
                for name in self.candidates
            ]
        )


def select(names: Sequence[str]) -> tuple[str, ...]:
    """Return the candidates by name, in the order of the table; all of them without names."""
    unknown = [name for name in names if name not in CANDIDATES]
    if unknown:
        raise UsageError(
            f"--candidates: unknown candidate {', '.join(unknown)}; use {', '.join(CANDIDATES)}"
        )
    return tuple(name for name in CANDIDATES if not names or name in names)


def session(data: BenchSet, name: str, seeds: int) -> Unit:
    """The sessions with one candidate on one set."""
    return Unit(
        "candidate",
        data,
        (("candidate", name), ("seeds", seeds), ("scaling", "auto")),
        seeds * (0.2 + 2.5e-4 * data.N),
        f"{data.name}: {name}",
    )


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice that leaves each set out.

    Attributes
    ----------
    candidates : IndexArray, shape (sets,)
        Chosen on the other sets, by the mean kappa over both numbers of labels.
    kappa : FloatArray, shape (sets, counts)
        Of the chosen candidate on the set left out.
    """

    candidates: IndexArray
    kappa: FloatArray


def leave_one_out(kappas: FloatArray) -> Chosen:
    """Choose for each set on the others.

    Parameters
    ----------
    kappas : FloatArray, shape (candidates, sets, counts)
        Of at least two sets.
    """
    of_set = kappas.mean(axis=2)
    others = (of_set.sum(axis=1, keepdims=True) - of_set) / (of_set.shape[1] - 1)
    best = np.argmax(others, axis=0)
    return Chosen(best, kappas[best, np.arange(kappas.shape[1])])


def document(of: Choosing, records: Records, invocation: Invocation) -> dict[str, Any]:
    """The document of --json."""
    sets = judged(of.sets)
    kappas = of.kappas(records, sets)
    names, chosen = of.candidates, leave_one_out(kappas) if len(sets) > 1 else None
    return {
        **invocation.document(),
        "seeds": of.seeds,
        "sets": [data.name for data in sets],
        "product": PRODUCT.name,
        "means": {
            name: dict(zip(map(str, COUNTS), values.mean(axis=0).tolist(), strict=True))
            for name, values in zip(names, kappas, strict=True)
        },
        "leave_one_out": None
        if chosen is None
        else {
            "means": dict(zip(map(str, COUNTS), chosen.kappa.mean(axis=0).tolist(), strict=True)),
            "chosen": {
                data.name: names[at]
                for data, at in zip(sets, chosen.candidates.tolist(), strict=True)
            },
        },
    }


def tables(of: Choosing, records: Records) -> str:
    """Mean kappa of every candidate, and how many sets chose it when they were left out."""
    sets = judged(of.sets)
    others = [data for data in of.sets if data not in sets]
    kappas, beside = of.kappas(records, sets), of.kappas(records, others)
    times = np.zeros(len(of.candidates), dtype=np.int64)
    rows = []
    if len(sets) > 1:
        chosen = leave_one_out(kappas)
        times = np.bincount(chosen.candidates, minlength=len(of.candidates))
        rows.append(["**chosen without the set that judges**", "", "",
                     *(f"**{value:.3f}**" for value in chosen.kappa.mean(axis=0)),
                     *("" for _ in COUNTS if others), ""])  # fmt: skip
    for at, name in enumerate(of.candidates):
        one = CANDIDATES[name]
        ours = " (svddtune)" if one == PRODUCT else ""
        rows.append([
            ", ".join(one.scalings) + ours,
            f"{one.gammas} x {one.cells}",
            one.belief,
            *(f"{value:.3f}" for value in kappas[at].mean(axis=0)),
            *(f"{value:.3f}" for value in (beside[at].mean(axis=0) if others else ())),
            str(times[at]),
        ])  # fmt: skip
    head = ["representations", "gammas x C", "belief", *(f"{n} labels" for n in COUNTS)]
    head += [f"{len(others)} other sets, {n}" for n in COUNTS if others]
    return markdown([*head, "chosen for"], rows)


def write(folder: Path, of: Choosing, records: Records, invocation: Invocation) -> Path:
    """Write the part of evaluation.md in a folder."""
    text = page.fill(
        "choose",
        command=invocation.command,
        took=invocation.took,
        sets=len(judged(of.sets)),
        seeds=of.seeds,
        table=tables(of, records),
    )
    return page.write_part(folder, "choose", text)
