"""The worker process: settings, signals, and a store that is unavailable for a while."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.e2e.processes import Process, worker
from tests.state.scene import ScriptedWorker
from tests.waiting import wait_until
from tests.worker.scene import Workshop, work

from svddtune.config import SessionConfig
from svddtune.state import keys
from svddtune.state.connect import Redis, connect, connect_blocking
from svddtune.state.queue import JobQueue
from svddtune.state.session import Session, SessionId
from svddtune.state.workspace import Workspace
from svddtune.worker.data import DataCache
from svddtune.worker.loop import WorkerLoop
from svddtune.worker.step import Steps

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
        pytest.param(["--log-format", "xml"], "--log-format", marks=pytest.mark.slow),
        pytest.param(["--cache-mib", "little"], "--cache-mib", marks=pytest.mark.slow),
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
    assert "STORE_UNAVAILABLE" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_worker_with_hi_only_registers_as_such(redis_url: str) -> None:
    with (
        connect(redis_url) as client,
        Process("svddtune.worker", "--redis", redis_url, "--hi-only") as one,
    ):
        wait_until(lambda: client.exists(f"{keys.prefix(0)}worker:{one.ready['worker']}") == 1)
        presence = client.get(f"{keys.prefix(0)}worker:{one.ready['worker']}")
        assert json.loads(presence)["hi_only"] is True


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_worker_removes_its_registration_after_signal(
    redis_url: str, number: signal.Signals
) -> None:
    with connect(redis_url) as client:
        stream = keys.prefix(0) + "q:hi"
        with worker(redis_url) as one:
            wait_until(lambda: bool(client.xinfo_consumers(stream, keys.GROUP)))
            wait_until(lambda: bool(client.keys(keys.prefix(0) + "worker:*")))
            one.signal(number)
        assert client.xinfo_consumers(stream, keys.GROUP) == []
        assert client.keys(keys.prefix(0) + "worker:*") == []


def long_job(redis_url: str) -> None:
    """Let there be a job that takes about a second."""

    async def create(shop: Workshop) -> None:
        await shop.upload_rows(np.random.default_rng(0).normal(size=(3000, 3)))
        await shop.sessions.create(
            shop.dataset_id, SessionConfig(strategy="lama"), observation_count=3000
        )

    work(redis_url, create)


@pytest.mark.slow
def test_job_goes_back_to_queue_when_grace_after_signal_ends(redis_url: str) -> None:
    long_job(redis_url)
    stream = keys.prefix(0) + "q:bulk"
    with connect(redis_url) as client:
        with Process("svddtune.worker", "--redis", redis_url, "--grace-s", "0") as one:
            wait_until(lambda: client.xpending(stream, keys.GROUP)["pending"] == 1)
            one.stop()
        # Nobody has it, it waits for anybody, and nothing is counted against it.
        assert client.xpending(stream, keys.GROUP)["pending"] == 0
        assert client.xinfo_consumers(stream, keys.GROUP) == []
        assert client.zcard(keys.prefix(0) + "q:later") == 0
    other = ScriptedWorker(redis_url)
    while (claim := other.next_claim()) and claim.kind != "PREPARE":
        other.do(claim)
    assert claim is not None
    assert (claim.lost, claim.errors) == (0, 0)
    other.close()


@pytest.mark.slow
def test_job_ends_within_grace_after_signal(redis_url: str, tmp_path: Path) -> None:
    long_job(redis_url)
    log, options = tmp_path / "log", ("--grace-s", "60", "--log-level", "debug")
    with Process("svddtune.worker", "--redis", redis_url, *options, log=log) as one:
        # A job that was delivered but not begun would go back.
        wait_until(lambda: has_begun("PREPARE", log))
        one.stop()
    with connect(redis_url) as client:
        (dataset,) = client.zrange(keys.prefix(0) + "datasets", 0, -1)
        assert client.hget(f"{keys.prefix(0)}d:{dataset.decode()}", "prep:8:default") == b"ready"


def has_begun(kind: str, log: Path) -> bool:
    """Whether a worker's log, at level debug, says that it is at a job of this kind or past it."""
    # The last line may be there in part only.
    events = map(json.loads, log.read_text().split("\n")[:-1])
    return any(event["event"] == "begun" and event["kind"] == kind for event in events)


