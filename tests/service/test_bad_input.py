"""Bad input gets a status with a stable reason and the values, and nothing is stored."""

import uuid
from collections.abc import Callable, Iterable
from typing import Any

import grpc
import numpy as np
import pytest
from google.rpc import error_details_pb2
from tests.service.harness import INLIER, OUTLIER, UNSURE, Harness, N, chunk, grid, header, refusal
from tests.service.support import error_info, reason_of, status_of
from tests.service.updates import update

from svddtune.state.connect import connect
from svddtune.v1 import common_pb2, config_pb2, dataset_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

NOWHERE = "sessions/p00-ffffffffffffffffffff"
NO_DATASET = f"datasets/{'f' * 32}"
Config = config_pb2.SessionConfig
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
    (
        "too large for a squared distance",
        [header(feature_names=["a", "b"]), chunk(with_value(7, 1, -1e155))],
        "DATASET_OUT_OF_RANGE",
        {"row": "7", "column": "1", "value": "-1e+155", "feature": "b"},
    ),
    (
        "too close for a squared distance",
        [header(scaling=dataset_pb2.SCALING_KIND_NONE), chunk(1e-160 * grid())],
        "DATASET_OUT_OF_RANGE",
        {},
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
    (
        "a feature name twice",
        [header(feature_names=["a", "a"])],
        "DUPLICATE_FEATURE_NAME",
        {"feature": "a", "first_column": "0", "column": "1"},
    ),
    ("empty feature name", [header(feature_names=["a", ""])], "INVALID_FIELD", {}),
    ("long display name", [header(display_name="ä" * 65)], "INVALID_FIELD", {}),
    ("unknown scaling", [header(scaling=99)], "INVALID_FIELD", {"field": "header.scaling"}),
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
    harness: Harness,
    requests: Iterable[dataset_pb2.UploadDatasetRequest],
    reason: str,
    metadata: dict[str, str],
) -> None:
    error = refusal(lambda: harness.datasets.UploadDataset(iter(requests)))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    info = error_info(status_of(error))
    assert info.reason == reason
    assert info.domain == "svddtune.github.io"
    assert metadata.items() <= dict(info.metadata).items()
    with connect(harness.redis_url) as client:
        assert client.keys("*:d:*") == []


CONFIGS: list[tuple[Config, str, str]] = [
    (Config(k=1001), "INVALID_FIELD", "config.k"),
    (Config(budget=N + 1), "BUDGET_TOO_LARGE", "config.budget"),
    (Config(strategy=9), "INVALID_FIELD", "config.strategy"),  # type: ignore[arg-type]
    (Config(candidate_sample=100_001), "INVALID_FIELD", "config.candidate_sample"),
    (Config(gamma_min=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_max=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_min=2.0, gamma_max=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_min=-1.0, gamma_max=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_min=np.nan, gamma_max=1.0), "INVALID_FIELD", "config.gamma_min"),
    (Config(gamma_min=1.0, gamma_max=np.inf), "INVALID_FIELD", "config.gamma_min"),
    (Config(c_cells=1), "INVALID_FIELD", "config.c_cells"),
    (Config(c_cells=201), "INVALID_FIELD", "config.c_cells"),
    (Config(c_spacing=9), "INVALID_FIELD", "config.c_spacing"),  # type: ignore[arg-type]
    (Config(metric=9), "INVALID_FIELD", "config.metric"),  # type: ignore[arg-type]
    (Config(lease_seconds=0.5), "INVALID_FIELD", "config.lease_seconds"),
    (Config(lease_seconds=86_401), "INVALID_FIELD", "config.lease_seconds"),
    (Config(lease_seconds=np.nan), "INVALID_FIELD", "config.lease_seconds"),
    (Config(overlap=11), "INVALID_FIELD", "config.overlap"),
    (Config(overlap=3, overlap_limit=2), "INVALID_FIELD", "config.overlap_limit"),
    (Config(overlap_limit=21), "INVALID_FIELD", "config.overlap_limit"),
    (Config(overlap_rule=9), "INVALID_FIELD", "config.overlap_rule"),  # type: ignore[arg-type]
    (Config(aggregation=9), "INVALID_FIELD", "config.aggregation"),  # type: ignore[arg-type]
    (Config(repeat_every=1001), "INVALID_FIELD", "config.repeat_every"),
    (Config(priority=101), "INVALID_FIELD", "config.priority"),
    (Config(priority=-101), "INVALID_FIELD", "config.priority"),
]


