"""What a session costs a worker until its first question, and the constants of `svddtune.cost`.

    python benchmarks/bench_cost.py [--sizes 500x10 2000x10 ...] [--scaling auto] [--strategy mixed]
        [--json]

For each size it starts an embedded server, a service and one worker, and prints the worker's
processor time from the upload's end to the first question, its peak memory, and both as multiples
of the estimate. Processor time does not depend on what else the machine does.
"""

import argparse
import json
import os
import time
from pathlib import Path

from bench_fairness import generated

from svddtune.client import EmbeddedStack, TuningClient

SIZES = ["500x10", "2000x10", "2000x40", "5000x10", "20000x10", "100000x10", "100000x50"]


def worker_pid() -> int:
    """The worker that this process started."""
    parents, workers = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        pid = int(folder.name)
        parents[pid] = int(fields[1])
        if b"svddtune.worker" in command and b"-S" not in command:
            workers.append(pid)
    for pid in workers:
        above = pid
        while above in parents:
            above = parents[above]
            if above == os.getpid():
                return pid
    raise RuntimeError("no worker found among the processes")


def processor_s(pid: int) -> float:
    """Processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(pid: int) -> int:
    """Largest resident memory of a process so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the system does not report the peak memory of a process")


def measure(rows: int, features: int, scaling: str, strategy: str) -> dict[str, float]:
    """Figures of a session on generated data, with processes of its own, beside the estimate."""
    with EmbeddedStack(workers=1) as stack, TuningClient(stack.address) as client:
        dataset = client.upload_dataset(generated(rows, features, seed=0), scaling=scaling)
        pid = worker_pid()
        before, begin = processor_s(pid), time.perf_counter()
        session = client.create_session(dataset, budget=10, strategy=strategy)
        with client.tuning(session) as tuning:
            query = tuning.next_query(timeout_s=3600)
            seconds = time.perf_counter() - begin
        if query is None:
            raise RuntimeError(f"no question came: {client.get_session(session).failure_message}")
        assert session.estimate is not None
        return {
            "rows": rows,
            "features": features,
            "seconds": seconds,
            "processor_s": processor_s(pid) - before,
            "peak_bytes": peak_bytes(pid),
            "estimated_s": session.estimate.seconds,
            "estimated_bytes": session.estimate.memory_bytes,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="ROWSxFEATURES")
    parser.add_argument("--scaling", default="auto")
    parser.add_argument("--strategy", default="mixed")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args()
    if not given.json:
        print(f"strategy {given.strategy}, scaling {given.scaling}, one worker")
    found = []
    for size in given.sizes:
        rows, features = map(int, size.split("x"))
        one = measure(rows, features, given.scaling, given.strategy)
        found.append(one)
        if not given.json:
            print(
                f"  {size:>12}: {one['seconds']:6.1f} s, worker {one['processor_s']:6.1f} s "
                f"({one['processor_s'] / one['estimated_s']:.1f} x) and "
                f"{one['peak_bytes'] / 2**20:5.0f} MiB "
                f"({one['peak_bytes'] / one['estimated_bytes']:.1f} x)",
                flush=True,
            )
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