# An hour in libsvm's C code, where Python runs no signal handler.
DEAF = """
import threading
import numpy as np
from sklearn.svm import OneClassSVM
from svddtune.worker.ending import Ending

Ending(
    stop=lambda: print("stop", flush=True),
    ended=threading.Event(),
    give_back=lambda: print("given back", flush=True),
    grace_s=0.05,
)
X = np.random.default_rng(0).normal(size=(100_000, 50))
print("ready", flush=True)
OneClassSVM(nu=0.5, tol=1e-12).fit(X)
"""


def test_signal_ends_worker_stuck_outside_python() -> None:
    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
        one.send_signal(signal.SIGTERM)
        said, _ = one.communicate(timeout=30)
    assert said.split("\n")[:2] == ["stop", "given back"]
    assert one.returncode == 0


@pytest.mark.slow
def test_worker_for_urgent_jobs_takes_bulk_jobs_while_alone(redis_url: str) -> None:
    long_job(redis_url)
    with connect(redis_url) as client:
        stream = keys.prefix(0) + "q:bulk"
        with Process("svddtune.worker", "--redis", redis_url, "--hi-only"):
            wait_until(lambda: client.xpending(stream, keys.GROUP)["pending"] == 1)


def test_session_fails_whose_job_takes_too_long_and_says_the_figures(redis_url: str) -> None:
    async def create(shop: Workshop) -> SessionId:
        await shop.upload_rows(np.random.default_rng(0).normal(size=(4500, 20)))
        return await shop.sessions.create(shop.dataset_id, SessionConfig(), observation_count=4500)

    async def ended(shop: Workshop) -> Session:
        return await shop.sessions.get(session_id)

    session_id = work(redis_url, create)
    options = ("--job-s", "0.1")
    with connect(redis_url) as client, Process("svddtune.worker", "--redis", redis_url, *options):
        wait_until(lambda: client.hget(keys.session(session_id), "state") == b"FAILED")
    failure = work(redis_url, ended).failure
    assert failure is not None
    assert failure.reason == "JOB_TIME_LIMIT"
    assert re.search(r"took \d+\.\d s .* may take 0\.1 s", failure.message)


GREEDY = """
import numpy as np
from svddtune.worker.limits import Limits, Meter, OverLimit, limit_allocations

limits = Limits(memory_bytes=64 << 20)
limit_allocations(limits)
meter = Meter(limits)
held = [np.ones(60 << 17)]
try:
    meter.check()
except OverLimit as error:
    print(error.reason, error.message)
held.clear()
try:
    np.ones(256 << 17)
except MemoryError:
    print("MemoryError")
"""


def test_memory_beyond_the_limit_is_noticed_between_pieces_and_refused_within_one() -> None:
    said = subprocess.run(
        [sys.executable, "-c", GREEDY], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert re.match(r"OUT_OF_MEMORY .* used \d+ MiB and may use 64 MiB", said[0])
    assert said[1:] == ["MemoryError"]


def running(client: Redis) -> list[bytes]:
    """The entries of bulk jobs that workers are at."""
    return [entry for entry, _ in client.xrange(keys.prefix(0) + "q:bulk")]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["mixed", "lama"])
