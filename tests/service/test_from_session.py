"""A session starts from the labels of another session, or of a result."""

import uuid
from typing import Any

import grpc
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from tests.service.harness import INLIER, OUTLIER, UNSURE, Harness, N, chunk, grid, header, refusal
from tests.service.support import error_info, reason_of, status_of
from tests.state.scene import Scene, play

from svddtune.service.handover import Handover, Source
from svddtune.stack import EmbeddedServer
from svddtune.state.errors import StateError
from svddtune.state.session import LabelCounts, LabelEvent, SessionId, TakenLabels, Verdict
from svddtune.v1 import common_pb2, config_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config, Label = config_pb2.SessionConfig, tuning_pb2.InitialLabel
NAMES = ("ann", "ben", "cem")
IDS = [f"host-{row}" for row in range(N)]


def upload(harness: Harness, ids: list[str] | None, shift: float = 0.0) -> str:
    """Upload a dataset of its own for each shift; return its name."""
    return harness.upload(header(), chunk(grid() + shift, observation_ids=ids)).name


def answer(harness: Harness, session: str, row_id: str, verdict: int, **parts: Any) -> None:
    """Give an unasked answer, of ann unless ``labeler`` is another."""
    labeler = parts.pop("labeler", "ann")
    harness.oracle.Answer(
        oracle_pb2.AnswerRequest(
            labeler=labeler,
            answer=oracle_pb2.Answer(
                answer_id=uuid.uuid4().hex,
                session=session,
                observation_id=row_id,
                verdict=common_pb2.Verdict.Name(verdict),
                **parts,
            ),
        )
    )


def events_of(harness: Harness, session: str) -> list[common_pb2.LabelEvent]:
    """The label log."""
    request = tuning_pb2.ListLabelsRequest(name=session, page_size=1000)
    return list(harness.tuning.ListLabels(request).events)


def source_on(harness: Harness, dataset: str, prefix: str = "") -> str:
    """Create a session with an initial label and three answers; return its name."""
    name = harness.session(
        dataset=dataset,
        config=Config(budget=9),
        initial_labels=[Label(observation_id=f"{prefix}1", verdict=INLIER)],
    ).name
    answer(
        harness,
        name,
        f"{prefix}2",
        OUTLIER,
        confidence=0.8,
        source_reference="T-7",
        provenance="desk 3",
    )
    answer(harness, name, f"{prefix}3", INLIER, labeler="ben")
    answer(harness, name, f"{prefix}4", UNSURE)
    return name


def test_session_on_the_same_dataset_takes_over_all_labels_with_their_origin(
    harness: Harness,
) -> None:
    dataset = upload(harness, None)
    first = source_on(harness, dataset)
    session = harness.create(dataset, from_session=first, config=Config(budget=6))
    assert session.taken_over == tuning_pb2.TakenOver(source=first, taken_count=3)
    assert (session.counts.inlier, session.counts.outlier, session.counts.unsure) == (2, 1, 0)
    kept = [
        (
            one.row,
            one.labeler,
            one.verdict,
            one.source_reference,
            one.provenance,
            one.confidence if one.HasField("confidence") else None,
            one.origin,
        )
        for one in events_of(harness, session.name)
    ]
    assert kept == [
        (1, "initial", INLIER, "", "", None, first),
        (2, "ann", OUTLIER, "T-7", "desk 3", 0.8, first),
        (3, "ben", INLIER, "", "", None, first),
    ]


def test_session_without_from_session_has_no_origin(harness: Harness) -> None:
    session = harness.get(source_on(harness, upload(harness, None)))
    assert not session.HasField("taken_over")
    assert {one.origin for one in events_of(harness, session.name)} == {""}


def test_session_on_another_dataset_takes_over_labels_of_equal_ids(harness: Harness) -> None:
    first = source_on(harness, upload(harness, IDS), "host-")
    # host-2 and host-3 are other rows there, and host-1 is gone.
    others = ["host-3", "host-2", *(f"new-{row}" for row in range(N - 2))]
    session = harness.create(upload(harness, others, 0.5), from_session=first)
    assert session.taken_over == tuning_pb2.TakenOver(source=first, taken_count=2, left_out_count=1)
    labels = [(one.row, one.observation_id) for one in events_of(harness, session.name)]
    assert labels == [(1, "host-2"), (0, "host-3")]


def test_vote_that_is_handed_on_twice_names_the_session_it_was_given_in(harness: Harness) -> None:
    dataset = upload(harness, None)
    first = source_on(harness, dataset)
    second = harness.create(dataset, from_session=first).name
    harness.worker.work_off()
    answer(harness, second, "5", OUTLIER)
    third = harness.create(dataset, from_session=second)
    assert third.taken_over.source == second
    origins = {one.row: one.origin for one in events_of(harness, third.name)}
    assert origins == {1: first, 2: first, 3: first, 5: second}


