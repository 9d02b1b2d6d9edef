"""What labelers see: nothing that a session hides is in any byte that their calls return."""

import struct
import uuid
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import replace
from typing import Any

import grpc
import httpx
import numpy as np
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from tests.service.fake_store import Stored
from tests.service.harness import INLIER, OUTLIER, Harness, M, N, chunk, header
from tests.service.support import error_info, status_of
from tests.state.scene import explanation_of

from svddtune.config import SessionConfig
from svddtune.service.access.caller import Caller, Role, serve_for
from svddtune.service.views import seen_session, session_for_caller
from svddtune.state.session import LabelCounts
from svddtune.v1 import common_pb2, config_pb2, dataset_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig
Call = Callable[[str, Message, type[Message]], tuple[Any, bytes]]

# Values that nothing else contains, by their bytes or as text.
VALUES = 7000.0625 + np.arange(N * M, dtype=np.float64).reshape(N, M) / 16
NAMES = ["velvet", "basalt"]
SESSIONS: dict[str, dict[str, bool]] = {
    "shown": {},
    "hidden": {"raw_features": False},
    "blind": {"blind": True},
}
SESSIONS["hidden and blind"] = SESSIONS["hidden"] | SESSIONS["blind"]


@pytest.fixture(params=["gRPC", "JSON", "Connect"])
def call(request: pytest.FixtureRequest, harness: Harness, web: httpx.Client) -> Call:
    """A unary call of the oracle service: its response and all bytes of it, refusals included."""

    def by_grpc(method: str, message: Message, _: type[Message]) -> tuple[Any, bytes]:
        try:
            response = getattr(harness.oracle, method)(message)
        except grpc.RpcError as error:
            status = status_of(error)
            return status, status.SerializeToString() + str(status.message).encode()
        return response, response.SerializeToString()

    def by_json(method: str, message: Message, kind: type[Message]) -> tuple[Any, bytes]:
        said = json_format.MessageToDict(message)
        inner = next((one for one in said.values() if isinstance(one, dict)), said)
        name = inner.pop("session")
        path = f"/v1/{name}:{method[0].lower()}{method[1:]}"
        response = web.post(path, json=said)
        if response.status_code != httpx.codes.OK:
            return response.json(), response.content
        parsed = json_format.Parse(response.text, kind())
        return parsed, response.content + parsed.SerializeToString()

    def by_connect(method: str, message: Message, kind: type[Message]) -> tuple[Any, bytes]:
        response = web.post(
            f"/svddtune.v1.OracleService/{method}",
            content=message.SerializeToString(),
            headers={"Content-Type": "application/proto"},
        )
        if response.status_code != httpx.codes.OK:
            return response.json(), response.content
        return kind.FromString(response.content), response.content

    ways: dict[str, Call] = {"gRPC": by_grpc, "JSON": by_json, "Connect": by_connect}
    return ways[request.param]


def new_session(harness: Harness, **settings: Any) -> str:
    """A session on `VALUES` that asks, with votes of two labelers on each query."""
    ids = [f"row-{row}" for row in range(N)]
    fields = [common_pb2.DisplayField(key="title", value=f"Ticket {name}") for name in ids]
    displays = [dataset_pb2.Display(fields=[one]) for one in fields]
    named = header(feature_names=NAMES)
    dataset = harness.upload(named, chunk(VALUES, observation_ids=ids, displays=displays)).name
    config = Config(budget=8, overlap=2, **settings)
    return harness.session(dataset=dataset, config=config).name


def traces_of_values(data: bytes) -> Iterator[str]:
    """Where values of rows, or what a worker computed from them, are in some bytes."""
    derived = [9.0, -2.5, *(explanation_of(row).score for row in range(1, N) if row % 3)]
    for value in [*VALUES.ravel().tolist(), *derived]:
        if struct.pack("<d", value) in data:
            yield f"{value!r} as a double"
    for value in VALUES.ravel().tolist():
        if repr(value).encode() in data:
            yield f"{value!r} as text"
    if b'"near"' in data or b"\x04near" in data:
        yield "a neighbour"


def traces_of_feature(data: bytes, column: int) -> Iterator[str]:
    """Where a feature, or what follows from all features, is in some bytes."""
    # (Unusual is the second feature, which the worker calls "load".)
    unusual = [9.0, -2.5] if column == 1 else []
    derived = [explanation_of(row).score for row in range(1, N) if row % 3]
    for value in [*VALUES[:, column].tolist(), *unusual, *derived]:
        if struct.pack("<d", value) in data:
            yield f"{value!r} as a double"
    words = [repr(value) for value in VALUES[:, column].tolist()]
    for word in [*words, NAMES[column], '"near"', "\x04near", *["load"] * (column == 1)]:
        if word.encode() in data:
            yield word