@pytest.mark.parametrize("end", ["cancel", "delete"])
def test_worker_stops_a_job_whose_session_has_ended(
    redis_url: str, tmp_path: Path, strategy: str, end: str
) -> None:
    async def create(shop: Workshop) -> SessionId:
        rows = 4500
        X = np.random.default_rng(0).normal(size=(rows, 20))
        await shop.upload_rows(X)
        return await shop.sessions.create(
            shop.dataset_id, SessionConfig(strategy=strategy), observation_count=rows
        )

    async def steer(shop: Workshop) -> None:
        await getattr(shop.sessions, end)(session_id)

    session_id = work(redis_url, create)
    log = tmp_path / "log"
    with (
        connect(redis_url) as client,
        Process("svddtune.worker", "--redis", redis_url, log=log) as one,
    ):
        wait_until(lambda: bool(running(client)))
        work(redis_url, steer)
        wait_until(lambda: not running(client))
        wait_until(lambda: not client.exists(keys.prefix(0) + "q:bulk:turn"))
        one.stop()
    assert '"job failed"' not in log.read_text()
    with connect(redis_url) as client:
        (dataset,) = client.zrange(keys.prefix(0) + "datasets", 0, -1)
        record = f"{keys.prefix(0)}d:{dataset.decode()}"
        assert client.hget(record, "prep:8:default") in (None, b"ready")


def test_urgent_job_is_done_between_the_pieces_of_a_bulk_job(redis_url: str) -> None:
    async def create(shop: Workshop) -> SessionId:
        rows = 9000
        await shop.upload_rows(np.random.default_rng(0).normal(size=(rows, 12)))
        return await shop.sessions.create(
            shop.dataset_id, SessionConfig(strategy="lama"), observation_count=rows
        )

    async def end(shop: Workshop) -> None:
        await shop.sessions.cancel(session_id)

    session_id = work(redis_url, create)
    with connect(redis_url) as client:
        loop = WorkerLoop(*one_long_part(client, redis_url))
        thread = threading.Thread(target=loop.run, args=({},))
        thread.start()
        wait_until(lambda: bool(running(client)))
        before = running(client)
        stream = keys.prefix(0) + "q:hi"
        client.xadd(stream, {"kind": "PREVIEW", "session": "", "dataset": "", "payload": b""})
        wait_until(lambda: client.xlen(stream) == 0)
        assert running(client) == before
        work(redis_url, end)
        wait_until(lambda: not running(client))
        loop.stop()
        thread.join()


def one_long_part(client: Redis, redis_url: str) -> tuple[JobQueue, Steps]:
    """A worker's parts, for which one part of a preparation takes all rows."""
    queue = JobQueue(client, connect_blocking(redis_url))
    queue.prepare()
    workspace = Workspace(client)
    return queue, Steps(workspace, DataCache(workspace, limit_bytes=1 << 30), part_s=1e9)


def test_long_piece_of_work_is_stopped_within_2_seconds_of_the_cancellation(
    redis_url: str,
) -> None:
    async def act(shop: Workshop) -> float:
        rows = 9000
        await shop.upload_rows(np.random.default_rng(0).normal(size=(rows, 12)))
        session_id = await shop.sessions.create(
            shop.dataset_id, SessionConfig(strategy="lama"), observation_count=rows
        )
        with connect(redis_url) as client:
            # One part lasts far longer than two seconds.
            loop = WorkerLoop(*one_long_part(client, redis_url))
            thread = threading.Thread(target=loop.run, args=({},))
            thread.start()
            wait_until(lambda: bool(running(client)))
            await shop.sessions.cancel(session_id)
            begin = time.monotonic()
            wait_until(lambda: not running(client))
            took = time.monotonic() - begin
            loop.stop()
            thread.join()
            return took

    assert work(redis_url, act) < 2.0


@pytest.mark.slow
def test_alive_file_is_written_again_with_each_sign_of_life(redis_url: str, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    arguments = ("--redis", redis_url, "--alive-file", str(alive))
    with connect(redis_url) as client, Process("svddtune.worker", *arguments) as one:
        wait_until(lambda: client.exists(f"{keys.prefix(0)}worker:{one.ready['worker']}") == 1)
        os.utime(alive, (0, 0))
        wait_until(lambda: alive.stat().st_mtime > 0, timeout_s=10)


def test_alive_file_that_cannot_be_written_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = run_worker("--alive-file", str(tmp_path / "nowhere" / "alive"))
    assert done.returncode == 2
    assert "--alive-file" in done.stderr
    assert "No such file or directory" in done.stderr
    assert len(done.stderr.splitlines()) == 1
