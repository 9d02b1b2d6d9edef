"""Load one service process with many open streams: time to an Ack, and cost of a stream.

    python benchmarks/bench_streams.py [--streams 200] [--answers 10000] [--per-second 60]
        [--sessions 20] [--labels 0] [--rows 2000] [--strategy random] [--workers 4]
        [--commands 10] [--profile DIR] [--replica [--min-replicas 1]]
    python benchmarks/bench_streams.py --idle 1000

One service process, embedded server (append-only file, fsync always), loopback, a connection per
stream. Labelers wait for an exponential time, so that together they answer at the given rate. With
--per-second 0 they answer at once, which measures the most the service can do. Each session has
--labels labels before. --commands lists the commands that the server ran most, per answer. --idle
only opens streams. --replica gives the server a replica on this machine, and --min-replicas 1 lets
the service wait for it.
"""

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import numpy as np

from svddtune.stack import EmbeddedServer
from svddtune.state.connect import connect
from svddtune.v1 import (
    common_pb2,
    config_pb2,
    dataset_pb2,
    dataset_pb2_grpc,
    oracle_pb2,
    oracle_pb2_grpc,
    tuning_pb2,
    tuning_pb2_grpc,
)

FEATURES = 8
ROWS_PER_CHUNK = 2000
ANSWERS_PER_BATCH = 500
TARGET_P50_MS, TARGET_P99_MS = 10.0, 50.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
Config = config_pb2.SessionConfig


class Child:
    """A service or worker process, and its use of memory and processor."""

    def __init__(self, module: str, *arguments: str, profile: Path | None = None) -> None:
        profiling = ["-m", "cProfile", "-o", str(profile)] if profile else []
        command = [sys.executable, *profiling, "-m", module, *arguments, "--log-level", "error"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.ready = json.loads(self._process.stdout.readline())

    def memory_mib(self) -> float:
        """Resident memory."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def cpu_s(self) -> float:
        """Processor time so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)


@contextmanager
def child(module: str, *arguments: str, profile: Path | None = None) -> Iterator[Child]:
    process = Child(module, *arguments, profile=profile)
    try:
        yield process
    finally:
        process.stop()


@dataclass
class Run:
    """What all labelers together do and see."""

    answers_left: int
    thinking_s: float
    ack_s: list[float] = field(default_factory=list)
    assign_s: list[float] = field(default_factory=list)
    rejected: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Labeler:
    """One stream on a connection of its own."""

    def __init__(self, address: str, name: str, sessions: Sequence[str], credit: int) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        self._channel = grpc.aio.insecure_channel(address, options=options)
        stub: Any = oracle_pb2_grpc.OracleServiceStub(self._channel)
        self._call = stub.Converse()
        self._hello = oracle_pb2.Hello(
            min_protocol_version=1, labeler=name, sessions=sessions, credit=credit
        )
        self._credit = credit

    async def open(self) -> None:
        """Say hello, and wait for the welcome and, with credit, the first query."""
        await self._call.write(oracle_pb2.ConverseRequest(hello=self._hello))
        while True:
            message = await self._call.read()
            kind = message.WhichOneof("message")
            if kind == "assign" or (kind == "welcome" and not self._credit):
                self._first = message
                return

    async def label(self, run: Run) -> None:
        """Answer until there are enough answers."""
        message, answered_at = self._first, 0.0
        while not run.over.is_set():
            kind = message.WhichOneof("message")
            if kind == "ack":
                run.ack_s.append(time.perf_counter() - answered_at)
            elif kind == "reject":
                run.rejected += 1
            elif kind == "assign":
                if answered_at:
                    run.assign_s.append(time.perf_counter() - answered_at)
                if run.thinking_s:
                    await asyncio.sleep(random.expovariate(1 / run.thinking_s))
                if run.answers_left <= 0:
                    run.over.set()
                    return
                run.answers_left -= 1
                answered_at = time.perf_counter()
                await self._call.write(answer_to(message.assign))
            message = await self._call.read()

    async def close(self) -> None:
        self._call.cancel()
        await self._channel.close(None)


def answer_to(assign: oracle_pb2.Assign) -> oracle_pb2.ConverseRequest:
    """The true verdict on a query."""
    return oracle_pb2.ConverseRequest(
        answer=oracle_pb2.Answer(
            answer_id=assign.lease_id,
            session=assign.session,
            query=assign.query,
            lease_id=assign.lease_id,
            verdict=verdict_of(assign.features),
        )
    )


def verdict_of(features: Sequence[float]) -> common_pb2.Verdict:
    """The true verdict: rows far from the middle are outliers."""
    far = max(map(abs, features)) > 4.0
    return common_pb2.VERDICT_OUTLIER if far else common_pb2.VERDICT_INLIER


