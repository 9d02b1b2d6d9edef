"""The commands of the runbook work, one after the other, where it says that something was lost."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.processes import worker
from tests.state.lost_replies import claim_of, new
from tests.state.scene import Scene, play
from tests.waiting import wait_until

from svddtune.state import inspection, keys, layout
from svddtune.state.connect import connect
from svddtune.state.session import SessionState

pytestmark = [pytest.mark.integration, pytest.mark.e2e, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs" / "runbook.md"
_SECTION = re.compile(r"^## (?P<title>.+?)$(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = {
    section["title"]: "".join(_BLOCK.findall(section["text"]))
    for section in _SECTION.finditer(PAGE.read_text())
    if _BLOCK.search(section["text"])
}
# What its address is in the page; tests use a free port.
PORTS = ("50052", "50082")


@pytest.fixture
def free_ports() -> tuple[str, ...]:
    """Ports that nobody uses."""
    opened = [socket.create_server(("127.0.0.1", 0)) for _ in PORTS]
    found = tuple(str(one.getsockname()[1]) for one in opened)
    for one in opened:
        one.close()
    return found


def run_block(
    title: str, redis_url: str, ports: tuple[str, ...] = PORTS, folder: Path | None = None
) -> str:
    """Run the commands of a section; what they print. Those that run on are ended after it."""
    text = BLOCKS[title]
    for named, free in zip(PORTS, ports, strict=True):
        text = text.replace(named, free)
    # `doctor` reports by its exit code what it found; 1 and 2 are no failures of the command.
    text = re.sub(r"^(svddtune doctor.*)$", r"\1 || [ $? -le 2 ]", text, flags=re.MULTILINE)
    script = f"set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n{text}"
    environment = os.environ | {
        "SVDDTUNE_REDIS": redis_url,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", script],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_section_with_commands_is_tested() -> None:
    assert BLOCKS.keys() == {
        "Look first",
        "Upgrade",
        "A worker is lost",
        "A service is lost",
        "Redis is lost, and its data are not",
        "A job was given up",
    }


def test_layout_is_held_before_an_upgrade(redis_url: str, tmp_path: Path) -> None:
    with connect(redis_url) as client:
        client.set(keys.prefix(0) + "layout", keys.OLDEST_LAYOUT)
        said = run_block("Upgrade", redis_url, folder=tmp_path)
        assert f"Layout {keys.OLDEST_LAYOUT} is in force" in said
        assert layout.layout_state(client).obstacle == "held by an operator"
    assert (tmp_path / "before.backup").exists()


def test_first_look_says_what_is_missing(redis_url: str) -> None:
    # (The table breaks lines at 80 columns.)
    said = " ".join(run_block("Look first", redis_url).split())
    assert "svddtune worker --redis URL" in said
    assert "none waits for nothing" in run_block("Redis is lost, and its data are not", redis_url)


def test_lost_worker_is_shown_as_gone(redis_url: str) -> None:
    with worker(redis_url) as process, connect(redis_url) as client:
        wait_until(lambda: any(one.alive for one in inspection.workers(client, 1)))
        process.kill()
        client.delete(f"{keys.prefix(0)}worker:{process.ready['worker']}")
        (row,) = [
            line
            for line in run_block("A worker is lost", redis_url).splitlines()
            if line.startswith(process.ready["worker"][:8])
        ]
        assert "gone" in row


def test_another_service_is_ready_and_reported_to_serve(
    redis_url: str, free_ports: tuple[str, ...]
) -> None:
    with worker(redis_url):
        said = run_block("A service is lost", redis_url, free_ports)
    assert '{"status":"SERVING"}' in said
    assert f"127.0.0.1:{free_ports[0]} serves" in said


def test_session_of_a_dead_letter_goes_on(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await new(scene)
        scene.worker.queue.fail(claim_of(scene, "PREPARE"), "JOB_FAILED", "No.", final=True)
        assert (await scene.sessions.get(session_id)).state is SessionState.FAILED
        assert session_id in run_block("A job was given up", redis_url)
        assert (await scene.sessions.get(session_id)).state is SessionState.PREPARING

    play(redis_url, act)
