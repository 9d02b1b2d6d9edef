"""The service goes away in the middle of a question and comes back; nothing is asked twice."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.client.flavours import Connect, connecting
from tests.client.scene import blob
from tests.e2e.processes import RestartableService, service, worker
from tests.waiting import wait_until

from svddtune.client import Session, TuningClient

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

X, Y = blob(50)
BUDGET = 6


def session_at(address: str) -> Session:
    with TuningClient(address) as client:
        return client.create_session(client.upload_dataset(X), budget=BUDGET)


def numbers_asked(address: str, session: Session) -> list[int]:
    """Queries answered, as the log has them; the session must be complete."""
    with TuningClient(address) as client:
        client.wait_until_completed(session, timeout_s=60)
        return [event.query for event in client.labels(session)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flavour", "hard", "answers_while_away"),
    [("blocking", True, True), ("blocking", False, False), ("asyncio", True, True)],
    ids=["killed", "drained", "killed, asyncio"],
)
def test_query_outlives_the_service(
    restartable: RestartableService, flavour: str, hard: bool, answers_while_away: bool
) -> None:
    session = session_at(restartable.address)
    with (
        connecting(flavour) as connect,
        connect(restartable.address) as client,
        client.tuning(session, labeler="ann") as tuning,
        ThreadPoolExecutor(1) as elsewhere,
    ):
        query = tuning.next_query(timeout_s=60)
        assert query is not None
        restartable.end(hard=hard)
        wait_until(lambda: not tuning.connected)
        if answers_while_away:
            waits = tuning.submit(query, int(Y[query.row]))
        back = elsewhere.submit(restartable.restart)
        back.result(30)
        wait_until(lambda: tuning.connected, timeout_s=30)
        if not answers_while_away:
            assert tuning.is_open(query)
            waits = tuning.submit(query, int(Y[query.row]))
        assert tuning.wait(waits).applied
        for query in tuning.queries():
            tuning.answer(query, int(Y[query.row]))
    assert numbers_asked(restartable.address, session) == list(range(1, BUDGET + 1))


@pytest.mark.slow
def test_restarted_labeler_gets_its_query_again(
    restartable: RestartableService, connect: Connect
) -> None:
    session = session_at(restartable.address)
    with connect(restartable.address) as client:
        with client.tuning(session, labeler="ann") as tuning:
            before = tuning.next_query(timeout_s=60)
            token = tuning.resume_token
            tuning.close(keep_leases=True)
        with client.tuning(session, labeler="ann", resume_token=token) as tuning:
            after = tuning.next_query(timeout_s=60)
        assert before is not None
        assert after is not None
        assert (after.number, after.lease_id) == (before.number, before.lease_id)


@pytest.mark.slow
def test_streams_that_are_renewed_every_second_lose_nothing(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVDDTUNE_STREAM_S", "1")
    with service(redis_url) as process, worker(redis_url):
        address = str(process.ready["address"])
        session = session_at(address)
        with TuningClient(address) as client, client.tuning(session, labeler="ann") as tuning:
            for query in tuning.queries():
                time.sleep(0.5)  # the labeler thinks, and grows older than a stream
                assert tuning.answer(query, int(Y[query.row])).applied
        assert numbers_asked(address, session) == list(range(1, BUDGET + 1))
