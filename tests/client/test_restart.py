"""The service goes away in the middle of a question and comes back; nothing is asked twice."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.client.aio.tasks import run
from tests.client.scene import blob
from tests.e2e.processes import service, worker
from tests.waiting import wait_until

from svddtune.client import Session, TuningClient
from svddtune.client.aio import AsyncTuningClient

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

X, Y = blob(50)
BUDGET = 6


class Front:
    """A service at one address, to be taken away and brought back."""

    def __init__(self, redis_url: str) -> None:
        self._redis_url = redis_url
        self._process = service(redis_url)
        self.address = str(self._process.ready["address"])

    def go(self, *, hard: bool) -> None:
        """Take it away: at once, or after its streams were drained."""
        if hard:
            self._process.kill()
        else:
            self._process.stop()

    def come_back(self) -> None:
        """Bring it back at the same address."""
        self._process = service(self._redis_url, self.address)


@pytest.fixture
def front(redis_url: str) -> Iterator[Front]:
    front = Front(redis_url)
    with worker(redis_url):
        yield front
    front.go(hard=False)


def session_at(address: str) -> Session:
    with TuningClient(address) as client:
        return client.create_session(client.upload_dataset(X), budget=BUDGET)


def numbers_asked(address: str, session: Session) -> list[int]:
    """Queries answered, as the log has them; the session must be complete."""
    with TuningClient(address) as client:
        client.wait_until_completed(session, timeout_s=60)
        return [event.query for event in client.labels(session)]


@pytest.mark.parametrize(
    ("hard", "answers_while_away"),
    [(True, True), pytest.param(False, False, marks=pytest.mark.slow)],
    ids=["killed", "drained"],
)
def test_question_outlives_the_service(front: Front, hard: bool, answers_while_away: bool) -> None:
    session = session_at(front.address)
    with (
        TuningClient(front.address) as client,
        client.tuning(session, labeler="ann") as tuning,
        ThreadPoolExecutor(1) as elsewhere,
    ):
        query = tuning.next_query(timeout_s=60)
        assert query is not None
        front.go(hard=hard)
        wait_until(lambda: not tuning.connected)
        if answers_while_away:
            waits = tuning.submit(query, int(Y[query.row]))
        back = elsewhere.submit(front.come_back)
        back.result(30)
        wait_until(lambda: tuning.connected, timeout_s=30)
        if not answers_while_away:
            assert tuning.is_open(query)
            waits = tuning.submit(query, int(Y[query.row]))
        assert tuning.wait(waits).applied
        for query in tuning.queries():
            tuning.answer(query, int(Y[query.row]))
    assert numbers_asked(front.address, session) == list(range(1, BUDGET + 1))


@pytest.mark.slow
def test_question_outlives_the_service_in_a_loop_too(front: Front) -> None:
    session = session_at(front.address)

    async def scene() -> None:
        async with (
            AsyncTuningClient(front.address) as client,
            client.tuning(session, labeler="ann") as tuning,
        ):
            query = await tuning.next_query(timeout_s=60)
            assert query is not None
            await asyncio.to_thread(front.go, hard=True)
            answering = asyncio.create_task(tuning.answer(query, int(Y[query.row])))
            await asyncio.to_thread(front.come_back)
            assert (await answering).applied
            async for query in tuning.queries():
                await tuning.answer(query, int(Y[query.row]))

    run(scene())
    assert numbers_asked(front.address, session) == list(range(1, BUDGET + 1))


@pytest.mark.slow
def test_labeler_that_is_restarted_gets_its_question_again(front: Front) -> None:
    session = session_at(front.address)

    async def scene() -> None:
        async with AsyncTuningClient(front.address) as client:
            async with client.tuning(session, labeler="ann") as tuning:
                before = await tuning.next_query(timeout_s=60)
                token = tuning.resume_token
                await tuning.close(keep_leases=True)
            async with client.tuning(session, labeler="ann", resume_token=token) as tuning:
                after = await tuning.next_query(timeout_s=60)
                assert before is not None
                assert after is not None
                assert (after.number, after.lease_id) == (before.number, before.lease_id)

    run(scene())


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
