"""Bad input: a clear status with the stable reason, the values named, nothing stored."""

import uuid
from collections.abc import Callable, Iterable
from typing import Any

import grpc
import numpy as np
import pytest
from google.rpc import error_details_pb2
from tests.service.desk import INLIER, OUTLIER, UNSURE, Desk, N, chunk, grid, header, refusal
from tests.service.support import error_info, reason_of, status_of

from svddtune.state.connect import connect
from svddtune.v1 import common_pb2, dataset_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

NOWHERE = "sessions/p00-ffffffffffffffffffff"
NO_DATASET = f"datasets/{'f' * 32}"
Config = tuning_pb2.SessionConfig
Label = tuning_pb2.InitialLabel


def with_value(row: int, column: int, value: float) -> Any:
    rows = grid()
    rows[row, column] = value
    return rows


def short_values() -> dataset_pb2.UploadDatasetRequest:
    """Announces three rows and brings two and a half."""
    request = chunk(grid(3))
    request.chunk.rows.values = request.chunk.rows.values[: 5 * 8]
    return request


IDS = [f"id-{row}" for row in range(N)]

UPLOADS: list[tuple[str, list[dataset_pb2.UploadDatasetRequest], str, dict[str, str]]] = [
    (
        "not a number",
        [header(), chunk(with_value(7, 1, np.nan))],
        "DATASET_NOT_FINITE",
        {"row": "7", "column": "1", "value": "nan"},
    ),
    (
        "infinite, in the second chunk, with a feature name",
        [
            header(feature_names=["a", "b"]),
            chunk(grid()[:5]),
            chunk(with_value(5, 0, -np.inf)[5:]),
        ],
        "DATASET_NOT_FINITE",
        {"row": "5", "column": "0", "value": "-inf", "feature": "a"},
    ),
    ("another width", [header(), chunk(grid(3, 3))], "DATASET_RAGGED", {"row": "0"}),
    ("half a row", [header(), short_values()], "DATASET_RAGGED", {"row": "2"}),
    ("too many rows", [header(), chunk(grid(N + 1))], "DATASET_RAGGED", {"row": str(N)}),
    (
        "too few rows",
        [header(), chunk(grid(3))],
        "DATASET_INCOMPLETE",
        {"announced": str(N), "received": "3"},
    ),
    ("no rows", [header()], "DATASET_INCOMPLETE", {"received": "0"}),
    ("one row", [header(observation_count=1)], "DATASET_EMPTY", {}),
    ("no features", [header(feature_count=0)], "DATASET_EMPTY", {}),
    (
        "4 GiB",
        [header(observation_count=1 << 20, feature_count=512)],
        "DATASET_TOO_LARGE",
        {"estimate": str(4 << 30), "limit": str(2 << 30)},
    ),
    (
        "too many rows for the server",
        [header(observation_count=3_000_000, feature_count=1)],
        "DATASET_TOO_LARGE",
        {"estimate": "3000000", "limit": "2000000"},
    ),
    (
        "too many features for the server",
        [header(feature_count=10_001)],
        "DATASET_TOO_LARGE",
        {"limit": "10000"},
    ),
    (
        "an id twice",
        [header(), chunk(grid(), observation_ids=[*IDS[:-1], "id-3"])],
        "DUPLICATE_OBSERVATION_ID",
        {"first_row": "3", "row": str(N - 1), "observation": "id-3"},
    ),
    (
        "ids in one chunk only",
        [header(), chunk(grid()[:5], observation_ids=IDS[:5]), chunk(grid()[5:])],
        "INVALID_FIELD",
        {"field": "chunk.observation_ids"},
    ),
    ("too few ids", [header(), chunk(grid(), observation_ids=IDS[:5])], "INVALID_FIELD", {}),
    ("empty id", [header(), chunk(grid(), observation_ids=["", *IDS[1:]])], "INVALID_FIELD", {}),
    (
        "long id",
        [header(), chunk(grid(), observation_ids=["x" * 257, *IDS[1:]])],
        "INVALID_FIELD",
        {},
    ),
    (
        "long display value",
        [
            header(),
            chunk(
                grid(),
                displays=[
                    dataset_pb2.Display(fields=[common_pb2.DisplayField(key="k", value="v" * 4097)])
                ]
                * N,
            ),
        ],
        "INVALID_FIELD",
        {"field": "chunk.displays.fields.value"},
    ),
    ("too few feature names", [header(feature_names=["a"])], "INVALID_FIELD", {}),
    ("long display name", [header(display_name="ä" * 65)], "INVALID_FIELD", {}),
    ("unknown scaling", [header(scaling=9)], "INVALID_FIELD", {"field": "header.scaling"}),
    ("no header", [chunk(grid())], "INVALID_FIELD", {"field": "part"}),
    ("two headers", [header(), header()], "INVALID_FIELD", {"field": "part"}),
    ("nothing", [], "INVALID_FIELD", {"field": "part"}),
]