def test_labels_taken_over_stay_after_their_session_is_deleted(harness: Harness) -> None:
    dataset = upload(harness, None)
    first = source_on(harness, dataset)
    session = harness.create(dataset, from_session=first).name
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=first))
    assert harness.get(session).counts.total == 3
    assert {one.origin for one in events_of(harness, session)} == {first}


@pytest.mark.parametrize("revision", ["1", "-"])
def test_result_stands_for_the_labels_that_it_was_computed_from(
    harness: Harness, revision: str
) -> None:
    dataset = upload(harness, None)
    first = source_on(harness, dataset)
    harness.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=first))
    harness.worker.last_event_id = events_of(harness, first)[1].event_id
    harness.worker.work_off()
    session = harness.create(dataset, from_session=f"{first}/results/{revision}")
    assert session.taken_over.source == f"{first}/results/1"
    assert [one.row for one in events_of(harness, session.name)] == [1, 2]


def test_labeler_corrects_a_vote_that_was_taken_over(harness: Harness) -> None:
    dataset = upload(harness, None)
    session = harness.session(
        dataset=dataset, from_session=source_on(harness, dataset), config=Config(budget=6)
    ).name
    answer(harness, session, "2", INLIER, replace=True)
    last = events_of(harness, session)[-1]
    assert (last.row, last.labeler, last.origin) == (2, "ann", "")
    assert harness.get(session).counts.inlier == 3


def test_votes_taken_over_are_no_answers_of_their_labelers(harness: Harness) -> None:
    dataset = upload(harness, None)
    session = harness.session(
        dataset=dataset, from_session=source_on(harness, dataset), config=Config(budget=6)
    ).name
    reply = harness.tuning.ListLabelers(tuning_pb2.ListLabelersRequest(name=session))
    (ann,) = [one for one in reply.labelers if one.labeler == "ann"]
    assert (ann.asked, ann.unasked, ann.votes.outlier) == (0, 0, 1)
    assert not ann.HasField("last_answer_time")


def test_initial_label_counts_instead_of_an_equal_one_that_is_taken_over(
    harness: Harness,
) -> None:
    dataset = upload(harness, None)
    first = source_on(harness, dataset)
    session = harness.create(
        dataset,
        from_session=first,
        initial_labels=[
            Label(observation_id="2", verdict=OUTLIER),
            Label(observation_id="7", verdict=INLIER),
        ],
    )
    assert session.taken_over == tuning_pb2.TakenOver(source=first, taken_count=2, left_out_count=1)
    assert [(one.row, one.labeler, one.origin) for one in events_of(harness, session.name)] == [
        (2, "initial", ""),
        (7, "initial", ""),
        (1, "initial", first),
        (3, "ben", first),
    ]


def test_repeated_request_returns_the_session_though_labels_changed_meanwhile(
    harness: Harness,
) -> None:
    dataset = upload(harness, None)
    first = source_on(harness, dataset)
    request_id = str(uuid.uuid4())
    session = harness.create(dataset, from_session=first, request_id=request_id)
    answer(harness, first, "6", OUTLIER)
    again = harness.create(dataset, from_session=first, request_id=request_id)
    assert (again.name, again.counts.total) == (session.name, 3)
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=first))
    again = harness.create(dataset, from_session=first, request_id=request_id)
    assert again.name == session.name
    error = refusal(lambda: harness.create(dataset, request_id=request_id))
    assert reason_of(error) == "REQUEST_ID_REUSED"


def refused(harness: Harness, **request: Any) -> dict[str, str]:
    """Metadata of the refusal to create such a session; its reason is one of them."""
    before = harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest())
    error = refusal(lambda: harness.create(**request))
    assert harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest()) == before
    info = error_info(status_of(error))
    return {"reason": info.reason, **info.metadata}


