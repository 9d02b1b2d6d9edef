"""Several labelers on one observation: overlap, corrections, withdrawal, what is reported."""

import math

import pytest
from tests.service.desk import INLIER, OUTLIER, UNSURE, Desk, N, chunk, grid, header
from tests.service.hands import PATHS, Refused, hand

from svddtune.v1 import common_pb2, dataset_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = tuning_pb2.SessionConfig
Ack = oracle_pb2.Ack
Kind = common_pb2.LabelEvent.Kind


def events(desk: Desk, name: str) -> list[common_pb2.LabelEvent]:
    return list(desk.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=name)).events)


def report(desk: Desk, name: str) -> tuning_pb2.ListLabelersResponse:
    return desk.tuning.ListLabelers(tuning_pb2.ListLabelersRequest(name=name))


def withdraw(
    desk: Desk, name: str, labeler: str, validate_only: bool = False
) -> tuning_pb2.WithdrawLabelerResponse:
    return desk.tuning.WithdrawLabeler(
        tuning_pb2.WithdrawLabelerRequest(name=name, labeler=labeler, validate_only=validate_only)
    )


@pytest.mark.parametrize("path", PATHS)
def test_overlap_asks_two_labelers_about_the_same(desk: Desk, path: str) -> None:
    name = desk.session(config=Config(budget=1, overlap=2)).name
    ann, bob, eve = (hand(desk, path, name, one) for one in ("ann", "bob", "eve"))
    (first,), (second,) = ann.take(), bob.take()
    assert (first.query, first.row) == (second.query, second.row)
    assert first.lease_id != second.lease_id
    # Never twice to the same one, and to no more than two.
    assert ann.take(2) == [first]
    assert eve.take() == []
    ann.answer(first)
    session = desk.get(name)
    assert (session.counts.total, session.awaiting_votes) == (1, 1)
    assert bob.answer(second).disposition == Ack.DISPOSITION_APPLIED
    assert ann.finished() == "BUDGET_SPENT"
    assert [event.labeler for event in events(desk, name)] == ["ann", "bob"]


@pytest.mark.parametrize("path", PATHS)
def test_tie_asks_one_more_and_a_further_vote_is_not_wanted(desk: Desk, path: str) -> None:
    name = desk.session(config=Config(budget=2, overlap=2, overlap_limit=3)).name
    ann, bob, eve = (hand(desk, path, name, one) for one in ("ann", "bob", "eve"))
    ann.answer(ann.take()[0], INLIER)
    assert bob.answer(bob.take()[0], OUTLIER).counts.total == 0
    (third,) = eve.take()
    assert third.query == 1
    ack = eve.answer(third, OUTLIER)
    assert (ack.counts.inlier, ack.counts.outlier) == (0, 1)
    with pytest.raises(Refused) as refused:
        hand(desk, path, name, "max").label(third.observation_id)
    assert refused.value.reason == "ALREADY_ANSWERED"


def test_two_streams_share_the_work_of_an_overlap(desk: Desk) -> None:
    name = desk.session(config=Config(budget=3, overlap=2)).name
    streams = [desk.labeler(name, one) for one in ("ann", "bob")]
    asked: dict[int, list[int]] = {}
    for turn in range(3):
        for number, stream in enumerate(streams):
            assign = stream.expect("assign")
            asked.setdefault(assign.query, []).append(number)
            stream.answer(assign, OUTLIER if turn == 0 else INLIER)
            assert stream.expect("ack").disposition == Ack.DISPOSITION_APPLIED
            desk.worker.work_off()
    assert asked == {1: [0, 1], 2: [0, 1], 3: [0, 1]}
    assert [stream.expect("finished").reason for stream in streams] == ["BUDGET_SPENT"] * 2
    done = desk.get(name)
    assert (done.counts.inlier, done.counts.outlier, done.awaiting_votes) == (2, 1, 0)


@pytest.mark.parametrize("path", PATHS)
def test_correction_replaces_the_own_vote(desk: Desk, path: str) -> None:
    name = desk.session().name
    ann = hand(desk, path, name)
    (assign,) = ann.take()
    ann.answer(assign, INLIER)
    with pytest.raises(Refused) as refused:
        ann.label(assign.observation_id, OUTLIER)
    assert refused.value.reason == "ALREADY_ANSWERED"
    ack = ann.label(assign.observation_id, OUTLIER, replace=True)
    assert ack.disposition == Ack.DISPOSITION_APPLIED
    assert (ack.counts.inlier, ack.counts.outlier) == (0, 1)
    # Without an earlier vote it is a first one.
    assert ann.label("11", UNSURE, replace=True).counts.unsure == 1
    assert [event.kind for event in events(desk, name)] == [Kind.KIND_LABELED] * 3


@pytest.mark.parametrize("path", PATHS)
def test_vote_of_another_labeler_may_be_retracted(desk: Desk, path: str) -> None:
    name = desk.session(config=Config(budget=2)).name
    ann, bob = hand(desk, path, name, "ann"), hand(desk, path, name, "bob")
    (assign,) = bob.take()
    bob.answer(assign)
    with pytest.raises(Refused) as refused:
        ann.retract(assign.observation_id)
    assert refused.value.reason == "NOT_LABELED"
    ack = ann.retract(assign.observation_id, of_labeler="bob")
    assert ack.counts.total == 0
    event = events(desk, name)[-1]
    assert (event.kind, event.labeler) == (Kind.KIND_RETRACTED, "bob")
    assert "ann" in event.source_reference
    desk.worker.work_off()
    # The query is open again, and bob, whose vote is gone, may be asked as well.
    assert [one.query for one in bob.wait()] == [assign.query]


