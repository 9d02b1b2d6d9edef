"""The log and up to 50 streams with random actions agree, over two services.

Every acknowledged answer is in the log once, and no answer has two effects. No stream has more
queries than its credit, or a query that is leased to others. The leases of a broken stream come
back with the next one. No waiting stream is forgotten. With truthful labelers every session ends.
"""

import asyncio

import pytest
from tests.profiles import sized
from tests.properties.streams.scenario import Scenario, ScenarioConfig, ServicePair, working
from tests.service.harness import harness_at
from tests.waiting import wait_until

from svddtune.v1 import common_pb2, config_pb2, tuning_pb2

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

SEEDS = range(sized(1))
PAGE = 1000


def config(**changes: int) -> config_pb2.SessionConfig:
    """Leases that silence soon ends, and room for all that a stream_count may say."""
    return config_pb2.SessionConfig(
        budget=500,
        strategy=config_pb2.QUERY_STRATEGY_LAMA,
        lease_seconds=2,
        **changes,  # type: ignore[arg-type]
    )


ADAPTIVE = config_pb2.OVERLAP_RULE_ADAPTIVE
SCENARIOS = {
    "one vote": ScenarioConfig((config(),), stream_s=3),
    "adaptive overlap": ScenarioConfig((config(overlap=2, overlap_rule=ADAPTIVE),)),
    "several sessions": ScenarioConfig((config(), config(overlap=2))),
}
# The quick one always runs.
MARKS = {
    "one vote": [],
    "adaptive overlap": [pytest.mark.slow],
    "several sessions": [pytest.mark.slow, pytest.mark.thorough],
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "settings",
    [pytest.param(settings, id=name, marks=MARKS[name]) for name, settings in SCENARIOS.items()],
)
def test_messages_on_streams_agree_with_the_log(
    redis_url: str, settings: ScenarioConfig, seed: int
) -> None:
    with ServicePair(redis_url, settings.stream_s) as pair, working(redis_url) as worker:
        scenario = Scenario(pair, worker, redis_url, settings, seed)
        asyncio.run(scenario.run())
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
            for name in scenario.transcripts:
                wait_until(lambda name=name: harness.get(name).state == completed)  # type: ignore[misc]
            ends = scenario.check(events)
    # The scenario had enough answers of each outcome to be a test.
    assert min(ends[one] for one in ("Ack", "KIND_LABELED", "periods")) > settings.stream_count, (
        ends
    )
    assert all(ends[one] for one in ("no reply", "ANSWER_ID_REUSED", "back")), ends
