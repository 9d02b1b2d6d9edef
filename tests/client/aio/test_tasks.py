"""The dialogue among tasks of one event loop: side by side, waiting, and cancelled."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.client.dialogue import peer
from tests.client.dialogue.peer import (
    SESSION,
    ServerStream,
    ack,
    assign,
    finished,
    progress,
    session,
    welcome,
)
from tests.client.flavours import LIMIT_S, no_task_is_left

from svddtune.client import (
    InvalidInput,
    Query,
    WrongState,
)
from svddtune.client.aio import AsyncTuning, AsyncTuningClient
from svddtune.v1 import oracle_pb2 as pb

Responses = Iterator[pb.ConverseResponse]


def run(scene: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine; fail where it leaves a task behind."""

    async def watched() -> None:
        async with asyncio.timeout(LIMIT_S):
            await scene
        await no_task_is_left()

    asyncio.run(watched())


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


def test_tasks_answer_side_by_side() -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield assign(1)
        yield assign(2)
        answers = [stream.take("answer"), stream.take("answer")]
        for answer in reversed(answers):
            yield ack(answer)
        yield finished()
        stream.rest()

    async def scene() -> None:
        async with talking(script, credit=2) as tuning:
            held = [await next_of(tuning), await next_of(tuning)]
            acks = await asyncio.gather(*(tuning.answer(query, "inlier") for query in held))
            assert [got.query for got in acks] == [1, 2]

    run(scene())


def test_task_waits_for_a_query_until_another_task_settles_the_last_one() -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield assign(1)
        yield ack(stream.take("answer"))
        yield assign(2)
        stream.rest()

    async def scene() -> None:
        async with talking(script, credit=1) as tuning:
            first = await next_of(tuning)
            waiting = asyncio.create_task(next_of(tuning))
            await tuning.answer(first, "inlier")
            assert (await waiting).number == 2

    run(scene())


def test_task_that_is_cancelled_takes_nothing_back() -> None:
    answered, go_on = threading.Event(), threading.Event()

    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield assign(1)
        answer = stream.take("answer")
        answered.set()
        assert go_on.wait(20)
        yield ack(answer, total=1)
        yield progress(session(total=1))
        yield finished()
        stream.rest()

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

    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        said.extend(stream.rest())

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


def test_dialogue_is_used_while_it_is_open() -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        stream.rest()

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
