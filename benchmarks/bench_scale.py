"""Large data: time to the first question, from an answer to the next query, to the result; memory.

    python benchmarks/bench_scale.py [--rows 1000 10000 100000 1000000] [--features 10]
        [--labels 20] [--workers 2] [--quick] [--page docs/performance.md]

Embedded server, one service, generated data with one outlier in a hundred rows, the default
strategy and scaling. The clock starts when the upload has ended. The processor time of all
processes until the first question is printed too: it is more reliable where other programs use the
cores. --page writes the table, and a picture beside it, into a page between two marks.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.numerics import FloatArray, LabelArray

BEGIN, END = "<!-- bench_scale: begin -->", "<!-- bench_scale: end -->"
PICTURE = "performance_scale.svg"
TICK_S = 0.01  # unit of processor time in /proc


@dataclass(frozen=True, slots=True)
class Figures:
    """What one size of data took."""

    rows: int
    first_s: float
    first_processor_s: float
    p50_ms: float
    p95_ms: float
    result_s: float
    service_mib: float
    worker_mib: float
    redis_mib: float

    @property
    def line(self) -> str:
        """A line of the table."""
        return (
            f"| {self.rows:,} | {self.first_s:.0f} s | {self.first_processor_s:.0f} s "
            f"| {self.p50_ms:.0f} ms | {self.p95_ms:.0f} ms | {self.result_s:.0f} s "
            f"| {self.service_mib:.0f} | {self.worker_mib:.0f} | {self.redis_mib:.0f} |"
        )


HEAD = (
    "| rows | first question | processor until then | next query p50 | p95 | result "
    "| service, MiB | worker, MiB | Redis, MiB |\n|---|---|---|---|---|---|---|---|---|"
)


def generated(rows: int, features: int) -> tuple[FloatArray, LabelArray]:
    """A normal cluster, in which every hundredth row has four times the spread."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    truth = np.ones(rows, dtype=np.int8)
    truth[::100] = -1
    X[truth == -1] *= 4.0
    return X, truth


def processes() -> dict[str, list[int]]:
    """The processes of the stack: descendants of this one by what they do."""
    parents: dict[int, int] = {}
    commands: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            pid = int(folder.name)
            parents[pid] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            commands[pid] = (folder / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
    own = {pid for pid in commands if Path("/proc/self").resolve().name in _line(pid, parents)}
    words = {"service": "svddtune.service", "worker": "svddtune.worker", "redis": "valkey-server"}
    return {
        role: [pid for pid in sorted(own) if word in commands[pid]] for role, word in words.items()
    }


def _line(pid: int, parents: dict[int, int]) -> list[str]:
    """A process's ancestors, itself included."""
    line = []
    while pid in parents:
        line.append(str(pid))
        pid = parents[pid]
    return line


def peak_mib(pids: list[int]) -> float:
    """Largest resident memory that any of the processes has had."""
    lines = (line for pid in pids for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return max(
        (int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), default=0.0
    )


def processor_s(pids: list[int]) -> float:
    """Processor time of processes so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks * TICK_S


def measure(rows: int, features: int, labels: int, workers: int) -> Figures:
    """Run one session."""
    X, truth = generated(rows, features)
    with EmbeddedStack(workers=workers) as stack, TuningClient(stack.address) as client:
        dataset = client.upload_dataset(X)
        del X
        found = processes()
        pids = [pid for group in found.values() for pid in group]
        spent, begin = processor_s(pids), time.perf_counter()
        session = client.create_session(dataset, budget=labels)
        waits = []
        with client.tuning(session) as tuning:
            query = tuning.next_query(timeout_s=7200)
            first_s, first_processor_s = time.perf_counter() - begin, processor_s(pids) - spent
            while query is not None:
                asked = time.perf_counter()
                tuning.answer(query, "outlier" if truth[query.row] == -1 else "inlier")
                query = tuning.next_query(timeout_s=7200)
                waits.append(1000 * (time.perf_counter() - asked))
                begin = time.perf_counter() if query is not None else asked
        client.wait_until_completed(session, timeout_s=7200)
        # The last answer is followed by the result, not by a query.
        p50, p95 = np.quantile(waits[:-1] or [np.nan], (0.5, 0.95))
        return Figures(
            rows=rows,
            first_s=first_s,
            first_processor_s=first_processor_s,
            p50_ms=float(p50),
            p95_ms=float(p95),
            result_s=time.perf_counter() - begin,
            service_mib=peak_mib(found["service"]),
            worker_mib=peak_mib(found["worker"]),
            redis_mib=peak_mib(found["redis"]),
        )


def draw(figures: list[Figures], path: Path) -> None:
    """Draw times and memory over the rows, both axes logarithmic."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(9.0, 3.6), layout="constrained")
    times, memory = sheet.subplots(1, 2)
    rows = [one.rows for one in figures]
    for label, values in (
        ("first question", [one.first_s for one in figures]),
        ("result", [one.result_s for one in figures]),
        ("next query, p50", [one.p50_ms / 1000 for one in figures]),
    ):
        times.loglog(rows, values, marker="o", label=label)
    for label, values in (
        ("worker", [one.worker_mib for one in figures]),
        ("service", [one.service_mib for one in figures]),
        ("Redis", [one.redis_mib for one in figures]),
    ):
        memory.loglog(rows, values, marker="o", label=label)
    times.set(xlabel="rows", ylabel="seconds")
    memory.set(xlabel="rows", ylabel="peak memory, MiB")
    for axes in (times, memory):
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    sheet.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="1000 and 6000 rows, 5 labels")
    parser.add_argument("--page", type=Path, help="page to write the table into")
    given = parser.parse_args()
    sizes, labels = ([1000, 6000], 5) if given.quick else (given.rows, given.labels)
    print(f"{given.features} features, {labels} labels, {given.workers} workers\n\n{HEAD}")
    figures = []
    for rows in sizes:
        figures.append(measure(rows, given.features, labels, given.workers))
        print(figures[-1].line, flush=True)
    if given.page is None:
        return
    before, _, rest = given.page.read_text(encoding="utf-8").partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        parser.error(f"{given.page} has no place for the table: {BEGIN} ... {END}")
    table = "\n".join((HEAD, *(one.line for one in figures)))
    picture = f"![Times and memory over the rows, both axes logarithmic]({PICTURE})"
    given.page.write_text(
        f"{before}{BEGIN}\n\n{table}\n\n{picture}\n\n{END}{after}", encoding="utf-8"
    )
    draw(figures, given.page.with_name(PICTURE))


if __name__ == "__main__":
    main()
