"""What a replay puts on the wire, against scripted replies."""

from collections.abc import Iterator

import pytest
from google.rpc import code_pb2
from tests.client.dialogue.peer import (
    SESSION,
    ServerStream,
    ack,
    assign,
    finished,
    peer,
    reject,
    welcome,
)
from tests.client.dialogue.statuses import status
from tests.client.tickets.exports import DESK, ticket

from svddtune.client import TicketOracle, TuningClient, Verdict, WrongState
from svddtune.client.tickets.replay import Replay
from svddtune.client.tickets.serving import serve
from svddtune.client.types import LabelEvent
from svddtune.v1 import oracle_pb2 as pb

Replies = Iterator[pb.ConverseResponse]


def event(kind: str, answer_id: str, verdict: Verdict | None = None, who: str = "r") -> LabelEvent:
    return LabelEvent(
        event_id=answer_id,
        kind=kind,
        observation_id="obs-1",
        row=1,
        verdict=verdict,
        labeler=who,
        query=0,
        source_reference="T",
        answer_id=answer_id,
        time=None,
    )


def answers(*log: LabelEvent, unused: int = 0) -> list[pb.Answer]:
    """Answers to the same observation asked twice; the first `unused` come too late to count."""
    taken: list[pb.Answer] = []

    def script(stream: ServerStream) -> Replies:
        stream.take("hello")
        yield welcome()
        for number in (1, 2):
            yield assign(number, row=1)
            request = stream.skip_to("answer")
            taken.append(request.answer)
            reply = ack(request)
            if number <= unused:
                reply.ack.disposition = pb.Ack.DISPOSITION_UNUSED
            yield reply
        yield finished()
        stream.rest()

    oracle = TicketOracle([ticket("T", row="obs-1")], DESK)
    with peer(script) as address, TuningClient(address) as client:
        with client.tuning(SESSION, labeler="r") as tuning:
            replay = Replay(oracle, tuning, SESSION, log)
            assert serve(replay, oracle, tuning, unasked=False) == "BUDGET_SPENT"
        assert (replay.sent.answered, replay.sent.unused) == (2, unused)
    return taken


def test_answer_has_its_ticket_as_source_and_a_reproducible_id() -> None:
    first = answers()
    assert {answer.source_reference for answer in first} == {"T"}
    assert {answer.verdict for answer in first} == {2}
    assert [answer.answer_id for answer in answers()] == [answer.answer_id for answer in first]
    assert first[0].answer_id != first[1].answer_id


@pytest.mark.parametrize(
    "log",
    [
        [event("labeled", "a", Verdict.OUTLIER)],
        [event("labeled", "a", Verdict.OUTLIER), event("retracted", "b")],
        [event("unused", "c", Verdict.OUTLIER)],
    ],
)
def test_answer_id_changes_once_the_log_has_later_events(log: list[LabelEvent]) -> None:
    assert answers(*log)[0].answer_id != answers()[0].answer_id


def test_votes_of_others_are_left_alone_by_a_replay() -> None:
    others = [event("labeled", "a", Verdict.INLIER, who="ann"), event("repeated", "x")]
    assert answers(*others)[0].answer_id == answers()[0].answer_id


def test_late_answer_is_sent_again_with_a_new_id() -> None:
    one, two = answers(unused=1)
    assert one.answer_id != two.answer_id


def test_query_without_a_verdict_is_skipped_to_others() -> None:
    def script(stream: ServerStream) -> Replies:
        stream.take("hello")
        yield welcome()
        yield assign(1, row=5)
        request = stream.skip_to("skip")
        assert request.skip.mode == pb.SKIP_MODE_OTHERS
        yield ack(request)
        yield finished()
        stream.rest()

    oracle = TicketOracle([ticket("T", row="obs-1")], DESK)
    with peer(script) as address, TuningClient(address) as client:
        with client.tuning(SESSION, labeler="r") as tuning:
            replay = Replay(oracle, tuning, SESSION, ())
            serve(replay, oracle, tuning, unasked=False)
        assert replay.sent.skipped == 1


def test_error_beyond_a_single_label_ends_the_replay() -> None:
    def script(stream: ServerStream) -> Replies:
        stream.take("hello")
        yield welcome()
        yield assign(1, row=1)
        request = stream.skip_to("answer")
        yield reject(request, status(code_pb2.FAILED_PRECONDITION, "LABELER_WITHDRAWN"))
        stream.rest()

    oracle = TicketOracle([ticket("T", row="obs-1")], DESK)
    with peer(script) as address, TuningClient(address) as client:
        with client.tuning(SESSION, labeler="r") as tuning:
            replay = Replay(oracle, tuning, SESSION, ())
            with pytest.raises(WrongState) as caught:
                serve(replay, oracle, tuning, unasked=False)
        assert caught.value.reason == "LABELER_WITHDRAWN"
