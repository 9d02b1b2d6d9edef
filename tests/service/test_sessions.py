"""Datasets, sessions and results over the wire: stored, listed, watched, exported."""

import uuid

import grpc
import numpy as np
import pytest
from tests.e2e.processes import service
from tests.service.harness import (
    INLIER,
    OUTLIER,
    Harness,
    M,
    N,
    chunk,
    grid,
    harness_at,
    header,
    refusal,
)
from tests.service.support import reason_of
from tests.service.updates import update
from tests.state.scene import explanation_of

from svddtune.v1 import common_pb2, config_pb2, dataset_pb2, tuning_pb2

pytestmark = pytest.mark.integration

State = tuning_pb2.SessionState
Kind = common_pb2.LabelEvent.Kind


def test_dataset_is_described(harness: Harness) -> None:
    rows = grid()
    rows[:, 1] = 7.0
    rows[5], rows[6] = rows[2], rows[2]
    dataset = harness.upload(
        header(
            display_name="hosts",
            feature_names=["cpu", "memory"],
            scaling=dataset_pb2.SCALING_KIND_MINMAX,
        ),
        chunk(rows),
    )
    found = harness.datasets.GetDataset(dataset_pb2.GetDatasetRequest(name=dataset.name)).dataset
    assert found == dataset
    assert (found.observation_count, found.feature_count) == (N, M)
    assert found.duplicate_row_count == 2
    assert list(found.constant_columns) == [1]
    assert list(found.feature_names) == ["cpu", "memory"]
    assert found.name == f"datasets/{found.content_hash[:32]}"
    assert found.session_count == 0


def test_dataset_without_scaling_gets_auto(harness: Harness) -> None:
    dataset = harness.upload(header(), chunk(grid()))
    assert dataset.scaling == dataset_pb2.SCALING_KIND_AUTO
    same = harness.upload(header(scaling=dataset_pb2.SCALING_KIND_AUTO), chunk(grid()))
    assert same.name == dataset.name


def test_same_content_makes_the_same_dataset_in_any_chunks(harness: Harness) -> None:
    ids = [f"id-{row}" for row in range(N)]
    whole = harness.upload(header(), chunk(grid(), observation_ids=ids))
    pieces = [chunk(grid()[row : row + 1], observation_ids=[ids[row]]) for row in range(N)]
    response = harness.datasets.UploadDataset(iter([header(display_name="other"), *pieces]))
    assert response.already_existed
    assert response.dataset == whole


@pytest.mark.parametrize(
    "messages",
    [
        [header(), chunk(grid() + 1)],
        [header(), chunk(grid(), observation_ids=[f"id-{row}" for row in range(N)])],
        [header(scaling=dataset_pb2.SCALING_KIND_ROBUST), chunk(grid())],
        [header(feature_names=["a", "b"]), chunk(grid())],
        [header(observation_count=M, feature_count=N), chunk(grid().reshape(M, N))],
        [
            header(),
            chunk(
                grid(),
                displays=[dataset_pb2.Display(fields=[common_pb2.DisplayField(key="k", value="v")])]
                * N,
            ),
        ],
    ],
)
def test_different_content_makes_a_different_dataset(
    harness: Harness, messages: list[dataset_pb2.UploadDatasetRequest]
) -> None:
    assert harness.upload(*messages).name != harness.upload().name


def test_large_dataset_is_stored_in_chunks_and_read_back(harness: Harness) -> None:
    n, m = 3000, 100
    rows = np.random.default_rng(1).normal(size=(n, m))
    pieces = [chunk(rows[start : start + 700]) for start in range(0, n, 700)]
    dataset = harness.upload(header(observation_count=n, feature_count=m), *pieces)
    name = harness.session(dataset=dataset.name).name
    assign = harness.labeler(name).expect("assign")
    assert list(assign.features) == rows[assign.row].tolist()


def test_labeler_is_shown_id_display_and_explanation_of_its_row(harness: Harness) -> None:
    displays = [
        dataset_pb2.Display(fields=[common_pb2.DisplayField(key="host", value=f"db-{row}")])
        for row in range(5)
    ]
    ids = [f"id-{row}" for row in range(N)]
    dataset = harness.upload(
        header(),
        chunk(grid()[:5], observation_ids=ids[:5], displays=displays),
        chunk(grid()[5:], observation_ids=ids[5:]),
    )
    labeler = harness.labeler(harness.session(dataset=dataset.name).name, credit=6)
    for _ in range(6):
        assign = labeler.expect("assign")
        assert assign.observation_id == f"id-{assign.row}"
        shown = [(one.key, one.value) for one in assign.display]
        assert shown == ([("host", f"db-{assign.row}")] if assign.row < 5 else [])
        assert list(assign.features) == grid()[assign.row].tolist()
        assert assign.explanation == explanation_of(assign.row)