def traces_of_others(data: bytes) -> Iterator[str]:
    """Where others' verdicts are in some bytes: a neighbour, a word, a name."""
    for trace in (b'"near"', b"\x04near", b"INLIER", b"OUTLIER", b"bob", b"is next"):
        if trace in data:
            yield trace.decode()


def answer_of(assign: oracle_pb2.Assign, verdict: int = INLIER) -> oracle_pb2.Answer:
    return oracle_pb2.Answer(
        answer_id=uuid.uuid4().hex,
        session=assign.session,
        query=assign.query,
        lease_id=assign.lease_id,
        verdict=oracle_pb2.Answer(verdict=verdict).verdict,  # type: ignore[arg-type]
    )


def all_calls(call: Call, harness: Harness, session: str) -> tuple[list[Any], bytes]:
    """Make every unary call of a labeler: the responses, and all bytes of them."""
    seen: list[Any] = []
    data = b""

    def make(method: str, labeler: str = "ann", **fields: Any) -> Any:
        nonlocal data
        request = getattr(oracle_pb2, f"{method}Request")(labeler=labeler, **fields)
        response, raw = call(method, request, getattr(oracle_pb2, f"{method}Response"))
        seen.append(response)
        data += raw
        return response

    unasked = oracle_pb2.Answer(
        answer_id="u", session=session, observation_id="row-9", verdict="VERDICT_OUTLIER"
    )
    harness.oracle.Answer(oracle_pb2.AnswerRequest(labeler="bob", answer=unasked))
    harness.worker.work_off()
    held = make("Lease", session=session, max_queries=3).assignments
    assert len(held) == 3
    make("Extend", extend=oracle_pb2.Extend(session=session))
    make("Answer", answer=answer_of(held[0]))
    skip = oracle_pb2.Skip(session=session, query=held[1].query, lease_id=held[1].lease_id)
    make("Skip", skip=skip)
    make("Release", release=oracle_pb2.Release(session=session))
    # Refused: bob's verdict stands.
    unasked.answer_id = "v"
    refused = make("Answer", answer=unasked)
    assert "ALREADY_ANSWERED" in str(refused)
    unasked.answer_id = "w"
    batch = make("AnswerBatch", session=session, answers=[unasked])
    assert error_info(batch.rejects[0].status).reason == "ALREADY_ANSWERED"
    retract = oracle_pb2.Retract(
        session=session, observation_id=held[0].observation_id, answer_id="r"
    )
    make("Retract", retract=retract)
    return seen, data


@pytest.mark.parametrize("kind", list(SESSIONS))
def test_unary_calls_return_no_byte_of_what_the_session_hides(
    harness: Harness, call: Call, kind: str
) -> None:
    settings = SESSIONS[kind]
    session = new_session(harness, **settings)
    seen, data = all_calls(call, harness, session)
    # (The search finds what is there: without the settings it finds both.)
    assert bool(list(traces_of_values(data))) == settings.get("raw_features", True)
    assert bool(list(traces_of_others(data))) == (not settings.get("blind"))
    lease = seen[0]
    assert next(one.display[0].value for one in lease.assignments).startswith("Ticket row-")
    counts = [one.ack.counts for one in seen if getattr(one, "ack", None) and one.ack.query]
    assert {bool(one.inlier or one.outlier or one.unsure) for one in counts} == {
        not settings.get("blind")
    }
    assert all(one.total for one in [*counts, lease.session.counts])


def dialogue(harness: Harness, session: str) -> list[oracle_pb2.ConverseResponse]:
    """All that a stream sends to a labeler, from Welcome to Finished."""
    unasked = oracle_pb2.Answer(
        answer_id="u", session=session, observation_id="row-9", verdict="VERDICT_OUTLIER"
    )
    harness.oracle.Answer(oracle_pb2.AnswerRequest(labeler="bob", answer=unasked))
    harness.worker.work_off()
    bob = harness.labeler(session, "bob")
    bob.answer(bob.expect("assign"), OUTLIER)
    assert bob.expect("ack").counts.total == 2
    harness.worker.work_off()
    ann = harness.labeler(session, "ann")
    ann.answer(ann.expect("assign"), INLIER)
    ann.expect("ack")
    harness.worker.work_off()
    ann.send(
        answer=oracle_pb2.Answer(answer_id="u", observation_id="row-9", verdict="VERDICT_INLIER")
    )
    ann.expect("reject")
    harness.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=session))
    harness.worker.work_off()
    ann.expect("finished")
    ann.send(bye=oracle_pb2.Bye())
    assert ann.end() is None
    return ann.seen


