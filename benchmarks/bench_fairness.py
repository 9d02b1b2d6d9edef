"""First question of a small session while a large dataset is prepared by the same worker.

    python benchmarks/bench_fairness.py [--large 20000] [--small 150] [--workers 1] [--trials 3]
        [--quick]

Embedded server, one service, generated data, the default strategy.
"""

import argparse
import time

import numpy as np

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.numerics import FloatArray


def generated(rows: int, features: int, seed: int) -> FloatArray:
    """A normal cluster with a tenth of uniform outliers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    X[: rows // 10] = rng.uniform(-6.0, 6.0, size=(rows // 10, features))
    return X


def first_question_s(client: TuningClient, X: FloatArray) -> float:
    """Seconds until a session on new data asks."""
    dataset = client.upload_dataset(X)
    begin = time.perf_counter()
    session = client.create_session(dataset, budget=10)
    with client.tuning(session) as tuning:
        query = tuning.next_query(timeout_s=3600)
        assert query is not None
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--large", type=int, default=20_000)
    parser.add_argument("--small", type=int, default=150)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="5000 rows, one trial")
    given = parser.parse_args()
    large, trials = (5000, 1) if given.quick else (given.large, given.trials)
    with EmbeddedStack(workers=given.workers) as stack, TuningClient(stack.address) as client:
        # The first session also waits for what a worker loads once.
        first_question_s(client, generated(given.small, 2, seed=0))
        alone = [
            first_question_s(client, generated(given.small, 2, seed=seed))
            for seed in range(1, trials + 1)
        ]
        client.create_session(client.upload_dataset(generated(large, given.features, seed=0)))
        beside = []
        for seed in range(trials):
            time.sleep(1.0)  # in the middle of what the large one needs
            beside.append(first_question_s(client, generated(given.small, 2, seed=100 + seed)))
    print(f"{given.small} rows, {given.workers} workers: first question after")
    for what, times in (("alone", alone), (f"beside {large} rows", beside)):
        print(f"  {what:18} " + "  ".join(f"{seconds:.2f} s" for seconds in times))


if __name__ == "__main__":
    main()
