"""Compare the same sessions under several settings of their labelers, by set and seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from svddtune.evaluation.labelers import COUNTS, Labelers
from svddtune.evaluation.methods import BUDGET, INITIAL, METHODS, Method
from svddtune.evaluation.report import Invocation
from svddtune.evaluation.sets import BenchSet
from svddtune.evaluation.store import Record
from svddtune.evaluation.summary import Records
from svddtune.evaluation.units import Unit, atlas
from svddtune.numerics import FloatArray

SESSIONS: dict[str, Method] = {
    **{name: METHODS[name] for name in ("default", "default_cold", "disagreement", "lama")},
    "random": replace(
        METHODS["lama_sample"],
        name="random",
        title="Random",
        about="Random queries; gamma and C as LAMA.",
        initial=INITIAL,
    ),
}
"""Sessions as the service runs them, by name."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over sets and seeds, and its standard error over seeds.

    Attributes
    ----------
    mean : float
    error : float or None
        How far other seeds might move the mean, with the sets taken as given. None with one
        seed.
    """

    mean: float
    error: float | None

    @property
    def stands_out(self) -> bool:
        """Whether it is more than two standard errors from 0."""
        return self.error is not None and abs(self.mean) > 2.0 * self.error

    def shown(self, *, signed: bool = False) -> str:
        """For people."""
        mean = round(self.mean, 3) + 0.0  # never -0
        text = f"{mean:+.3f}" if signed and mean else f"{mean:.3f}"
        return text if self.error is None else f"{text} ± {self.error:.3f}"


def estimate(values: FloatArray) -> Estimate:
    """Estimate from one value per set and seed.

    Parameters
    ----------
    values : FloatArray, shape (sets, seeds)
        Scores, at least one per set.
    """
    sets, seeds = values.shape
    mean = float(values.mean())
    if seeds == 1:
        return Estimate(mean, None)
    of_means = values.var(axis=1, ddof=1) / seeds
    return Estimate(mean, math.sqrt(float(of_means.sum())) / sets)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sets, methods and settings that are compared.

    Attributes
    ----------
    sets : tuple of BenchSet
    methods : tuple of Method
        Of `SESSIONS`.
    settings : mapping of str to Labelers
    seeds : int
    """

    sets: tuple[BenchSet, ...]
    methods: tuple[Method, ...]
    settings: Mapping[str, Labelers]
    seeds: int

    def units(self) -> list[Unit]:
        """All pieces of work, each once."""
        scalings = dict.fromkeys(method.scaling for method in self.methods)
        found = [atlas(data, scaling) for data in self.sets for scaling in scalings]
        found += [
            session(data, method, labelers, seed)
            for data in self.sets
            for method in self.methods
            for labelers in self.settings.values()
            for seed in range(self.seeds)
        ]
        return list({unit.key: unit for unit in found}.values())

    def values(
        self, records: Records, method: Method, setting: str, value: Callable[[Record], float]
    ) -> FloatArray:
        """A value of every session of a method under a setting, shape (sets, seeds)."""
        labelers = self.settings[setting]
        return np.array(
            [
                [
                    value(records[session(data, method, labelers, seed).key])
                    for seed in range(self.seeds)
                ]
                for data in self.sets
            ],
            dtype=np.float64,
        )


def select(names: Sequence[str], among: Sequence[str]) -> tuple[Method, ...]:
    """Return sessions by name, in the order of `among`; all of them without names."""
    return tuple(SESSIONS[name] for name in among if not names or name in names)


def session(data: BenchSet, method: Method, labelers: Labelers, seed: int) -> Unit:
    """One session of a method with such labelers."""
    atlas = method.kind == "atlas_session"
    return Unit(
        "labelled",
        data,
        (
            ("strategy", method.strategy),
            ("choice", "atlas" if atlas else "paper"),
            ("scaling", method.scaling),
            ("initial", method.initial),
            ("budget", BUDGET),
            ("seed", seed),
            *labelers.parameters,
        ),
        0.1 + 2.5e-4 * data.N + (0.0 if atlas else 1e-7 * data.N**2),
        f"{data.name}: {method.title}, seed {seed}",
    )


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """One run of one session.

    Attributes
    ----------
    set, method, setting : str
    seed : int
    kappa_25, kappa_50 : float
        On all rows, after so many labelled observations.
    votes, wrong_labels : int
        Given until then, the initial labels included, and labels that are not the truth.
    kappa_50_votes : float
        On all rows after 50 votes.
    labels_50_votes : int
        Labelled observations then.
    both_after : int or None
        Votes until both classes had a label.
    """

    set: str
    method: str
    setting: str
    seed: int
    kappa_25: float
    kappa_50: float
    votes: int
    wrong_labels: int
    kappa_50_votes: float
    labels_50_votes: int
    both_after: int | None


def runs(comparison: Comparison, records: Records) -> list[LabelledRun]:
    """All sessions, set by set."""
    found = []
    for data in comparison.sets:
        for method in comparison.methods:
            for setting, labelers in comparison.settings.items():
                for seed in range(comparison.seeds):
                    record = records[session(data, method, labelers, seed).key]
                    early, last = (record["observations"][str(count)] for count in COUNTS)
                    voted = record["votes"][str(COUNTS[-1])]
                    found.append(
                        LabelledRun(
                            data.name, method.name, setting, seed, early["kappa"], last["kappa"],
                            last["votes"], last["wrong"], voted["kappa"], voted["labels"],
                            record["both_after"],
                        )
                    )  # fmt: skip
    return found


def document(comparison: Comparison, invocation: Invocation) -> dict[str, Any]:
    """What was compared, as plain values."""
    return {
        **invocation.document(),
        "seeds": comparison.seeds,
        "sets": [data.name for data in comparison.sets],
        "methods": {method.name: method.about for method in comparison.methods},
        "settings": {name: asdict(one) for name, one in comparison.settings.items()},
    }


def scope(sets: Sequence[BenchSet], seeds: int) -> str:
    """Describe what the means are over."""
    named = f"{len(sets)} sets" if len(sets) > 1 else sets[0].name
    return f"{named}, {seeds} seed{'s' if seeds > 1 else ''}"
