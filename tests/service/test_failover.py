"""The store fails over, is full, emptied or frozen: callers get an error, later work goes on."""

import contextlib
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.e2e.processes import Process, service, worker
from tests.proxy import Proxy, proxy_to
from tests.service.harness import Harness, chunk, grid, harness_at, header, refusal
from tests.service.support import reason_of
from tests.waiting import wait_until

from svddtune.stack import EmbeddedServer
from svddtune.state import keys
from svddtune.state.connect import Redis, connect
from svddtune.state.errors import StoreUnavailable
from svddtune.state.examine import examine
from svddtune.state.faults import CALL_S
from svddtune.v1 import config_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def wait_for_health(process: Process, status: int) -> None:
    """Return once the service says so of itself."""
    with grpc.insecure_channel(process.ready["address"]) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for change in stub.Watch(health_pb2.HealthCheckRequest(), timeout=15):
            if change.status == status:
                return


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """A server that a test may spoil."""
    with EmbeddedServer(tmp_path / "server", fsync="everysec") as server:
        yield server


@pytest.fixture
def client(server: EmbeddedServer) -> Iterator[Redis]:
    with connect(server.url) as client:
        yield client


@pytest.fixture
def process(server: EmbeddedServer) -> Iterator[Process]:
    """A service on it."""
    with service(server.url) as process:
        yield process


@pytest.fixture
def harness(server: EmbeddedServer, process: Process) -> Iterator[Harness]:
    with harness_at(process.ready["address"], server.url) as harness:
        yield harness


# Failover


class Pair:
    """A master with its replica, and a URL that leads to the master."""

    def __init__(self, first: EmbeddedServer, second: EmbeddedServer, proxy: Proxy) -> None:
        self.proxy = proxy
        self._servers = [first, second]
        self._clients = [connect(server.url) for server in self._servers]
        self._ports = [_listen(client) for client in self._clients]
        master, replica = self._clients
        master.config_set("repl-diskless-sync-delay", 0)
        replica.replicaof("127.0.0.1", self._ports[0])
        wait_until(lambda: replica.info("replication")["master_link_status"] == "up")

    def fail_over(self) -> None:
        """The replica becomes the master; connections to the old one stay open."""
        old, new = self._clients
        old.execute_command("FAILOVER", "TO", "127.0.0.1", self._ports[1])
        wait_until(lambda: new.info("replication")["role"] == "master")
        self.proxy.target = self._servers[1].url

    def strangers_on_the_old_master(self) -> int:
        """Connections that others than this test and the servers have to it."""
        mine = {client.client_id() for client in self._clients[:1]}
        return sum(int(one["id"]) not in mine for one in self._clients[0].client_list("normal"))

    def close(self) -> None:
        for client in self._clients:
            client.close()


def _listen(client: Redis) -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    client.config_set("port", port)
    return port


@contextmanager
def pair_of_servers(tmp_path: Path) -> Iterator[Pair]:
    with (
        EmbeddedServer(tmp_path / "one", fsync="everysec") as first,
        EmbeddedServer(tmp_path / "two", fsync="everysec") as second,
        proxy_to(first.url) as proxy,
        contextlib.closing(Pair(first, second, proxy)) as pair,
    ):
        yield pair


def test_answers_are_acknowledged_after_a_failover(tmp_path: Path) -> None:
    with (
        pair_of_servers(tmp_path) as pair,
        service(pair.proxy.url) as process,
        harness_at(process.ready["address"], pair.proxy.url) as harness,
    ):
        name = harness.session().name
        labeler = harness.labeler(name, credit=2)
        first, second = labeler.expect("assign"), labeler.expect("assign")
        labeler.answer(first)
        assert labeler.expect("ack").counts.total == 1
        pair.fail_over()
        labeler.answer(second)
        assert labeler.expect("ack").counts.total == 2
        assert harness.get(name).counts.total == 2
        wait_for_health(process, SERVING)
        harness.worker.close()
        # Nothing leads to the old master any more, so nobody reads what it does not know yet.
        wait_until(lambda: pair.strangers_on_the_old_master() == 0)


def test_worker_follows_a_failover(tmp_path: Path) -> None:
    with (
        pair_of_servers(tmp_path) as pair,
        service(pair.proxy.url) as process,
        harness_at(process.ready["address"], pair.proxy.url) as harness,
        worker(pair.proxy.url),
    ):
        assert_served(harness, harness.upload().name)
        pair.fail_over()
        assert_served(harness, harness.upload(header(), chunk(grid() + 1)).name)


def assert_served(harness: Harness, dataset: str) -> None:
    """A real worker prepares a new session and ranks for it."""
    lama = config_pb2.SessionConfig(budget=6, strategy="QUERY_STRATEGY_LAMA")
    labeler = harness.labeler(harness.create(dataset, config=lama).name)
    assert labeler.expect("assign").query == 1


def test_replica_is_refused_at_the_start(server: EmbeddedServer, client: Redis) -> None:
    client.replicaof("127.0.0.1", 1)
    with pytest.raises(StoreUnavailable, match=r"replica of 127\.0\.0\.1:1") as refused:
        examine(client)
    assert refused.value.reason == "REDIS_UNSAFE"


# Writes are refused


def make_replica(server: EmbeddedServer, client: Redis) -> None:
    client.replicaof("127.0.0.1", 1)


def fill_memory(server: EmbeddedServer, client: Redis) -> None:
    client.config_set("maxmemory", 1)


