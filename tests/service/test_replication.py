"""A replica that lags takes over: what was acknowledged by then is there, or a warning was."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from tests.e2e.processes import Process, service
from tests.proxy import Proxy, proxy_to
from tests.service.harness import CALL_S, Harness, harness_at, refusal
from tests.service.support import reason_of
from tests.service.test_failover import SERVING, _listen, wait_for_health
from tests.waiting import wait_until

from svddtune.stack import EmbeddedServer
from svddtune.state.connect import connect
from svddtune.v1 import common_pb2, oracle_pb2, server_pb2, server_pb2_grpc

pytestmark = pytest.mark.integration


class Replicated:
    """A master and its replica, the link between them, and a URL that leads to the master."""

    def __init__(
        self, master: EmbeddedServer, replica: EmbeddedServer, link: Proxy, front: Proxy
    ) -> None:
        self._master, self._replica = master, replica
        self._link, self._front = link, front
        self.url, self.master_url = front.url, master.url
        with connect(master.url) as client:
            _listen(client)
            client.config_set("repl-diskless-sync-delay", 0)
        host, port = link.address.split(":")
        with connect(replica.url) as client:
            client.replicaof(host, port)
            wait_until(lambda: client.info("replication")["master_link_status"] == "up")

    def let_the_replica_lag(self) -> None:
        """Let nothing more reach the replica; the master still counts it as connected."""
        self._link.hold_replies()

    def let_the_replica_catch_up(self) -> None:
        """Let the replica connect anew, and wait until it has."""
        self._link.cut()
        with connect(self._replica.url) as client:
            wait_until(lambda: client.info("replication")["master_link_status"] == "up")

    def replica_has_all(self) -> bool:
        """Whether the replica has what the master has."""
        with connect(self._master.url) as client:
            client.set("svddtune:{p00}:probe", "")
            return bool(client.wait(1, 1000))

    def lose_the_master(self) -> None:
        """Kill the master; the replica takes over with what it has."""
        self._master.process.kill()
        self._master.process.wait()
        self._link.cut()
        with connect(self._replica.url) as client:
            client.replicaof("NO", "ONE")
        self._front.target = self._replica.url
        self._front.cut()


@contextmanager
def replicated(tmp_path: Path) -> Iterator[Replicated]:
    with (
        EmbeddedServer(tmp_path / "one", fsync="no") as master,
        EmbeddedServer(tmp_path / "two", fsync="no") as replica,
        proxy_to(master.url) as link,
        proxy_to(master.url) as front,
    ):
        yield Replicated(master, replica, link, front)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Replicated]:
    with replicated(tmp_path) as store:
        yield store


def answer(harness: Harness, session: str, row: int) -> oracle_pb2.AnswerResponse:
    """Answer a row unasked, under an id that belongs to the row."""
    request = oracle_pb2.AnswerRequest(
        labeler="ann",
        answer=oracle_pb2.Answer(
            answer_id=f"answer-{row}",
            session=session,
            observation_id=str(row),
            verdict=common_pb2.VERDICT_INLIER,
        ),
    )
    return harness.oracle.Answer(request, timeout=CALL_S)


def durability_of(process: Process) -> server_pb2.ServerDurability:
    with grpc.insecure_channel(process.ready["address"]) as channel:
        stub = server_pb2_grpc.ServerServiceStub(channel)
        return stub.GetServerInfo(server_pb2.GetServerInfoRequest(), timeout=10).durability


@pytest.mark.slow
def test_no_acknowledged_answer_is_lost_with_a_lagging_replica(store: Replicated) -> None:
    with (
        service(store.url, "127.0.0.1:0", "--min-replicas", "1") as process,
        harness_at(process.ready["address"], store.url) as harness,
    ):
        assert process.ready["survives"]["failover"]
        name = harness.session().name
        for row in range(4):
            answer(harness, name, row)
        store.let_the_replica_lag()
        # The second time the answer has its receipt already, and the script writes nothing.
        for _ in range(2):
            error = refusal(lambda: answer(harness, name, 4))
            assert (error.code(), reason_of(error)) == (
                grpc.StatusCode.UNAVAILABLE,
                "NOT_REPLICATED",
            )
        # Reads do not wait.
        assert harness.get(name).counts.total == 5
        harness.worker.close()
        store.lose_the_master()
        wait_for_health(process, SERVING)
        assert harness.get(name).counts.total == 4
        # There is no further replica.
        error = refusal(lambda: answer(harness, name, 4))
        assert reason_of(error) == "NOT_REPLICATED"
        assert harness.get(name).counts.total == 5
        assert not durability_of(process).replica_count


@pytest.mark.slow
def test_answer_that_was_not_replicated_counts_once_when_it_is(store: Replicated) -> None:
    with (
        service(store.url, "127.0.0.1:0", "--min-replicas", "1") as process,
        harness_at(process.ready["address"], store.url) as harness,
    ):
        name = harness.session().name
        labeler = harness.labeler(name)
        token = labeler.expect("welcome").resume_token
        held = labeler.expect("assign")
        store.let_the_replica_lag()
        sent = labeler.answer(held)
        ended = labeler.end()
        assert ended is not None
        assert reason_of(ended) == "NOT_REPLICATED"
        store.let_the_replica_catch_up()
        again = harness.labeler(name, resume_token=token)
        again.send(answer=sent)
        assert again.expect("ack").counts.total == 1
        assert harness.get(name).counts.total == 1


def test_acknowledged_answers_are_lost_without_waiting_and_the_service_says_so(
    store: Replicated,
) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "svddtune.service"),
            *("--redis", store.url, "--listen", "127.0.0.1:0"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())
    assert ready["survives"] == {"crash": False, "failover": False}
    with harness_at(ready["address"], store.url) as harness:
        name = harness.session().name
        answer(harness, name, 0)
        wait_until(store.replica_has_all)
        store.let_the_replica_lag()
        for row in range(1, 6):
            answer(harness, name, row)
        harness.worker.close()
        store.lose_the_master()
        wait_until(lambda: _total(harness, name) == 1)
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=20)
    told = [json.loads(line) for line in log.splitlines() if "set --min-replicas 1" in line]
    assert "warning" in [one["level"] for one in told]


def _total(harness: Harness, name: str) -> int:
    try:
        return harness.get(name).counts.total
    except grpc.RpcError:
        return -1


def test_info_tells_what_an_acknowledged_label_survives(store: Replicated) -> None:
    with service(store.url, "127.0.0.1:0", "--min-replicas", "1") as process:
        told = durability_of(process)
        assert (told.survives_crash, told.survives_failover) == (False, True)
        assert (told.replica_count, told.min_replicas) == (1, 1)
        with connect(store.master_url) as client:
            client.config_set("appendfsync", "always")
        told = durability_of(process)
        assert told.survives_crash
        assert told.message == (
            "if the store's machine fails, no acknowledged label is lost; "
            "if a replica takes over, no acknowledged label is lost"
        )
