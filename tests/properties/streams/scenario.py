"""A scenario: random labelers on real sessions, over two services and one worker."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from math import inf
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import grpc
from tests.e2e.processes import Process, service
from tests.properties.stored import Stored, read
from tests.properties.streams import log_checks
from tests.properties.streams.labeler import LASTING_S, Labeler
from tests.properties.streams.random_labeler import RandomLabeler
from tests.properties.streams.stream import Stream
from tests.properties.streams.transcript import Transcript
from tests.service.harness import chunk, grid, harness_at, header
from tests.service.updates import update
from tests.state.scene import ScriptedWorker

from svddtune.state import keys
from svddtune.state.queue import Claim
from svddtune.state.session import RankedRow, SessionId
from svddtune.v1 import common_pb2, config_pb2, oracle_pb2_grpc, tuning_pb2, tuning_pb2_grpc

ROWS = 600
# Truthful labelers who join at the end: enough new voters for every query.
TRUTHFUL = 6
# Seconds between two looks at Redis.
LOOK_S = 0.1
# Seconds for what takes one or two where the machine does nothing else.
LIMIT_S = 100.0
CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 300),
    ("grpc.use_local_subchannel_pool", 1),
]


if TYPE_CHECKING:
    Stubs = tuple[oracle_pb2_grpc.OracleServiceAsyncStub, tuning_pb2_grpc.TuningServiceAsyncStub]


class ScenarioConfig(NamedTuple):
    """Size and settings of a scenario."""

    # One config for each session. A stream names all sessions, or none to serve all.
    configs: tuple[config_pb2.SessionConfig, ...]
    # Number of streams at a time, and random actions of each.
    stream_count: int = 50
    actions: int = 12
    # Age at which streams of the second service end.
    stream_s: float = 3600.0


class ServicePair:
    """Two services on one Redis. The second one can be killed and restarted."""

    def __init__(self, redis_url: str, stream_s: float) -> None:
        self._url, self._further = redis_url, ("--stream-s", str(stream_s))
        self._processes = [service(redis_url), self._second("127.0.0.1:0")]
        self.addresses = [one.ready["address"] for one in self._processes]

    def _second(self, listen: str) -> Process:
        return service(self._url, listen, *self._further)

    async def crash(self, away_s: float) -> None:
        """Kill the second service, and restart it at the same address after `away_s` seconds."""
        await asyncio.to_thread(self._processes[1].kill)
        await asyncio.sleep(away_s)
        await asyncio.to_thread(self._restart)

    def _restart(self) -> None:
        self._processes[1] = self._second(self.addresses[1])

    def __enter__(self) -> "ServicePair":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        for one in self._processes:
            # Both must stop without an error, unless the test has failed already.
            (one.kill if kind else one.stop)()


class Worker(ScriptedWorker):
    """A worker that ranks some rows and predicts inliers."""

    AHEAD = 40

    def suggest(self, claim: Claim) -> bool:
        snapshot = self.workspace.snapshot(claim)
        assert snapshot is not None
        taken = snapshot.labels.keys() | snapshot.dropped | snapshot.open_rows
        rows = [row for row in range(ROWS) if row not in taken][: self.AHEAD]
        return self.workspace.commit_suggest(
            claim,
            snapshot,
            gamma=1.0,
            alignment=0.5,
            ranking=[RankedRow(row, predicted=1) for row in rows],
        )


@contextmanager
def working(redis_url: str) -> Iterator[Worker]:
    """A worker that does jobs as they arrive."""
    worker, stop = Worker(redis_url), threading.Event()

    def work() -> None:
        while not stop.is_set():
            if claim := worker.queue.take():
                worker.do(claim)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield worker
    finally:
        stop.set()
        thread.join()


class Scenario:
    """Sessions with their owner, their labelers and their services."""

    def __init__(
        self,
        pair: ServicePair,
        worker: Worker,
        redis_url: str,
        settings: ScenarioConfig,
        seed: int,
    ) -> None:
        self._pair, self._client, self._settings, self._seed = (
            pair,
            worker.client,
            settings,
            seed,
        )
        with harness_at(pair.addresses[0], redis_url) as harness:
            dataset = harness.upload(header(observation_count=ROWS), chunk(grid(ROWS))).name
            created = [harness.create(dataset, config=config) for config in settings.configs]
        self._configs = {one.name: one.config for one in created}
        self.transcripts = {one.name: Transcript(one.config.lease_seconds) for one in created}
        self._settled = False
        self.resumed: list[tuple[Stream, Stream]] = []

    async def run(self) -> None:
        """Let labelers act at random, compare streams and Redis, then complete the sessions."""
        async with self._stubs() as stubs, asyncio.TaskGroup() as group:
            tuning = stubs[0][1]

            def listening(stream: Stream) -> None:
                group.create_task(stream.listen())

            def make(number: int, labeler: str) -> RandomLabeler:
                several = len(self._configs) > 1
                return RandomLabeler(
                    labeler,
                    f"{self._seed} {labeler} {number}",
                    stubs=[oracle for oracle, _ in stubs],
                    transcripts=self.transcripts,
                    sessions=() if several and number % 4 == 3 else tuple(self._configs),
                    rows=ROWS,
                    listening=listening,
                )

            # Some labelers have two streams.
            labelers = [make(i, f"l{i * 2 // 3}") for i in range(self._settings.stream_count)]
            acting = [group.create_task(self._act(one)) for one in labelers]
            acting.append(group.create_task(self._own(tuning)))
            await asyncio.gather(*acting)
            self._make_leases_last()
            keeping = [group.create_task(self._keep(one)) for one in labelers]
            await self._settle(labelers)
            self._settled = True
            await asyncio.gather(*keeping)
            for name in self._configs:
                budget = sum(self._read(name).counts[:2]) + len(labelers) // 2
                await tuning.UpdateSession(update(name, budget=budget))
            labelers += [make(i, f"truthful{i}") for i in range(TRUTHFUL)]
            self.resumed = [pair for one in labelers for pair in one.resumed]
            async with asyncio.timeout(LIMIT_S):
                await asyncio.gather(*[self._work(one) for one in labelers])

    @asynccontextmanager
    async def _stubs(self) -> AsyncIterator[list["Stubs"]]:
        channels = [
            grpc.aio.insecure_channel(address, options=CHANNEL) for address in self._pair.addresses
        ]
        try:
            yield [
                (
                    oracle_pb2_grpc.OracleServiceStub(channel),
                    tuning_pb2_grpc.TuningServiceStub(channel),
                )
                for channel in channels
            ]
        finally:
            for channel in channels:
                await channel.close(None)

    def _read(self, name: str) -> Stored:
        # An id after all notices: none of them is needed.
        return read(self._client, SessionId(name.removeprefix("sessions/")), notices_after="9" * 15)

    async def _act(self, labeler: RandomLabeler) -> None:
        for _ in range(self._settings.actions):
            await labeler.act()

    async def _keep(self, labeler: Labeler) -> None:
        labeler.at = 0
        while not self._settled:
            await labeler.keep()

    async def _work(self, labeler: Labeler) -> None:
        while not self._over(await labeler.connected()):
            await labeler.work()
        await labeler.leave()

    def _over(self, stream: Stream) -> bool:
        if stream.sessions:
            return stream.finished.keys() == self._configs.keys()
        # A stream that serves all sessions learns only of the end of those that it had queries of.
        return all(self._read(name).fields["finish_reason"] for name in self._configs)

    async def _own(self, tuning: "tuning_pb2_grpc.TuningServiceAsyncStub") -> None:
        """Act as the owner: pause, resume, change budget and priority, and kill a service."""
        random = Random(self._seed)
        for turn in range(3):
            await asyncio.sleep(random.uniform(0.2, 0.6))
            name = random.choice(list(self._configs))
            await tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name))
            await asyncio.sleep(random.uniform(0.1, 0.3))
            await tuning.UpdateSession(update(name, budget=ROWS - turn, priority=turn))
            await tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name))
            if turn == 0:
                await self._pair.crash(random.uniform(0, 0.5))

    def _make_leases_last(self) -> None:
        """Give long leases from now on.

        Short ones would end and begin for ever where replies take longer than a lease, and streams
        and Redis would never agree.
        """
        for name, transcript in self.transcripts.items():
            # The config of a session is for good, so this goes past the service.
            key = keys.session(SessionId(name.removeprefix("sessions/")))
            self._client.hset(key, "lease_ms", round(LASTING_S * 1000))
            transcript.lease_seconds = LASTING_S

    async def _settle(self, labelers: Sequence[Labeler]) -> None:
        """Wait until the streams agree with Redis on leases and waiters."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            stored = {name: self._read(name) for name in self._configs}
            for name, one in stored.items():
                log_checks.check_state(one, log_checks.rules_of(self._configs[name]))
            streams = [one.stream for one in labelers if one.stream and not one.stream.ended]
            fault = log_checks.difference(stored, [one for one in streams if one.welcome])
            if not fault and len(streams) == len(labelers):
                return
            assert time.monotonic() < deadline, fault
            await asyncio.sleep(LOOK_S)

    def check(self, events: Callable[[str], list[common_pb2.LabelEvent]]) -> Counter[str]:
        """Check that the log and the streams agree; return the number of answers by outcome."""
        ends: Counter[str] = Counter()
        for name, transcript in self.transcripts.items():
            rules, stored = log_checks.rules_of(self._configs[name]), self._read(name)
            assert stored.fields["finish_reason"] == "BUDGET_SPENT"
            log_checks.check_state(stored, rules)
            ends += log_checks.check_answers(transcript, stored, events(name))
            ends["periods"] += transcript.check_exclusive(log_checks.at_once(rules))
            for broken, stream in self.resumed:
                if stream.sessions and stream.replied_at < inf and not broken.left:
                    held = {
                        one.lease_id: broken.periods[one.lease_id]
                        for one in broken.open.values()
                        if one.session == name
                    }
                    by = stream.replied_at
                    ends["back"] += transcript.check_returns(held, stream.periods, by)
        return ends
