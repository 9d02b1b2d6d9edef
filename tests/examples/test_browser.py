"""The labeler with fetch runs in Node.js against a real service and continues after its restart."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.client.scene import blob
from tests.e2e.processes import service, worker
from tests.waiting import wait_until

from svddtune.client import TuningClient

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

PROGRAM = Path(__file__).parents[2] / "examples" / "browser" / "labeler.mjs"
X, _ = blob(51)
BUDGET = 30


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.lstrip("v").partition(".")[0]) < 18:
        pytest.skip(f"node {version.stdout.strip()} has no fetch")
    return found


def run(node: str, url: str, session: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [node, str(PROGRAM), url, session],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_labeler_answers_until_the_budget_is_spent_across_a_restart(
    redis_url: str, node: str
) -> None:
    first = service(redis_url, "127.0.0.1:0", "--http-listen", "127.0.0.1:0")
    addresses = first.ready["address"], first.ready["http"]
    with worker(redis_url), TuningClient(addresses[0]) as client:
        session = client.create_session(client.upload_dataset(X), budget=BUDGET)
        labeler = run(node, addresses[1], session.name)
        wait_until(lambda: client.get_session(session).counts.total >= 3)
        first.kill()
        http = addresses[1].removeprefix("http://")
        with service(redis_url, addresses[0], "--http-listen", http):
            said, errors = labeler.communicate(timeout=60)
            assert labeler.returncode == 0, errors
            assert said.splitlines() == [
                "finished: FINISH_REASON_BUDGET_SPENT",
                *(line for line in said.splitlines()[1:-1]),
                "SESSION_STATE_COMPLETED",
            ]
            assert client.get_session(session).counts.total == BUDGET


def test_refusal_is_told_by_its_reason(redis_url: str, node: str) -> None:
    with service(redis_url, "127.0.0.1:0", "--http-listen", "127.0.0.1:0") as process:
        labeler = run(node, process.ready["http"], "sessions/none")
        _, errors = labeler.communicate(timeout=60)
    assert (labeler.returncode, errors.strip()) == (1, "SESSION_NOT_FOUND")
