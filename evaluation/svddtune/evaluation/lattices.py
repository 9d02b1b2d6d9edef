"""Candidates for what svddtune's labels choose among, and sessions with each of them.

A candidate is a set of representations, a number of gammas and of C for each, and the
representation of the belief. Sessions with all candidates take their cells from the same atlases,
one for each representation, fitted on the densest lattice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task, atlas_of
from svddtune.numerics import (
    AUTO_GAMMAS,
    AUTO_SCALINGS,
    BELIEF_SCALING,
    DEFAULT_STRATEGY,
    LATTICE_CELLS,
    Atlas,
    IndexArray,
    as_labels,
    belief_basis,
    judged,
    run,
    score,
)

COUNTS = (25, 50)
DENSEST = 29
"""Gammas of a representation that are fitted; every second one is a lattice of 15."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the labels choose among.

    Attributes
    ----------
    scalings : tuple of str
        Representations of the cells, in alphabetical order.
    gammas, cells : int
        Values of gamma of each representation, at most `DENSEST`, and of C for each gamma, at most
        `LATTICE_CELLS`: about evenly spaced ones of the densest lattice.
    belief : str
        Representation of the belief.
    """

    scalings: tuple[str, ...]
    gammas: int
    cells: int
    belief: str

    @property
    def name(self) -> str:
        """On the command line and in JSON."""
        return f"{'+'.join(self.scalings)}:{self.gammas}x{self.cells}:{self.belief}"

    def atlas(self, dense: dict[str, Atlas]) -> Atlas:
        """The cells, from the dense atlas of each representation."""
        return Atlas.from_parts([
            part for kind in self.scalings for part in self._parts(dense[kind], kind)
        ])  # fmt: skip

    def _parts(self, atlas: Atlas, kind: str) -> list[Atlas]:
        gammas = atlas.gammas(kind)
        columns = [atlas.column(kind, gammas[g]) for g in _spread(len(gammas), self.gammas)]
        return [atlas.of_cells(column[_spread(len(column), self.cells)]) for column in columns]


PRODUCT = Candidate(tuple(sorted(AUTO_SCALINGS)), AUTO_GAMMAS, LATTICE_CELLS, BELIEF_SCALING)
"""What svddtune does with scaling "auto"."""


def _candidates() -> dict[str, Candidate]:
    kinds = ("asinh", "minmax", "normal", "ranks", "standard", "whitened")
    four = ("minmax", "ranks", "standard", "whitened")
    cells, belief = LATTICE_CELLS, "asinh"
    sets = (
        four,
        tuple(sorted((*four, "normal"))),
        kinds,
        *(tuple(kind for kind in four if kind != one) for one in four),
    )
    found = [
        PRODUCT,
        Candidate(("minmax",), DENSEST, cells, "minmax"),
        Candidate(("minmax",), DENSEST, cells, belief),
        *(Candidate(one, 15, cells, belief) for one in sets),
        *(Candidate(four, gammas, cells, belief) for gammas in (8, DENSEST)),
        Candidate(four, 15, cells // 2, belief),
        *(Candidate(four, 15, cells, one) for one in kinds),
    ]
    return {one.name: one for one in found}


CANDIDATES = _candidates()
"""Name -> candidate; the product first."""


def scalings(names: Iterable[str]) -> tuple[str, ...]:
    """Representations of which the candidates need cells."""
    return tuple(sorted({kind for name in names for kind in CANDIDATES[name].scalings}))


def candidate(task: Task) -> Record:
    """Sessions with one candidate, one for every seed: labels -> true kappa of each."""
    one, views = CANDIDATES[str(task.given["candidate"])], task.views
    dense = {kind: atlas_of(task.data, kind, task.folder, gammas=DENSEST) for kind in one.scalings}
    atlas, basis = judged(one.atlas(dense), views), belief_basis(views.rows(one.belief))
    kappas: dict[str, list[float]] = {str(count): [] for count in COUNTS}
    initial = task.initial(2)
    for seed in range(int(task.given["seeds"])):
        result = run(
            views, task.y, budget=min(max(COUNTS), len(task.y)), k=LOCALITY,
            strategy=DEFAULT_STRATEGY, seed=seed, initial=initial, prep=task.prep, atlas=atlas,
            basis=basis, choice="atlas",
        )  # fmt: skip
        for count in COUNTS:
            choice = result.choices[min(count - sum(initial), len(result.choices) - 1)]
            found = score(task.y, as_labels(atlas.outside(choice.cell)))
            kappas[str(count)].append(float(found))
    return {"kappa": kappas}


def _spread(length: int, count: int) -> IndexArray:
    """About evenly spaced positions, the first and the last included."""
    return np.unique(np.round(np.linspace(0, length - 1, min(count, length))).astype(np.int64))