def test_datasets_are_listed_page_by_page_and_deleted(harness: Harness) -> None:
    names = [harness.upload(header(), chunk(grid() + shift)).name for shift in range(5)]
    found: list[str] = []
    token = ""
    for _ in range(3):
        page = harness.datasets.ListDatasets(
            dataset_pb2.ListDatasetsRequest(page_size=2, page_token=token)
        )
        found += [one.name for one in page.datasets]
        token = page.next_page_token
    assert token == ""
    assert sorted(found) == sorted(names)
    for name in names:
        harness.datasets.DeleteDataset(dataset_pb2.DeleteDatasetRequest(name=name))
    assert not harness.datasets.ListDatasets(dataset_pb2.ListDatasetsRequest()).datasets


def test_config_in_force_has_defaults_filled_in(harness: Harness) -> None:
    config = harness.create().config
    assert (config.k, config.budget, config.c_cells, config.lease_seconds) == (5, N, 20, 60.0)
    assert config.strategy == config_pb2.QUERY_STRATEGY_MIXED
    assert config.metric == config_pb2.METRIC_KAPPA


def test_config_in_force_keeps_given_values(harness: Harness) -> None:
    config = config_pb2.SessionConfig(
        k=1000,
        budget=3,
        strategy=config_pb2.QUERY_STRATEGY_RANDOM,
        candidate_sample=7,
        gamma_min=0.5,
        gamma_max=2.0,
        c_cells=2,
        c_spacing=config_pb2.GRID_SPACING_GEOMETRIC,
        metric=config_pb2.METRIC_MCC,
        seed=(1 << 64) - 1,
        lease_seconds=86_400,
        audit=2,
        auto_finish=True,
        overlap=2,
        overlap_rule=config_pb2.OVERLAP_RULE_ADAPTIVE,
        overlap_limit=5,
        aggregation=config_pb2.AGGREGATION_DAWID_SKENE,
        repeat_every=10,
        priority=-7,
        c_tie_rule=config_pb2.TIE_RULE_FIRST,
        tau_rule=config_pb2.TAU_RULE_PRINTED,
        raw_features=False,
        blind=True,
    )
    assert harness.create(config=config).config == config


def test_sessions_are_listed_newest_first_page_by_page(harness: Harness) -> None:
    dataset = harness.upload().name
    names = {harness.create(dataset).name for _ in range(5)}
    first = harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest(page_size=3))
    second = harness.tuning.ListSessions(
        tuning_pb2.ListSessionsRequest(page_size=3, page_token=first.next_page_token)
    )
    found = [*first.sessions, *second.sessions]
    assert {one.name for one in found} == names
    assert second.next_page_token == ""
    times = [one.create_time.ToMilliseconds() for one in found]
    assert times == sorted(times, reverse=True)


def test_initial_labels_count_and_name_their_labeler(harness: Harness) -> None:
    labels = [
        tuning_pb2.InitialLabel(observation_id="3", verdict=INLIER, source_reference="T-1"),
        tuning_pb2.InitialLabel(observation_id="4", verdict=OUTLIER),
        tuning_pb2.InitialLabel(observation_id="4", verdict=OUTLIER),
    ]
    session = harness.create(initial_labels=labels, labeler="archive")
    assert (session.counts.inlier, session.counts.outlier, session.counts.total) == (1, 1, 2)
    events = harness.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=session.name)).events
    assert [(one.observation_id, one.row, one.labeler) for one in events] == [
        ("3", 3, "archive"),
        ("4", 4, "archive"),
    ]
    assert events[0].source_reference == "T-1"


def test_session_follows_commands(harness: Harness) -> None:
    tuning, name = harness.tuning, harness.session().name
    assert harness.get(name).state == State.SESSION_STATE_LABELING
    paused = tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name)).session
    assert paused.state == State.SESSION_STATE_PAUSED
    resumed = tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name)).session
    assert resumed.state == State.SESSION_STATE_LABELING
    changed = tuning.UpdateSession(update(name, budget=9)).session
    assert changed.config.budget == 9
    finished = tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=name)).session
    assert finished.state == State.SESSION_STATE_ESTIMATING
    error = refusal(lambda: tuning.PauseSession(tuning_pb2.PauseSessionRequest(name=name)))
    assert reason_of(error) == "ILLEGAL_TRANSITION"
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    cancelled = tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=name)).session
    assert cancelled.state == State.SESSION_STATE_CANCELLED
    tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=name))
    assert reason_of(refusal(lambda: harness.get(name))) == "SESSION_NOT_FOUND"


def test_result_and_model_are_found_by_revision_and_as_the_latest(harness: Harness) -> None:
    session = harness.completed()
    assert session.latest_result == f"{session.name}/results/1"
    for name in (session.latest_result, f"{session.name}/results/-"):
        result = harness.tuning.GetResult(tuning_pb2.GetResultRequest(name=name)).result
        assert (result.name, result.gamma) == (session.latest_result, 2.0)
        pieces = list(harness.tuning.ExportModel(tuning_pb2.ExportModelRequest(name=name)))
        assert [piece.header.result for piece in pieces] == [session.latest_result]
    listed = harness.tuning.ListResults(tuning_pb2.ListResultsRequest(parent=session.name)).results
    assert [one.name for one in listed] == [session.latest_result]


