"""Time from a new dataset to the first question, by its size.

    python benchmarks/bench_first_question.py [--rows 5000 10000 20000] [--features 10]
        [--strategy knowledge_gradient] [--scaling auto] [--workers 1] [--quick]

Embedded server, one service, generated data. The dataset is uploaded before the clock starts.
The processor time of all processes from their start is printed too, about 4 s of it for the start
itself. It is more reliable where other programs use the cores too.
"""

import argparse
import resource
import time

from bench_fairness import generated

from svddtune.client import EmbeddedStack, TuningClient


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[5000, 10_000, 20_000])
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument(
        "--strategy", choices=("lama", "knowledge_gradient"), default="knowledge_gradient"
    )
    parser.add_argument("--scaling", default="auto")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="2000 and 4000 rows")
    given = parser.parse_args()
    print(
        f"{given.strategy}, scaling {given.scaling}, {given.workers} workers, "
        f"{given.features} features"
    )

    def processor_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    for rows in [2000, 4000] if given.quick else given.rows:
        before = processor_s()
        with (
            EmbeddedStack(workers=given.workers) as stack,
            TuningClient(stack.address) as client,
        ):
            dataset = client.upload_dataset(
                generated(rows, given.features, seed=0), scaling=given.scaling
            )
            begin = time.perf_counter()
            session = client.create_session(dataset, budget=10, strategy=given.strategy)
            with client.tuning(session) as tuning:
                query = tuning.next_query(timeout_s=3600)
                assert query is not None
                took = time.perf_counter() - begin
        spent = processor_s() - before
        print(f"  {rows:7} rows: {took:6.1f} s, processor {spent:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
