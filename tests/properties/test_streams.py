"""Up to 50 streams over two services that do random things: the log and the streams agree.

What is acknowledged is in the log once, no answer has two effects, nobody has more queries than its
credit or one that others have, what a broken stream had comes back, nobody is forgotten, and with
honest labelers every session ends.
"""

import asyncio

import pytest
from tests.profiles import sized
from tests.properties.streams.town import Pair, Shape, Town, working
from tests.service.harness import harness_at
from tests.waiting import wait_until

from svddtune.v1 import common_pb2, tuning_pb2

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

SEEDS = range(sized(1))
PAGE = 1000


def config(**changes: int) -> tuning_pb2.SessionConfig:
    """Leases that silence soon ends, and room for all that a crowd may say."""
    return tuning_pb2.SessionConfig(
        budget=500,
        strategy=tuning_pb2.QUERY_STRATEGY_LAMA,
        lease_s=2,
        **changes,  # type: ignore[arg-type]
    )


ADAPTIVE = tuning_pb2.OVERLAP_RULE_ADAPTIVE
SHAPES = {
    "one vote": Shape((config(),), stream_s=3),
    "two where the first surprises": Shape((config(overlap=2, overlap_rule=ADAPTIVE),)),
    "several sessions": Shape((config(), config(overlap=2))),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "shape",
    # One that is quick, for every run.
    [
        pytest.param(shape, id=name, marks=() if name == "one vote" else pytest.mark.slow)
        for name, shape in SHAPES.items()
    ],
)
def test_messages_on_streams_agree_with_the_log(redis_url: str, shape: Shape, seed: int) -> None:
    with Pair(redis_url, shape.stream_s) as pair, working(redis_url) as worker:
        town = Town(pair, worker, redis_url, shape, seed)
        asyncio.run(town.play())
        with harness_at(pair.addresses[0], redis_url) as harness:

            def events(name: str) -> list[common_pb2.LabelEvent]:
                request = tuning_pb2.ListLabelsRequest(name=name, page_size=PAGE)
                found: list[common_pb2.LabelEvent] = []
                while True:
                    page = harness.tuning.ListLabels(request)
                    found += page.events
                    request.page_token = page.next_page_token
                    if not request.page_token:
                        return found

            completed = tuning_pb2.SESSION_STATE_COMPLETED
            for name in town.accounts:
                wait_until(lambda name=name: harness.get(name).state == completed)  # type: ignore[misc]
            ends = town.judge(events)
    # Enough has happened for all that to mean something.
    assert min(ends[one] for one in ("Ack", "KIND_LABELED", "tenures")) > shape.crowd, ends
    assert all(ends[one] for one in ("no reply", "ANSWER_ID_REUSED", "back")), ends
