"""When the next stream comes, and what keeps one alive; no network, moments by hand."""

import pytest
from tests.client.dialogue.peer import SESSION, assign, progress, session, welcome

from svddtune.client import InternalError, InvalidInput, NotFound, SvddtuneError, Unavailable
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.dialogue.reconnect import RECONNECT_FOR_S, Pulse, Reconnect
from svddtune.v1 import oracle_pb2 as pb

GONE = Unavailable("gone")


def dialogue() -> Dialogue:
    stream = Dialogue([SESSION], labeler="ann", kind="human", credit=1)
    stream.hello()
    return stream


def drained(stream: Dialogue) -> Dialogue:
    stream.receive(pb.ConverseResponse(drain=pb.Drain(reason=pb.DRAIN_REASON_STREAM_AGE)), 0.0)
    return stream


def test_drained_stream_is_followed_at_once() -> None:
    reconnect = Reconnect(drained(dialogue()), first_within_s=30.0, now=0.0)
    reconnect.heard(welcome(), 0.0)
    assert reconnect.ended(None, 3600.0) == 0.0


def test_streams_drained_at_once_are_followed_after_a_pause() -> None:
    reconnect = Reconnect(drained(dialogue()), first_within_s=30.0, now=0.0)
    reconnect.heard(welcome(), 0.0)
    assert reconnect.ended(None, 0.01) > 0.0


def test_broken_stream_is_followed_after_growing_pauses_until_one_holds() -> None:
    reconnect = Reconnect(dialogue(), first_within_s=30.0, now=0.0)
    pauses = [reconnect.ended(GONE, 0.0) for _ in range(6)]
    assert pauses == sorted(pauses)
    assert pauses[-1] > 1.0
    reconnect.heard(welcome(), 1.0)
    assert reconnect.ended(GONE, 2.0) <= 0.1


def test_retry_delay_of_the_server_is_respected() -> None:
    reconnect = Reconnect(dialogue(), first_within_s=30.0, now=0.0)
    assert reconnect.ended(Unavailable("busy", retry_after_s=7.5), 0.0) == 7.5


def test_patience_is_short_before_the_first_stream_and_long_after_it() -> None:
    reconnect = Reconnect(dialogue(), first_within_s=5.0, now=0.0)
    reconnect.ended(GONE, 4.9)
    with pytest.raises(Unavailable):
        reconnect.ended(GONE, 5.1)
    reconnect.heard(welcome(), 6.0)
    reconnect.ended(GONE, 100.0)
    reconnect.ended(GONE, 100.0 + RECONNECT_FOR_S - 1)
    with pytest.raises(Unavailable):
        reconnect.ended(GONE, 100.0 + RECONNECT_FOR_S + 1)


@pytest.mark.parametrize("error", [InvalidInput("no"), InternalError("bug", metadata={"id": "7"})])
def test_permanent_error_is_raised(error: SvddtuneError) -> None:
    reconnect = Reconnect(dialogue(), first_within_s=5.0, now=0.0)
    with pytest.raises(type(error)):
        reconnect.ended(error, 0.0)


def test_internal_errors_of_a_proxy_are_retried_a_few_times() -> None:
    reconnect = Reconnect(dialogue(), first_within_s=5.0, now=0.0)
    for _ in range(8):
        reconnect.ended(InternalError("RST_STREAM"), 0.0)
    with pytest.raises(InternalError):
        reconnect.ended(InternalError("RST_STREAM"), 0.0)


def test_deleted_session_ends_its_queries_but_not_the_dialogue() -> None:
    stream = dialogue()
    stream.receive(welcome(), 0.0)
    reconnect = Reconnect(stream, first_within_s=5.0, now=0.0)
    gone = NotFound("no", reason="SESSION_NOT_FOUND", metadata={"session": SESSION})
    assert reconnect.ended(gone, 0.0) == 0.0
    assert stream.finished == "DELETED"
    assert stream.over


def test_heartbeats_start_after_the_welcome() -> None:
    stream = dialogue()
    pulse = Pulse(stream, welcome_within_s=30.0, now=100.0)
    assert pulse.wait_s(110.0) == 20.0
    assert not pulse.late(129.0)
    assert pulse.late(130.0)
    stream.receive(welcome(heartbeat_seconds=5.0), 0.0)
    stream.receive(assign(1), 0.0)
    assert not pulse.late(130.0)
    assert pulse.beat(104.0) is None
    assert pulse.wait_s(104.0) == 1.0
    assert pulse.beat(105.0) is not None
    assert pulse.wait_s(105.0) == 5.0


def test_shorter_leases_shorten_the_heartbeat_interval() -> None:
    stream = dialogue()
    stream.receive(welcome(heartbeat_seconds=20.0), 0.0)
    pulse = Pulse(stream, welcome_within_s=30.0, now=0.0)
    stream.receive(progress(session(lease_seconds=12.0)), 0.0)
    assert pulse.wait_s(0.0) == 20.0
    stream.receive(assign(1), 0.0)
    assert pulse.wait_s(0.0) == 2.0


def test_no_heartbeat_is_sent_while_nothing_is_held() -> None:
    stream = dialogue()
    stream.receive(welcome(heartbeat_seconds=5.0), 0.0)
    pulse = Pulse(stream, welcome_within_s=30.0, now=0.0)
    assert pulse.beat(5.0) is None
    assert pulse.wait_s(5.0) == 5.0
