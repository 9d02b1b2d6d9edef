"""Both clients against a real service."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from tests.client.flavours import Connect
from tests.client.scene import blob

from svddtune.client import (
    Dataset,
    EmbeddedStack,
    InvalidInput,
    Label,
    NotFound,
    Observation,
    SessionConfig,
    SessionState,
    Tuning,
    TuningClient,
    Unavailable,
    Verdict,
    WrongState,
)
from svddtune.client.wire import calls

pytestmark = pytest.mark.integration


@pytest.fixture
def client(stack: EmbeddedStack, connect: Connect) -> Iterator[TuningClient]:
    """A client of the stack that the tests share."""
    with connect(stack.address) as connected:
        yield connected


def test_server_describes_itself(client: TuningClient) -> None:
    info = client.server_info()
    assert (info.ready, info.message) == (True, "")
    assert info.workers is not None
    assert info.min_protocol_version <= 1 <= info.max_protocol_version
    assert "answer_batch" in info.features
    assert info.limits["credit"] == 1000


def test_dataset_is_described_listed_and_deleted(client: TuningClient) -> None:
    X, _ = blob(1)
    X = np.column_stack([X, np.full(len(X), 3.0)])
    dataset = client.upload_dataset(X, name="blob", feature_names=["a", "b", "c"], scaling="robust")
    assert dataset.display_name == "blob"
    assert (dataset.observation_count, dataset.feature_count) == (60, 3)
    assert dataset.feature_names == ("a", "b", "c")
    assert dataset.scaling == "robust"
    assert dataset.constant_columns == (2,)
    again = client.upload_dataset(X, name="blob", feature_names=["a", "b", "c"], scaling="robust")
    assert again.name == dataset.name
    assert client.get_dataset(dataset).content_hash == dataset.content_hash
    assert dataset.name in {item.name for item in client.list_datasets()}
    client.delete_dataset(dataset)
    with pytest.raises(NotFound) as refused:
        client.get_dataset(dataset)
    assert refused.value.reason == "DATASET_NOT_FOUND"


def test_datasets_are_listed_by_name_and_labels_over_several_pages(
    client: TuningClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_PAGE_SIZE", 1)
    # (Other tests leave datasets, and a dataset that exists keeps its labels.)
    mark = uuid4().hex
    team = {"team": mark}
    first, second = (
        client.upload_dataset(
            blob(seed)[0] + random.random(), name=f"{mark} {name}", labels={**team, "stage": name}
        )
        for seed, name in ((20, "One"), (21, "Two"))
    )
    assert first.labels == {"team": mark, "stage": "One"}

    def listed(**filters: Any) -> list[Dataset]:
        return list(client.list_datasets(**filters))

    assert listed(labels=team) == [second, first]
    assert listed(labels={**team, "stage": "One"}) == [first]
    assert listed(display_name=f"{mark} t") == [second]
    assert listed(display_name=mark, labels={"team": "others"}) == []
    with pytest.raises(InvalidInput) as refused:
        listed(labels={"Team": "lists"})
    assert refused.value.reason == "INVALID_FIELD"
    for dataset in (first, second):
        client.delete_dataset(dataset)


def test_sessions_are_listed_by_each_filter_over_several_pages(
    client: TuningClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_PAGE_SIZE", 1)
    mark = uuid4().hex
    dataset, other = (client.upload_dataset(blob(seed)[0] + random.random()) for seed in (22, 23))
    team = {"team": mark}
    first = client.create_session(dataset, name=f"{mark} One", labels=team)
    second = client.create_session(dataset, name=f"{mark} Two", labels={**team, "stage": "b"})
    third = client.create_session(other, name=f"{mark} Three", labels={"team": "others"})
    assert second.labels == {"team": mark, "stage": "b"}
    client.cancel_session(first)

    def listed(**filters: Any) -> list[str]:
        return [found.name for found in client.list_sessions(**filters)]

    assert listed(dataset=dataset) == [second.name, first.name]
    assert listed(labels=team) == [second.name, first.name]
    assert listed(labels={**team, "stage": "b"}) == [second.name]
    assert listed(display_name=f"{mark} t") == [third.name, second.name]
    assert listed(labels=team, states="cancelled") == [first.name]
    states = iter([SessionState.CANCELLED, "Preparing", "labeling"])
    assert listed(dataset=dataset, states=states) == [second.name, first.name]
    with pytest.raises(InvalidInput, match="allowed: preparing, labeling"):
        client.list_sessions(states=["busy"])
    for session in (first, second, third):
        client.delete_session(session)


def test_results_and_labelers_are_read_over_several_pages(
    client: TuningClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_PAGE_SIZE", 1)
    X, y = blob(24)
    rows = [*np.flatnonzero(y < 0)[:3], *np.flatnonzero(y > 0)[:5]]
    labels = {str(row): int(y[row]) for row in rows}
    session = client.create_session(
        client.upload_dataset(X), initial_labels=labels, labeler="ann", budget=8, strategy="lama"
    )
    client.wait_until_completed(session, timeout_s=60)
    client.resume_session(client.update_session(session, budget=9))
    more = str(np.flatnonzero(y > 0)[5])
    client.label_all(session, {more: "inlier"}, labeler="bob")
    client.wait_until_completed(session, timeout_s=60)
    assert [found.name for found in client.results(session)] == [
        f"{session.name}/results/{revision}" for revision in (2, 1)
    ]
    reports, agreement = client.list_labelers(session)
    assert [report.labeler for report in reports] == ["ann", "bob"]
    assert agreement.observations == 0
    client.delete_session(session)


def test_large_upload_arrives_whole(client: TuningClient) -> None:
    X = np.random.default_rng(0).normal(size=(12_000, 12))
    ids = [f"row-{row}" for row in range(len(X))]
    display = [{"host": f"h{row % 7}"} for row in range(len(X))]
    dataset = client.upload_dataset(X, observation_ids=ids, display=display)
    assert dataset.observation_count == len(X)
    expected = [Observation(row, ids[row], display[row]) for row in range(len(X))]
    assert list(client.list_observations(dataset)) == expected
    client.delete_dataset(dataset)


def test_session_from_start_to_model(client: TuningClient) -> None:
    X, y = blob(2)
    session = client.create_session(
        client.upload_dataset(X),
        SessionConfig(k=3, metric="mcc"),
        initial_labels=[Label("0", Verdict.of(int(y[0])), "TICKET-1")],
        budget=12,
        seed=4,
        name="two",
    )
    assert session.config.budget == 12
    assert session.config.metric == "mcc"
    with client.tuning(session, labeler="ann") as tuning:
        assert tuning.session.name == session.name
        for query in tuning.queries():
            np.testing.assert_array_equal(query.features, X[query.row])
            assert query.observation_id == str(query.row)
            assert query.why
            tuning.answer(query, int(y[query.row]), source_reference="T")
        result = tuning.result(timeout_s=60)
        model = tuning.model()
    assert client.get_session(session).state is SessionState.COMPLETED
    assert result.quality.metric == "mcc"
    assert result.quality.counts.total == 12
    assert result.nu == pytest.approx(1 / (len(X) * result.C))
    assert model.gamma == result.gamma
    assert int((model.predict(X) < 0).sum()) == result.outside_count
    live = client.get_session(session).live
    assert live is not None
    for share in (live.outlier_share, result.outlier_share):
        assert share is not None
        assert share.method == "belief"
        assert 0.0 <= share.interval.low <= share.value <= share.interval.high <= 1.0
    # The gain is one of kappa, and the session's metric another.
    assert live.expected_gain is None
    assert result.expected_gain is None
    events = list(client.labels(session))
    assert list(client.labels(session, newest_first=True)) == events[::-1]
    assert [event.source_reference for event in events] == ["TICKET-1"] + ["T"] * 11
    assert {event.labeler for event in events[1:]} == {"ann"}
    assert [found.name for found in client.results(session)] == [result.name]
    assert result.to_dict()["gamma"] == result.gamma
    assert session.name in {item.name for item in client.list_sessions()}
    reports, _ = client.list_labelers(session)
    assert "ann" in {report.labeler for report in reports}
    client.delete_session(session)
    with pytest.raises(NotFound):
        client.get_session(session)


def test_session_is_steered(client: TuningClient) -> None:
    X, y = blob(3)
    session = client.create_session(client.upload_dataset(X), budget=8)
    with client.tuning(session, labeler="ann") as tuning:
        first = tuning.next_query(timeout_s=60)
        assert first is not None
        assert client.pause_session(session).state is SessionState.PAUSED
        assert tuning.answer(first, int(y[first.row])).applied
        assert client.resume_session(session).state is SessionState.LABELING
        second = tuning.next_query(timeout_s=60)
        assert second is not None
        tuning.skip(second, "drop")
        other = next(str(row) for row in range(60) if row not in (first.row, second.row))
        assert tuning.label(other, "inlier").counts.total == 2
        assert tuning.retract(other).counts.total == 1
        assert tuning.label(other, "inlier", replace=True).counts.total == 2
        effect = client.withdraw_labeler(session, "ann", preview=True)
        assert effect.votes == 2
        assert client.update_session(session, budget=9).config.budget == 9
        assert client.update_session(session, priority=7).config.priority == 7
        tuning.finish()
        client.wait_until_completed(session, timeout_s=60)
        assert tuning.next_query(timeout_s=60) is None
    with pytest.raises(WrongState):
        client.pause_session(session)


def test_watch_yields_every_label_once(client: TuningClient) -> None:
    X, y = blob(4)
    session = client.create_session(client.upload_dataset(X), budget=6)
    with client.tuning(session) as tuning:
        for query in tuning.queries():
            tuning.answer(query, int(y[query.row]))
    updates = list(client.watch(session))
    assert updates[-1].session.state is SessionState.COMPLETED
    seen = list[SessionState]()
    done = client.wait_until_completed(session, on_update=lambda told: seen.append(told.state))
    assert done.state is seen[-1] is SessionState.COMPLETED


def test_cancelled_session_has_no_result_to_wait_for(client: TuningClient) -> None:
    session = client.create_session(client.upload_dataset(blob(5)[0]))
    assert client.cancel_session(session).state is SessionState.CANCELLED
    with pytest.raises(WrongState) as refused:
        client.wait_until_completed(session)
    assert refused.value.reason == "SESSION_CANCELLED"


def test_wait_ends_when_time_is_over(client: TuningClient) -> None:
    session = client.create_session(client.upload_dataset(blob(6)[0]))
    with pytest.raises(Unavailable) as refused:
        client.wait_until_completed(session, timeout_s=0.3)
    assert refused.value.reason == "WAIT_TIMEOUT"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"budget": 1000}, "BUDGET_TOO_LARGE"),
        ({"initial_labels": {"nobody": 1}}, "UNKNOWN_OBSERVATION"),
        ({"strategy": "magic"}, "INVALID_FIELD"),
        ({"k": -1}, "INVALID_FIELD"),
        ({"colour": "red"}, "INVALID_FIELD"),
    ],
)
def test_wrong_session_is_refused(
    client: TuningClient, options: dict[str, object], reason: str
) -> None:
    dataset = client.upload_dataset(blob(7)[0])
    with pytest.raises(InvalidInput) as refused:
        client.create_session(dataset, **options)  # type: ignore[arg-type]
    assert refused.value.reason == reason


def test_several_labelers_share_two_sessions(client: TuningClient) -> None:
    X, y = blob(42)
    dataset = client.upload_dataset(X)
    sessions = [
        client.create_session(dataset, budget=10, seed=seed, priority=seed) for seed in range(2)
    ]

    def label(tuning: Tuning) -> int:
        answers = (tuning.answer(query, int(y[query.row])) for query in tuning.queries())
        return sum(ack.applied for ack in answers)

    with (
        client.tuning(sessions, labeler="ann") as ann,
        client.tuning(sessions, labeler="bob") as bob,
        ThreadPoolExecutor(2) as threads,
    ):
        answered = list(threads.map(label, (ann, bob)))
        assert set(ann.finished_sessions) == {session.name for session in sessions}
    assert sum(answered) == 20
    assert min(answered) > 0
    for session in sessions:
        assert client.wait_until_completed(session, timeout_s=60).counts.total == 10


def test_unknown_session_ends_a_dialogue(client: TuningClient) -> None:
    with client.tuning("sessions/none") as tuning, pytest.raises(NotFound):
        tuning.next_query(timeout_s=60)
    with pytest.raises(NotFound):
        next(iter(client.watch("sessions/none")))


def test_dialogue_that_has_ended_before_it_is_entered_says_so_at_the_next_call(
    stack: EmbeddedStack,
) -> None:
    with TuningClient(stack.address) as client:
        tuning = client.tuning("sessions/none")
        with pytest.raises(NotFound):
            tuning.next_query(timeout_s=60)
        with tuning, pytest.raises(NotFound):
            tuning.next_query(timeout_s=60)


def test_unreachable_service_is_reported_with_its_address(connect: Connect) -> None:
    with connect("127.0.0.1:1", timeout_s=1.0) as lonely, pytest.raises(Unavailable) as lost:
        lonely.get_session("sessions/x")
    assert "127.0.0.1:1" in lost.value.message
    assert "svddtune up" in lost.value.message


def test_closed_client_raises_client_closed(client: TuningClient) -> None:
    client.close()
    for use in (
        lambda: client.get_session("sessions/x"),
        lambda: next(iter(client.watch("sessions/x"))),
        lambda: client.model("sessions/x"),
    ):
        with pytest.raises(WrongState) as refused:
            use()
        assert refused.value.reason == "CLIENT_CLOSED"


@pytest.mark.parametrize("address", ["", "nowhere"])
def test_address_needs_a_port(connect: Connect, address: str) -> None:
    with pytest.raises(InvalidInput, match="HOST:PORT"):
        connect(address)
