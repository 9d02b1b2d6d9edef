"""Many rows, many labels: time to first question, next query and result; memory; kappa.

    python benchmarks/bench_scale.py [--rows 1000 10000 100000 1000000] [--features 10]
        [--asked 20] [--given 10 100 1000 10000] [--given-rows 20000] [--workers 2] [--quick]
        [--page docs/performance.md]

Embedded server, one service, generated data with one outlier in a hundred rows, the default
strategy and scaling. Two sweeps: over the rows, and over labels that are given in bulk, with
`TuningClient.label_all`, before the session asks. `--rows` or `--given` without a number leaves its
sweep out. The clock starts when the upload has ended, or the labels have been given. The processor
time of all processes until the first question is printed too: it is more reliable where other
programs use the cores. Kappa is that on rows without a label. --page writes each sweep's table, and
a picture beside it, into a page between two marks.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pages import written

from svddtune.client import EmbeddedStack, SvddModel, TuningClient, cohen_kappa
from svddtune.numerics import FloatArray, LabelArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICK_S = 0.01  # unit of processor time in /proc
JUDGED = 100_000
"""Rows at most on which kappa is computed; of more a uniform sample."""
COLORS = ("#0072B2", "#D55E00", "#009E73")
"""Apart from each other for colour-blind people too."""
MARKERS = ("o", "s", "^")


@dataclass(frozen=True, slots=True)
class Figures:
    """What one session took, and how well its detectors do."""

    rows: int
    given: int
    given_s: float
    first_s: float
    first_processor_s: float
    p50_ms: float
    p95_ms: float
    result_s: float
    service_mib: float
    worker_mib: float
    redis_mib: float
    tuned: float
    refined: float

    @property
    def line(self) -> str:
        """The columns that both tables have."""
        return (
            f"{self.first_s:.0f} s | {self.first_processor_s:.0f} s "
            f"| {self.p50_ms:.0f} ms | {self.p95_ms:.0f} ms | {self.result_s:.0f} s "
            f"| {self.service_mib:.0f} | {self.worker_mib:.0f} | {self.redis_mib:.0f} "
            f"| {self.tuned:.2f} | {self.refined:.2f} |"
        )


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep goes over, and how its figures are shown.

    Attributes
    ----------
    name : str
        Of its marks on a page.
    over : str
        Label of the horizontal axis.
    picture : str
        Name of its file.
    columns : str
        Head of the columns of its own.
    own : callable
        From figures to their entries in these columns.
    size : callable
        From figures to the place on the horizontal axis.
    """

    name: str
    over: str
    picture: str
    columns: str
    own: Callable[[Figures], str]
    size: Callable[[Figures], int]

    @property
    def head(self) -> str:
        """Head of the table."""
        columns = (
            f"{self.columns} | first question | processor until then | next query p50 | p95 "
            "| result | service, MiB | worker, MiB | Redis, MiB | kappa, tuned | refined |"
        )
        return f"{columns}\n{'|---' * (columns.count('|') - 1)}|"

    def line(self, figures: Figures) -> str:
        """A line of the table."""
        return f"{self.own(figures)} | {figures.line}"