@pytest.mark.parametrize("kind", list(SESSIONS))
def test_stream_sends_no_byte_of_what_the_session_hides(harness: Harness, kind: str) -> None:
    settings = SESSIONS[kind]
    messages = dialogue(harness, new_session(harness, **settings))
    data = b"".join(one.SerializeToString() for one in messages)
    assert bool(list(traces_of_values(data))) == settings.get("raw_features", True)
    assert bool(list(traces_of_others(data))) == (not settings.get("blind"))
    sessions = [
        getattr(one, kind).session
        for one in messages
        if (kind := one.WhichOneof("message") or "") in ("welcome", "progress", "finished")
    ]
    assert sessions
    for one in sessions:
        told = one.counts.inlier or one.counts.outlier or one.awaiting_votes or one.gamma
        assert bool(told) == (not settings.get("blind"))


@pytest.mark.parametrize("hidden", [0, 1])
def test_unary_calls_return_no_byte_of_a_feature_that_the_session_hides(
    harness: Harness, call: Call, hidden: int
) -> None:
    session = new_session(harness, visible_features=[NAMES[1 - hidden]])
    seen, data = all_calls(call, harness, session)
    assert not list(traces_of_feature(data, hidden))
    for one in seen[0].assignments:
        assert [(found.name, found.column, found.value) for found in one.visible] == [
            (NAMES[1 - hidden], 1 - hidden, VALUES[one.row, 1 - hidden])
        ]
        assert [found.column for found in one.explanation.unusual] == [1] * (hidden == 0)


@pytest.mark.parametrize("hidden", [0, 1])
def test_stream_sends_no_byte_of_a_feature_that_the_session_hides(
    harness: Harness, hidden: int
) -> None:
    # (By its column.)
    session = new_session(harness, visible_features=[str(1 - hidden)])
    messages = dialogue(harness, session)
    data = b"".join(one.SerializeToString() for one in messages)
    assert not list(traces_of_feature(data, hidden))
    # The search finds what is there.
    assert len(list(traces_of_feature(data, 1 - hidden))) >= 2
    whole = dialogue(harness, new_session(harness))
    data = b"".join(one.SerializeToString() for one in whole)
    assert len(list(traces_of_feature(data, hidden))) >= 2


def test_visible_features_have_the_order_of_the_setting(harness: Harness) -> None:
    session = new_session(harness, visible_features=["basalt", "0"])
    ann = harness.labeler(session, "ann")
    assign = ann.expect("assign")
    assert [(one.name, one.column) for one in assign.visible] == [("basalt", 1), ("velvet", 0)]
    assert not assign.features
    ann.send(bye=oracle_pb2.Bye())
    assert ann.end() is None


def test_session_that_hides_all_features_hides_the_visible_ones_too(harness: Harness) -> None:
    session = new_session(harness, raw_features=False, visible_features=["basalt"])
    data = b"".join(one.SerializeToString() for one in dialogue(harness, session))
    assert not list(traces_of_values(data))


def test_session_whose_visible_features_the_dataset_lacks_is_refused(harness: Harness) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        new_session(harness, visible_features=["basalt", "granite"])
    info = error_info(status_of(caught.value))
    assert info.reason == "INVALID_FIELD"
    assert info.metadata["field"] == "config.visible_features"
    assert "'granite'" in status_of(caught.value).message
    assert "'velvet', 'basalt'" in status_of(caught.value).message


def test_owner_reads_counts_and_neighbours_of_a_blind_session(harness: Harness) -> None:
    session = new_session(harness, blind=True)
    harness.label(session, "row-3", OUTLIER)
    assert harness.get(session).counts.outlier == 1
    assert harness.get(session).config.blind
    assert harness.get(session).config.raw_features


def test_labeler_sees_no_more_of_a_session_than_on_its_stream() -> None:
    counts = LabelCounts(inlier=3, outlier=2)
    blind = replace(Stored().session(), counts=counts, gamma=0.5, config=SessionConfig(blind=True))

    def seen(role: Role) -> tuning_pb2.Session:
        def as_caller() -> tuning_pb2.Session:
            serve_for(Caller("ann", "default", role))
            return session_for_caller(blind)

        return copy_context().run(as_caller)

    assert seen(Role.LABELER) == seen_session(blind)
    assert not seen(Role.LABELER).HasField("gamma")
    for role in (Role.VIEWER, Role.TUNER, Role.ADMIN):
        assert seen(role).counts.outlier == 2
        assert seen(role).gamma == 0.5
