"""The worker process: settings, signals, and a store that goes away and comes back."""

import json
import signal
import subprocess
import sys

import pytest
from tests.e2e.processes import Process, worker
from tests.waiting import wait_until

from svddtune.state import keys
from svddtune.state.connect import connect

pytestmark = pytest.mark.integration


def run_worker(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "svddtune.worker", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--partitions", "0"], "--partitions"),
        (["--log-format", "xml"], "--log-format"),
        (["--cache-mib", "little"], "--cache-mib"),
    ],
)
def test_wrong_setting_is_one_line_and_exit_code_2(arguments: list[str], named: str) -> None:
    done = run_worker(*arguments)
    assert done.returncode == 2
    assert named in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_absent_redis_is_one_line_and_exit_code_1() -> None:
    done = run_worker("--redis", "redis://127.0.0.1:1/0")
    assert done.returncode == 1
    assert "REDIS_UNAVAILABLE" in done.stderr
    assert "Traceback" not in done.stderr


def test_hi_only_is_a_flag(redis_url: str) -> None:
    with (
        connect(redis_url) as client,
        Process("svddtune.worker", "--redis", redis_url, "--hi-only") as one,
    ):
        wait_until(lambda: client.exists(f"{keys.prefix(0)}worker:{one.ready['worker']}") == 1)
        presence = client.get(f"{keys.prefix(0)}worker:{one.ready['worker']}")
        assert json.loads(presence)["hi_only"] is True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_worker_leaves_no_trace_after_a_signal(redis_url: str, number: signal.Signals) -> None:
    with connect(redis_url) as client:
        stream = keys.prefix(0) + "q:hi"
        with worker(redis_url) as one:
            wait_until(lambda: bool(client.xinfo_consumers(stream, keys.GROUP)))
            assert client.keys(keys.prefix(0) + "worker:*")
            one.signal(number)
        assert client.xinfo_consumers(stream, keys.GROUP) == []
        assert client.keys(keys.prefix(0) + "worker:*") == []