def fill_disk(server: EmbeddedServer, client: Redis) -> None:
    # No file of the server grows any more, as on a full disk.
    limit = resource.RLIM_INFINITY
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, limit))


def relieve(server: EmbeddedServer, client: Redis) -> None:
    client.replicaof("NO", "ONE")
    client.config_set("maxmemory", 0)
    limit = resource.RLIM_INFINITY
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, limit))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (make_replica, "STORE_UNAVAILABLE"),
        (fill_memory, "STORE_FULL"),
        pytest.param(fill_disk, "STORE_FULL", marks=pytest.mark.slow),
    ],
)
def test_store_that_refuses_writes_is_reported_and_work_goes_on_later(
    server: EmbeddedServer,
    client: Redis,
    process: Process,
    harness: Harness,
    spoil: Callable[[EmbeddedServer, Redis], None],
    reason: str,
) -> None:
    name = harness.session().name
    labeler = harness.labeler(name)
    token = labeler.expect("welcome").resume_token
    held = labeler.expect("assign")
    spoil(server, client)
    # Nobody has to try first.
    wait_for_health(process, NOT_SERVING)
    error = refusal(lambda: harness.label(name, "11"))
    assert (error.code(), reason_of(error)) == (grpc.StatusCode.UNAVAILABLE, reason)
    answer = labeler.answer(held)
    ended = labeler.end()
    assert ended is not None
    assert reason_of(ended) == reason
    relieve(server, client)
    wait_for_health(process, SERVING)
    again = harness.labeler(name, resume_token=token)
    assert again.expect("assign").lease_id == held.lease_id
    again.send(answer=answer)
    assert again.expect("ack").counts.total == 1


@pytest.mark.slow
def test_worker_starts_while_memory_is_full_and_works_later(
    server: EmbeddedServer, client: Redis, harness: Harness
) -> None:
    fill_memory(server, client)
    with worker(server.url):
        relieve(server, client)
        assert_served(harness, harness.upload().name)


def test_session_can_be_deleted_while_memory_is_full(
    server: EmbeddedServer, client: Redis, harness: Harness
) -> None:
    name = harness.session().name
    fill_memory(server, client)
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=name))
    assert refusal(lambda: harness.get(name)).code() is grpc.StatusCode.NOT_FOUND


# The data are lost


def test_emptied_store_ends_all_waiting_calls(
    server: EmbeddedServer, client: Redis, process: Process, harness: Harness
) -> None:
    name = harness.session().name
    labeler, idle = harness.labeler(name), harness.labeler(name, "bob", credit=0)
    labeler.expect("assign")
    idle.expect("welcome")
    watch = harness.watch(name)
    next(watch)
    waiting = harness.oracle.Lease.future(
        oracle_pb2.LeaseRequest(session=harness.create().name, labeler="eve", wait_seconds=30)
    )
    layout = keys.prefix(0) + "layout"
    client.flushall()
    for one in (labeler, idle):
        assert one.expect("finished").reason == (oracle_pb2.FINISH_REASON_DELETED)
        assert one.end() is None
    for call in (lambda: list(watch), waiting.result):
        error = refusal(call)
        assert (error.code(), reason_of(error)) == (
            grpc.StatusCode.NOT_FOUND,
            "SESSION_NOT_FOUND",
        )
    # (It is set anew, and raised later: processes of an earlier version may be there.)
    assert keys.OLDEST_LAYOUT <= int(client.get(layout)) <= keys.LAYOUT_VERSION
    wait_for_health(process, SERVING)


@pytest.mark.slow
def test_emptied_store_is_told_to_every_service(server: EmbeddedServer, client: Redis) -> None:
    with (
        service(server.url) as one,
        service(server.url) as two,
        harness_at(one.ready["address"], server.url) as here,
        harness_at(two.ready["address"], server.url) as there,
    ):
        name = here.session().name
        labelers = [here.labeler(name, "ann"), there.labeler(name, "bob")]
        for labeler in labelers:
            labeler.expect("assign")
        client.flushall()
        for labeler in labelers:
            assert labeler.expect("finished").reason == oracle_pb2.FINISH_REASON_DELETED


@pytest.mark.slow
def test_emptied_store_is_worked_on_again(
    server: EmbeddedServer, client: Redis, harness: Harness
) -> None:
    with worker(server.url):
        assert_served(harness, harness.upload().name)
        client.flushall()
        assert_served(harness, harness.upload().name)


# The server does not move


@pytest.mark.slow
def test_frozen_store_is_told_within_the_bound(
    server: EmbeddedServer, process: Process, harness: Harness
) -> None:
    name = harness.session().name
    labeler, idle = harness.labeler(name), harness.labeler(name, "bob")
    held = labeler.expect("assign")
    other = idle.expect("assign")
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        # More calls than there are connections; their own deadline is far later than the bound.
        request = tuning_pb2.GetSessionRequest(name=name)
        calls = [harness.tuning.GetSession.future(request, timeout=3 * CALL_S) for _ in range(40)]
        labeler.answer(held)
        for call in calls:
            error = refusal(call.result)
            assert (error.code(), reason_of(error)) == (
                grpc.StatusCode.UNAVAILABLE,
                "STORE_UNAVAILABLE",
            )
        ended = labeler.end()
        assert ended is not None
        assert reason_of(ended) == "STORE_UNAVAILABLE"
        wait_for_health(process, NOT_SERVING)
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    wait_for_health(process, SERVING)
    idle.answer(other)
    assert idle.expect("ack").query == other.query
    assert harness.get(name).state == tuning_pb2.SESSION_STATE_LABELING
