"""Service and worker on a Redis Cluster of three masters, with several partitions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from tests.clusters import RunningCluster, cluster
from tests.e2e.processes import Process, service
from tests.service.harness import Harness, Labeler, chunk, grid, harness_at, header
from tests.service.test_replication import durability_of
from tests.waiting import wait_until

from svddtune.service import names
from svddtune.state import keys
from svddtune.state.connect import connect
from svddtune.state.errors import StoreUnavailable
from svddtune.state.examine import examine
from svddtune.v1 import config_pb2, tuning_pb2

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PARTITIONS = 6
LAMA = config_pb2.SessionConfig(budget=4, strategy="QUERY_STRATEGY_LAMA")
ENDED = (tuning_pb2.SESSION_STATE_COMPLETED, tuning_pb2.SESSION_STATE_FAILED)


@contextmanager
def serving(running: RunningCluster, *further: str) -> Iterator[tuple[Process, Harness]]:
    """A service and a worker on a Cluster."""
    partitions = ("--partitions", str(PARTITIONS))
    with (
        service(running.url, "127.0.0.1:0", *partitions, *further) as process,
        Process("svddtune.worker", "--redis", running.url, *partitions),
        harness_at(process.ready["address"], running.url) as harness,
    ):
        yield process, harness


def partition_of(session: str) -> int:
    return keys.partition_of_session(names.session_id(session))


def sessions_on_all_masters(harness: Harness, running: RunningCluster) -> list[str]:
    """Sessions whose partitions are on different masters."""
    found: dict[int, str] = {}
    for number in range(50):
        dataset = harness.upload(header(), chunk(grid() + number)).name
        name = harness.create(dataset, config=LAMA).name
        found.setdefault(running.master_of(keys.prefix(partition_of(name))).port, name)
        if len(found) == len(running.masters):
            return list(found.values())
    raise AssertionError(f"the sessions are on {len(found)} masters only")


def answer_all(labeler: Labeler, count: int) -> None:
    """Answer so many queries of any session. (The next one may come before an Ack.)"""
    acknowledged = answered = 0
    while acknowledged < count:
        message = labeler.next()
        assert message is not None
        kind = message.WhichOneof("message")
        assert kind != "reject", message
        if kind == "assign" and answered < count:
            labeler.answer(message.assign, session=message.assign.session)
            answered += 1
        acknowledged += kind == "ack"


def test_one_stream_serves_sessions_on_all_masters_to_their_results(tmp_path: Path) -> None:
    with cluster(tmp_path) as running, serving(running) as (process, harness):
        sessions = sessions_on_all_masters(harness, running)
        labeler = harness.labeler(sessions)
        answer_all(labeler, len(sessions) * LAMA.budget)
        wait_until(lambda: all(harness.get(name).state in ENDED for name in sessions))
        for name in sessions:
            ended = harness.get(name)
            assert (ended.state, ended.counts.total) == (
                tuning_pb2.SESSION_STATE_COMPLETED,
                LAMA.budget,
            )
        listed = harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest()).sessions
        assert {one.name for one in listed} >= set(sessions)
        assert not durability_of(process).survives_failover
        assert [key for key in running.found_keys() if keys.group_of(key.decode()) is None] == []


@pytest.mark.thorough
def test_no_acknowledged_answer_is_lost_when_a_replica_takes_over(tmp_path: Path) -> None:
    with (
        cluster(tmp_path, replicas=1) as running,
        serving(running, "--min-replicas", "1") as (process, harness),
    ):
        assert durability_of(process).survives_failover
        sessions = sessions_on_all_masters(harness, running)
        answer_all(harness.labeler(sessions, credit=1), 2 * len(sessions))
        before = {name: harness.get(name).counts.total for name in sessions}
        assert sum(before.values()) == 2 * len(sessions)
        victim = sessions[1]
        running.master_of(keys.prefix(partition_of(victim))).kill()
        wait_until(lambda: _total(harness, victim) == before[victim])
        assert {name: harness.get(name).counts.total for name in sessions} == before
        others = [name for name in sessions if name != victim]
        answer_all(harness.labeler(others, "bob", credit=1), 1)


def _total(harness: Harness, name: str) -> int | None:
    try:
        return harness.get(name).counts.total
    except grpc.RpcError:
        return None


def test_url_of_one_master_is_refused_with_the_right_one(tmp_path: Path) -> None:
    with cluster(tmp_path) as running:
        port = running.masters[0].port
        with (
            connect(f"redis://127.0.0.1:{port}") as client,
            pytest.raises(StoreUnavailable, match=r"redis\+cluster://") as refused,
        ):
            examine(client)
        assert refused.value.reason == "REDIS_UNSAFE"
        with connect(f"redis+cluster://127.0.0.1:{port}") as client:
            assert examine(client).kind in ("redis", "valkey")
