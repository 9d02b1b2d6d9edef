"""A change by any process, or a lost connection, wakes waiters."""

import asyncio

import pytest
from tests.state.scene import Scene, play

from svddtune.state.connect import connect_async_blocking
from svddtune.state.notices import Notices

pytestmark = pytest.mark.integration


def test_change_wakes_only_waiters_of_its_session(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        changed, other = await scene.session(), await scene.session()
        client = connect_async_blocking(redis_url)
        notices = Notices(client)
        running = asyncio.create_task(notices.run())
        with notices.watching(changed) as mine, notices.watching(other) as theirs:
            await notices.connected.wait()
            # Connecting wakes everybody once.
            await mine.wait()
            mine.clear()
            theirs.clear()
            await scene.sessions.pause(changed)
            await mine.wait()
            assert not theirs.is_set()
        notices.stop()
        await running
        await client.aclose()

    play(redis_url, act)
