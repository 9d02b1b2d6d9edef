"""A service and a worker that show their metrics, and a session that was labeled there."""

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from tests.e2e.processes import Process

from svddtune.client import TuningClient

ANSWERS = 4


@dataclass(frozen=True)
class Observed:
    """The processes, and where they leave their addresses for Prometheus."""

    service: Process
    worker: Process
    targets: Path

    def families(self) -> dict[str, Metric]:
        """All metrics that both processes show, by the name of their samples without suffix."""
        return read(self.service) | read(self.worker)


def read(process: Process) -> dict[str, Metric]:
    """The metrics of a process by name."""
    with urllib.request.urlopen(f"http://{process.ready['metrics']}/metrics") as response:
        text = response.read().decode()
    return {one.name: one for one in text_string_to_metric_families(text)}


def value(families: dict[str, Metric], sample: str, **labels: str) -> float:
    """The value of the sample of this name with these labels; 0 where there is none."""
    return sum(
        one.value
        for family in families.values()
        for one in family.samples
        if one.name == sample and labels.items() <= one.labels.items()
    )


@contextmanager
def observed(redis_url: str, targets: Path, *further: str) -> Iterator[Observed]:
    """Start both processes."""
    shows = ("--redis", redis_url, "--metrics-listen", "127.0.0.1:0")
    leaves = ("--metrics-targets", str(targets), *further)
    with (
        Process("svddtune.service", "--listen", "127.0.0.1:0", *shows, *leaves) as service,
        Process("svddtune.worker", *shows, *leaves) as worker,
    ):
        yield Observed(service, worker, targets)


def label(client: TuningClient) -> str:
    """Create a session and answer its queries; its name."""
    rows = np.random.default_rng(3).normal(size=(40, 2))
    dataset = client.upload_dataset(rows)
    session = client.create_session(dataset, budget=ANSWERS, seed=1, strategy="random").name
    with client.tuning(session, labeler="ann") as tuning:
        for number, query in enumerate(tuning.queries()):
            tuning.answer(query, "outlier" if number == 0 else "inlier")
    client.wait_until_completed(session, timeout_s=60)
    return session
