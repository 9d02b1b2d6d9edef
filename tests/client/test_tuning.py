"""The dialogue over real streams that break off, drain and refuse."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2
from tests.client.dialogue import peer
from tests.client.dialogue.peer import (
    SESSION,
    ServerStream,
    ack,
    assign,
    finished,
    progress,
    reject,
    session,
    welcome,
)
from tests.client.dialogue.statuses import status
from tests.client.flavours import Connect
from tests.waiting import wait_until

from svddtune.client import (
    InvalidInput,
    Judgement,
    Label,
    LeaseLost,
    ProtocolError,
    Query,
    SvddtuneError,
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
def talking(connect: Connect, *scripts: peer.Script, **options: Any) -> Iterator[Tuning]:
    """A dialogue with a peer that follows the scripts, one a stream."""
    with (
        peer.peer(*scripts) as address,
        connect(address) as client,
        client.tuning(SESSION, **options) as tuning,
    ):
        yield tuning


def next_of(tuning: Tuning) -> Query:
    query = tuning.next_query(timeout_s=20)
    assert query is not None
    return query


def test_asks_until_finished_and_says_bye(connect: Connect) -> None:
    said: list[str] = []

    def script(stream: ServerStream) -> Responses:
        assert stream.take("hello").hello.labeler == "ann"
        yield welcome()
        for number in (1, 2):
            yield assign(number)
            answer = stream.take("answer")
            assert answer.answer.lease_id == f"lease-{number}"
            yield ack(answer, total=number)
        yield finished()
        said.extend(stream.rest())

    with talking(connect, script, labeler="ann") as tuning:
        assert tuning.session.name == SESSION
        asked = []
        for query in tuning.queries():
            asked.append((query.number, query.observation_id, query.display["host"]))
            assert tuning.answer(query, "inlier").counts.total == query.number
        assert tuning.finished == "BUDGET_SPENT"
        assert tuning.counts.total == 2
        assert len(tuning.per_query_s) == 1
        assert asked == [(1, "obs-1", "db-7"), (2, "obs-2", "db-7")]
    assert said == ["bye"]


def test_answer_whose_ack_was_lost_is_sent_again_with_its_id(connect: Connect) -> None:
    ids: list[str] = []

    def breaks(stream: ServerStream) -> Responses:
        assert stream.take("hello").hello.resume_token == ""
        yield welcome("token")
        yield assign(1)
        ids.append(stream.take("answer").answer.answer_id)
        stream.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    def resumes(stream: ServerStream) -> Responses:
        assert stream.take("hello").hello.resume_token == "token"
        yield welcome("token")
        yield assign(1)
        answer = stream.take("answer")
        ids.append(answer.answer.answer_id)
        yield ack(answer)
        yield finished()
        stream.rest()

    with talking(connect, breaks, resumes) as tuning:
        asked = [tuning.answer(query, -1).applied for query in tuning.queries()]
    assert asked == [True]
    assert len(ids) == 2
    assert ids[0] == ids[1]


def test_drain_is_followed_by_a_new_stream_that_keeps_the_query(connect: Connect) -> None:
    drained = threading.Event()

    def drains(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome("token")
        yield assign(1)
        yield pb.ConverseResponse(drain=pb.Drain(reason=pb.DRAIN_REASON_SHUTDOWN))
        stream.rest()

    def goes_on(stream: ServerStream) -> Responses:
        assert stream.take("hello").hello.resume_token == "token"
        yield welcome("token2")
        assert list(stream.take("extend").extend.lease_ids) == ["lease-1"]
        yield assign(1)
        drained.set()
        yield ack(stream.take("answer"))
        yield finished()
        stream.rest()

    with talking(connect, drains, goes_on) as tuning:
        query = next_of(tuning)
        assert drained.wait(20)
        assert tuning.is_open(query)
        assert tuning.answer(query, 1).query == 1
        assert tuning.next_query(timeout_s=20) is None


def test_stream_that_just_ends_is_opened_again(connect: Connect) -> None:
    def ends(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()

    def goes_on(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield finished("CANCELLED")
        stream.rest()

    with talking(connect, ends, ends, goes_on) as tuning:
        assert tuning.next_query(timeout_s=20) is None
        assert tuning.finished == "CANCELLED"


def test_leases_are_extended_while_the_labeler_thinks(connect: Connect) -> None:
    beaten = threading.Event()

    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome(heartbeat_seconds=0.05)
        yield assign(1)
        for _ in range(3):
            stream.take("extend")
        beaten.set()
        yield ack(stream.skip_to("answer"))
        yield finished()
        stream.rest()

    with talking(connect, script) as tuning:
        for query in tuning.queries():
            assert beaten.wait(20)
            tuning.answer(query, "unsure")


def test_refused_item_raises_at_its_caller_and_the_stream_goes_on(connect: Connect) -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield assign(1)
        lost = status(code_pb2.FAILED_PRECONDITION, "LEASE_LOST")
        yield reject(stream.take("answer"), lost)
        unknown = status(code_pb2.INVALID_ARGUMENT, "UNKNOWN_OBSERVATION")
        for _ in range(3):
            answer = stream.take("answer")
            assert answer.answer.query == 0
            yield ack(answer) if answer.answer.observation_id == "a" else reject(answer, unknown)
        yield ack(stream.take("retract"))
        yield assign(2)
        yield ack(stream.take("skip"))
        yield finished()
        stream.rest()

    with talking(connect, script) as tuning:
        with pytest.raises(LeaseLost):
            tuning.answer(next_of(tuning), "inlier")
        with pytest.raises(InvalidInput) as refused:
            tuning.label("nobody", "outlier")
        assert refused.value.reason == "UNKNOWN_OBSERVATION"
        with pytest.raises(InvalidInput):
            tuning.label_many({"a": 1, "b": 1})
        assert tuning.retract("obs-3").applied
        assert tuning.skip(next_of(tuning), "drop").query == 2
        assert tuning.next_query(timeout_s=20) is None


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, Unauthenticated),
        (grpc.StatusCode.UNIMPLEMENTED, ProtocolError),
        (grpc.StatusCode.INVALID_ARGUMENT, InvalidInput),
    ],
)
def test_permanent_error_ends_the_dialogue(
    connect: Connect, code: grpc.StatusCode, kind: type[Exception]
) -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        stream.abort(code, "no")
        yield welcome()

    with talking(connect, script) as tuning:
        with pytest.raises(kind):
            tuning.next_query(timeout_s=20)
        with pytest.raises(kind):
            tuning.label("a", "inlier")


def test_many_labels_are_sent_before_their_acks(connect: Connect) -> None:
    count = 600

    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        # No Ack before the client has sent what it may send at once.
        answers = [stream.take("answer") for _ in range(256)]
        for answer in answers:
            yield ack(answer)
        for number in range(len(answers), count):
            answer = stream.take("answer")
            assert answer.answer.observation_id == str(number)
            yield ack(answer)
        stream.rest()

    with talking(connect, script, credit=0) as tuning:
        acks = tuning.label_many({str(i): Verdict.INLIER for i in range(count)})
    assert len(acks) == count


def test_id_that_is_missing_is_refused_before_anything_is_sent(connect: Connect) -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        answer = stream.take("answer")
        assert answer.answer.observation_id == "7"
        yield ack(answer)
        stream.rest()

    with talking(connect, script, credit=0) as tuning:
        for missing in (None, float("nan"), b"7", True):
            with pytest.raises(InvalidInput, match="observation id"):
                tuning.label(missing, "inlier")  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="observation id"):
                tuning.retract(missing)  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="observation id"):
                tuning.label_many([Label(missing, Verdict.INLIER)])  # type: ignore[arg-type]
        tuning.label(7, "inlier")  # type: ignore[arg-type]


def test_several_queries_are_held_and_answered_out_of_order(connect: Connect) -> None:
    def script(stream: ServerStream) -> Responses:
        assert stream.take("hello").hello.credit == 2
        yield welcome()
        yield assign(1)
        yield assign(2)
        second, first = stream.take("answer"), stream.take("answer")
        assert (second.answer.query, first.answer.query) == (2, 1)
        yield ack(first)
        yield ack(second)
        yield finished()
        stream.rest()

    with talking(connect, script, credit=2) as tuning:
        one, two = tuning.next_query(timeout_s=20), tuning.next_query(timeout_s=20)
        assert one is not None
        assert two is not None
        later = tuning.submit(two, "outlier")
        tuning.answer(one, "inlier")
        assert tuning.wait(later).query == 2
        assert not tuning.is_open(one)


def test_next_query_before_the_last_one_is_settled_is_an_error_not_a_deadlock() -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield assign(1)
        stream.rest()

    with talking(TuningClient, script) as tuning, pytest.raises(WrongState) as refused:
        for _ in tuning.queries():
            pass
    assert refused.value.reason == "QUERY_UNANSWERED"


def test_missing_ack_and_missing_query_end_in_a_timeout(connect: Connect) -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield assign(1)
        stream.rest()

    with talking(connect, script, ack_timeout_s=0.05, credit=2) as tuning:
        query = next_of(tuning)
        with pytest.raises(Unavailable) as refused:
            tuning.answer(query, "inlier")
        assert refused.value.reason == "ACK_TIMEOUT"
        with pytest.raises(Unavailable) as refused:
            tuning.next_query(timeout_s=0.05)
        assert refused.value.reason == "WAIT_TIMEOUT"


def test_unreachable_service_is_reported_with_its_address(connect: Connect) -> None:
    with (
        connect("127.0.0.1:1", timeout_s=0.5) as client,
        client.tuning(SESSION) as tuning,
        pytest.raises(Unavailable, match=r"127\.0\.0\.1:1.*svddtune up"),
    ):
        tuning.next_query(timeout_s=30)


def test_closed_dialogue_accepts_no_answer(connect: Connect) -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        stream.rest()

    with talking(connect, script) as tuning:
        assert tuning.session.name == SESSION
        tuning.close()
        tuning.close()
        for use in (
            tuning.next_query,
            lambda: tuning.label("a", 1),
            lambda: tuning.set_credit(2),
            tuning.__enter__,
        ):
            with pytest.raises(WrongState) as refused:
                use()
            assert refused.value.reason == "CLIENT_CLOSED"


def test_server_without_a_welcome_is_reported(connect: Connect) -> None:
    def silent(stream: ServerStream) -> Responses:
        stream.take("hello")
        stream.rest()
        yield welcome()

    with (
        peer.peer(*[silent] * 8) as address,
        connect(address, timeout_s=0.2) as client,
        client.tuning(SESSION) as tuning,
        pytest.raises(Unavailable, match="svddtune up"),
    ):
        tuning.next_query(timeout_s=20)


def test_lost_query_is_reported_with_its_reason(connect: Connect) -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        for number in (1, 2):
            yield assign(number)
        yield ack(stream.take("answer"))
        revoke = pb.Revoke(
            session=SESSION, query=2, lease_id="lease-2", reason=pb.REVOKE_REASON_EXPIRED
        )
        yield pb.ConverseResponse(revoke=revoke)
        stream.rest()

    with (
        talking(connect, script, credit=2, extend=False) as tuning,
        ThreadPoolExecutor(1) as elsewhere,
    ):
        one, two = next_of(tuning), next_of(tuning)
        gone = elsewhere.submit(tuning.until_gone, two)
        tuning.answer(one, "inlier")
        assert gone.result(20) == "EXPIRED"
        assert tuning.until_gone(one) == ""


def test_released_query_and_new_credit_are_sent(connect: Connect) -> None:
    seen: list[pb.ConverseRequest] = []

    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield assign(1)
        seen.append(stream.take("release"))
        seen.append(stream.take("credit"))
        yield finished()
        stream.rest()

    with talking(connect, script) as tuning:
        tuning.release(next_of(tuning))
        tuning.set_credit(3)
        assert tuning.next_query(timeout_s=20) is None
    assert list(seen[0].release.lease_ids) == ["lease-1"]
    assert seen[1].credit.queries == 3


def test_client_that_closes_ends_its_dialogues(connect: Connect) -> None:
    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        with suppress(grpc.RpcError):
            stream.rest()

    with peer.peer(script) as address, ThreadPoolExecutor(1) as elsewhere:
        client = connect(address)
        with client.tuning(SESSION) as tuning:
            assert tuning.session.name == SESSION
            waiting = elsewhere.submit(tuning.next_query)
            client.close()
            with pytest.raises(SvddtuneError) as ended:
                waiting.result(20)
            assert ended.value.reason == "CLIENT_CLOSED"
        with pytest.raises(WrongState):
            client.get_session(SESSION)


def test_query_released_without_a_stream_is_released_on_the_next_stream(connect: Connect) -> None:
    away = threading.Event()
    given = threading.Event()
    said: list[str] = []

    def breaks(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        yield assign(1)
        away.wait(20)

    def goes_on(stream: ServerStream) -> Responses:
        stream.take("hello")
        given.wait(20)
        yield welcome()
        said.extend(stream.take("release").release.lease_ids)
        yield finished()
        stream.rest()

    with talking(connect, breaks, goes_on) as tuning:
        query = next_of(tuning)
        away.set()
        wait_until(lambda: not tuning.connected)
        tuning.release(query)
        given.set()
        assert tuning.next_query(timeout_s=20) is None
    assert said == ["lease-1"]


def test_kept_leases_are_resumed_by_another_dialogue(connect: Connect) -> None:
    said: list[str] = []

    def first(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome("token")
        yield assign(1)
        with suppress(grpc.RpcError):
            said.extend(stream.rest())

    def second(stream: ServerStream) -> Responses:
        assert stream.take("hello").hello.resume_token == "token"
        yield welcome("token")
        yield assign(1)
        yield ack(stream.take("answer"))
        yield finished()
        stream.rest()

    with peer.peer(first, second) as address, connect(address) as client:
        with client.tuning(SESSION, labeler="ann") as tuning:
            next_of(tuning)
            token = tuning.resume_token
            tuning.close(keep_leases=True)
        with client.tuning(SESSION, labeler="ann", resume_token=token) as resumed:
            assert [resumed.answer(query, 1).query for query in resumed.queries()] == [1]
    assert said == []


def test_several_sessions_are_served_by_one_stream(connect: Connect) -> None:
    a, b = "sessions/a", "sessions/b"

    def script(stream: ServerStream) -> Responses:
        assert list(stream.take("hello").hello.sessions) == [a, b]
        yield welcome(several=True)
        for name in (a, b):
            yield progress(session(name=name))
            yield assign(1, name=name)
        for _ in range(2):
            yield ack(stream.take("answer"))
        yield finished(name=a)
        yield assign(2, name=b)
        yield ack(stream.take("answer"))
        yield finished("POOL_EXHAUSTED", name=b)
        stream.rest()

    with (
        peer.peer(script) as address,
        connect(address) as client,
        client.tuning([a, b], credit=2) as tuning,
    ):
        held = [tuning.next_query(timeout_s=20) for _ in range(2)]
        acks = [tuning.answer(query, "inlier") for query in held if query]
        assert [got.session for got in acks] == [a, b]
        assert [tuning.answer(q, "inlier").query for q in tuning.queries()] == [2]
        assert dict(tuning.finished_sessions) == {a: "BUDGET_SPENT", b: "POOL_EXHAUSTED"}
        assert set(tuning.sessions) == {a, b}
        with pytest.raises(InvalidInput, match="Name the session"):
            tuning.label("x", "inlier")
        with pytest.raises(InvalidInput, match="Name the session"):
            tuning.finish()


def test_correction_is_sent_with_the_id_given(connect: Connect) -> None:
    said: list[pb.Answer] = []

    def script(stream: ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        for _ in range(2):
            answer = stream.take("answer")
            said.append(answer.answer)
            yield ack(answer)
        retraction = stream.take("retract")
        assert retraction.retract.of_labeler == "bob"
        yield ack(retraction)
        stream.rest()

    with talking(connect, script, credit=0) as tuning:
        tuning.label("x", "inlier", answer_id="ticket-7/1", source_reference="ticket-7")
        tuning.label("x", "outlier", answer_id="ticket-7/2", replace=True)
        assert tuning.retract("x", of_labeler="bob", answer_id="r").answer_id == "r"
    assert [(a.answer_id, a.replace) for a in said] == [("ticket-7/1", False), ("ticket-7/2", True)]


def test_confidence_is_sent_with_answers_and_labels(connect: Connect) -> None:
    said: list[pb.Answer] = []

    def script(stream: peer.ServerStream) -> Responses:
        stream.take("hello")
        yield welcome()
        for _ in range(3):
            answer = stream.take("answer")
            said.append(answer.answer)
            yield ack(answer)
        stream.rest()

    with talking(connect, script, credit=0) as tuning:
        tuning.label("x", ("inlier", 0.8))
        tuning.label_many([Label("y", Verdict.OUTLIER, confidence=0.9), Label("z", Verdict.UNSURE)])
    assert [(a.HasField("confidence"), a.confidence) for a in said] == [
        (True, 0.8),
        (True, 0.9),
        (False, 0.0),
    ]


@pytest.mark.parametrize("confidence", [0.5, 0.0, 1.1, -1, "high", True, float("nan")])
def test_confidence_out_of_range_is_refused(confidence: object) -> None:
    with pytest.raises(InvalidInput, match=r"confidence is .*; allowed: above 0.5, at most 1"):
        Judgement.of(("inlier", confidence))


def test_unsure_takes_no_confidence() -> None:
    with pytest.raises(InvalidInput, match="'unsure' takes no confidence"):
        Judgement.of(("unsure", 0.8))
    assert Judgement.of(("unsure", None)) == Judgement(Verdict.UNSURE)


@pytest.mark.parametrize("verdict", [True, 0, 2, "yes", None, 0.5])
def test_verdict_that_is_none_is_refused(verdict: object) -> None:
    with pytest.raises(InvalidInput):
        Verdict.of(verdict)