@pytest.mark.parametrize(
    ("requests", "reason", "metadata"),
    [case[1:] for case in UPLOADS],
    ids=[case[0] for case in UPLOADS],
)
def test_wrong_upload_is_refused_and_leaves_nothing(
    desk: Desk,
    requests: Iterable[dataset_pb2.UploadDatasetRequest],
    reason: str,
    metadata: dict[str, str],
) -> None:
    error = refusal(lambda: desk.datasets.UploadDataset(iter(requests)))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    info = error_info(status_of(error))
    assert info.reason == reason
    assert info.domain == "svddtune"
    assert metadata.items() <= dict(info.metadata).items()
    with connect(desk.redis_url) as client:
        assert client.keys("*:d:*") == []


CONFIGS: list[tuple[Config, str, str]] = [
    (Config(k=1001), "INVALID_FIELD", "config.k"),
    (Config(budget=N + 1), "BUDGET_TOO_LARGE", "budget"),
    (Config(strategy=9), "INVALID_FIELD", "config.strategy"),  # type: ignore[arg-type]
    (Config(candidate_sample=100_001), "INVALID_FIELD", "config.candidate_sample"),
    (Config(gamma_min=1.0), "INVALID_FIELD", "config.gamma_max"),
    (Config(gamma_max=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_min=2.0, gamma_max=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_min=-1.0, gamma_max=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_min=np.nan, gamma_max=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_min=1.0, gamma_max=np.inf), "INVALID_FIELD", "config.gamma_max"),
    (Config(c_cells=1), "INVALID_FIELD", "config.c_cells"),
    (Config(c_cells=201), "INVALID_FIELD", "config.c_cells"),
    (Config(c_spacing=9), "INVALID_FIELD", "config.c_spacing"),  # type: ignore[arg-type]
    (Config(metric=9), "INVALID_FIELD", "config.metric"),  # type: ignore[arg-type]
    (Config(lease_s=0.5), "INVALID_FIELD", "config.lease_s"),
    (Config(lease_s=86_401), "INVALID_FIELD", "config.lease_s"),
    (Config(lease_s=np.nan), "INVALID_FIELD", "config.lease_s"),
]


@pytest.mark.parametrize(("config", "reason", "field"), CONFIGS)
def test_wrong_config_names_the_field(desk: Desk, config: Config, reason: str, field: str) -> None:
    error = refusal(lambda: desk.create(config=config))
    status = status_of(error)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error_info(status).reason == reason
    violations = error_details_pb2.BadRequest()
    assert any(detail.Unpack(violations) for detail in status.details)
    assert violations.field_violations[0].field == field


CREATIONS: list[tuple[dict[str, Any], str]] = [
    ({"initial_labels": [Label(observation_id="12", verdict=INLIER)]}, "UNKNOWN_OBSERVATION"),
    ({"initial_labels": [Label(observation_id="01", verdict=INLIER)]}, "UNKNOWN_OBSERVATION"),
    ({"initial_labels": [Label(observation_id="", verdict=INLIER)]}, "UNKNOWN_OBSERVATION"),
    (
        {
            "initial_labels": [
                Label(observation_id="1", verdict=INLIER),
                Label(observation_id="1", verdict=OUTLIER),
            ]
        },
        "CONFLICTING_LABELS",
    ),
    ({"initial_labels": [Label(observation_id="1", verdict=UNSURE)]}, "INVALID_FIELD"),
    ({"initial_labels": [Label(observation_id="1")]}, "INVALID_FIELD"),
    (
        {
            "config": Config(budget=1),
            "initial_labels": [Label(observation_id=str(row), verdict=INLIER) for row in range(2)],
        },
        "BUDGET_TOO_SMALL",
    ),
    (
        {"initial_labels": [Label(observation_id="1", verdict=INLIER)] * 10_001},
        "INVALID_FIELD",
    ),
    ({"labeler": "two words"}, "INVALID_FIELD"),
    ({"request_id": "not-a-uuid"}, "INVALID_FIELD"),
    ({"display_name": "x" * 129}, "INVALID_FIELD"),
    ({"dataset": "datasets/../x"}, "INVALID_NAME"),
    ({"dataset": NO_DATASET}, "DATASET_NOT_FOUND"),
    ({"dataset": "datasets/unknown"}, "DATASET_NOT_FOUND"),
]