def test_label_log_is_paged(harness: Harness) -> None:
    name = harness.session().name
    for row in range(5):
        harness.label(name, str(row))
    first = harness.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=name, page_size=3))
    second = harness.tuning.ListLabels(
        tuning_pb2.ListLabelsRequest(name=name, page_size=3, page_token=first.next_page_token)
    )
    assert [one.row for one in (*first.events, *second.events)] == list(range(5))
    assert second.next_page_token == ""
    assert {one.kind for one in first.events} == {Kind.KIND_LABELED}


def test_label_log_is_read_from_its_end(harness: Harness) -> None:
    name = harness.session().name
    for row in range(5):
        harness.label(name, str(row))
    found, token = [], ""
    for _ in range(3):
        request = tuning_pb2.ListLabelsRequest(
            name=name, page_size=2, page_token=token, newest_first=True
        )
        page = harness.tuning.ListLabels(request)
        found.append([one.row for one in page.events])
        token = page.next_page_token
    assert (found, token) == ([[4, 3], [2, 1], [0]], "")


def test_watch_of_new_events_leaves_out_those_before_and_resumes_without_a_gap(
    harness: Harness,
) -> None:
    name = harness.session().name
    harness.label(name, "3")
    watch = harness.watch(name, new_events_only=True)
    first = next(watch)
    assert (first.session.counts.total, list(first.events)) == (1, [])
    harness.label(name, "4")
    assert [event.row for event in next(watch).events] == [4]
    harness.label(name, "5")
    again = next(harness.watch(name, first.resume_token, new_events_only=True))
    assert [event.row for event in again.events] == [4, 5]


def test_watch_shows_each_label_and_ends_with_the_session(harness: Harness) -> None:
    name = harness.session().name
    watch = harness.watch(name)
    assert next(watch).session.state == State.SESSION_STATE_LABELING
    harness.label(name, "3")
    seen = next(watch)
    assert seen.session.counts.total == 1
    assert [event.observation_id for event in seen.events] == ["3"]
    harness.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=name))
    harness.worker.work_off()
    last = list(watch)[-1]
    assert last.session.state == State.SESSION_STATE_COMPLETED
    assert last.session.latest_result


def test_watch_resumes_where_it_stopped(harness: Harness) -> None:
    name = harness.session().name
    harness.label(name, "3")
    first = next(harness.watch(name))
    assert [event.row for event in first.events] == [3]

    again = harness.watch(name, first.resume_token)
    harness.label(name, "4")
    second = next(again)
    assert [event.row for event in second.events] == [4]
    assert second.session.etag != first.session.etag


def test_watch_of_an_ended_session_ends_at_once(harness: Harness) -> None:
    name = harness.completed().name
    (only,) = harness.watch(name)
    assert list(harness.watch(name, only.resume_token)) == []


def test_watch_ends_with_not_found_when_the_session_is_deleted(harness: Harness) -> None:
    name = harness.session().name
    watch = harness.watch(name)
    next(watch)
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=name))
    error = refusal(lambda: list(watch))
    assert reason_of(error) == "SESSION_NOT_FOUND"
    assert error.code() is grpc.StatusCode.NOT_FOUND


def test_creation_repeated_with_its_request_id_makes_one_session(harness: Harness) -> None:
    dataset, request_id = harness.upload().name, str(uuid.uuid4())
    names = {harness.create(dataset, request_id=request_id).name for _ in range(3)}
    assert len(names) == 1
    assert len(harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest()).sessions) == 1


def test_session_tells_that_a_ranking_is_pending_and_how_many_labelers_wait(
    harness: Harness,
) -> None:
    name = harness.session().name
    ann = harness.labeler(name)
    ann.answer(ann.expect("assign"))
    ann.expect("ack")
    session = harness.get(name)
    assert (session.ranking_pending, session.waiting_count) == (True, 1)
    harness.worker.work_off()
    ann.expect("assign")
    session = harness.get(name)
    assert (session.ranking_pending, session.waiting_count) == (False, 0)


def test_creation_answers_with_the_estimate_of_its_cost(harness: Harness) -> None:
    session = harness.create()
    assert session.estimate.first_query_seconds > 0
    assert session.estimate.worker_memory_bytes > 100 << 20
    assert not harness.get(session.name).HasField("estimate")


def test_session_that_does_not_fit_a_worker_is_refused_with_the_figures(redis_url: str) -> None:
    with (
        service(redis_url, "127.0.0.1:0", "--memory-mib", "256") as process,
        harness_at(process.ready["address"], redis_url) as harness,
    ):
        rows, features = 2000, 50
        dataset = harness.upload(
            header(observation_count=rows, feature_count=features), chunk(grid(rows, features))
        )
        request = tuning_pb2.CreateSessionRequest(dataset=dataset.name)
        error = refusal(lambda: harness.tuning.CreateSession(request))
        assert reason_of(error) == "SESSION_TOO_LARGE"
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
        message = error.details() or ""
        assert "2000 observations x 50 features" in message
        assert "--memory-mib" in message
        listed = harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest()).sessions
        assert not listed