@pytest.mark.parametrize(
    ("name", "reason", "code"),
    [
        ("sessions/p00-" + "0" * 20, "SESSION_NOT_FOUND", grpc.StatusCode.NOT_FOUND),
        ("sessions/unknown", "SESSION_NOT_FOUND", grpc.StatusCode.NOT_FOUND),
        ("sessions/p00-" + "0" * 20 + "/results/1", "SESSION_NOT_FOUND", grpc.StatusCode.NOT_FOUND),
        ("datasets/x", "INVALID_NAME", grpc.StatusCode.INVALID_ARGUMENT),
        ("sessions/x/results/0", "INVALID_NAME", grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
def test_source_that_does_not_exist_is_refused(
    harness: Harness, name: str, reason: str, code: grpc.StatusCode
) -> None:
    error = refusal(lambda: harness.create(from_session=name))
    assert (reason_of(error), error.code()) == (reason, code)


@pytest.mark.parametrize("revision", ["1", "-"])
def test_session_without_a_result_is_refused_as_a_result(harness: Harness, revision: str) -> None:
    first = source_on(harness, upload(harness, None))
    found = refused(harness, from_session=f"{first}/results/{revision}")
    assert found["reason"] == "RESULT_NOT_FOUND"


@pytest.mark.parametrize(("old", "new"), [(None, IDS), (IDS, None), (None, None)])
def test_other_dataset_is_refused_unless_both_have_ids(
    harness: Harness, old: list[str] | None, new: list[str] | None
) -> None:
    first = source_on(harness, old_dataset := upload(harness, old), "host-" if old else "")
    dataset = upload(harness, new, 0.5)
    found = refused(harness, dataset=dataset, from_session=first)
    assert found["reason"] == "OBSERVATION_IDS_MISSING"
    assert found["dataset"] == (old_dataset if old is None else dataset)


def test_other_dataset_without_a_labelled_observation_in_common_is_refused(
    harness: Harness,
) -> None:
    first = source_on(harness, upload(harness, IDS), "host-")
    # It shares observations, but none that has a label.
    dataset = upload(harness, [*(f"new-{row}" for row in range(8)), *IDS[8:]], 0.5)
    found = refused(harness, dataset=dataset, from_session=first)
    assert found["reason"] == "NO_COMMON_OBSERVATIONS"
    assert (found["source"], found["labels"]) == (first, "3")


@pytest.mark.parametrize(("budget", "initial"), [(2, []), (3, []), (4, ["7"])])
def test_labels_that_spend_the_budget_are_refused(
    harness: Harness, budget: int, initial: list[str]
) -> None:
    dataset = upload(harness, None)
    found = refused(
        harness,
        dataset=dataset,
        from_session=source_on(harness, dataset),
        config=Config(budget=budget),
        initial_labels=[Label(observation_id=one, verdict=INLIER) for one in initial],
    )
    assert found["reason"] == "BUDGET_TOO_SMALL"
    assert (found["budget"], found["labels"]) == (str(budget), str(3 + len(initial)))


def test_initial_label_that_contradicts_one_taken_over_is_refused(harness: Harness) -> None:
    dataset = upload(harness, None)
    found = refused(
        harness,
        dataset=dataset,
        from_session=source_on(harness, dataset),
        initial_labels=[Label(observation_id="2", verdict=INLIER)],
    )
    assert (found["reason"], found["row"]) == ("CONFLICTING_LABELS", "2")


# What labelers do in the first session: (act, labeler, row, verdict).
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["vote", "vote", "vote", "retract", "withdraw", "reinstate"]),
        st.sampled_from(NAMES),
        st.integers(0, 3),
        st.sampled_from(Verdict),
    ),
    max_size=20,
)


@given(acts=ACTS, known=st.dictionaries(st.integers(0, 3), st.sampled_from([1, -1]), max_size=2))
def test_labels_taken_over_are_those_in_force_by_definition(
    redis_server: EmbeddedServer, acts: list[tuple[str, str, int, Verdict]], known: dict[int, int]
) -> None:
    votes = {row: {"initial": Verdict(one)} for row, one in known.items()}
    void = set[str]()

    async def act(scene: Scene) -> tuple[SessionId, TakenLabels, list[LabelEvent], LabelCounts]:
        initial = {row: Verdict(one) for row, one in known.items()}
        first = await scene.session(budget=12, initial=initial)
        for what, labeler, row, verdict in acts:
            try:
                if what == "vote":
                    await scene.answer(first, row, verdict, labeler=labeler, replace=True)
                    votes.setdefault(row, {})[labeler] = verdict
                elif what == "retract":
                    scene.answered += 1
                    await scene.sessions.retract(
                        first, answer_id=f"answer-{scene.answered}", labeler=labeler, row=row
                    )
                    del votes[row][labeler]
                elif what == "withdraw":
                    await scene.sessions.withdraw(first, labeler, by="owner")
                    void.add(labeler)
                else:
                    await scene.sessions.reinstate(first, labeler, by="owner")
                    void.discard(labeler)
            except StateError:
                # Refused, so nothing has changed.
                continue
        handover = Handover(scene.sessions, scene.datasets)
        taken = await handover.take(Source(first), scene.dataset_id, [], [], 12)
        second = await scene.created_from(taken)
        events = await scene.sessions.label_events(second)
        return first, taken, events, await scene.counts(second)

    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    first, taken, events, counts = play(redis_server.url, act)
    in_force = {
        row: {name: one for name, one in of_row.items() if name not in void}
        for row, of_row in votes.items()
    }
    expected = {row: of_row for row, of_row in in_force.items() if sum(of_row.values()) != 0}
    assert {
        label.row: {vote.labeler: vote.verdict for vote in label.votes} for label in taken.labels
    } == expected
    assert {label.row for label in taken.labels if label.known} == expected.keys() & known.keys()
    assert {one.origin for one in events} <= {first}
    assert len(events) == sum(map(len, expected.values()))
    signs = [sum(of_row.values()) > 0 for of_row in expected.values()]
    assert (counts.inlier, counts.outlier) == (signs.count(True), signs.count(False))
