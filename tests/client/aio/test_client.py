"""The asynchronous client against a real service."""

import asyncio

import numpy as np
import pytest
from tests.client.aio.tasks import run
from tests.client.scene import blob

from svddtune.client import (
    EmbeddedStack,
    InvalidInput,
    NotFound,
    SessionState,
    Unavailable,
    WrongState,
)
from svddtune.client.aio import AsyncTuning, AsyncTuningClient

pytestmark = pytest.mark.integration


def test_session_from_start_to_model(stack: EmbeddedStack) -> None:
    X, y = blob(40)

    async def scene() -> None:
        async with AsyncTuningClient(stack.address) as client:
            dataset = await client.upload_dataset(X, name="async")
            assert (await client.get_dataset(dataset)).observation_count == len(X)
            assert dataset.name in [item.name async for item in client.list_datasets()]
            rows = [item.row async for item in client.list_observations(dataset)]
            assert rows == list(range(len(X)))
            session = await client.create_session(
                dataset, initial_labels={"0": int(y[0])}, budget=10, seed=3
            )
            async with client.tuning(session, labeler="ann") as tuning:
                async for query in tuning.queries():
                    np.testing.assert_array_equal(query.features, X[query.row])
                    await tuning.answer(query, int(y[query.row]), source_reference="T")
                result = await tuning.result(timeout_s=60)
                model = await tuning.model()
            seen: list[SessionState] = []
            await client.wait_until_completed(session, on_update=lambda s: seen.append(s.state))
            assert seen[-1] is SessionState.COMPLETED
            assert result.quality.counts.total == 10
            assert int((model.predict(X) < 0).sum()) == result.outside_count
            assert [found.name for found in await client.results(session)] == [result.name]
            events = [event async for event in client.labels(session)]
            assert [event.source_reference for event in events] == [""] + ["T"] * 9
            reports, _ = await client.list_labelers(session)
            assert "ann" in [report.labeler for report in reports]
            assert session.name in [item.name async for item in client.list_sessions()]
            await client.delete_session(session)
            with pytest.raises(NotFound):
                await client.get_session(session)

    run(scene())


def test_session_is_steered(stack: EmbeddedStack) -> None:
    X, _ = blob(41)

    async def scene() -> None:
        async with AsyncTuningClient(stack.address) as client:
            session = await client.create_session(await client.upload_dataset(X), budget=8)
            async with client.tuning(session, labeler="ann") as tuning:
                first = await tuning.next_query(timeout_s=60)
                assert first is not None
                assert (await client.pause_session(session)).state is SessionState.PAUSED
                await tuning.answer(first, "unsure")
                assert (await client.resume_session(session)).state is SessionState.LABELING
                assert (await tuning.label(first.observation_id, 1, replace=True)).counts.total == 1
                updated = await client.update_session(session, budget=9, priority=7)
                assert (updated.config.budget, updated.config.priority) == (9, 7)
                effect = await client.withdraw_labeler(session, "ann", preview=True)
                assert effect.votes == 1
                await tuning.finish()
                await client.wait_until_completed(session, timeout_s=60)
                assert await tuning.next_query(timeout_s=60) is None
            with pytest.raises(WrongState):
                await client.pause_session(session)
            other = await client.create_session(await client.upload_dataset(X))
            with pytest.raises(Unavailable) as late:
                await client.wait_until_completed(other, timeout_s=0.3)
            assert late.value.reason == "WAIT_TIMEOUT"
            assert (await client.cancel_session(other)).state is SessionState.CANCELLED
            with pytest.raises(WrongState):
                await client.wait_until_completed(other)

    run(scene())


def test_mistakes_are_told_as_everywhere(stack: EmbeddedStack) -> None:
    async def scene() -> None:
        async with AsyncTuningClient(stack.address) as client:
            with pytest.raises(InvalidInput):
                await client.create_session("datasets/none", colour="red")
            with pytest.raises(NotFound):
                await client.create_session("datasets/none")
            async with client.tuning("sessions/none") as tuning:
                with pytest.raises(NotFound):
                    await tuning.next_query()
        with pytest.raises(InvalidInput):
            AsyncTuningClient("nowhere")

    run(scene())


def test_several_labelers_of_one_loop_share_two_sessions(stack: EmbeddedStack) -> None:
    X, y = blob(42)

    async def label(tuning: AsyncTuning) -> int:
        answered = 0
        async for query in tuning.queries():
            await tuning.answer(query, int(y[query.row]))
            answered += 1
        return answered

    async def scene() -> None:
        async with AsyncTuningClient(stack.address) as client:
            dataset = await client.upload_dataset(X)
            sessions = [
                await client.create_session(dataset, budget=10, seed=seed, priority=seed)
                for seed in range(2)
            ]
            async with (
                client.tuning(sessions, labeler="ann") as ann,
                client.tuning(sessions, labeler="bob", credit=2) as bob,
            ):
                answered = await asyncio.gather(label(ann), label(bob))
                assert sum(answered) == 20
                assert min(answered) > 0
                assert set(ann.finished_sessions) == {session.name for session in sessions}
            for session in sessions:
                done = await client.wait_until_completed(session, timeout_s=60)
                assert done.counts.total == 10

    run(scene())
