"""Recall of outliers of a kind that no label has: the tuned SVDD and the refined detector.

Means are over the kinds and seeds of a set, then over the sets, so that each set counts the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.client.errors import UsageError
from svddtune.evaluation import page
from svddtune.evaluation.kinds import KINDS, LEAST, LEAST_OUTLIERS, Found
from svddtune.evaluation.methods import BUDGET
from svddtune.evaluation.report import Invocation, markdown
from svddtune.evaluation.sets import BenchSet, judged
from svddtune.evaluation.summary import Records
from svddtune.evaluation.units import Unit, atlas

GOAL = 0.95
"""Share of the tuned SVDD's recall that the refined detector is to reach."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """The sets with enough outliers, and the number of repetitions."""

    sets: tuple[BenchSet, ...]
    seeds: int

    def __post_init__(self) -> None:
        if not self.sets:
            raise UsageError(
                f"no data set has {LEAST_OUTLIERS} outliers, so that they can be split into "
                f"{KINDS} kinds; give others with --data or --sets"
            )

    def units(self) -> list[Unit]:
        """Atlases and sessions."""
        found = [atlas(data) for data in self.sets]
        return found + [session(data, seed) for data in self.sets for seed in range(self.seeds)]


@dataclass(frozen=True, slots=True)
class UnseenRun(Found):
    """One session, with the set and the seed."""

    set: str
    seed: int


@dataclass(frozen=True, slots=True)
class Recalls:
    """Means over sessions, or over sets.

    Attributes
    ----------
    sessions : int
    share, own_share, svdd, refined, own : float
        As in `Found`.
    known_svdd, known_refined : float or None
        Over the sessions with outliers of known kinds without label; None if there are none.
    """

    sessions: int
    share: float
    own_share: float
    svdd: float
    refined: float
    own: float
    known_svdd: float | None
    known_refined: float | None

    @property
    def ratio(self) -> float | None:
        """Recall of the refined detector over that of the tuned SVDD; None if that is 0."""
        return self.refined / self.svdd if self.svdd > 0.0 else None


def enough(sets: Sequence[BenchSet]) -> tuple[BenchSet, ...]:
    """Return the sets whose outliers can be split."""
    return tuple(data for data in sets if data.outliers >= LEAST_OUTLIERS)


def session(data: BenchSet, seed: int) -> Unit:
    """The sessions on one set, one for each kind that is kept away."""
    given = (("scaling", "auto"), ("budget", BUDGET), ("seed", seed))
    what = f"{data.name}: unseen kinds, seed {seed}"
    return Unit("unseen_kinds", data, given, KINDS * (1.0 + 1e-3 * data.N), what)


def runs(of: Unseen, records: Records) -> list[UnseenRun]:
    """Every session."""
    return [
        UnseenRun(**found, set=data.name, seed=seed)
        for data in of.sets
        for seed in range(of.seeds)
        for found in records[session(data, seed).key]["found"]
    ]


def by_set(of: Unseen, records: Records) -> dict[str, Recalls]:
    """Set -> means over its sessions; sets whose clusters are too small are absent."""
    found = runs(of, records)
    own = {data.name: [run for run in found if run.set == data.name] for data in of.sets}
    return {name: _mean(sessions, len(sessions)) for name, sessions in own.items() if sessions}


def overall(sets: Sequence[Recalls]) -> Recalls:
    """Means over sets."""
    return _mean(sets, sum(one.sessions for one in sets))


def _mean(found: Sequence[Found] | Sequence[Recalls], sessions: int) -> Recalls:
    def mean(name: str) -> float:
        return float(np.mean([getattr(one, name) for one in found]))

    def known(name: str) -> float | None:
        values = [getattr(one, name) for one in found if getattr(one, name) is not None]
        return float(np.mean(values)) if values else None

    return Recalls(
        sessions, mean("share"), mean("own_share"), mean("svdd"), mean("refined"), mean("own"),
        known("known_svdd"), known("known_refined"),
    )  # fmt: skip