@pytest.mark.parametrize(("config", "reason", "field"), CONFIGS)
def test_wrong_config_names_the_field(
    harness: Harness, config: Config, reason: str, field: str
) -> None:
    error = refusal(lambda: harness.create(config=config))
    status = status_of(error)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error_info(status).reason == reason
    violations = error_details_pb2.BadRequest()
    assert any(detail.Unpack(violations) for detail in status.details)
    assert violations.field_violations[0].field == field


def test_refusal_names_every_setting_at_fault(harness: Harness) -> None:
    config = Config(k=1001, budget=N + 1, metric=9, overlap=2, overlap_limit=1)  # type: ignore[arg-type]
    error = refusal(lambda: harness.create(config=config))
    violations = error_details_pb2.BadRequest()
    assert any(detail.Unpack(violations) for detail in status_of(error).details)
    assert {(one.field, one.reason) for one in violations.field_violations} == {
        ("config.k", "INVALID_FIELD"),
        ("config.budget", "BUDGET_TOO_LARGE"),
        ("config.metric", "INVALID_FIELD"),
        ("config.overlap_limit", "INVALID_FIELD"),
    }
    for one in violations.field_violations:
        assert one.description in str(error.details())


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
    harness: Harness, request_: dict[str, Any], reason: str
) -> None:
    assert reason_of(refusal(lambda: harness.create(**request_))) == reason
    listed = harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest())
    assert list(listed.sessions) == []


def test_request_id_with_another_request_is_refused(harness: Harness) -> None:
    request_id, dataset = str(uuid.uuid4()), harness.upload().name
    first = harness.create(dataset, request_id=request_id)
    assert harness.create(dataset, request_id=request_id.upper()).name == first.name
    error = refusal(lambda: harness.create(dataset, request_id=request_id, display_name="other"))
    assert reason_of(error) == "REQUEST_ID_REUSED"
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


Call = Callable[[Harness, str], Any]

