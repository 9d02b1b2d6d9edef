"""A script that is called again after a lost reply has one effect and returns the first reply.

The proxy forwards the call and then cuts the connection instead of returning the reply. The library
repeats the call. The reply and the content of Redis must equal those of a call without a loss.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from tests.proxy import Proxy, proxy_to
from tests.state.dump import dump, normalised
from tests.state.lost_replies import CASES, script_of
from tests.state.scene import Scene, play

from svddtune.state import scripts

pytestmark = pytest.mark.integration


@pytest.fixture
def proxy(redis_url: str) -> Iterator[Proxy]:
    with proxy_to(redis_url) as proxy:
        yield proxy


def outcome(redis_url: str, proxy: Proxy, name: str, *, lossy: bool) -> tuple[str, dict[str, Any]]:
    """Return the reply to the case's call, and the content of Redis afterwards."""

    async def act(scene: Scene) -> str:
        steps = CASES[name](scene)
        await anext(steps)
        if lossy:
            proxy.lose_next()
        return normalised(repr(await anext(steps)))

    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
        return play(proxy.url, act), dump(client)


def test_every_script_has_a_lost_reply_case() -> None:
    assert {script_of(name) for name in CASES} == scripts.SCRIPTS.keys()


@pytest.mark.parametrize("name", CASES)
def test_call_whose_reply_was_lost_has_one_effect(redis_url: str, proxy: Proxy, name: str) -> None:
    reply, stored = outcome(redis_url, proxy, name, lossy=False)
    assert proxy.lost == 0
    reply_after_loss, stored_after_loss = outcome(redis_url, proxy, name, lossy=True)
    assert proxy.lost == 1
    assert reply_after_loss == reply
    assert stored_after_loss.keys() == stored.keys()
    assert {
        key: (text, stored[key]) for key, text in stored_after_loss.items() if text != stored[key]
    } == {}