@pytest.mark.parametrize(("request_", "reason"), CREATIONS)
def test_wrong_creation_leaves_no_session(
    desk: Desk, request_: dict[str, Any], reason: str
) -> None:
    assert reason_of(refusal(lambda: desk.create(**request_))) == reason
    listed = desk.tuning.ListSessions(tuning_pb2.ListSessionsRequest())
    assert list(listed.sessions) == []


def test_request_id_with_another_request_is_refused(desk: Desk) -> None:
    request_id, dataset = str(uuid.uuid4()), desk.upload().name
    first = desk.create(dataset, request_id=request_id)
    assert desk.create(dataset, request_id=request_id.upper()).name == first.name
    error = refusal(lambda: desk.create(dataset, request_id=request_id, display_name="other"))
    assert reason_of(error) == "REQUEST_ID_REUSED"
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


Call = Callable[[Desk, str], Any]

NAMES: list[tuple[str, Call, str, grpc.StatusCode]] = [
    (
        "malformed session",
        lambda desk, name: desk.get("session/1"),
        "INVALID_NAME",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "impossible session",
        lambda desk, name: desk.get("sessions/1"),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "unknown session",
        lambda desk, name: desk.get(NOWHERE),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "session of another partition",
        lambda desk, name: desk.get("sessions/p07-ffffffffffffffffffff"),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "watch of an unknown session",
        lambda desk, name: list(desk.watch(NOWHERE)),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "malformed resume token",
        lambda desk, name: list(desk.watch(name, "!")),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "malformed page token",
        lambda desk, name: desk.tuning.ListSessions(
            tuning_pb2.ListSessionsRequest(page_token="bm8")
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "page size",
        lambda desk, name: desk.tuning.ListSessions(tuning_pb2.ListSessionsRequest(page_size=1001)),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "negative page size",
        lambda desk, name: desk.datasets.ListDatasets(
            dataset_pb2.ListDatasetsRequest(page_size=-1)
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "no result yet",
        lambda desk, name: desk.tuning.GetResult(
            tuning_pb2.GetResultRequest(name=f"{name}/results/-")
        ),
        "RESULT_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "no such result",
        lambda desk, name: desk.tuning.GetResult(
            tuning_pb2.GetResultRequest(name=f"{name}/results/7")
        ),
        "RESULT_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "malformed result",
        lambda desk, name: desk.tuning.GetResult(
            tuning_pb2.GetResultRequest(name=f"{name}/results/0")
        ),
        "INVALID_NAME",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "model without result",
        lambda desk, name: list(
            desk.tuning.ExportModel(tuning_pb2.ExportModelRequest(name=f"{name}/results/-"))
        ),
        "RESULT_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "unknown dataset",
        lambda desk, name: desk.datasets.GetDataset(dataset_pb2.GetDatasetRequest(name=NO_DATASET)),
        "DATASET_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "dataset in use",
        lambda desk, name: desk.datasets.DeleteDataset(
            dataset_pb2.DeleteDatasetRequest(name=desk.get(name).dataset)
        ),
        "DATASET_IN_USE",
        grpc.StatusCode.FAILED_PRECONDITION,
    ),
    (
        "budget of nothing",
        lambda desk, name: desk.tuning.UpdateSession(tuning_pb2.UpdateSessionRequest(name=name)),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "budget above N",
        lambda desk, name: desk.tuning.UpdateSession(
            tuning_pb2.UpdateSessionRequest(name=name, budget=N + 1)
        ),
        "BUDGET_TOO_LARGE",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "lease of too many",
        lambda desk, name: desk.oracle.Lease(
            oracle_pb2.LeaseRequest(session=name, labeler="ann", max_queries=1001)
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "wait for too long",
        lambda desk, name: desk.oracle.Lease(
            oracle_pb2.LeaseRequest(session=name, labeler="ann", wait_s=61)
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
]


@pytest.mark.parametrize(
    ("call", "reason", "code"), [case[1:] for case in NAMES], ids=[case[0] for case in NAMES]
)
def test_wrong_name_or_value(desk: Desk, call: Call, reason: str, code: grpc.StatusCode) -> None:
    name = desk.session().name
    error = refusal(lambda: call(desk, name))
    assert reason_of(error) == reason
    assert error.code() is code


def answer(**changes: Any) -> oracle_pb2.Answer:
    values: dict[str, Any] = {"answer_id": "a", "observation_id": "0", "verdict": INLIER}
    return oracle_pb2.Answer(**(values | changes))


ANSWERS: list[tuple[str, oracle_pb2.Answer, str, grpc.StatusCode]] = [
    (
        "unknown observation",
        answer(observation_id="none"),
        "UNKNOWN_OBSERVATION",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    ("no verdict", answer(verdict=0), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
    ("strange verdict", answer(verdict=77), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
    ("no answer id", answer(answer_id=""), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
    (
        "long answer id",
        answer(answer_id="x" * 129),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "long source",
        answer(source_reference="x" * 257),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "neither query nor observation",
        answer(observation_id=""),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    ("query without lease", answer(query=1), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
    (
        "lease without query",
        answer(lease_id="x"),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "unknown query",
        answer(query=99, lease_id="x"),
        "UNKNOWN_QUERY",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "lease never given",
        answer(query=1, lease_id="x", observation_id=""),
        "LEASE_LOST",
        grpc.StatusCode.FAILED_PRECONDITION,
    ),
    (
        "another observation than the query's",
        answer(query=1, lease_id="x", observation_id="9"),
        "OBSERVATION_MISMATCH",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "answered already",
        answer(observation_id="11"),
        "ALREADY_ANSWERED",
        grpc.StatusCode.ALREADY_EXISTS,
    ),
    (
        "answer id of another answer",
        answer(answer_id="used"),
        "ANSWER_ID_REUSED",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
]


@pytest.mark.parametrize(
    ("message", "reason", "code"),
    [case[1:] for case in ANSWERS],
    ids=[case[0] for case in ANSWERS],
)
def test_wrong_answer_is_refused_alike_by_call_and_by_stream(
    desk: Desk, message: oracle_pb2.Answer, reason: str, code: grpc.StatusCode
) -> None:
    name = desk.session().name
    labeler = desk.labeler(name)
    labeler.expect("assign")
    labeler.send(answer=answer(answer_id="used", observation_id="11", verdict=OUTLIER))
    labeler.expect("ack")

    labeler.send(answer=message)
    reject = labeler.expect("reject")
    assert error_info(reject.status).reason == reason
    assert reject.status.code == code.value[0]
    assert (reject.answer_id, reject.query) == (message.answer_id, message.query)

    message.session = name
    request = oracle_pb2.AnswerRequest(labeler="ann", answer=message)
    error = refusal(lambda: desk.oracle.Answer(request))
    assert reason_of(error) == reason
    assert error.code() is code
    assert desk.get(name).counts.total == 1


def test_retract_of_nothing_is_refused(desk: Desk) -> None:
    name = desk.session().name
    retract = oracle_pb2.Retract(answer_id="r", session=name, observation_id="3")
    error = refusal(
        lambda: desk.oracle.Retract(oracle_pb2.RetractRequest(labeler="ann", retract=retract))
    )
    assert reason_of(error) == "NOT_LABELED"
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION


def test_answer_after_completion_is_refused(desk: Desk) -> None:
    session = desk.completed()
    error = refusal(lambda: desk.label(session.name, "3"))
    assert reason_of(error) == "SESSION_NOT_ACTIVE"
    assert error_info(status_of(error)).metadata["state"] == "COMPLETED"


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        ({"sessions": [NOWHERE]}, "SESSION_NOT_FOUND"),
        ({"protocol_version": 2}, "PROTOCOL_VERSION_UNSUPPORTED"),
        ({"labeler": ""}, "INVALID_FIELD"),
    ],
)
def test_wrong_hello_ends_the_stream(desk: Desk, hello: dict[str, Any], reason: str) -> None:
    values: dict[str, Any] = {"protocol_version": 1, "sessions": [NOWHERE], "labeler": "ann"}
    stream = desk.silent()
    stream.send(hello=oracle_pb2.Hello(**(values | hello)))
    error = stream.end()
    assert error is not None
    assert reason_of(error) == reason


def test_stream_without_hello_is_a_violation(desk: Desk) -> None:
    stream = desk.silent()
    stream.send(credit=oracle_pb2.Credit(queries=1))
    error = stream.end()
    assert error is not None
    assert reason_of(error) == "PROTOCOL_VIOLATION"


def test_bad_input_of_one_leaves_others_alone(desk: Desk) -> None:
    name = desk.session().name
    good, bad = desk.labeler(name, "good"), desk.labeler(name, "bad", credit=0)
    assign = good.expect("assign")
    for _ in range(20):
        bad.send(answer=answer(observation_id="none"))
        bad.expect("reject")
    good.answer(assign)
    assert good.expect("ack").counts.total == 1


def test_long_values_are_cut_so_that_the_status_arrives(desk: Desk) -> None:
    error = refusal(lambda: desk.get("x" * 100_000))
    assert reason_of(error) == "INVALID_NAME"
    assert len(error_info(status_of(error)).metadata["value"]) <= 200
