"""What a second worker buys: a simulation of labelers, sessions and workers.

    python benchmarks/simulate_queues.py [--ranking-ms 9.3] [--part-s 1.1] [--piece-s 0.1]
        [--thinking-s 2] [--minutes 60] [--page docs/sizing.md]

Each labeler has a session of their own, thinks for an exponential time, answers, and waits until a
worker has ranked the session again. Atlas parts of other sessions come beside them at random.
Rankings go first: a worker with a part does them between the pieces of the part. With two or more
workers, one is kept free for rankings, as `svddtune up` does while somebody labels. Only waiting
for workers is simulated: no core, disk or network is ever short. --page writes the table into a
page between two marks.
"""

import argparse
import random
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import simpy
from pages import written

NAME = "simulate_queues"
HEAD = (
    "| labelers | atlas parts, share of a core | workers | next ranking p50 | p95 | p99 "
    "| atlas part p50 |\n|---|---|---|---|---|---|---|"
)
_URGENT, _BULK = 0, 1


@dataclass(frozen=True, slots=True)
class Load:
    """What is simulated; times in seconds."""

    labelers: int
    workers: int
    thinking_s: float
    ranking_s: float
    part_s: float
    # Of a fit or a block of rows: a ranking waits for its end.
    piece_s: float
    # Parts that come in a second, times their length.
    bulk_share: float


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from the moment a job is asked for until it is done."""

    rankings: list[float] = field(default_factory=list)
    parts: list[float] = field(default_factory=list)


def simulate(load: Load, seconds: float, seed: int = 0) -> Times:
    """Run the workers for so many simulated seconds."""
    pieces = max(1, round(load.part_s / load.piece_s))
    rng, world, times = random.Random(seed), simpy.Environment(), Times()
    workers = simpy.PriorityResource(world, load.workers)
    # A part also needs one of these, which leaves one of several workers to the rankings.
    for_parts = simpy.Resource(world, max(1, load.workers - 1))

    def labeler() -> Generator[Any, Any, None]:
        while True:
            yield world.timeout(rng.expovariate(1.0 / load.thinking_s))
            asked = world.now
            with workers.request(_URGENT) as worker:
                yield worker
                yield world.timeout(load.ranking_s)
            times.rankings.append(world.now - asked)

    def part() -> Generator[Any, Any, None]:
        asked = world.now
        with for_parts.request() as turn:
            yield turn
            for _ in range(pieces):
                with workers.request(_BULK) as worker:
                    yield worker
                    yield world.timeout(load.part_s / pieces)
        times.parts.append(world.now - asked)

    def parts() -> Generator[Any, Any, None]:
        while True:
            yield world.timeout(rng.expovariate(load.bulk_share / load.part_s))
            world.process(part())

    for _ in range(load.labelers):
        world.process(labeler())
    if load.bulk_share > 0.0:
        world.process(parts())
    world.run(until=seconds)
    return times


def line(load: Load, seconds: float) -> str:
    """A line of the table."""
    times = simulate(load, seconds)
    p50, p95, p99 = 1e3 * np.quantile(times.rankings, (0.5, 0.95, 0.99))
    part = f"{np.median(times.parts):.1f} s" if times.parts else ""
    return (
        f"| {load.labelers} | {load.bulk_share:.0%} | {load.workers} "
        f"| {p50:.0f} ms | {p95:.0f} ms | {p99:.0f} ms | {part} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ranking-ms", type=float, default=9.3)
    parser.add_argument("--part-s", type=float, default=1.1)
    parser.add_argument("--piece-s", type=float, default=0.1)
    parser.add_argument("--thinking-s", type=float, default=2.0)
    parser.add_argument("--minutes", type=float, default=60.0, help="simulated time")
    parser.add_argument("--page", type=Path, help="page to write the table into")
    given = parser.parse_args()
    lines = [
        line(
            Load(
                labelers,
                workers,
                thinking_s=given.thinking_s,
                ranking_s=given.ranking_ms / 1e3,
                part_s=given.part_s,
                piece_s=given.piece_s,
                bulk_share=share,
            ),
            60.0 * given.minutes,
        )
        for labelers in (20, 200)
        for share in (0.0, 0.5)
        for workers in (1, 2, 4)
    ]
    table = "\n".join((HEAD, *lines))
    print(table)
    if given.page is None:
        return
    page = written(given.page.read_text(encoding="utf-8"), NAME, table)
    given.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