def document(of: Unseen, records: Records, invocation: Invocation) -> dict[str, Any]:
    """The document of --json."""
    sets = by_set(of, records)
    groups = {"judged": _judged(of, sets, True), "others": _judged(of, sets, False)}
    return {
        **invocation.document(),
        "seeds": of.seeds,
        "kinds": KINDS,
        "goal": GOAL,
        "sets": {name: _values(one) for name, one in sets.items()},
        "means": {name: _values(overall(found)) for name, found in groups.items() if found},
    }


def tables(of: Unseen, records: Records) -> str:
    """Recall of both detectors, by set, and means."""
    sets = by_set(of, records)
    main, others = _judged(of, sets, True), _judged(of, sets, False)
    rows = [_row(name, one) for name, one in sets.items()]
    for found, title in ((main, f"mean of {len(main)}"), (others, f"mean of {len(others)} others")):
        if found:
            rows.append([f"**{cell}**" if cell else "" for cell in _row(title, overall(found))])
    head = [
        "", "sessions", "alarms", "unseen: SVDD", "unseen: refined", "ratio", "known: SVDD",
        "known: refined", "alarms, own limit", "unseen, own limit",
    ]  # fmt: skip
    return markdown(head, rows)


def write(folder: Path, of: Unseen, records: Records, invocation: Invocation) -> Path:
    """Write the part of evaluation.md in a folder."""
    text = page.fill(
        "unseen",
        command=invocation.command,
        took=invocation.took,
        kinds=KINDS,
        least=LEAST,
        least_outliers=LEAST_OUTLIERS,
        labels=BUDGET,
        seeds=f"{of.seeds} seed{'' if of.seeds == 1 else 's'}",
        table=tables(of, records),
        meaning=meaning(of, records),
    )
    return page.write_part(folder, "unseen", text)


def meaning(of: Unseen, records: Records) -> str:
    """Say what the refined detector finds of unseen kinds, and on which sets it finds less."""
    sets = by_set(of, records)
    main = _judged(of, sets, True)
    if not main:
        return "No cluster of the outliers is large enough.\n"
    mean = overall(main)
    error = ""
    if len(main) > 1:
        differences = [one.refined - one.svdd for one in main]
        error = f" ± {np.std(differences, ddof=1) / math.sqrt(len(main)):.3f}"
    below = [
        f"{name} ({one.ratio:.1%})"
        for name, one in sets.items()
        if one.ratio is not None and one.ratio < GOAL
    ]
    less = (
        f"It finds less than {GOAL:.0%} of what the tuned SVDD finds on {', '.join(below)}."
        if below
        else f"On no set does it find less than {GOAL:.0%} of what the tuned SVDD finds."
    )
    ratio = "" if mean.ratio is None else f", {mean.ratio:.1%} of the tuned SVDD's"
    return (
        f"With as many alarms, the refined detector's mean recall of unseen kinds is "
        f"{mean.refined:.3f}{ratio} (difference {mean.refined - mean.svdd:+.3f}{error}, one "
        f"standard error over the sets). {less}\n"
    )


def _judged(of: Unseen, sets: dict[str, Recalls], main: bool) -> list[Recalls]:
    names = {data.name for data in judged(of.sets)}
    return [one for name, one in sets.items() if (name in names) == main]


def _values(one: Recalls) -> dict[str, Any]:
    return {**asdict(one), "ratio": one.ratio}


def _row(title: str, one: Recalls) -> list[str]:
    def shown(value: float | None) -> str:
        return "--" if value is None else f"{value:.3f}"

    return [
        title, str(one.sessions), f"{one.share:.1%}", shown(one.svdd), shown(one.refined),
        "--" if one.ratio is None else f"{one.ratio:.0%}", shown(one.known_svdd),
        shown(one.known_refined), f"{one.own_share:.1%}", shown(one.own),
    ]  # fmt: skip
