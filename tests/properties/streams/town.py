"""Two services, a worker and a crowd of labelers on real sessions: the acts of one play."""

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
from tests.properties.streams import audit
from tests.properties.streams.ledger import Account
from tests.properties.streams.member import Member
from tests.properties.streams.stream import Stream
from tests.properties.streams.whims import Whimsical
from tests.service.harness import chunk, grid, harness_at, header
from tests.state.scene import ScriptedWorker

from svddtune.state.queue import Claim
from svddtune.state.session import RankedRow, SessionId
from svddtune.v1 import common_pb2, oracle_pb2_grpc, tuning_pb2, tuning_pb2_grpc

ROWS = 600
# Enough labelers who never voted, for every query.
HONEST = 6
CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 300),
    ("grpc.use_local_subchannel_pool", 1),
]


if TYPE_CHECKING:
    Stubs = tuple[oracle_pb2_grpc.OracleServiceAsyncStub, tuning_pb2_grpc.TuningServiceAsyncStub]


class Shape(NamedTuple):
    """What is played."""

    # One a session; a stream serves all sessions or, some of them, any.
    configs: tuple[tuning_pb2.SessionConfig, ...]
    # Streams at a time, and what each does at random.
    crowd: int = 50
    acts: int = 12
    # Age at which streams of the second service end.
    stream_s: float = 3600.0


class Pair:
    """Two services on one Redis; the second one dies now and then."""

    def __init__(self, redis_url: str, stream_s: float) -> None:
        self._url, self._further = redis_url, ("--stream-s", str(stream_s))
        self._processes = [service(redis_url), self._second("127.0.0.1:0")]
        self.addresses = [one.ready["address"] for one in self._processes]

    def _second(self, listen: str) -> Process:
        return service(self._url, listen, *self._further)

    async def crash(self, away_s: float) -> None:
        """SIGKILL, and back at the same address."""
        await asyncio.to_thread(self._processes[1].kill)
        await asyncio.sleep(away_s)
        await asyncio.to_thread(self._restart)

    def _restart(self) -> None:
        self._processes[1] = self._second(self.addresses[1])

    def __enter__(self) -> "Pair":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        for one in self._processes:
            # Both must end well; where something else failed, that is what is to be seen.
            (one.kill if kind else one.stop)()


class Worker(ScriptedWorker):
    """Ranks some rows ahead, and expects inliers."""

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
    """A worker that does jobs as they come."""
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


class Town:
    """The sessions, and everybody who is there."""

    def __init__(self, pair: Pair, worker: Worker, redis_url: str, shape: Shape, seed: int) -> None:
        self._pair, self._client, self._shape, self._seed = pair, worker.client, shape, seed
        with harness_at(pair.addresses[0], redis_url) as harness:
            dataset = harness.upload(header(observation_count=ROWS), chunk(grid(ROWS))).name
            created = [harness.create(dataset, config=config) for config in shape.configs]
        self._configs = {one.name: one.config for one in created}
        self.accounts = {one.name: Account(one.config.lease_s) for one in created}
        self._settled = False
        self.resumed: list[tuple[Stream, Stream]] = []

    async def play(self) -> None:
        """Random acts, a look at everybody, and honest work to the end."""
        async with self._stubs() as stubs, asyncio.TaskGroup() as group:
            tuning = stubs[0][1]

            def listening(stream: Stream) -> None:
                group.create_task(stream.listen())

            def member(number: int, labeler: str) -> Whimsical:
                several = len(self._configs) > 1
                return Whimsical(
                    labeler,
                    f"{self._seed} {labeler} {number}",
                    stubs=[oracle for oracle, _ in stubs],
                    accounts=self.accounts,
                    sessions=() if several and number % 4 == 3 else tuple(self._configs),
                    rows=ROWS,
                    listening=listening,
                )

            # Some labelers have two streams.
            crowd = [member(i, f"l{i * 2 // 3}") for i in range(self._shape.crowd)]
            acting = [group.create_task(self._act(one)) for one in crowd]
            acting.append(group.create_task(self._own(tuning)))
            await asyncio.gather(*acting)
            keeping = [group.create_task(self._keep(one)) for one in crowd]
            await self._settle(crowd)
            self._settled = True
            await asyncio.gather(*keeping)
            for name in self._configs:
                budget = sum(self._read(name).counts[:2]) + len(crowd) // 2
                await tuning.UpdateSession(
                    tuning_pb2.UpdateSessionRequest(name=name, budget=budget)
                )
            crowd += [member(i, f"honest{i}") for i in range(HONEST)]
            self.resumed = [pair for one in crowd for pair in one.resumed]
            async with asyncio.timeout(40):
                await asyncio.gather(*[self._work(one) for one in crowd])

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
        # (Of notices nothing is wanted: after all there are.)
        return read(self._client, SessionId(name.removeprefix("sessions/")), notices_after="9" * 15)

    async def _act(self, member: Whimsical) -> None:
        for _ in range(self._shape.acts):
            await member.act()

    async def _keep(self, member: Member) -> None:
        member.at = 0
        while not self._settled:
            await member.keep()

    async def _work(self, member: Member) -> None:
        while not self._over(await member.present()):
            await member.work()
        await member.leave()

    def _over(self, stream: Stream) -> bool:
        if stream.sessions:
            return stream.finished.keys() == self._configs.keys()
        # One that serves any learns of the end of those that asked since it is there.
        return all(self._read(name).fields["finish_reason"] for name in self._configs)

    async def _own(self, tuning: "tuning_pb2_grpc.TuningServiceAsyncStub") -> None:
        """Pauses, other budgets and priorities, and a service that dies."""
        dice = Random(self._seed)
        for turn in range(3):
            await asyncio.sleep(dice.uniform(0.2, 0.6))
            name = dice.choice(list(self._configs))
            await tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name))
            await asyncio.sleep(dice.uniform(0.1, 0.3))
            await tuning.UpdateSession(
                tuning_pb2.UpdateSessionRequest(name=name, budget=ROWS - turn, priority=turn)
            )
            await tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name))
            if turn == 0:
                await self._pair.crash(dice.uniform(0, 0.5))

    async def _settle(self, crowd: Sequence[Member]) -> None:
        """Everybody who is there knows what Redis knows, and waits where it has room."""
        deadline = time.monotonic() + 20
        while True:
            stored = {name: self._read(name) for name in self._configs}
            for name, one in stored.items():
                audit.check_state(one, audit.rules_of(self._configs[name]))
            streams = [one.stream for one in crowd if one.stream and not one.stream.ended]
            fault = audit.parted(stored, [one for one in streams if one.welcome])
            if not fault and len(streams) == len(crowd):
                return
            assert time.monotonic() < deadline, fault
            await asyncio.sleep(0.05)

    def judge(self, events: Callable[[str], list[common_pb2.LabelEvent]]) -> Counter[str]:
        """All is over: what the log says is what the streams were told."""
        ends: Counter[str] = Counter()
        for name, account in self.accounts.items():
            rules, stored = audit.rules_of(self._configs[name]), self._read(name)
            assert stored.fields["finish_reason"] == "BUDGET_SPENT"
            audit.check_state(stored, rules)
            ends += audit.check_answers(account, stored, events(name))
            ends["tenures"] += account.check_exclusive(audit.at_once(rules))
            for broken, stream in self.resumed:
                if stream.sessions and stream.replied_at < inf and not broken.left:
                    held = {
                        one.lease_id: broken.tenures[one.lease_id]
                        for one in broken.open.values()
                        if one.session == name
                    }
                    by = stream.replied_at
                    ends["back"] += account.check_returns(held, stream.tenures, by)
        return ends
