"""Large sets with rare outliers: both detectors after a session that starts without a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.client.errors import UsageError
from svddtune.evaluation import page
from svddtune.evaluation.large_session import MOST_JUDGED
from svddtune.evaluation.methods import BUDGET
from svddtune.evaluation.report import Invocation, markdown
from svddtune.evaluation.sets import BenchSet
from svddtune.evaluation.summary import Records
from svddtune.evaluation.units import Unit, atlas
from svddtune.numerics.panel import PANEL_ROWS

SLACK = 0.05
"""By how much kappa may be below that of the isolation forest before the page names the set."""


@dataclass(frozen=True, slots=True)
class Large:
    """The sets of more rows than a panel has, and the number of repetitions."""

    sets: tuple[BenchSet, ...]
    seeds: int

    def __post_init__(self) -> None:
        if not self.sets:
            raise UsageError(
                f"no data set has more than {PANEL_ROWS} rows; give larger ones with --data or "
                "--sets"
            )

    def units(self) -> list[Unit]:
        """Atlases, forests and sessions."""
        found = [atlas(data) for data in self.sets]
        for data in self.sets:
            for seed in range(self.seeds):
                found += [session(data, seed), forest(data, seed)]
        return found


@dataclass(frozen=True, slots=True)
class LargeRun:
    """One session.

    Attributes
    ----------
    set : str
    seed : int
    tuned : float
        Kappa of the tuned SVDD on all rows.
    refined : float
        Kappa of the refined detector on rows never asked about.
    both_after : int or None
        Answers until both classes were seen; None if one never was.
    outliers : int
        Labelled ones.
    seconds : float
        Of processor time.
    isolation_forest : float
        Kappa of an isolation forest that is told the true share of outliers.
    """

    set: str
    seed: int
    tuned: float
    refined: float
    both_after: int | None
    outliers: int
    seconds: float
    isolation_forest: float


@dataclass(frozen=True, slots=True)
class Means:
    """Means over the sessions of a set, or over sets.

    Attributes
    ----------
    tuned, refined, isolation_forest, seconds : float
    both_after : int or None
        The largest; None if a session saw one class alone.
    """

    tuned: float
    refined: float
    both_after: int | None
    seconds: float
    isolation_forest: float


def larger(sets: Sequence[BenchSet]) -> tuple[BenchSet, ...]:
    """Return the sets of which a panel holds some rows alone."""
    return tuple(data for data in sets if data.N > PANEL_ROWS)


def session(data: BenchSet, seed: int) -> Unit:
    """One session on a set."""
    given = (("scaling", "auto"), ("budget", BUDGET), ("seed", seed))
    return Unit(
        "large_session", data, given, 20.0 + 1e-4 * data.N, f"{data.name}: session, seed {seed}"
    )


def forest(data: BenchSet, seed: int) -> Unit:
    """An isolation forest on a set."""
    given = (("seed", seed),)
    return Unit("isolation_forest", data, given, 2e-5 * data.N, f"{data.name}: forest, seed {seed}")


def runs(of: Large, records: Records) -> list[LargeRun]:
    """Every session."""
    found = []
    for data in of.sets:
        for seed in range(of.seeds):
            record = records[session(data, seed).key]
            found.append(
                LargeRun(
                    set=data.name,
                    seed=seed,
                    tuned=record["tuned"],
                    refined=record["refined"],
                    both_after=record["both_after"],
                    outliers=record["outliers"],
                    seconds=record["session_seconds"],
                    isolation_forest=records[forest(data, seed).key]["kappa"],
                )
            )
    return found


def by_set(of: Large, records: Records) -> dict[str, Means]:
    """Set -> means over its sessions."""
    found = runs(of, records)
    return {data.name: _mean([one for one in found if one.set == data.name]) for data in of.sets}


def overall(sets: Mapping[str, Means]) -> Means:
    """Means over sets."""
    return _mean(list(sets.values()))


def _mean(found: Sequence[LargeRun] | Sequence[Means]) -> Means:
    after = [one.both_after for one in found]
    seen = [answers for answers in after if answers is not None]
    return Means(
        tuned=float(np.mean([one.tuned for one in found])),
        refined=float(np.mean([one.refined for one in found])),
        both_after=max(seen) if len(seen) == len(after) else None,
        seconds=float(np.mean([one.seconds for one in found])),
        isolation_forest=float(np.mean([one.isolation_forest for one in found])),
    )


def document(of: Large, records: Records, invocation: Invocation) -> dict[str, Any]:
    """The document of --json."""
    sets = by_set(of, records)
    return {
        **invocation.document(),
        "seeds": of.seeds,
        "labels": BUDGET,
        "per_set": {name: asdict(one) for name, one in sets.items()},
        "mean": asdict(overall(sets)),
        "runs": [asdict(one) for one in runs(of, records)],
    }


def tables(of: Large, records: Records) -> str:
    """Both detectors by set, and means."""
    sets, sizes = by_set(of, records), {data.name: data for data in of.sets}
    rows = [
        [
            name,
            f"{sizes[name].N:,} x {sizes[name].M}",
            f"{sizes[name].outliers / sizes[name].N:.2%}",
            *_figures(one),
        ]
        for name, one in sets.items()
    ]
    rows.append(
        [f"**{cell}**" if cell else "" for cell in ("mean", "", "", *_figures(overall(sets)))]
    )
    head = [
        "", "rows", "outliers", "both classes", "tuned SVDD", "refined", "isolation forest",
        "seconds",
    ]  # fmt: skip
    return markdown(head, rows)


def _figures(one: Means) -> list[str]:
    return [
        "never" if one.both_after is None else str(one.both_after),
        f"{one.tuned:.3f}",
        f"{one.refined:.3f}",
        f"{one.isolation_forest:.3f}",
        f"{one.seconds:.0f}",
    ]


def write(folder: Path, of: Large, records: Records, invocation: Invocation) -> Path:
    """Write the part of evaluation.md in a folder."""
    text = page.fill(
        "large",
        command=invocation.command,
        took=invocation.took,
        labels=BUDGET,
        most=f"{MOST_JUDGED:,}",
        seeds=f"{of.seeds} seed{'' if of.seeds == 1 else 's'}",
        table=tables(of, records),
        meaning=meaning(of, records),
    )
    return page.write_part(folder, "large", text)


def meaning(of: Large, records: Records) -> str:
    """Say which sessions saw one class alone, and where the isolation forest is better."""
    sets, found = by_set(of, records), runs(of, records)
    blind = sum(1 for one in found if one.both_after is None)
    seen = (
        f"All {len(found)} sessions saw both classes."
        if not blind
        else f"{blind} of {len(found)} sessions saw one class alone."
    )
    worse = [
        f"{name} ({one.refined - one.isolation_forest:+.3f})"
        for name, one in sets.items()
        if one.refined < one.isolation_forest - SLACK
    ]
    below = (
        f"The refined detector's kappa is more than {SLACK} below that of the isolation forest on "
        f"{', '.join(worse)}."
        if worse
        else f"On no set is the refined detector's kappa more than {SLACK} below that of the "
        "isolation forest."
    )
    mean = overall(sets)
    return f"{seen} The mean kappa of the refined detector is {mean.refined:.3f}. {below}\n"
