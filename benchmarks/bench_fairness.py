"""Waiting times of small sessions beside a large one, on the same workers.

    python benchmarks/bench_fairness.py [--large 20000] [--features 10] [--workers 1] [--trials 3]
    python benchmarks/bench_fairness.py --sessions 20 [--large 1000000] [--workers 2]
        [--seconds 60] [--pace 1.0]

Without ``--sessions``: the first question of a new small session while a large dataset is prepared.
With it: the time from an answer to the next query in so many small sessions, first alone, then
beside a large session from its creation on, which is answered as soon as it asks. Each small
session has a labeler that thinks for an exponential time around ``--pace`` seconds.

Embedded server, one service, generated data, the default strategy.
"""

import argparse
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from svddtune.client import EmbeddedStack, Query, Session, Tuning, TuningClient, Unavailable
from svddtune.numerics import FloatArray


def generated(rows: int, features: int, seed: int) -> FloatArray:
    """A normal cluster with a tenth of uniform outliers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    X[: rows // 10] = rng.uniform(-6.0, 6.0, size=(rows // 10, features))
    return X


def verdict(query: Query) -> int:
    """Rows far from the origin are outliers."""
    return -1 if max(map(abs, query.features)) > 3.5 else 1


def first_question_s(client: TuningClient, X: FloatArray) -> float:
    """Seconds until a session on new data asks."""
    dataset = client.upload_dataset(X)
    begin = time.perf_counter()
    session = client.create_session(dataset, budget=10)
    with client.tuning(session) as tuning:
        query = tuning.next_query(timeout_s=3600)
        assert query is not None
    return time.perf_counter() - begin


def first_questions(given: argparse.Namespace) -> None:
    """Print when new small sessions ask, alone and while a large dataset is prepared."""
    with EmbeddedStack(workers=given.workers) as stack, TuningClient(stack.address) as client:
        # The first session also waits for what a worker loads once.
        first_question_s(client, generated(given.small, 2, seed=0))
        alone = [
            first_question_s(client, generated(given.small, 2, seed=seed))
            for seed in range(1, given.trials + 1)
        ]
        client.create_session(client.upload_dataset(generated(given.large, given.features, seed=0)))
        beside = []
        for seed in range(given.trials):
            time.sleep(1.0)  # in the middle of what the large one needs
            beside.append(first_question_s(client, generated(given.small, 2, seed=100 + seed)))
    print(f"{given.small} rows, {given.workers} workers: first question after")
    for what, times in (("alone", alone), (f"beside {given.large} rows", beside)):
        print(f"  {what:18} " + "  ".join(f"{seconds:.2f} s" for seconds in times))


class Labeler:
    """Answers one session until it is told to stop; notes when each wait for a query was over."""

    def __init__(self, client: TuningClient, session: Session, pace_s: float, seed: int) -> None:
        self._client, self._session, self._pace_s = client, session, pace_s
        self._rng = np.random.default_rng(seed)
        # (when the query came, seconds since the answer before it)
        self.waits: list[tuple[float, float]] = []

    def label(self, stop: threading.Event) -> None:
        """Answer until stopped."""
        with self._client.tuning(self._session) as tuning:
            answered_s = time.perf_counter()
            while query := self._next(tuning, stop):
                now_s = time.perf_counter()
                self.waits.append((now_s, now_s - answered_s))
                stop.wait(self._rng.exponential(self._pace_s))
                answered_s = time.perf_counter()
                tuning.answer(query, verdict(query))

    @staticmethod
    def _next(tuning: Tuning, stop: threading.Event) -> Query | None:
        while not stop.is_set():
            try:
                return tuning.next_query(timeout_s=0.5)
            except Unavailable as error:
                if error.reason != "WAIT_TIMEOUT":
                    raise
        return None


@contextmanager
def labeling(labelers: list[Labeler]) -> Iterator[None]:
    """Let the labelers work while the body runs."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(labelers)) as pool:
        running = [pool.submit(labeler.label, stop) for labeler in labelers]
        try:
            yield
        finally:
            stop.set()
        for one in running:
            one.result()


def next_queries(given: argparse.Namespace) -> None:
    """Print the times of small sessions from an answer to the next query."""
    with EmbeddedStack(workers=given.workers) as stack, TuningClient(stack.address) as client:
        small = [
            client.create_session(
                client.upload_dataset(generated(given.small, 2, seed=seed)), budget=given.small
            )
            for seed in range(given.sessions)
        ]
        large_set = client.upload_dataset(generated(given.large, given.features, seed=0))
        labelers = [
            Labeler(client, session, given.pace, seed) for seed, session in enumerate(small)
        ]
        with labeling(labelers):
            while not all(one.waits for one in labelers):
                time.sleep(0.1)
            begun_s = time.perf_counter()
            time.sleep(given.seconds)
            created_s = time.perf_counter()
            large = Labeler(client, client.create_session(large_set, budget=1000), 0.0, seed=0)
            with labeling([large]):
                time.sleep(given.seconds)
            ended_s = time.perf_counter()
    first_s = large.waits[0][0] - created_s if large.waits else float("nan")
    print(
        f"{given.sessions} sessions on {given.small} rows, {given.workers} workers, an answer "
        f"every {given.pace} s each: from an answer to the next query"
    )
    for what, since, until in (
        ("alone", begun_s, created_s),
        (f"beside {given.large} rows", created_s, ended_s),
    ):
        waits = 1000 * np.array(
            [wait for one in labelers for at, wait in one.waits if since <= at < until]
        )
        p50, p95 = np.percentile(waits, [50, 95])
        print(f"  {what:20} p50 {p50:.1f} ms  p95 {p95:.1f} ms  {len(waits)} answers")
    print(f"the large session asked after {first_s:.1f} s and got {len(large.waits)} queries")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=0, help="small sessions that are labeled")
    parser.add_argument("--large", type=int, help="rows of the large dataset")
    parser.add_argument("--small", type=int, help="rows of a small dataset")
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--workers", type=int, help="default: 1, or 2 with --sessions")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0, help="alone, and beside the large")
    parser.add_argument("--pace", type=float, default=1.0, help="mean seconds before an answer")
    parser.add_argument("--quick", action="store_true", help="5000 rows, one trial, 5 s")
    given = parser.parse_args()
    given.workers = given.workers or (2 if given.sessions else 1)
    given.large = given.large or (1_000_000 if given.sessions else 20_000)
    given.small = given.small or (200 if given.sessions else 150)
    if given.quick:
        given.large, given.trials, given.seconds = 5000, 1, 5.0
    if given.sessions:
        next_queries(given)
    else:
        first_questions(given)


if __name__ == "__main__":
    main()