NAMES: list[tuple[str, Call, str, grpc.StatusCode]] = [
    (
        "malformed session",
        lambda harness, name: harness.get("session/1"),
        "INVALID_NAME",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "impossible session",
        lambda harness, name: harness.get("sessions/1"),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "unknown session",
        lambda harness, name: harness.get(NOWHERE),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "session of another partition",
        lambda harness, name: harness.get("sessions/p07-ffffffffffffffffffff"),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "watch of an unknown session",
        lambda harness, name: list(harness.watch(NOWHERE)),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "malformed resume token",
        lambda harness, name: list(harness.watch(name, "!")),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "malformed page token",
        lambda harness, name: harness.tuning.ListSessions(
            tuning_pb2.ListSessionsRequest(page_token="bm8")
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "negative page size",
        lambda harness, name: harness.datasets.ListDatasets(
            dataset_pb2.ListDatasetsRequest(page_size=-1)
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "no result yet",
        lambda harness, name: harness.tuning.GetResult(
            tuning_pb2.GetResultRequest(name=f"{name}/results/-")
        ),
        "RESULT_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "no such result",
        lambda harness, name: harness.tuning.GetResult(
            tuning_pb2.GetResultRequest(name=f"{name}/results/7")
        ),
        "RESULT_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "malformed result",
        lambda harness, name: harness.tuning.GetResult(
            tuning_pb2.GetResultRequest(name=f"{name}/results/0")
        ),
        "INVALID_NAME",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "model without result",
        lambda harness, name: list(
            harness.tuning.ExportModel(tuning_pb2.ExportModelRequest(name=f"{name}/results/-"))
        ),
        "RESULT_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "unknown dataset",
        lambda harness, name: harness.datasets.GetDataset(
            dataset_pb2.GetDatasetRequest(name=NO_DATASET)
        ),
        "DATASET_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "dataset in use",
        lambda harness, name: harness.datasets.DeleteDataset(
            dataset_pb2.DeleteDatasetRequest(name=harness.get(name).dataset)
        ),
        "DATASET_IN_USE",
        grpc.StatusCode.FAILED_PRECONDITION,
    ),
    (
        "budget of nothing",
        lambda harness, name: harness.tuning.UpdateSession(update(name)),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "budget above N",
        lambda harness, name: harness.tuning.UpdateSession(update(name, budget=N + 1)),
        "BUDGET_TOO_LARGE",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "lease of too many",
        lambda harness, name: harness.oracle.Lease(
            oracle_pb2.LeaseRequest(session=name, labeler="ann", max_queries=1001)
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "wait for too long",
        lambda harness, name: harness.oracle.Lease(
            oracle_pb2.LeaseRequest(session=name, labeler="ann", wait_seconds=61)
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "priority",
        lambda harness, name: harness.tuning.UpdateSession(update(name, priority=101)),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "kind of a labeler",
        lambda harness, name: harness.oracle.Lease(
            oracle_pb2.LeaseRequest(session=name, labeler="ann", kind=7)  # type: ignore[arg-type]
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "retraction without a session",
        lambda harness, name: harness.oracle.Retract(
            oracle_pb2.RetractRequest(
                labeler="ann", retract=oracle_pb2.Retract(answer_id="r", observation_id="1")
            )
        ),
        "INVALID_NAME",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "retraction of nobody's vote",
        lambda harness, name: harness.oracle.Retract(
            oracle_pb2.RetractRequest(
                labeler="ann",
                retract=oracle_pb2.Retract(
                    answer_id="r", session=name, observation_id="1", of_labeler="two words"
                ),
            )
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "skip mode",
        lambda harness, name: harness.oracle.Skip(
            oracle_pb2.SkipRequest(
                labeler="ann",
                skip=oracle_pb2.Skip(
                    session=name,
                    query=1,
                    lease_id="x",
                    mode=9,  # type: ignore[arg-type]
                ),
            )
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "labelers of an unknown session",
        lambda harness, name: harness.tuning.ListLabelers(
            tuning_pb2.ListLabelersRequest(name=NOWHERE)
        ),
        "SESSION_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "withdrawal of an unknown labeler",
        lambda harness, name: harness.tuning.WithdrawLabeler(
            tuning_pb2.WithdrawLabelerRequest(name=name, labeler="nobody")
        ),
        "UNKNOWN_LABELER",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "reinstatement of an unknown labeler",
        lambda harness, name: harness.tuning.ReinstateLabeler(
            tuning_pb2.ReinstateLabelerRequest(name=name, labeler="nobody")
        ),
        "UNKNOWN_LABELER",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "withdrawal of a malformed labeler",
        lambda harness, name: harness.tuning.WithdrawLabeler(
            tuning_pb2.WithdrawLabelerRequest(name=name, labeler="two words")
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "observations of an unknown dataset",
        lambda harness, name: harness.datasets.ListObservations(
            dataset_pb2.ListObservationsRequest(parent=NO_DATASET)
        ),
        "DATASET_NOT_FOUND",
        grpc.StatusCode.NOT_FOUND,
    ),
    (
        "negative page size of observations",
        lambda harness, name: harness.datasets.ListObservations(
            dataset_pb2.ListObservationsRequest(parent=harness.get(name).dataset, page_size=-1)
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
    (
        "page of observations of another list",
        lambda harness, name: harness.datasets.ListObservations(
            dataset_pb2.ListObservationsRequest(
                parent=harness.get(name).dataset, page_token="WyJ4Il0"
            )
        ),
        "INVALID_FIELD",
        grpc.StatusCode.INVALID_ARGUMENT,
    ),
]


@pytest.mark.parametrize(
    ("call", "reason", "code"), [case[1:] for case in NAMES], ids=[case[0] for case in NAMES]
)
def test_wrong_name_or_value_is_refused(
    harness: Harness, call: Call, reason: str, code: grpc.StatusCode
) -> None:
    name = harness.session().name
    error = refusal(lambda: call(harness, name))
    assert reason_of(error) == reason
    assert error.code() is code


def test_overlap_of_zero_means_one(harness: Harness) -> None:
    config = harness.create(config=Config(overlap=0)).config
    assert (config.overlap, config.overlap_limit) == (1, 1)
    config = harness.create(config=Config(overlap=10)).config
    assert (config.overlap, config.overlap_limit) == (10, 11)


def test_long_values_are_cut_so_that_the_status_arrives(harness: Harness) -> None:
    error = refusal(lambda: harness.get("x" * 100_000))
    assert reason_of(error) == "INVALID_NAME"
    assert len(error_info(status_of(error)).metadata["value"]) <= 200
