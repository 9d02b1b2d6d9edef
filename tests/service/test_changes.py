"""Calls that change something: what they change, which version they are meant for, repeats."""

import math
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from tests.service.harness import Harness, chunk, grid, header, refusal
from tests.service.support import error_info, reason_of, status_of

from svddtune.state import keys
from svddtune.v1 import config_pb2, dataset_pb2, tuning_pb2

pytestmark = pytest.mark.integration

pb = tuning_pb2
State = tuning_pb2.SessionState


def changed(
    harness: Harness, name: str, *paths: str, request_id: str = "", etag: str = "", **values: Any
) -> pb.Session:
    session = pb.Session(name=name, etag=etag, **values)
    mask = FieldMask(paths=paths)
    request = pb.UpdateSessionRequest(session=session, update_mask=mask, request_id=request_id)
    return harness.tuning.UpdateSession(request).session


def violations(error: grpc.RpcError) -> dict[str, str]:
    """Field -> reason."""
    found = error_details_pb2.BadRequest()
    for detail in status_of(error).details:
        if detail.Unpack(found):
            return {one.field: one.reason for one in found.field_violations}
    return {}


def test_update_changes_what_the_mask_names_and_nothing_else(harness: Harness) -> None:
    before = harness.session(display_name="first", labels={"team": "a"})
    values: dict[str, Any] = {
        "display_name": "second",
        "labels": {"team": "b", "stage": "test"},
        "config": config_pb2.SessionConfig(budget=9, priority=5),
    }
    after = changed(harness, before.name, "labels", "config.priority", **values)
    assert (after.display_name, after.config.budget) == ("first", 6)
    assert (dict(after.labels), after.config.priority) == ({"team": "b", "stage": "test"}, 5)
    after = changed(harness, before.name, **values)
    assert (after.display_name, after.config.budget) == ("second", 9)
    after = changed(harness, before.name, "display_name", "labels")
    assert (after.display_name, dict(after.labels)) == ("", {})
    assert after.etag == harness.get(before.name).etag


def test_retention_is_given_changed_shown_and_given_back(harness: Harness) -> None:
    harness.worker.client.set(keys.prefix(0) + "layout", keys.LAYOUT_VERSION)
    made = harness.session(retention_seconds=3600.5)
    assert made.retention_seconds == 3600.5
    assert not made.HasField("expire_time")
    ended = harness.tuning.CancelSession(pb.CancelSessionRequest(name=made.name)).session
    end = ended.expire_time.ToMilliseconds() - 3_600_500
    after = changed(harness, made.name, retention_seconds=7200.0)
    assert after.expire_time.ToMilliseconds() == end + 7_200_000
    after = changed(harness, made.name, display_name="kept")
    assert (after.display_name, after.retention_seconds) == ("kept", 7200.0)
    after = changed(harness, made.name, retention_seconds=0.0)
    assert after.HasField("retention_seconds")
    assert not after.HasField("expire_time")
    after = changed(harness, made.name, "retention_seconds")
    assert not after.HasField("retention_seconds")


@pytest.mark.parametrize("seconds", [-1.0, 0.5, 315_360_001.0, math.nan, math.inf])
def test_retention_out_of_range_is_refused(harness: Harness, seconds: float) -> None:
    error = refusal(lambda: harness.session(retention_seconds=seconds))
    assert violations(error) == {"retention_seconds": "INVALID_FIELD"}
    name = harness.session().name
    error = refusal(lambda: changed(harness, name, retention_seconds=seconds))
    assert violations(error) == {"session.retention_seconds": "INVALID_FIELD"}
    assert not harness.get(name).HasField("retention_seconds")


def test_request_id_with_another_retention_is_refused(harness: Harness) -> None:
    request_id = str(uuid.uuid4())
    made = harness.session(retention_seconds=60, request_id=request_id)
    assert harness.session(retention_seconds=60, request_id=request_id).name == made.name
    error = refusal(lambda: harness.session(retention_seconds=61, request_id=request_id))
    assert reason_of(error) == "REQUEST_ID_REUSED"


def test_update_with_several_faults_lists_all_and_changes_nothing(harness: Harness) -> None:
    before = harness.session()
    error = refusal(
        lambda: changed(
            harness,
            before.name,
            "display_name",
            "labels",
            "config.budget",
            "config.priority",
            display_name="x" * 129,
            labels={"Team": "a"},
            config=config_pb2.SessionConfig(budget=99, priority=101),
        )
    )
    assert violations(error) == {
        "session.display_name": "INVALID_FIELD",
        "session.labels": "INVALID_FIELD",
        "session.config.priority": "INVALID_FIELD",
        "session.config.budget": "BUDGET_TOO_LARGE",
    }
    assert harness.get(before.name) == before


def test_update_refuses_a_path_that_cannot_change(harness: Harness) -> None:
    name = harness.session().name
    error = refusal(lambda: changed(harness, name, "config.seed"))
    assert violations(error) == {"update_mask": "INVALID_FIELD"}