def made_rows(rows: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The dataset."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, FEATURES)) * np.where(rng.random(rows) < 0.1, 3.0, 1.0)[:, None]


async def upload(channel: grpc.aio.Channel, rows: int) -> str:
    X = made_rows(rows)

    async def requests() -> AsyncIterator[dataset_pb2.UploadDatasetRequest]:
        header = dataset_pb2.DatasetHeader(observation_count=rows, feature_count=FEATURES)
        yield dataset_pb2.UploadDatasetRequest(header=header)
        for start in range(0, rows, ROWS_PER_CHUNK):
            part = X[start : start + ROWS_PER_CHUNK]
            matrix = common_pb2.Matrix(rows=len(part), columns=FEATURES, values=part.tobytes())
            yield dataset_pb2.UploadDatasetRequest(chunk=dataset_pb2.DatasetChunk(rows=matrix))

    stub: Any = dataset_pb2_grpc.DatasetServiceStub(channel)
    response = await stub.UploadDataset(requests())
    return str(response.dataset.name)


async def create(channel: grpc.aio.Channel, dataset: str, given: argparse.Namespace) -> list[str]:
    """Sessions that ask, with everything prepared that workers prepare beforehand."""
    stub: Any = tuning_pb2_grpc.TuningServiceStub(channel)
    names = []
    for seed in range(given.sessions):
        config = Config(
            budget=min(
                given.rows, given.labels + -(-given.answers // given.sessions) + 2 * given.streams
            ),
            strategy=f"QUERY_STRATEGY_{given.strategy.upper()}",
            seed=seed,
            # Labelers here send no heartbeat.
            lease_seconds=3600,
        )
        request = tuning_pb2.CreateSessionRequest(dataset=dataset, config=config)
        response = await stub.CreateSession(request)
        names.append(response.session.name)
    for name in names:
        watch = stub.WatchSession(tuning_pb2.WatchSessionRequest(name=name))
        async for response in watch:
            session = response.session
            if session.state == tuning_pb2.SESSION_STATE_LABELING and session.atlas_progress == 1.0:
                break
        watch.cancel()
        if given.labels:
            await label(channel, name, made_rows(given.rows)[: given.labels])
    return names


async def label(
    channel: grpc.aio.Channel, session: str, X: np.ndarray[Any, np.dtype[np.float64]]
) -> None:
    """Label the first rows of a session."""
    stub: Any = oracle_pb2_grpc.OracleServiceStub(channel)
    answers = [
        oracle_pb2.Answer(
            answer_id=f"before-{row}", observation_id=str(row), verdict=verdict_of(features)
        )
        for row, features in enumerate(X.tolist())
    ]
    for at in range(0, len(answers), ANSWERS_PER_BATCH):
        response = await stub.AnswerBatch(
            oracle_pb2.AnswerBatchRequest(
                labeler="earlier",
                session=session,
                answers=answers[at : at + ANSWERS_PER_BATCH],
                more=at + ANSWERS_PER_BATCH < len(answers),
            )
        )
        assert not response.rejects, response.rejects[0]


async def load(given: argparse.Namespace, service: Child, workers: list[Child], url: str) -> None:
    address = service.ready["address"]
    async with grpc.aio.insecure_channel(address) as channel:
        dataset = await upload(channel, given.rows)
        sessions = await create(channel, dataset, given)
    empty = service.memory_mib()
    streams = [
        Labeler(address, f"labeler-{i}", [sessions[i % len(sessions)]], credit=1)
        for i in range(given.streams)
    ]
    for stream in streams:
        await stream.open()
    await asyncio.sleep(2)
    print(f"memory of the service: {empty:.1f} MiB before streams")
    tell_memory(service, empty, given.streams, "each with a query and nothing said")
    before = service.cpu_s(), sum(map(Child.cpu_s, workers)), processed(url), time.perf_counter()
    called = calls(url)
    run = Run(given.answers, given.streams / given.per_second if given.per_second else 0.0)
    labeling = [asyncio.create_task(stream.label(run)) for stream in streams]
    await run.over.wait()
    took = time.perf_counter() - before[3]
    done = len(run.ack_s)
    print(f"{done} answers in {took:.1f} s: {done / took:.0f}/s; {run.rejected} rejected")
    print(f"  of a core: service {100 * (service.cpu_s() - before[0]) / took:.0f} %, ", end="")
    print(f"workers {100 * (sum(map(Child.cpu_s, workers)) - before[1]) / took:.0f} %")
    print(
        f"  {(service.cpu_s() - before[0]) / done * 1e3:.2f} ms of the service's processor ", end=""
    )
    print(f"and {(processed(url) - before[2]) / done:.1f} Redis commands an answer")
    by_name = {name: count - called.get(name, 0) for name, count in calls(url).items()}
    most = sorted(by_name.items(), key=lambda one: -one[1])[: given.commands]
    if most:
        print("  of these", ", ".join(f"{name} {count / done:.1f}" for name, count in most))
    tell_times("answer to Ack", run.ack_s)
    tell_times("answer to the next Assign", run.assign_s)
    tell_times("a synced write, afterwards", synced_writes(url))
    p50, p99 = 1e3 * np.quantile(run.ack_s, [0.5, 0.99])
    met = p50 < TARGET_P50_MS and p99 < TARGET_P99_MS
    print(f"  target p50 {TARGET_P50_MS:.0f} ms, p99 {TARGET_P99_MS:.0f} ms: ", end="")
    print("ok" if met else "MISSED")
    tell_memory(service, empty, given.streams, "after the run")
    for task in labeling:
        task.cancel()
    await asyncio.gather(*labeling, return_exceptions=True)
    for stream in streams:
        await stream.close()


async def idle(given: argparse.Namespace, service: Child, url: str) -> None:
    address = service.ready["address"]
    # The first stream creates what all streams share.
    streams = [Labeler(address, "labeler-0", [], credit=0)]
    await streams[0].open()
    empty, begin, seconds = service.memory_mib(), time.perf_counter(), 10
    streams += [Labeler(address, f"labeler-{i}", [], credit=0) for i in range(1, given.idle)]
    for stream in streams[1:]:
        await stream.open()
    print(f"{given.idle} streams opened in {time.perf_counter() - begin:.1f} s")
    await asyncio.sleep(2)
    tell_memory(service, empty, given.idle - 1, "idle")
    before = processed(url), service.cpu_s()
    await asyncio.sleep(seconds)
    print(f"  {(processed(url) - before[0] - 1) / seconds:.1f} Redis commands a second ", end="")
    print(f"and {100 * (service.cpu_s() - before[1]) / seconds:.1f} % of a core while idle")
    for stream in streams:
        await stream.close()


@contextmanager
def replica(server: EmbeddedServer, folder: Path) -> Iterator[None]:
    """A second server that has all that the first one has."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (
        EmbeddedServer(folder) as second,
        connect(server.url) as master,
        connect(second.url) as follower,
    ):
        master.config_set("port", port)
        follower.replicaof("127.0.0.1", port)
        while follower.info("replication")["master_link_status"] != "up":
            time.sleep(0.05)
        yield


def tell_memory(service: Child, empty: float, streams: int, when: str) -> None:
    now = service.memory_mib()
    print(f"memory of the service: {now:.1f} MiB with {streams} streams {when}: ", end="")
    print(f"{(now - empty) * 1024 / streams:.0f} KiB a stream")


def tell_times(what: str, times: Sequence[float]) -> None:
    p50, p95, p99, most = 1e3 * np.quantile(times, [0.5, 0.95, 0.99, 1.0])
    print(f"  {what:26} p50 {p50:7.2f}  p95 {p95:7.2f}  p99 {p99:7.2f}  max {most:7.2f} ms")


def synced_writes(url: str, count: int = 300) -> list[float]:
    """Times of single writes, each synced to disk: a lower bound for any Ack."""
    times = []
    with connect(url) as client:
        for number in range(count):
            begin = time.perf_counter()
            client.set("written", number)
            times.append(time.perf_counter() - begin)
    return times


def processed(url: str) -> int:
    """Commands that the server has run."""
    with connect(url) as client:
        return int(client.info("stats")["total_commands_processed"])


def calls(url: str) -> dict[str, int]:
    """How often the server has run each command."""
    with connect(url) as client:
        stats = client.info("commandstats")
        return {name.removeprefix("cmdstat_"): int(one["calls"]) for name, one in stats.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--per-second", type=float, default=60.0)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--labels", type=int, default=0)
    parser.add_argument("--commands", type=int, default=0)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument(
        "--strategy", choices=("random", "lama", "knowledge_gradient"), default="random"
    )
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument(
        "--profile", type=Path, help="where to write cProfiles of service and worker"
    )
    parser.add_argument("--idle", type=int, default=0)
    parser.add_argument("--replica", action="store_true")
    parser.add_argument("--min-replicas", type=int, choices=(0, 1), default=0)
    given = parser.parse_args()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(EmbeddedServer(directory))
        if given.replica:
            stack.enter_context(replica(server, directory / "replica"))
        url = server.url
        redis = ("--redis", url)
        service = stack.enter_context(
            child(
                "svddtune.service",
                *redis,
                "--listen",
                "127.0.0.1:0",
                *("--min-replicas", str(given.min_replicas)),
                profile=given.profile and given.profile / "service.prof",
            )
        )
        if given.idle:
            asyncio.run(idle(given, service, url))
            return
        workers = [
            stack.enter_context(
                child(
                    "svddtune.worker",
                    *redis,
                    profile=given.profile and given.profile / f"worker-{number}.prof",
                )
            )
            for number in range(given.workers)
        ]
        asyncio.run(load(given, service, workers, url))


if __name__ == "__main__":
    main()