ROWS = Sweep(
    name="bench_scale rows",
    over="rows",
    picture="performance_scale.svg",
    columns="| rows",
    own=lambda one: f"| {one.rows:,}",
    size=lambda one: one.rows,
)
LABELS = Sweep(
    name="bench_scale labels",
    over="labels given",
    picture="performance_labels.svg",
    columns="| labels given | in",
    own=lambda one: f"| {one.given:,} | {one.given_s:.2f} s",
    size=lambda one: one.given,
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


def measure(rows: int, features: int, asked: int, workers: int, given: int = 0) -> Figures:
    """Run one session that asks so many questions, after so many labels were given."""
    X, truth = generated(rows, features)
    with EmbeddedStack(workers=workers) as stack, TuningClient(stack.address) as client:
        dataset = client.upload_dataset(X)
        del X
        found = processes()
        pids = [pid for group in found.values() for pid in group]
        spent, begin = processor_s(pids), time.perf_counter()
        session = client.create_session(dataset, budget=given + asked)
        given_s = 0.0
        if given:
            known = np.random.default_rng(0).permutation(rows)[:given]
            labels = {str(row): _verdict(truth, row) for row in known.tolist()}
            begin = time.perf_counter()
            client.label_all(session, labels, labeler="bulk")
            given_s, begin = time.perf_counter() - begin, time.perf_counter()
        waits = []
        with client.tuning(session) as tuning:
            query = tuning.next_query(timeout_s=7200)
            first_s, first_processor_s = time.perf_counter() - begin, processor_s(pids) - spent
            while query is not None:
                answered = time.perf_counter()
                tuning.answer(query, _verdict(truth, query.row))
                query = tuning.next_query(timeout_s=7200)
                waits.append(1000 * (time.perf_counter() - answered))
                begin = time.perf_counter() if query is not None else answered
        client.wait_until_completed(session, timeout_s=7200)
        result_s = time.perf_counter() - begin
        # The last answer is followed by the result, not by a query.
        p50, p95 = np.quantile(waits[:-1] or [np.nan], (0.5, 0.95))
        service, worker, redis = (peak_mib(found[role]) for role in ("service", "worker", "redis"))
        labelled = client.result(session).manifest.labeled_rows
        tuned, refined = kappas(client.model(session), rows, features, labelled)
        return Figures(
            rows=rows,
            given=given,
            given_s=given_s,
            first_s=first_s,
            first_processor_s=first_processor_s,
            p50_ms=float(p50),
            p95_ms=float(p95),
            result_s=result_s,
            service_mib=service,
            worker_mib=worker,
            redis_mib=redis,
            tuned=tuned,
            refined=refined,
        )


def _verdict(truth: LabelArray, row: int) -> str:
    return "outlier" if truth[row] == -1 else "inlier"


def kappas(
    model: SvddModel, rows: int, features: int, labelled: Sequence[int]
) -> tuple[float, float]:
    """Kappa of the tuned SVDD and of the refined detector (NaN without one), on other rows."""
    X, truth = generated(rows, features)
    others = np.setdiff1d(np.arange(rows), labelled)
    if len(others) > JUDGED:
        others = np.sort(np.random.default_rng(0).choice(others, JUDGED, replace=False))
    X, truth = X[others], truth[others]
    tuned = cohen_kappa(truth, model.predict(X))
    if model.refined is None:
        return tuned, float("nan")
    return tuned, cohen_kappa(truth, model.predict(X, which="refined"))


def draw(sweep: Sweep, figures: Sequence[Figures], path: Path) -> None:
    """Draw times and memory with both axes logarithmic, and kappa."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(12.0, 3.6), layout="constrained")
    times, memory, kappa = sheet.subplots(1, 3)
    places = [sweep.size(one) for one in figures]
    _lines(
        times,
        places,
        {
            "first question": [one.first_s for one in figures],
            "result": [one.result_s for one in figures],
            "next query, p50": [one.p50_ms / 1000 for one in figures],
        },
    )
    _lines(
        memory,
        places,
        {
            "worker": [one.worker_mib for one in figures],
            "service": [one.service_mib for one in figures],
            "Redis": [one.redis_mib for one in figures],
        },
    )
    _lines(
        kappa,
        places,
        {
            "tuned SVDD": [one.tuned for one in figures],
            "refined detector": [one.refined for one in figures],
        },
    )
    times.set(ylabel="seconds")
    memory.set(ylabel="peak memory, MiB")
    kappa.set(ylabel="kappa on rows without a label", ylim=(-0.05, 1.05))
    for axes in (times, memory, kappa):
        axes.set(xlabel=sweep.over)
        _decades(axes, "x")
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    for axes in (times, memory):
        _decades(axes, "y")
    sheet.savefig(path, metadata={"Date": None})


def _lines(axes: "Axes", places: Sequence[int], lines: dict[str, list[float]]) -> None:
    for (label, values), color, marker in zip(
        lines.items(), cycle(COLORS), cycle(MARKERS), strict=False
    ):
        axes.plot(places, values, color=color, marker=marker, label=label)


def _decades(axes: "Axes", which: str) -> None:
    """Make an axis logarithmic, over whole powers of ten, and label these alone."""
    from matplotlib.ticker import NullFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = np.log10(axis.get_data_interval())
    limits = 10 ** np.floor(low) / 1.2, 10 ** np.ceil(high) * 1.2
    if which == "x":
        axes.set(xscale="log", xlim=limits)
    else:
        axes.set(yscale="log", ylim=limits)
    axis.set_minor_formatter(NullFormatter())


def body(sweep: Sweep, figures: Sequence[Figures]) -> str:
    """The table of a sweep, and its picture, for a page."""
    table = "\n".join((sweep.head, *map(sweep.line, figures)))
    return f"{table}\n\n![Times, memory and kappa over the {sweep.over}]({sweep.picture})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--asked", type=int, default=20, help="questions of a session")
    parser.add_argument("--given", type=int, nargs="*", default=[10, 100, 1000, 10_000])
    parser.add_argument("--given-rows", type=int, default=20_000, help="rows of that sweep")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="few rows, labels and questions")
    parser.add_argument("--page", type=Path, help="page to write the tables into")
    given = parser.parse_args()
    if given.quick:
        given.rows, given.asked, given.given, given.given_rows = [1000, 6000], 5, [10, 300], 1000
    print(f"{given.features} features, {given.asked} questions, {given.workers} workers")
    for sweep, sizes in ((ROWS, given.rows), (LABELS, given.given)):
        if not sizes:
            continue
        print(f"\n{sweep.head}")
        figures = []
        for size in sizes:
            rows, labels = (size, 0) if sweep is ROWS else (given.given_rows, size)
            figures.append(measure(rows, given.features, given.asked, given.workers, labels))
            print(sweep.line(figures[-1]), flush=True)
        if given.page is not None:
            page = given.page.read_text(encoding="utf-8")
            page = written(page, sweep.name, body(sweep, figures))
            given.page.write_text(page, encoding="utf-8")
            draw(sweep, figures, given.page.with_name(sweep.picture))


if __name__ == "__main__":
    main()