def test_creation_with_several_faults_lists_all(harness: Harness) -> None:
    error = refusal(
        lambda: harness.create(
            display_name="x" * 129,
            labels={"team": "x" * 129},
            labeler="no name",
            config=config_pb2.SessionConfig(budget=99, k=-1 & 0xFFFF),
            initial_labels=[
                pb.InitialLabel(observation_id="none", verdict="VERDICT_INLIER"),
                pb.InitialLabel(observation_id="1"),
            ],
        )
    )
    assert violations(error).keys() == {
        "display_name",
        "labels.team",
        "labeler",
        "config.k",
        "config.budget",
        "initial_labels[0].observation_id",
        "initial_labels[1].verdict",
    }


CHANGES: dict[str, Callable[[Harness, str, str, str], Any]] = {
    "update": lambda harness, name, etag, request_id: changed(
        harness, name, "display_name", display_name="new", etag=etag, request_id=request_id
    ),
    "withdraw": lambda harness, name, etag, request_id: harness.tuning.WithdrawLabeler(
        pb.WithdrawLabelerRequest(name=name, labeler="ann", etag=etag, request_id=request_id)
    ),
    "delete": lambda harness, name, etag, request_id: harness.tuning.DeleteSession(
        pb.DeleteSessionRequest(name=name, etag=etag, request_id=request_id)
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_of_a_session_that_has_changed_since_is_refused(
    harness: Harness, change: str
) -> None:
    before = harness.session()
    harness.label(before.name, "3")
    error = refusal(lambda: CHANGES[change](harness, before.name, before.etag, ""))
    assert error.code() is grpc.StatusCode.ABORTED
    now = harness.get(before.name)
    info = error_info(status_of(error))
    assert (info.reason, info.metadata["current"]) == ("ETAG_MISMATCH", now.etag)
    assert info.metadata["session"] == before.name
    CHANGES[change](harness, before.name, now.etag, "")


@pytest.mark.parametrize("change", CHANGES)
def test_repeated_change_has_the_response_of_the_first(harness: Harness, change: str) -> None:
    name, request_id = harness.session().name, str(uuid.uuid4())
    harness.label(name, "3")
    etag = harness.get(name).etag
    first = CHANGES[change](harness, name, etag, request_id)
    # (The etag is that of before: without the id this would be refused.)
    assert CHANGES[change](harness, name, etag, request_id) == first


def test_request_id_of_another_request_is_refused(harness: Harness) -> None:
    name, request_id = harness.session().name, str(uuid.uuid4())
    harness.tuning.PauseSession(pb.PauseSessionRequest(name=name, request_id=request_id))
    resume = pb.ResumeSessionRequest(name=name, request_id=request_id)
    error = refusal(lambda: harness.tuning.ResumeSession(resume))
    assert reason_of(error) == "REQUEST_ID_REUSED"
    harness.tuning.ResumeSession(pb.ResumeSessionRequest(name=name))
    pause = pb.PauseSessionRequest(name=name, request_id=request_id)
    # The repeated pause came late: it does not pause the session again.
    assert harness.tuning.PauseSession(pause).session.state == State.SESSION_STATE_LABELING


def test_repeated_deletion_of_a_dataset_succeeds(harness: Harness) -> None:
    name = harness.upload().name
    request = dataset_pb2.DeleteDatasetRequest(name=name, request_id=str(uuid.uuid4()))
    harness.datasets.DeleteDataset(request)
    harness.datasets.DeleteDataset(request)
    again = dataset_pb2.DeleteDatasetRequest(name=name)
    assert reason_of(refusal(lambda: harness.datasets.DeleteDataset(again))) == "DATASET_NOT_FOUND"


def listed(harness: Harness, **request: Any) -> list[str]:
    """Names of the sessions on all pages, newest first."""
    found: list[str] = []
    while True:
        page = harness.tuning.ListSessions(pb.ListSessionsRequest(page_size=1, **request))
        found += [one.name for one in page.sessions]
        if not page.next_page_token:
            return found
        request["page_token"] = page.next_page_token


def test_sessions_are_listed_by_every_filter(harness: Harness) -> None:
    first = harness.session(display_name="Web servers", labels={"team": "a", "stage": "test"})
    other = harness.upload(header(display_name="other"), chunk(1.0 + grid()))
    second = harness.create(other.name, display_name="web clients", labels={"team": "a"})
    third = harness.create(other.name, display_name="printers")
    assert listed(harness) == [third.name, second.name, first.name]
    assert listed(harness, display_name="WEB") == [second.name, first.name]
    assert listed(harness, labels=["team=a"]) == [second.name, first.name]
    assert listed(harness, labels=["team=a", "stage=test"]) == [first.name]
    assert listed(harness, labels=["team="]) == []
    assert listed(harness, dataset=other.name) == [third.name, second.name]
    assert listed(harness, states=[State.SESSION_STATE_LABELING]) == [first.name]
    assert listed(harness, states=[State.SESSION_STATE_FAILED]) == []
    for fault in ({"labels": ["team"]}, {"states": [0]}, {"states": [77]}, {"page_size": -1}):
        request = pb.ListSessionsRequest(**fault)
        error = refusal(partial(harness.tuning.ListSessions, request))
        assert reason_of(error) == "INVALID_FIELD"


def test_datasets_are_listed_by_name_and_label(harness: Harness) -> None:
    made = [
        harness.upload(header(display_name=name, labels=labels), chunk(place + grid())).name
        for place, (name, labels) in enumerate(
            [("Hosts", {"team": "a"}), ("hosts 2", {}), ("users", {"team": "a"})]
        )
    ]

    def names(**request: Any) -> list[str]:
        found: list[str] = []
        while True:
            page = harness.datasets.ListDatasets(
                dataset_pb2.ListDatasetsRequest(page_size=1, **request)
            )
            found += [one.name for one in page.datasets]
            if not page.next_page_token:
                return found
            request["page_token"] = page.next_page_token

    assert names() == made[::-1]
    assert names(display_name="HOST") == [made[1], made[0]]
    assert names(labels=["team=a"]) == [made[2], made[0]]
    assert names(labels=["team=b"]) == []


def test_pages_above_the_limit_are_cut_to_it(harness: Harness) -> None:
    name = harness.completed().name
    harness.tuning.ListSessions(pb.ListSessionsRequest(page_size=2**31 - 1))
    harness.tuning.ListLabels(pb.ListLabelsRequest(name=name, page_size=2**31 - 1))
    harness.datasets.ListDatasets(dataset_pb2.ListDatasetsRequest(page_size=2**31 - 1))


def test_results_and_labelers_come_in_pages(harness: Harness) -> None:
    name = harness.session().name
    for row in range(3):
        harness.label(name, str(row))
        harness.tuning.FinishSession(pb.FinishSessionRequest(name=name))
        harness.worker.work_off()
        if row < 2:
            harness.tuning.ResumeSession(pb.ResumeSessionRequest(name=name))
            harness.worker.work_off()
    whole = harness.tuning.ListResults(pb.ListResultsRequest(parent=name))
    assert [one.name[-1] for one in whole.results] == ["3", "2", "1"]
    assert not whole.next_page_token
    first = harness.tuning.ListResults(pb.ListResultsRequest(parent=name, page_size=2))
    rest = harness.tuning.ListResults(
        pb.ListResultsRequest(parent=name, page_size=2, page_token=first.next_page_token)
    )
    assert [*first.results, *rest.results] == list(whole.results)
    assert not rest.next_page_token
    page = harness.tuning.ListLabelers(pb.ListLabelersRequest(name=name, page_size=1))
    assert [one.labeler for one in page.labelers] == ["ann"]
    assert not page.next_page_token


def numbers(message: Message, at: str = "") -> Iterator[tuple[str, float]]:
    """All floating-point figures of a message with their places."""
    for field, value in message.ListFields():
        place = f"{at}.{field.name}"
        values = value if field.is_repeated else [value]
        if field.message_type and field.message_type.GetOptions().map_entry:
            continue
        for one in values:
            if isinstance(one, Message):
                yield from numbers(one, place)
            elif isinstance(one, float):
                yield place, one


def test_responses_about_a_completed_session_have_finite_figures_only(harness: Harness) -> None:
    name = harness.completed().name
    latest = pb.GetResultRequest(name=f"{name}/results/-")
    responses = [
        harness.tuning.GetSession(pb.GetSessionRequest(name=name)),
        harness.tuning.GetResult(latest),
        harness.tuning.ListResults(pb.ListResultsRequest(parent=name)),
        harness.tuning.ListLabelers(pb.ListLabelersRequest(name=name)),
        harness.tuning.ListLabels(pb.ListLabelsRequest(name=name)),
        *harness.tuning.ExportModel(pb.ExportModelRequest(name=latest.name)),
    ]
    found = [one for response in responses for one in numbers(response)]
    assert found
    assert [place for place, figure in found if not math.isfinite(figure)] == []


def test_failed_precondition_names_the_session_that_must_change_first(harness: Harness) -> None:
    name = harness.completed().name
    error = refusal(lambda: harness.tuning.PauseSession(pb.PauseSessionRequest(name=name)))
    (found,) = (
        error_details_pb2.PreconditionFailure.FromString(detail.value)
        for detail in status_of(error).details
        if detail.Is(error_details_pb2.PreconditionFailure.DESCRIPTOR)
    )
    (violation,) = found.violations
    assert (violation.type, violation.subject) == ("ILLEGAL_TRANSITION", name)
    assert violation.description == status_of(error).message