@pytest.mark.parametrize("path", PATHS)
def test_observation_is_shown_again_and_counts_no_vote(desk: Desk, path: str) -> None:
    name = desk.session(config=Config(budget=3, repeat_every=1)).name
    ann = hand(desk, path, name)
    (first,) = ann.take()
    ann.answer(first, INLIER)
    desk.worker.work_off()
    (again,) = ann.wait()
    assert again.row == first.row
    assert again.query != first.query
    # The repeat shows nothing that was computed: the first answer would be among it.
    assert again.explanation == oracle_pb2.Explanation(why=again.explanation.why)
    assert "again" in again.explanation.why
    ack = ann.answer(again, OUTLIER)
    assert (ack.counts.inlier, ack.counts.outlier) == (1, 0)
    assert events(desk, name)[-1].kind == Kind.KIND_REPEATED
    (figures,) = report(desk, name).labelers
    assert (figures.repeats, figures.self_consistency) == (1, 0.0)


def test_labelers_are_reported(desk: Desk) -> None:
    name = desk.session(config=Config(budget=4, overlap=2)).name
    ann, bob = hand(desk, "unary", name, "ann"), hand(desk, "unary", name, "bob")
    for verdict in (INLIER, OUTLIER):
        ann.answer(ann.take()[0], verdict)
        bob.answer(bob.take()[0], INLIER)
        desk.worker.work_off()
    ann.label("11")
    bob.label("10", UNSURE)
    bob.retract("10")
    response = report(desk, name)
    one, other = response.labelers
    assert (one.labeler, other.labeler) == ("ann", "bob")
    assert (one.votes.inlier, one.votes.outlier, one.votes.unsure) == (2, 1, 0)
    assert (one.asked, one.unasked, one.unused, one.retracted) == (2, 1, 0, 0)
    assert (other.asked, other.unasked, other.retracted) == (2, 1, 1)
    assert (one.compared, one.agreement) == (2, 0.5)
    assert 0 < one.median_answer_s < 10
    assert math.isnan(one.self_consistency)
    assert one.last_answer_time.ToMilliseconds() > 0
    assert (response.agreement.observations, response.agreement.observed) == (2, 0.5)
    assert response.agreement.cohen_kappa == pytest.approx(0.0)


def test_withdrawal_is_previewed_done_and_undone(desk: Desk) -> None:
    name = desk.session(config=Config(budget=4)).name
    ann, bob = hand(desk, "unary", name, "ann"), hand(desk, "unary", name, "bob")
    (assign,) = bob.take()
    bob.answer(assign, OUTLIER)
    ann.label("11")
    desk.worker.work_off()
    version = desk.get(name).etag

    preview = withdraw(desk, name, "bob", validate_only=True).effect
    assert (preview.votes, preview.labels_lost, preview.queries_reopened) == (1, 1, 1)
    assert (preview.counts_before.total, preview.counts_after.total) == (2, 1)
    # The scripted worker computes none.
    assert not preview.HasField("live_before")
    assert not preview.HasField("live_after")
    assert desk.get(name).etag == version

    done = withdraw(desk, name, "bob")
    assert done.session.counts.total == 1
    assert done.effect == preview
    event = events(desk, name)[-1]
    assert (event.kind, event.labeler, event.observation_id) == (Kind.KIND_WITHDRAWN, "bob", "")
    assert event.verdict == common_pb2.VERDICT_UNSPECIFIED
    assert [one.withdrawn for one in report(desk, name).labelers] == [False, True]
    with pytest.raises(Refused) as refused:
        bob.label("9")
    assert refused.value.reason == "LABELER_WITHDRAWN"
    desk.worker.work_off()
    assert [one.query for one in ann.wait()] == [assign.query]

    # Done twice it has one effect.
    assert withdraw(desk, name, "bob").effect.votes == 0
    back = desk.tuning.ReinstateLabeler(
        tuning_pb2.ReinstateLabelerRequest(name=name, labeler="bob")
    )
    assert (back.effect.votes, back.effect.labels_gained) == (1, 1)
    assert back.session.counts.outlier == 1
    assert events(desk, name)[-1].kind == Kind.KIND_REINSTATED
    assert bob.label("9").counts.total == 3


def test_observations_are_listed_page_by_page(desk: Desk) -> None:
    displays = [
        dataset_pb2.Display(fields=[common_pb2.DisplayField(key="host", value=f"db-{row}")])
        for row in range(N)
    ]
    ids = [f"id-{row}" for row in range(N)]
    dataset = desk.upload(header(), chunk(grid(), observation_ids=ids, displays=displays))
    found: list[dataset_pb2.Observation] = []
    token, pages = "", 0
    while token or not pages:
        page = desk.datasets.ListObservations(
            dataset_pb2.ListObservationsRequest(parent=dataset.name, page_size=5, page_token=token)
        )
        found += page.observations
        token, pages = page.next_page_token, pages + 1
    assert pages == 3
    assert [one.observation_id for one in found] == ids
    assert [one.row for one in found] == list(range(N))
    assert [one.display[0].value for one in found] == [f"db-{row}" for row in range(N)]
    plain = desk.upload(header(), chunk(grid() + 1))
    listed = desk.datasets.ListObservations(dataset_pb2.ListObservationsRequest(parent=plain.name))
    assert [one.observation_id for one in listed.observations] == [str(row) for row in range(N)]
    assert listed.next_page_token == ""
