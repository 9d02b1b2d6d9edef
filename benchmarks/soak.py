"""Many short sessions one after the other: the memory of every process must not grow with them.

    python benchmarks/soak.py [--minutes 30] [--rows 60] [--labels 4] [--parallel 2]
        [--warm-up 100] [--bound 20] [--page docs/performance.md]

Embedded server, one service, two workers, generated data, the default strategy. Each session has a
dataset of its own; both are deleted after its end. After the first sessions, which load what all
need, a line is fitted to the resident memory of each process over the sessions. The exit code is 1
if a process surely grows by more than the bound: if the slope minus two standard errors is above
it. --page writes the table, and a picture beside it, into a page between two marks.
"""

import argparse
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench_scale import generated, processes
from pages import written

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.numerics import FloatArray

NAME = "soak"
PICTURE = "performance_soak.svg"
HEAD = (
    "| process | after warm-up, MiB | at the end, MiB | growth, kB a session | standard error |\n"
    "|---|---|---|---|---|"
)
# Memory moves in steps: neighbouring values say the same, and errors are taken from blocks.
BLOCKS = 10


@dataclass(frozen=True, slots=True)
class Growth:
    """The line through the memory of one process."""

    process: str
    first_mib: float
    last_mib: float
    kb_a_session: float
    error_kb: float

    @property
    def line(self) -> str:
        """A line of the table."""
        return (
            f"| {self.process} | {self.first_mib:.1f} | {self.last_mib:.1f} "
            f"| {self.kb_a_session:+.1f} | {self.error_kb:.1f} |"
        )

    def exceeds(self, bound_kb: float) -> bool:
        """Tell whether the growth is surely above the bound."""
        return self.kb_a_session - 2.0 * self.error_kb > bound_kb


class Soak:
    """Sessions that have ended, and the memory of the processes after each."""

    def __init__(self, rows: int, labels: int) -> None:
        self.X, self.truth = generated(rows, 4)
        self.labels = labels
        self.pids = {
            f"{role} {number}" if len(pids) > 1 else role: pid
            for role, pids in processes().items()
            for number, pid in enumerate(pids, 1)
        }
        self.memory_kb: list[list[int]] = []
        self._lock = threading.Lock()

    def run(self, address: str, seconds: float, first_seed: int, step: int) -> None:
        """Run sessions one after the other for so many seconds."""
        until, seed = time.monotonic() + seconds, first_seed
        with TuningClient(address) as client:
            while time.monotonic() < until:
                self._session(client, seed)
                seed += step
                memory = [resident_kb(pid) for pid in self.pids.values()]
                with self._lock:
                    self.memory_kb.append(memory)

    def tell(self) -> None:
        """Print how many sessions have ended, and the memory after the last."""
        with self._lock:
            last = self.memory_kb[-1] if self.memory_kb else []
            told = (f"{name} {kb} kB" for name, kb in zip(self.pids, last, strict=False))
            print(len(self.memory_kb), "sessions:", ", ".join(told), flush=True)

    def _session(self, client: TuningClient, seed: int) -> None:
        # Other data each time: a worker shares what it has computed for the same data.
        dataset = client.upload_dataset(self.X + 1e-3 * seed)
        session = client.create_session(dataset, budget=self.labels, seed=seed)
        with client.tuning(session) as tuning:
            while (query := tuning.next_query(timeout_s=600)) is not None:
                tuning.answer(query, "outlier" if self.truth[query.row] == -1 else "inlier")
        client.wait_until_completed(session, timeout_s=600)
        client.delete_session(session)
        client.delete_dataset(dataset)


def resident_kb(pid: int) -> int:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def growth(process: str, memory_kb: FloatArray) -> Growth:
    """Fit a line by least squares to the means of blocks of sessions."""
    count = min(BLOCKS, len(memory_kb))
    parts = np.array_split(np.arange(len(memory_kb)), count)
    x = np.array([part.mean() for part in parts])
    y = np.array([memory_kb[part].mean() for part in parts])
    off = x - x.mean()
    slope = float(off @ y / (off @ off))
    rest = y - y.mean() - slope * off
    error = float(np.sqrt(rest @ rest / (count - 2) / (off @ off)))
    return Growth(process, memory_kb[0] / 1024, memory_kb[-1] / 1024, slope, error)


def draw(soak: Soak, path: Path) -> None:
    """Draw the memory of each process over the sessions."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = sheet.subplots()
    for process, values in zip(soak.pids, zip(*soak.memory_kb, strict=True), strict=True):
        axes.plot(np.array(values) / 1024, label=process)
    axes.set(xlabel="sessions that have ended", ylabel="resident memory, MiB")
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    sheet.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--labels", type=int, default=4)
    parser.add_argument("--parallel", type=int, default=2, help="sessions at a time")
    parser.add_argument("--warm-up", type=int, default=100, help="sessions before the fit")
    parser.add_argument("--bound", type=float, default=20.0, help="kB that a session may leave")
    parser.add_argument("--page", type=Path, help="page to write the table into")
    given = parser.parse_args()
    with EmbeddedStack(workers=2) as stack:
        soak = Soak(given.rows, given.labels)
        threads = [
            threading.Thread(
                target=soak.run, args=(stack.address, 60 * given.minutes, number, given.parallel)
            )
            for number in range(given.parallel)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(60.0)
                soak.tell()
    memory = np.array(soak.memory_kb, dtype=float)
    if len(memory) < given.warm_up + 2 * BLOCKS:
        print(f"{len(memory)} sessions are too few for a fit after {given.warm_up}")
        return 1
    table = [
        growth(process, memory[given.warm_up :, column]) for column, process in enumerate(soak.pids)
    ]
    text = "\n".join((HEAD, *(one.line for one in table)))
    sentence = (
        f"{len(memory)} sessions of {given.labels} labels in {given.minutes:.0f} minutes, "
        f"{given.parallel} at a time; the fit leaves out the first {given.warm_up}."
    )
    print(f"{sentence}\n\n{text}")
    if given.page is not None:
        picture = f"![Resident memory of each process over the sessions]({PICTURE})"
        page = given.page.read_text(encoding="utf-8")
        page = written(page, NAME, f"{sentence}\n\n{text}\n\n{picture}")
        given.page.write_text(page, encoding="utf-8")
        draw(soak, given.page.with_name(PICTURE))
    grown = [one.process for one in table if one.exceeds(given.bound)]
    if grown:
        print(f"these grow by more than {given.bound:g} kB a session: {', '.join(grown)}")
    return int(bool(grown))


if __name__ == "__main__":
    sys.exit(main())
