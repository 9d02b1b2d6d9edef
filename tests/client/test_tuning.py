"""The dialogue over real streams that break off, drain and refuse."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2
from tests.client.dialogue import peer
from tests.client.dialogue.peer import (
    SESSION,
    Talk,
    ack,
    assign,
    finished,
    progress,
    session,
    welcome,
)
from tests.client.dialogue.statuses import status
from tests.waiting import wait_until

from svddtune.client import (
    InvalidInput,
    Label,
    LeaseLost,
    ProtocolError,
    Tuning,
    TuningClient,
    Unauthenticated,
    Unavailable,
    Verdict,
    WrongState,
)
from svddtune.v1 import oracle_pb2 as pb

Responses = Iterator[pb.ConverseResponse]


@contextmanager
def talking(*scripts: peer.Script, **options: Any) -> Iterator[Tuning]:
    """A dialogue with a peer that follows the scripts, one a stream."""
    with (
        peer.peer(*scripts) as address,
        TuningClient(address) as client,
        client.tuning(SESSION, **options) as tuning,
    ):
        yield tuning


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before and t.name.startswith("svddtune")]
    assert left == []


def test_asks_until_finished_and_says_bye() -> None:
    said: list[str] = []

    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        for number in (1, 2):
            yield assign(number)
            answer = talk.take("answer")
            assert answer.answer.lease_id == f"lease-{number}"
            yield ack(answer, total=number)
        yield finished()
        said.extend(talk.rest())

    with talking(script, labeler="ann") as tuning:
        asked = []
        for query in tuning.queries():
            asked.append((query.number, query.observation_id, query.display["host"]))
            assert tuning.answer(query, "inlier").counts.total == query.number
        assert tuning.finished == "BUDGET_SPENT"
        assert len(tuning.per_query_s) == 1
        assert asked == [(1, "obs-1", "db-7"), (2, "obs-2", "db-7")]
    assert said == ["bye"]


def test_answer_whose_ack_was_lost_is_sent_again_with_its_id() -> None:
    ids: list[str] = []

    def breaks(talk: Talk) -> Responses:
        assert talk.take("hello").hello.resume_token == ""
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

    with talking(breaks, resumes) as tuning:
        asked = [tuning.answer(query, -1).applied for query in tuning.queries()]
    assert asked == [True]
    assert len(ids) == 2
    assert ids[0] == ids[1]


def test_drain_is_followed_by_a_new_stream_that_keeps_the_query() -> None:
    def drains(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome("token")
        yield assign(1)
        yield pb.ConverseResponse(drain=pb.Drain(reason="SHUTDOWN"))
        talk.rest()

    def goes_on(talk: Talk) -> Responses:
        assert talk.take("hello").hello.resume_token == "token"
        yield welcome("token2")
        yield assign(1)
        yield ack(talk.skip_to("answer"))
        yield finished()
        talk.rest()

    with talking(drains, goes_on) as tuning:
        assert [tuning.answer(query, 1).query for query in tuning.queries()] == [1]


def test_stream_that_just_ends_is_opened_again() -> None:
    def ends(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()

    def goes_on(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield finished("CANCELLED")
        talk.rest()

    with talking(ends, ends, goes_on) as tuning:
        assert tuning.next_query(timeout_s=20) is None
        assert tuning.finished == "CANCELLED"


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

    with talking(script) as tuning:
        for query in tuning.queries():
            assert beaten.wait(20)
            tuning.answer(query, "unsure")


def test_refused_item_is_raised_where_it_was_given_and_the_stream_lives() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        refused = talk.take("answer").answer.answer_id
        yield pb.ConverseResponse(
            reject=pb.Reject(
                answer_id=refused,
                query=1,
                status=status(code_pb2.FAILED_PRECONDITION, "LEASE_LOST"),
            )
        )
        unknown = talk.take("answer").answer
        assert unknown.query == 0
        yield pb.ConverseResponse(
            reject=pb.Reject(
                answer_id=unknown.answer_id,
                status=status(code_pb2.INVALID_ARGUMENT, "UNKNOWN_OBSERVATION"),
            )
        )
        yield ack(talk.take("retract"))
        yield finished()
        talk.rest()

    with talking(script) as tuning:
        query = tuning.next_query(timeout_s=20)
        assert query is not None
        with pytest.raises(LeaseLost):
            tuning.answer(query, "inlier")
        with pytest.raises(InvalidInput) as refused:
            tuning.label("nobody", "outlier")
        assert refused.value.reason == "UNKNOWN_OBSERVATION"
        assert tuning.retract("obs-3").applied
        assert tuning.next_query(timeout_s=20) is None


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, Unauthenticated),
        (grpc.StatusCode.UNIMPLEMENTED, ProtocolError),
        (grpc.StatusCode.INVALID_ARGUMENT, InvalidInput),
    ],
)
def test_what_trying_again_cannot_mend_ends_the_dialogue(
    code: grpc.StatusCode, kind: type[Exception]
) -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        talk.abort(code, "no")
        yield welcome()

    with talking(script) as tuning:
        with pytest.raises(kind):
            tuning.next_query(timeout_s=20)
        with pytest.raises(kind):
            tuning.label("a", "inlier")


def test_many_labels_are_sent_without_waiting_for_each() -> None:
    count = 600

    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        # No Ack before the client has sent what it may send at once.
        answers = [talk.take("answer") for _ in range(256)]
        for answer in answers:
            yield ack(answer)
        for _ in range(count - len(answers)):
            yield ack(talk.take("answer"))
        talk.rest()

    with talking(script, credit=0) as tuning:
        acks = tuning.label_many({str(i): Verdict.INLIER for i in range(count)})
    assert len(acks) == count


def test_id_that_is_missing_is_refused_before_anything_is_sent() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        answer = talk.take("answer")
        assert answer.answer.observation_id == "7"
        yield ack(answer)
        talk.rest()

    with talking(script, credit=0) as tuning:
        for missing in (None, float("nan"), b"7", True):
            with pytest.raises(InvalidInput, match="observation id"):
                tuning.label(missing, "inlier")  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="observation id"):
                tuning.retract(missing)  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="observation id"):
                tuning.label_many([Label(missing, Verdict.INLIER)])  # type: ignore[arg-type]
        tuning.label(7, "inlier")  # type: ignore[arg-type]


def test_several_queries_are_held_and_answered_out_of_order() -> None:
    def script(talk: Talk) -> Responses:
        assert talk.take("hello").hello.credit == 2
        yield welcome()
        yield assign(1)
        yield assign(2)
        second, first = talk.take("answer"), talk.take("answer")
        assert (second.answer.query, first.answer.query) == (2, 1)
        yield ack(first)
        yield ack(second)
        yield finished()
        talk.rest()

    with talking(script, credit=2) as tuning:
        one, two = tuning.next_query(timeout_s=20), tuning.next_query(timeout_s=20)
        assert one is not None
        assert two is not None
        later = tuning.submit(two, "outlier")
        tuning.answer(one, "inlier")
        assert tuning.wait(later).query == 2
        assert not tuning.is_open(one)


def test_next_query_before_the_last_one_is_settled_is_an_error_not_a_deadlock() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        talk.rest()

    with talking(script) as tuning, pytest.raises(WrongState) as refused:
        for _ in tuning.queries():
            pass
    assert refused.value.reason == "QUERY_UNANSWERED"


def test_missing_ack_and_missing_query_end_in_a_timeout() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        talk.rest()

    with talking(script, ack_timeout_s=0.05, credit=2) as tuning:
        query = tuning.next_query(timeout_s=20)
        assert query is not None
        with pytest.raises(Unavailable) as refused:
            tuning.answer(query, "inlier")
        assert refused.value.reason == "ACK_TIMEOUT"
        with pytest.raises(Unavailable) as refused:
            tuning.next_query(timeout_s=0.05)
        assert refused.value.reason == "WAIT_TIMEOUT"


def test_nobody_there_is_said_with_the_address() -> None:
    with (
        TuningClient("127.0.0.1:1", timeout_s=0.5) as client,
        client.tuning(SESSION) as tuning,
        pytest.raises(Unavailable, match=r"127\.0\.0\.1:1.*svddtune up"),
    ):
        tuning.next_query(timeout_s=30)


def test_closed_dialogue_takes_nothing() -> None:
    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        talk.rest()

    with peer.peer(script) as address, TuningClient(address) as client:
        tuning = client.tuning(SESSION)
        assert tuning.session.name == SESSION
        tuning.close()
        tuning.close()
        with pytest.raises(WrongState):
            tuning.label("a", 1)


def test_query_given_back_while_away_is_given_back_on_the_next_stream() -> None:
    away = threading.Event()
    given = threading.Event()
    said: list[str] = []

    def breaks(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        yield assign(1)
        away.wait(20)

    def goes_on(talk: Talk) -> Responses:
        talk.take("hello")
        given.wait(20)
        yield welcome()
        said.extend(talk.take("release").release.lease_ids)
        yield finished()
        talk.rest()

    with talking(breaks, goes_on) as tuning:
        query = tuning.next_query(timeout_s=20)
        assert query is not None
        away.set()
        wait_until(lambda: not tuning.connected)
        tuning.release(query)
        given.set()
        assert tuning.next_query(timeout_s=20) is None
    assert said == ["lease-1"]


def test_dialogue_that_keeps_its_leases_says_no_bye_and_is_resumed_by_another() -> None:
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

    with peer.peer(first, second) as address, TuningClient(address) as client:
        tuning = client.tuning(SESSION, labeler="ann")
        assert tuning.next_query(timeout_s=20) is not None
        token = tuning.resume_token
        tuning.close(keep_leases=True)
        with client.tuning(SESSION, labeler="ann", resume_token=token) as resumed:
            assert [resumed.answer(query, 1).query for query in resumed.queries()] == [1]
    assert said == []


def test_several_sessions_are_served_by_one_stream() -> None:
    a, b = "sessions/a", "sessions/b"

    def script(talk: Talk) -> Responses:
        assert list(talk.take("hello").hello.sessions) == [a, b]
        yield welcome(several=True)
        for name in (a, b):
            yield progress(session(name=name))
            yield assign(1, name=name)
        for _ in range(2):
            yield ack(talk.take("answer"))
        yield finished(name=a)
        yield assign(2, name=b)
        yield ack(talk.take("answer"))
        yield finished("POOL_EXHAUSTED", name=b)
        talk.rest()

    with (
        peer.peer(script) as address,
        TuningClient(address) as client,
        client.tuning([a, b], credit=2) as tuning,
    ):
        held = [tuning.next_query(timeout_s=20) for _ in range(2)]
        acks = [tuning.answer(query, "inlier") for query in held if query]
        assert [got.session for got in acks] == [a, b]
        assert [tuning.answer(q, "inlier").query for q in tuning.queries()] == [2]
        assert dict(tuning.finished_sessions) == {a: "BUDGET_SPENT", b: "POOL_EXHAUSTED"}
        assert set(tuning.sessions) == {a, b}
        with pytest.raises(InvalidInput, match="which session"):
            tuning.label("x", "inlier")
        with pytest.raises(InvalidInput, match="which session"):
            tuning.finish()


def test_correction_is_sent_with_the_id_given() -> None:
    said: list[pb.Answer] = []

    def script(talk: Talk) -> Responses:
        talk.take("hello")
        yield welcome()
        for _ in range(2):
            answer = talk.take("answer")
            said.append(answer.answer)
            yield ack(answer)
        retraction = talk.take("retract")
        assert retraction.retract.of_labeler == "bob"
        yield ack(retraction)
        talk.rest()

    with talking(script, credit=0) as tuning:
        tuning.label("x", "inlier", answer_id="ticket-7/1", source_reference="ticket-7")
        tuning.label("x", "outlier", answer_id="ticket-7/2", replace=True)
        assert tuning.retract("x", of_labeler="bob", answer_id="r").answer_id == "r"
    assert [(a.answer_id, a.replace) for a in said] == [("ticket-7/1", False), ("ticket-7/2", True)]


@pytest.mark.parametrize("verdict", [True, 0, 2, "yes", None, 0.5])
def test_verdict_that_is_none_is_refused(verdict: object) -> None:
    with pytest.raises(InvalidInput):
        Verdict.of(verdict)
