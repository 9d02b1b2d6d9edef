"""Each client's quickstart finds the same as Python's, though the service restarts meanwhile."""

import csv
import json
import random
import subprocess
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.clients.languages import OTHERS, PYTHON, ROOT, Language
from tests.e2e.processes import RestartableService, worker

from svddtune.client import TuningClient
from svddtune.stack import EmbeddedServer

# The first test of a client builds it.
pytestmark = [pytest.mark.slow, pytest.mark.e2e, pytest.mark.timeout(600)]

SEED = 7
BUDGET = 20
Figures = dict[str, Any]


@pytest.fixture(scope="module")
def rows_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 hosts of a fleet, every tenth of which is slow or faulty; the same in each run."""
    draw = random.Random(12)
    file = tmp_path_factory.mktemp("rows") / "hosts.csv"
    with file.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["id", "cpu", "latency_ms", "errors"])
        for host in range(120):
            cpu, latency, errors = draw.gauss(0.4, 0.1), draw.gauss(120, 30), draw.randint(0, 2)
            if host % 10 == 1:
                latency, errors = (latency + 400, errors) if host % 20 == 1 else (latency, 9)
            table.writerow([f"host-{host}", cpu, latency, errors])
    return file


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestartableService]:
    """A service with one worker for all clients."""
    with EmbeddedServer(tmp_path_factory.mktemp("redis"), fsync="no") as redis:
        service = RestartableService(redis.url)
        with worker(redis.url):
            yield service
        service.end(hard=False)


@pytest.fixture(scope="module")
def by_python(running: RestartableService, rows_file: Path) -> Figures:
    """The figures of the Python client, whose service does not restart."""
    return figures_of(PYTHON, running, rows_file)


def figures_of(
    language: Language,
    running: RestartableService,
    rows_file: Path,
    *,
    drain_after: Collection[int] = (),
    kill_after: Collection[int] = (),
) -> Figures:
    """Run the quickstart of a language; restart the service after some of its answers.

    The service ends by draining its streams, or by being killed.
    """
    program = subprocess.Popen(
        [*language.quickstart, running.address, str(rows_file), str(SEED)],
        cwd=ROOT / language.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stderr is not None
    assert program.stdout is not None
    late = threading.Timer(200, program.kill)
    late.start()
    lines = []
    try:
        for line in program.stderr:
            lines.append(line.rstrip())
            _, _, number = lines[-1].rpartition("answered ")
            if number in map(str, (*drain_after, *kill_after)):
                running.end(hard=number in map(str, kill_after))
                running.restart()
        out = program.stdout.read()
        assert program.wait() == 0, "\n".join(lines)
    finally:
        late.cancel()
        program.kill()
        program.wait()
        program.stdout.close()
        program.stderr.close()
    answered = [line for line in lines if line.startswith("answered ")]
    assert answered == [f"answered {number}" for number in range(1, BUDGET + 1)]
    figures: Figures = json.loads(out)
    assert len(out.splitlines()) == 1
    return figures


def named(language: Language, *, thorough: bool) -> Any:
    """A parameter; what compiles for minutes is left to `make test-clients`."""
    marks = [pytest.mark.thorough] if thorough else []
    return pytest.param(language, id=language.name, marks=marks)


@pytest.mark.parametrize(
    "language", [named(one, thorough=one.name == "rust") for one in (PYTHON, *OTHERS)]
)
def test_quickstart_finds_the_same_though_the_service_restarts(
    language: Language, running: RestartableService, rows_file: Path, by_python: Figures
) -> None:
    language.build_all()
    figures = figures_of(language, running, rows_file, drain_after=[7], kill_after=[13])
    assert figures == by_python
    assert len(figures["scores"]) == 3
    assert figures["gamma"] > 0
    assert figures["c"] > 0
    with TuningClient(running.address) as client:
        newest = next(client.list_sessions())
        events = list(client.labels(newest))
    assert {event.labeler for event in events} == {"quickstart"}
    assert len(events) == newest.counts.total == BUDGET
    assert newest.counts.outlier > 0
    assert newest.counts.inlier > 0


@pytest.mark.parametrize(
    "language",
    [named(one, thorough=one.name in ("java", "rust")) for one in OTHERS],
)
def test_unit_tests_of_the_client_pass(language: Language) -> None:
    language.build_all()
    language.run(language.unit_tests)
