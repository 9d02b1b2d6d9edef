"""Queries go to labelers who have announced the tags that their session requires."""

import pytest
from tests.service.drivers import TRANSPORTS, driver
from tests.service.harness import INLIER, Harness

from svddtune.v1 import config_pb2, oracle_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig
TAGS = ["german", "network"]
MISSING = oracle_pb2.FINISH_REASON_TAGS_MISSING


def test_stream_without_the_tags_learns_that_the_session_is_over_for_it(harness: Harness) -> None:
    name = harness.session(config=Config(budget=4, required_tags=TAGS)).name
    for tags in ([], ["german"], ["german", "networks"]):
        without = harness.labeler(name, "ann", tags=tags)
        assert without.expect("finished").reason == MISSING
        without.vanish()
    fit = harness.labeler(name, "bob", tags=["x", *reversed(TAGS)])
    fit.answer(fit.expect("assign"), INLIER)
    assert fit.expect("ack").counts.total == 1
    # It goes on waiting, and so gets what comes.
    harness.worker.work_off()
    assert fit.expect("assign").query == 2


def test_unary_labeler_without_the_tags_gets_nothing(harness: Harness) -> None:
    name = harness.session(config=Config(budget=4, required_tags=TAGS)).name
    request = oracle_pb2.LeaseRequest(labeler="ann", session=name, tags=["german"])
    response = harness.oracle.Lease(request)
    assert (list(response.assignments), response.finish_reason) == ([], MISSING)
    request.tags.append("network")
    response = harness.oracle.Lease(request)
    assert (len(response.assignments), response.finish_reason) == (1, 0)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_unasked_answers_and_sessions_without_tags_need_none(
    harness: Harness, transport: str
) -> None:
    name = harness.session(config=Config(budget=4, required_tags=TAGS)).name
    ann = driver(harness, transport, name, "ann")
    assert ann.label("3").counts.total == 1
    other = harness.session(config=Config(budget=4)).name
    assert driver(harness, transport, other, "ann").take()


def test_stream_with_several_sessions_passes_over_those_that_it_lacks_tags_for(
    harness: Harness,
) -> None:
    names = [
        harness.session(config=Config(budget=4, required_tags=tags)).name for tags in (TAGS, [])
    ]
    stream = harness.labeler(names, "ann", credit=2)
    assert stream.expect("finished").session.name == names[0]
    assert stream.expect("assign").session == names[1]


@pytest.mark.parametrize("tags", [["two words"], [""], [f"t{i}" for i in range(17)]])
def test_what_is_no_tag_is_refused(harness: Harness, tags: list[str]) -> None:
    with pytest.raises(Exception, match="tags"):
        harness.oracle.Lease(oracle_pb2.LeaseRequest(labeler="ann", tags=tags))
