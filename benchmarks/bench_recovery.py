"""Time until the urgent job of a killed worker is done by another: idle, and under full load.

    python benchmarks/bench_recovery.py [--trials 10] [--rows 2000] [--quick]

Two workers run, one of them for urgent jobs only. No supervisor notices a death, so the claim has
to expire. A worker is stopped while it waits for a job, so that it receives the ranking of the next
query without doing it. It is then killed with SIGKILL, and the clock runs until the labeler has
that query. Under load, three atlases are being built all the time.
"""

import argparse
import os
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from bench_fairness import generated
from bench_streams import Child, child

from svddtune.client import Tuning, TuningClient
from svddtune.stack import EmbeddedServer
from svddtune.state import keys
from svddtune.state.connect import connect

ATLASES = 3


class Crew:
    """A worker that is killed in every trial, and one that is not."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.client = connect(url)
        self.steady = Child("svddtune.worker", "--redis", url)
        self.victim = self._another()

    def _another(self) -> Child:
        return Child("svddtune.worker", "--redis", self._url, "--hi-only")

    def signal(self, number: signal.Signals) -> None:
        os.kill(int(self.victim.ready["pid"]), number)

    def victim_has_the_job(self) -> bool:
        """Whether the next urgent job goes to the worker that is stopped."""
        stream = keys.prefix(0) + "q:hi"
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            for claim in self.client.xpending_range(stream, keys.GROUP, "-", "+", 10):
                return bool(claim["consumer"].decode() == self.victim.ready["worker"])
            time.sleep(0.001)
        return False

    def replace(self) -> None:
        try:
            self.victim.stop()
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
        self.victim = self._another()

    def stop(self) -> None:
        self.victim.stop()
        self.steady.stop()


class Load:
    """Keeps this many atlases being built."""

    def __init__(self, client: TuningClient, rows: int) -> None:
        self._client, self._rows, self._seed = client, rows, 0
        self._sessions: list[str] = []

    def keep_up(self) -> None:
        self._sessions = [
            name
            for name in self._sessions
            if self._client.get_session(name).state.name == "PREPARING"
        ]
        while len(self._sessions) < ATLASES:
            self._seed += 1
            dataset = self._client.upload_dataset(generated(self._rows, 10, self._seed))
            self._sessions.append(self._client.create_session(dataset).name)


def takeovers(crew: Crew, tuning: Tuning, load: Load | None, trials: int) -> list[float]:
    times: list[float] = []
    query = tuning.next_query(timeout_s=120)
    while len(times) < trials:
        if load:
            load.keep_up()
        assert query is not None
        crew.signal(signal.SIGSTOP)
        tuning.answer(query, "inlier" if query.row % 3 else "outlier")
        if crew.victim_has_the_job():
            crew.signal(signal.SIGKILL)
            begin = time.perf_counter()
            query = tuning.next_query(timeout_s=120)
            times.append(time.perf_counter() - begin)
            crew.replace()
        else:
            crew.signal(signal.SIGCONT)
            query = tuning.next_query(timeout_s=120)
    assert query is not None
    tuning.answer(query, "inlier")
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2000, help="of each dataset of the load")
    parser.add_argument("--quick", action="store_true", help="2 trials, 1000 rows")
    given = parser.parse_args()
    trials, rows = (2, 1000) if given.quick else (given.trials, given.rows)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(EmbeddedServer(folder)).url
        front = stack.enter_context(
            child("svddtune.service", "--redis", url, "--listen", "127.0.0.1:0")
        )
        client = stack.enter_context(TuningClient(front.ready["address"]))
        crew = Crew(url)
        stack.callback(crew.stop)
        dataset = client.upload_dataset(generated(500, 5, seed=0))
        session = client.create_session(dataset, budget=400, strategy="lama", lease_seconds=600)
        with client.tuning(session) as tuning:
            for what, load in (("idle", None), ("three atlases", Load(client, rows))):
                times = takeovers(crew, tuning, load, trials)
                p50, most = np.quantile(times, [0.5, 1.0])
                print(f"{what:15} {trials} kills   p50 {p50:.2f} s   max {most:.2f} s", flush=True)


if __name__ == "__main__":
    main()
