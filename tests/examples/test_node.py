"""The labeler in Node.js runs against a real service and continues after its restart."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.client.scene import blob
from tests.e2e.processes import RestartableService
from tests.waiting import wait_until

from svddtune.client import Session, TuningClient

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "examples" / "node"
X, Y = blob(51)
BUDGET = 40


def test_readme_shows_a_part_of_the_current_example() -> None:
    (shown,) = re.findall(r"```js\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(shown.splitlines()) > 10
    assert shown in (SOURCE / "labeler.js").read_text()


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example with its packages beside a copy of the protos."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    root = tmp_path_factory.mktemp("node")
    folder = root / "examples" / "node"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(ROOT / "protos", root / "protos")
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--loglevel", "error"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if "ENOTFOUND" in done.stderr or "ECONNREFUSED" in done.stderr:
        pytest.skip("no npm registry can be reached")
    assert done.returncode == 0, done.stderr
    return folder / "labeler.js"


def session_at(address: str) -> Session:
    with TuningClient(address) as client:
        return client.create_session(client.upload_dataset(X), budget=BUDGET)


def labeler(program: Path, address: str, session: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["node", str(program), address, session],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("hard", [True, False], ids=["killed", "drained"])
def test_two_labelers_continue_after_service_restart(
    program: Path, restartable: RestartableService, hard: bool
) -> None:
    session = session_at(restartable.address)

    def answered() -> int:
        with TuningClient(restartable.address) as client:
            return sum(1 for _ in client.labels(session))

    copies = [labeler(program, restartable.address, session.name) for _ in range(2)]
    wait_until(lambda: answered() >= 3, timeout_s=30)
    restartable.end(hard=hard)
    restartable.restart()
    for copy in copies:
        out, err = copy.communicate(timeout=60)
        assert (copy.returncode, err) == (0, "")
        assert out == "finished: BUDGET_SPENT\n"
    with TuningClient(restartable.address) as client:
        client.wait_until_completed(session, timeout_s=60)
        events = list(client.labels(session))
    assert len({event.row for event in events}) == len(events) == BUDGET
    rule = {row: "outlier" if X[row].max() > 1 else "inlier" for row in range(len(X))}
    assert all(event.verdict and event.verdict.value == rule[event.row] for event in events)


@pytest.mark.slow
def test_unknown_session_ends_labeler_without_stack_trace(
    program: Path, restartable: RestartableService
) -> None:
    _, err = (process := labeler(program, restartable.address, "sessions/p00-none")).communicate(
        timeout=60
    )
    assert process.returncode == 1
    assert len(err.strip().splitlines()) == 1
    assert "p00-none" in err
