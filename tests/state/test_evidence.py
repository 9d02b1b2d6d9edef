"""Evidence that is read in parts is what a worker reads that has read nothing before."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.state.scene import Scene, play

from svddtune.state import keys
from svddtune.state.connect import Redis, connect
from svddtune.state.evidence import WINDOW, EvidenceReader
from svddtune.state.session import RankedRow
from svddtune.state.workspace import Workspace
from svddtune.v1 import tuning_pb2

KEY = f"{keys.prefix(0)}s:{keys.new_session_id(0)}:history"


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with connect(redis_url) as client:
        yield client


def read(reader: EvidenceReader, client: Redis) -> dict[bytes, bytes]:
    pipe = client.pipeline(transaction=True)
    window = reader.request(pipe, KEY)
    count, found = pipe.execute()
    return reader.evidence(KEY, window, count, found)


@settings(
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    steps=st.lists(
        st.tuples(
            # A step of 0 replaces the latest entry.
            st.one_of(st.integers(0, 3), st.sampled_from([WINDOW - 1, WINDOW, 3 * WINDOW])),
            st.binary(max_size=3),
            st.booleans(),
        ),
        max_size=30,
    )
)
def test_reader_of_parts_has_all_evidence_however_far_revs_advance(
    client: Redis, steps: list[tuple[int, bytes, bool]]
) -> None:
    client.delete(KEY)
    reader, rev, expected = EvidenceReader(client), 0, dict[bytes, bytes]()
    for step, message, reads in steps:
        rev += step
        client.hset(KEY, str(rev), message)
        expected[str(rev).encode()] = message
        if reads:
            assert read(reader, client) == expected
    assert read(reader, client) == expected


def test_reader_has_no_evidence_of_a_session_that_was_deleted(client: Redis) -> None:
    reader = EvidenceReader(client)
    client.hset(KEY, "1", b"one")
    assert read(reader, client) == {b"1": b"one"}
    client.delete(KEY)
    assert read(reader, client) == {}


def test_reader_sends_only_what_is_new_once_it_has_read(client: Redis) -> None:
    reader = EvidenceReader(client)
    for rev in range(5 * WINDOW):
        client.hset(KEY, str(rev), b"x")
    read(reader, client)
    client.hset(KEY, str(5 * WINDOW), b"y")
    before = client.info("commandstats")["cmdstat_hgetall"]["calls"]
    assert len(read(reader, client)) == 5 * WINDOW + 1
    assert client.info("commandstats")["cmdstat_hgetall"]["calls"] == before


def test_fresh_worker_has_the_snapshot_of_one_that_ranked_before(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        for earlier, gamma in enumerate((2.0, 3.0, 4.0)):
            (lease,) = await scene.lease(session_id)
            await scene.answer(session_id, lease)
            claim = scene.worker.next_claim()
            assert claim is not None
            snapshot = scene.worker.workspace.snapshot(claim)
            assert snapshot is not None
            assert snapshot == Workspace(scene.worker.client).snapshot(claim)
            assert len(snapshot.evidence) == earlier
            scene.worker.workspace.commit_suggest(
                claim,
                snapshot,
                gamma=gamma,
                alignment=0.0,
                ranking=[RankedRow(7 + earlier)],
                live=tuning_pb2.LiveEvidence(gamma=gamma, c=0.5),
            )

    play(redis_url, act)
