"""The launcher prints one line once the stack serves, and leaves no process behind."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.waiting import wait_until
from tests.worker.test_process import long_job

from svddtune.state import keys
from svddtune.state.connect import connect
from svddtune.v1 import tuning_pb2, tuning_pb2_grpc

pytestmark = [pytest.mark.integration, pytest.mark.e2e]


class Stack:
    """A running launcher and its output."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "svddtune.stack", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.ready: dict[str, Any] = json.loads(self.process.stdout.readline())

    def family(self) -> dict[int, str]:
        """Process ids and command lines of all processes below the launcher."""
        return family(self.process.pid)


@contextmanager
def stack(*arguments: str) -> Iterator[Stack]:
    running = Stack(*arguments)
    try:
        yield running
    finally:
        running.process.terminate()
        running.process.communicate(timeout=20)


def family(pid: int) -> dict[int, str]:
    found: dict[int, str] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError):
            continue
        if parent == pid:
            found |= {int(entry.name): command} | family(int(entry.name))
    return found


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def pid_of(running: Stack, what: str) -> int:
    return next((pid for pid, command in running.family().items() if what in command), 0)


def serves(address: str) -> bool:
    with grpc.insecure_channel(address) as channel:
        try:
            tuning_pb2_grpc.TuningServiceStub(channel).ListSessions(
                tuning_pb2.ListSessionsRequest(), timeout=2
            )
        except grpc.RpcError:
            return False
    return True


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that several tests look at."""
    data_dir = tmp_path_factory.mktemp("stack")
    with stack("--workers", "1", "--data-dir", str(data_dir)) as running:
        yield running


def data_dir(running: Stack) -> Path:
    return Path(running.ready["redis"].removeprefix("unix://")).parent


def test_stack_prints_its_address(running: Stack) -> None:
    ready = running.ready
    assert serves(ready["address"])
    assert ready["workers"] == 1
    assert ready["pid"] == running.process.pid
    assert ready["redis"].startswith("unix://")
    assert ready["server"].split()[0] in ("redis", "valkey")
    assert set(ready["versions"]) == {"svddtune", "python"}


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(None, marks=pytest.mark.slow),
    ],
)
def test_stack_stops_its_processes_in_order(number: signal.Signals | None) -> None:
    running = Stack("--workers", "1", "--stop-on-eof")
    children = running.family()
    assert len(children) == 3
    assert data_dir(running).exists()
    if number is None:
        assert running.process.stdin is not None
        running.process.stdin.close()
        running.process.stdin = None
    else:
        running.process.send_signal(number)
    running.process.communicate(timeout=10)
    assert running.process.returncode == 0
    assert not any(alive(pid) for pid in children)
    # The folder was the stack's own, made for the time that it runs.
    assert not data_dir(running).exists()


def test_redis_url_is_no_process_argument(running: Stack) -> None:
    lines = running.family().values()
    ours = [line for line in lines if "svddtune.worker" in line or "svddtune.service" in line]
    assert len(ours) == 2
    assert not [line for line in ours if "--redis" in line]


def test_killed_launcher_leaves_no_process_behind(tmp_path: Path) -> None:
    running = Stack("--workers", "1", "--data-dir", str(tmp_path))
    children = running.family()
    assert len(children) == 3
    running.process.kill()
    running.process.communicate()
    wait_until(lambda: not any(alive(pid) for pid in children))


@pytest.mark.slow
def test_killed_service_restarts_at_the_same_address() -> None:
    with stack("--workers", "0") as running:
        os.kill(pid_of(running, "svddtune.service"), signal.SIGKILL)
        wait_until(lambda: serves(running.ready["address"]), timeout_s=20)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["svddtune.worker", "redis.sock"])
def test_killed_worker_and_killed_redis_restart(what: str) -> None:
    with stack("--workers", "1") as running:
        old = pid_of(running, what)
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: pid_of(running, what) not in (0, old), timeout_s=20)
        wait_until(lambda: serves(running.ready["address"]), timeout_s=20)


@pytest.mark.slow
def test_supervisor_requeues_job_of_crashed_worker_and_reports_the_signal() -> None:
    with stack("--workers", "1") as running, connect(running.ready["redis"]) as client:
        long_job(running.ready["redis"])
        bulk, later = (keys.prefix(0) + f"q:{name}" for name in ("bulk", "later"))
        wait_until(lambda: client.xpending(bulk, keys.GROUP)["pending"] == 1)
        os.kill(pid_of(running, "svddtune.worker"), signal.SIGSEGV)
        # A lost job would be tried again at once. The pause shows that the signal was seen.
        wait_until(lambda: client.zcard(later) == 1)
        wait_until(
            lambda: any(
                client.hget(key, "prep:8:default") == b"ready"
                for key in client.scan_iter(keys.prefix(0) + "d:*", _type="hash")
            ),
            timeout_s=60,
        )


@pytest.mark.slow
def test_one_of_three_workers_is_kept_for_urgent_jobs() -> None:
    with stack("--workers", "3") as running, connect(running.ready["redis"]) as client:

        def signed_in() -> list[bool]:
            found = client.keys(keys.prefix(0) + "worker:*")
            return sorted(json.loads(client.get(key))["hi_only"] for key in found)

        wait_until(lambda: signed_in() == [False, False, True])


@pytest.mark.slow
def test_data_survive_restart_of_stack(tmp_path: Path) -> None:
    for _ in range(2):
        with stack("--workers", "0", "--data-dir", str(tmp_path)) as running:
            assert serves(running.ready["address"])
    assert (tmp_path / "appendonlydir").is_dir()


def test_stack_uses_redis_that_already_runs(redis_url: str) -> None:
    with stack("--workers", "0", "--redis", redis_url) as running:
        assert running.ready["redis"] == redis_url
        assert serves(running.ready["address"])
        assert len(running.family()) == 1


@pytest.mark.parametrize(
    ("arguments", "reason", "words"),
    [
        (["--redis", "unix:///nowhere/redis.sock"], "STORE_UNAVAILABLE", "redis.sock"),
        (["--listen", "0.0.0.0:0"], "PROCESS_START_FAILED", "loopback"),
        pytest.param(
            ["--redis", "nonsense"], "INVALID_REDIS_URL", "nonsense", marks=pytest.mark.slow
        ),
        pytest.param(
            ["--data-dir", "/proc/nowhere"],
            "DATA_DIR_UNUSABLE",
            "/proc/nowhere",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_failed_start_says_why(arguments: list[str], reason: str, words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "svddtune.stack", "--workers", "0", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    failure = json.loads(done.stdout)
    assert failure["reason"] == reason
    assert words in failure["error"]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_taken_address_is_the_reason(redis_url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        test_failed_start_says_why(
            ["--redis", redis_url, "--http-listen", taken],
            "ADDRESS_UNUSABLE",
            f"Cannot listen on {taken}: is another server using it?",
        )


def test_data_directory_in_use_is_refused(running: Stack) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "svddtune.stack", "--data-dir", str(data_dir(running))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout)["reason"] == "DATA_DIR_IN_USE"


def test_launcher_does_not_import_grpc() -> None:
    program = "import sys, svddtune.stack.__main__; print('grpc' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
