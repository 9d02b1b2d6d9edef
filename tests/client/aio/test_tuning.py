"""The asynchronous dialogue over real streams that break off, drain and refuse."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2
from tests.client.aio.tasks import run
from tests.client.dialogue import peer
from tests.client.dialogue.peer import (
    SESSION,
    Talk,
    ack,
    assign,
    finished,
    progress,
    reject,
    session,
    welcome,
)
from tests.client.dialogue.statuses import status

from svddtune.client import (
    InvalidInput,
    LeaseLost,
    Query,
    SvddtuneError,
    Unauthenticated,
    Unavailable,
    WrongState,
)
from svddtune.client.aio import AsyncTuning, AsyncTuningClient
from svddtune.v1 import oracle_pb2 as pb

Responses = Iterator[pb.ConverseResponse]


@asynccontextmanager
async def talking(*scripts: peer.Script, **options: Any) -> AsyncIterator[AsyncTuning]:
    """A dialogue with a peer that follows the scripts, one a stream."""
    with peer.peer(*scripts) as address:
        async with (
            AsyncTuningClient(address) as client,
            client.tuning(options.pop("sessions", SESSION), **options) as tuning,
        ):
            yield tuning


async def next_of(tuning: AsyncTuning) -> Query:
    query = await tuning.next_query(timeout_s=20)
    assert query is not None
    return query


def test_asks_until_finished_and_says_bye() -> None:
    said: list[str] = []

    def script(talk: Talk) -> Responses:
        assert talk.take("hello").hello.labeler == "ann"
        yield welcome()
        for number in (1, 2):
            yield assign(number)
            answer = talk.take("answer")
            assert answer.answer.lease_id == f"lease-{number}"
            yield ack(answer, total=number)
        yield finished()
        said.extend(talk.rest())

    async def scene() -> None:
        async with talking(script, labeler="ann") as tuning:
            assert (await tuning.session()).name == SESSION
            async for query in tuning.queries():
                got = await tuning.answer(query, "inlier")
                assert got.counts.total == query.number
            assert tuning.finished == "BUDGET_SPENT"
            assert tuning.counts.total == 2
            assert len(tuning.per_query_s) == 1

    run(scene())
    assert said == ["bye"]


def test_answer_whose_ack_was_lost_is_sent_again_with_its_id() -> None:
    ids: list[str] = []

    def breaks(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome("token")
        yield assign(1)
        ids.append(talk.take("answer").answer.answer_id)
        talk.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    def resumes(talk: Talk) -> Responses:
        assert talk.take("hello").hello.resume_token == "token"
        yield welcome("token")
        yield assign(1)
        answer = talk.take("answer")
        ids.append(answer.answer.answer_id)
        yield ack(answer)
        yield finished()
        talk.rest()

    async def scene() -> None:
        async with talking(breaks, resumes) as tuning:
            asked = [(await tuning.answer(query, -1)).applied async for query in tuning.queries()]
        assert asked == [True]

    run(scene())
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_drain_is_followed_by_a_new_stream_that_keeps_the_query() -> None:
    drained = threading.Event()

    def drains(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome("token")
        yield assign(1)
        yield pb.ConverseResponse(drain=pb.Drain(reason="SHUTDOWN"))
        talk.rest()

    def goes_on(talk: Talk) -> Responses:
        assert talk.take("hello").hello.resume_token == "token"
        yield welcome("token2")
        assert list(talk.take("extend").extend.lease_ids) == ["lease-1"]
        yield assign(1)
        drained.set()
        yield ack(talk.take("answer"))
        yield finished()
        talk.rest()

    async def scene() -> None:
        async with talking(drains, goes_on) as tuning:
            query = await next_of(tuning)
            assert await asyncio.to_thread(drained.wait, 20)
            assert tuning.is_open(query)
            assert (await tuning.answer(query, 1)).query == 1
            assert await tuning.next_query(timeout_s=20) is None

    run(scene())


def test_leases_are_extended_while_the_labeler_thinks() -> None:
    beaten = threading.Event()

    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome(heartbeat_s=0.05)
        yield assign(1)
        for _ in range(3):
            talk.take("extend")
        beaten.set()
        yield ack(talk.skip_to("answer"))
        yield finished()
        talk.rest()

    async def scene() -> None:
        async with talking(script) as tuning:
            async for query in tuning.queries():
                assert await asyncio.to_thread(beaten.wait, 20)
                await tuning.answer(query, "unsure")

    run(scene())


def test_refused_item_is_raised_where_it_was_given_and_the_stream_lives() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        lost = status(code_pb2.FAILED_PRECONDITION, "LEASE_LOST")
        yield reject(talk.take("answer"), lost)
        unknown = status(code_pb2.INVALID_ARGUMENT, "UNKNOWN_OBSERVATION")
        for _ in range(3):
            answer = talk.take("answer")
            yield ack(answer) if answer.answer.observation_id == "a" else reject(answer, unknown)
        yield ack(talk.take("retract"))
        yield assign(2)
        yield ack(talk.take("skip"))
        yield finished()
        talk.rest()

    async def scene() -> None:
        async with talking(script) as tuning:
            with pytest.raises(LeaseLost):
                await tuning.answer(await next_of(tuning), "inlier")
            with pytest.raises(InvalidInput) as refused:
                await tuning.label("nobody", "outlier")
            assert refused.value.reason == "UNKNOWN_OBSERVATION"
            with pytest.raises(InvalidInput):
                await tuning.label_many({"a": 1, "b": 1})
            assert (await tuning.retract("obs-3")).applied
            assert (await tuning.skip(await next_of(tuning), "drop")).query == 2
            assert await tuning.next_query(timeout_s=20) is None

    run(scene())


def test_what_trying_again_cannot_mend_ends_the_dialogue() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        talk.abort(grpc.StatusCode.UNAUTHENTICATED, "no")
        yield welcome()

    async def scene() -> None:
        async with talking(script) as tuning:
            for wait in (tuning.next_query(), tuning.session(), tuning.label("a", 1)):
                with pytest.raises(Unauthenticated):
                    await wait

    run(scene())


def test_many_labels_are_sent_without_waiting_for_each() -> None:
    count = 600

    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        # No Ack before the client has sent what it may send at once.
        answers = [talk.take("answer") for _ in range(256)]
        for answer in answers:
            yield ack(answer)
        for number in range(count - len(answers)):
            answer = talk.take("answer")
            assert answer.answer.observation_id == str(number + 256)
            yield ack(answer)
        talk.rest()

    async def scene() -> None:
        async with talking(script, credit=0) as tuning:
            acks = await tuning.label_many({str(i): "inlier" for i in range(count)})
        assert len(acks) == count

    run(scene())


def test_id_that_is_missing_is_refused_before_anything_is_sent() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        answer = talk.take("answer")
        assert answer.answer.observation_id == "7"
        yield ack(answer)
        talk.rest()

    async def scene() -> None:
        async with talking(script, credit=0) as tuning:
            for missing in (None, float("nan"), b"7", True):
                with pytest.raises(InvalidInput, match="observation id"):
                    await tuning.label(missing, "inlier")  # type: ignore[arg-type]
                with pytest.raises(InvalidInput, match="observation id"):
                    await tuning.retract(missing)  # type: ignore[arg-type]
            await tuning.label(7, "inlier")  # type: ignore[arg-type]

    run(scene())


def test_tasks_answer_side_by_side() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        yield assign(2)
        answers = [talk.take("answer"), talk.take("answer")]
        for answer in reversed(answers):
            yield ack(answer)
        yield finished()
        talk.rest()

    async def scene() -> None:
        async with talking(script, credit=2) as tuning:
            held = [await next_of(tuning), await next_of(tuning)]
            acks = await asyncio.gather(*(tuning.answer(query, "inlier") for query in held))
            assert [got.query for got in acks] == [1, 2]

    run(scene())


def test_task_that_is_cancelled_takes_nothing_back() -> None:
    answered, go_on = threading.Event(), threading.Event()

    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        answer = talk.take("answer")
        answered.set()
        assert go_on.wait(20)
        yield ack(answer, total=1)
        yield progress(session(total=1))
        yield finished()
        talk.rest()

    async def scene() -> None:
        async with talking(script, credit=2) as tuning:
            answering = asyncio.create_task(tuning.answer(await next_of(tuning), "inlier"))
            waiting = asyncio.create_task(tuning.next_query())
            assert await asyncio.to_thread(answered.wait, 20)
            for task in (answering, waiting):
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            go_on.set()
            assert await tuning.next_query(timeout_s=20) is None
            assert tuning.counts.total == 1

    run(scene())


def test_body_that_is_cancelled_leaves_no_task_and_says_bye() -> None:
    said: list[str] = []

    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        said.extend(talk.rest())

    async def body(opened: asyncio.Event) -> None:
        async with talking(script) as tuning:
            await tuning.session()
            opened.set()
            await tuning.next_query()

    async def scene() -> None:
        opened = asyncio.Event()
        task = asyncio.create_task(body(opened))
        await opened.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(scene())
    assert said == ["bye"]


def test_query_that_goes_away_is_told_with_its_reason() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        for number in (1, 2):
            yield assign(number)
        yield ack(talk.take("answer"))
        revoke = pb.Revoke(session=SESSION, query=2, lease_id="lease-2", reason="EXPIRED")
        yield pb.ConverseResponse(revoke=revoke)
        talk.rest()

    async def scene() -> None:
        async with talking(script, credit=2, extend=False) as tuning:
            one, two = await next_of(tuning), await next_of(tuning)
            gone = asyncio.create_task(tuning.until_gone(two))
            await tuning.answer(one, "inlier")
            assert await gone == "EXPIRED"
            assert await tuning.until_gone(one) == ""

    run(scene())


def test_leases_are_kept_for_a_dialogue_that_resumes() -> None:
    said: list[str] = []

    def first(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome("token")
        yield assign(1)
        with suppress(grpc.RpcError):
            said.extend(talk.rest())

    def second(talk: Talk) -> Responses:
        assert talk.take("hello").hello.resume_token == "token"
        yield welcome("token")
        yield assign(1)
        yield ack(talk.take("answer"))
        yield finished()
        talk.rest()

    async def scene() -> None:
        with peer.peer(first, second) as address:
            async with AsyncTuningClient(address) as client:
                async with client.tuning(SESSION) as tuning:
                    await next_of(tuning)
                    token = tuning.resume_token
                    await tuning.close(keep_leases=True)
                async with client.tuning(SESSION, resume_token=token) as tuning:
                    assert (await tuning.answer(await next_of(tuning), 1)).query == 1

    run(scene())
    assert said == []


def test_what_is_given_back_and_the_credit_are_sent() -> None:
    seen: list[pb.ConverseRequest] = []

    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        seen.append(talk.take("release"))
        seen.append(talk.take("credit"))
        yield finished()
        talk.rest()

    async def scene() -> None:
        async with talking(script) as tuning:
            tuning.release(await next_of(tuning))
            tuning.set_credit(3)
            assert await tuning.next_query(timeout_s=20) is None

    run(scene())
    assert list(seen[0].release.lease_ids) == ["lease-1"]
    assert seen[1].credit.queries == 3


def test_waiting_ends_in_time() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        talk.rest()

    async def scene() -> None:
        async with talking(script, ack_timeout_s=0.05, credit=2) as tuning:
            query = await next_of(tuning)
            with pytest.raises(Unavailable) as late:
                await tuning.answer(query, "inlier")
            assert late.value.reason == "ACK_TIMEOUT"
            with pytest.raises(Unavailable) as late:
                await tuning.next_query(timeout_s=0.05)
            assert late.value.reason == "WAIT_TIMEOUT"

    run(scene())


def test_server_that_never_welcomes_is_given_up() -> None:
    def silent(talk: Talk) -> Responses:
        talk.take("hello")
        talk.rest()
        yield welcome()

    async def scene() -> None:
        with peer.peer(*[silent] * 8) as address:
            async with (
                AsyncTuningClient(address, timeout_s=0.2) as client,
                client.tuning(SESSION) as tuning,
            ):
                with pytest.raises(Unavailable, match="svddtune up"):
                    await tuning.next_query(timeout_s=20)

    run(scene())


def test_nobody_there_is_said_with_the_address() -> None:
    async def scene() -> None:
        async with (
            AsyncTuningClient("127.0.0.1:1", timeout_s=0.5) as client,
            client.tuning(SESSION) as tuning,
        ):
            with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1.*svddtune up"):
                await tuning.next_query(timeout_s=30)

    run(scene())


def test_dialogue_is_used_while_it_is_open() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        talk.rest()

    async def scene() -> None:
        with peer.peer(script) as address:
            async with AsyncTuningClient(address) as client:
                tuning = client.tuning(SESSION)
                with pytest.raises(WrongState) as early:
                    await tuning.next_query()
                assert early.value.reason == "NOT_OPEN"
                async with tuning:
                    with pytest.raises(InvalidInput):
                        await tuning.label("a", "maybe")
                await tuning.close()
                with pytest.raises(WrongState) as late:
                    await tuning.label("a", 1)
                assert late.value.reason == "CLIENT_CLOSED"
                with pytest.raises(WrongState):
                    await tuning.__aenter__()

    run(scene())


def test_client_that_closes_ends_its_dialogues() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        with suppress(grpc.RpcError):
            talk.rest()

    async def scene() -> None:
        with peer.peer(script) as address:
            client = AsyncTuningClient(address)
            async with client.tuning(SESSION) as tuning:
                await tuning.session()
                waiting = asyncio.create_task(tuning.next_query())
                await asyncio.sleep(0)
                await client.close()
                with pytest.raises(SvddtuneError) as ended:
                    await waiting
                assert ended.value.reason == "CLIENT_CLOSED"
            with pytest.raises(WrongState):
                await client.get_session(SESSION)

    run(scene())
