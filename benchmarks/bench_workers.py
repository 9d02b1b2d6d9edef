"""Throughput of 1, 2 and 4 workers: atlases, and rankings of many sessions.

    python benchmarks/bench_workers.py [--workers 1 2 4] [--datasets 4] [--rows 2000]
        [--sessions 40] [--seconds 20] [--quick] [--page docs/sizing.md]

Embedded server and one service. For the atlases, sessions on several new datasets are created at
once, and the clock runs until each has its first question. For the rankings, every session has a
labeler that answers at once. Workers of one machine share its cores with the service, Redis and the
labelers. --page writes the table into a page between two marks.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from bench_fairness import Labeler, generated, labeling
from pages import written

from svddtune.client import EmbeddedStack, TuningClient

NAME = "bench_workers"
HEAD = (
    "| workers | atlases a minute | rankings a second | next query p50 | p95 |\n"
    "|---|---|---|---|---|"
)


def line(workers: int, given: argparse.Namespace) -> str:
    """Measure, and give a line of the table."""
    with EmbeddedStack(workers=workers) as stack, TuningClient(stack.address) as client:
        sets = [
            client.upload_dataset(generated(given.rows, given.features, seed=seed))
            for seed in range(given.datasets)
        ]
        begun_s = time.perf_counter()
        sessions = [client.create_session(one, budget=given.rows) for one in sets]
        for session in sessions:
            with client.tuning(session) as tuning:
                tuning.next_query(timeout_s=3600)
        atlases = 60.0 * len(sets) / (time.perf_counter() - begun_s)
        # Further sessions share the atlases that are there.
        labelers = [
            Labeler(client, client.create_session(sets[i % len(sets)], budget=given.rows), 0.0, i)
            for i in range(given.sessions)
        ]
        with labeling(labelers):
            while not all(one.waits for one in labelers):
                time.sleep(0.1)
            begun_s = time.perf_counter()
            time.sleep(given.seconds)
            ended_s = time.perf_counter()
    waits = [wait for one in labelers for at, wait in one.waits if begun_s <= at < ended_s]
    p50, p95 = 1000.0 * np.quantile(waits, (0.5, 0.95))
    return (
        f"| {workers} | {atlases:.1f} | {len(waits) / (ended_s - begun_s):.0f} "
        f"| {p50:.0f} ms | {p95:.0f} ms |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--datasets", type=int, default=4, help="datasets without an atlas")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--sessions", type=int, default=40, help="sessions that are labeled")
    parser.add_argument("--seconds", type=float, default=20.0, help="of labeling")
    parser.add_argument("--quick", action="store_true", help="200 rows, 4 sessions, 3 s")
    parser.add_argument("--page", type=Path, help="page to write the table into")
    given = parser.parse_args()
    if given.quick:
        given.rows, given.sessions, given.seconds = 200, 4, 3.0
    print(HEAD)
    lines = []
    for workers in given.workers:
        lines.append(line(workers, given))
        print(lines[-1], flush=True)
    if given.page is not None:
        page = written(given.page.read_text(encoding="utf-8"), NAME, "\n".join((HEAD, *lines)))
        given.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
