"""From sets and methods to pieces of work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from svddtune.evaluation.methods import BUDGET, INITIAL, METHODS, WITH_ATLAS, Method
from svddtune.evaluation.sets import BenchSet
from svddtune.evaluation.units import Unit, atlas

NEIGHBOUR_SETS = ("Ionosphere", "PageBlocks")
"""Sets of the paper's picture of kappa and gamma over k."""
MOST_K = 30


@dataclass(frozen=True, slots=True)
class Plan:
    """Sets, methods and seeds of a run of the evaluation.

    Attributes
    ----------
    sets : tuple of BenchSet
    methods : tuple of Method
    seeds : int
    pictures : bool
        Also the work that only pictures need.
    """

    sets: tuple[BenchSet, ...]
    methods: tuple[Method, ...]
    seeds: int
    pictures: bool = True

    @property
    def uses_atlas(self) -> bool:
        """Whether a method's sessions choose by the atlas."""
        return any(method.kind in WITH_ATLAS for method in self.methods)

    @property
    def draws_lama(self) -> bool:
        """Whether the pictures of LAMA are part of the run."""
        return self.pictures and any(method.name == "lama" for method in self.methods)

    def units(self) -> list[Unit]:
        """All pieces of work, each once."""
        found: dict[str, Unit] = {}
        for unit in self._units():
            found.setdefault(unit.key, unit)
        return list(found.values())

    def _units(self) -> Iterable[Unit]:
        for data in self.sets:
            for method in self.methods:
                if method.source == "session":
                    yield from (session(data, method, seed) for seed in range(self.seeds))
                else:
                    yield table(data, method, self.seeds)
            if self.uses_atlas:
                yield atlas(data)
                yield cold_starts(data)
            if self.draws_lama and data.name in NEIGHBOUR_SETS:
                yield from (neighbors(data, seed) for seed in range(self.seeds))
                yield alignments(data)


def select(names: Sequence[str]) -> tuple[Method, ...]:
    """Return methods by name, in the order of the table; all of them without names.

    Those that judge the same sessions, after fewer labels or by the other detector, come along:
    they cost nothing.
    """
    sessions = {METHODS[name].session for name in names} - {None}
    return tuple(
        one for one in METHODS.values() if not names or one.name in names or one.session in sessions
    )


def session(data: BenchSet, method: Method, seed: int) -> Unit:
    """One session of a method."""
    return Unit(
        method.kind,
        data,
        (
            ("strategy", method.strategy),
            ("scaling", method.scaling),
            ("initial", method.initial),
            ("budget", BUDGET),
            ("seed", seed),
            ("as_printed", int(method.as_printed)),
        ),
        _session_cost(method, data.N),
        f"{data.name}: {method.title}, seed {seed}",
    )


def _session_cost(method: Method, N: int) -> float:
    return 0.4 + (1e-4 * N if method.kind in WITH_ATLAS else 5e-7 * N**2)


def cold_starts(data: BenchSet) -> Unit:
    """Answers until both classes are seen."""
    return Unit("cold_starts", data, (("scaling", "auto"),), 0.1, f"{data.name}: cold starts")


def table(data: BenchSet, method: Method, seeds: int) -> Unit:
    """The methods of the paper's table that are not sessions."""
    if method.source == "columns":
        return Unit("columns", data, (), 0.1 + 1e-6 * data.N**2, f"{data.name}: label-free methods")
    what = f"{data.name}: {method.title}"
    if method.source == "rule":
        return Unit("rule", data, (("rule", method.name),), 0.5 + 3e-7 * data.N**2, what)
    given = (("seeds", seeds), ("labels", method.labels))
    return Unit(method.source, data, given, 0.2, what)


def neighbors(data: BenchSet, seed: int) -> Unit:
    """LAMA for every k."""
    given = (("most", MOST_K), ("budget", BUDGET), ("seed", seed))
    return Unit("neighbors", data, given, 11 + 5e-7 * data.N**2, f"{data.name}: k, seed {seed}")


def alignments(data: BenchSet) -> Unit:
    """Alignment over gamma."""
    given = (("budget", BUDGET), ("seed", 0), ("initial", INITIAL))
    return Unit("alignments", data, given, 1 + 1e-6 * data.N**2, f"{data.name}: alignment")
